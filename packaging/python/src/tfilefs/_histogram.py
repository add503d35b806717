# SPDX-License-Identifier: Apache-2.0
"""Histograms and profiles, as the PlottableHistogram protocol has them: mplhep and hist take them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._items import Object
from ._place import Place
from ._states import States, lazy, of_one_state

if TYPE_CHECKING:
    import boost_histogram
    import hist

    from ._types import NumpyArray


_LABELLED_MAX = 16 << 20  # bytes of an object in whose JSON labels are looked for


class _Traits:
    circular = False

    def __init__(self, discrete: bool) -> None:
        self.discrete = discrete


class Axis:
    """The bins of one axis. axis[i] is (low, high) of the i-th; or its label, if `labels` has one for each.

    `edges`: an array of NumPy, of one more number than there are bins."""

    def __init__(self, edges: NumpyArray, labels: tuple[str, ...] | None = None) -> None:
        self.edges, self.labels = edges, labels
        self.traits = _Traits(labels is not None)

    def __len__(self) -> int:
        return len(self.edges) - 1

    def __getitem__(self, i: int) -> tuple[float, float] | str:
        if not -len(self) <= i < len(self):
            raise IndexError(i)
        if self.labels is not None:
            return self.labels[i]
        i %= len(self)
        return float(self.edges[i]), float(self.edges[i + 1])

    def __iter__(self) -> Iterator[tuple[float, float] | str]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Axis) and len(self) == len(other) and self.labels == other.labels
                and bool((self.edges == other.edges).all()))

    __hash__ = None  # type: ignore[assignment]

    @property
    def centers(self) -> NumpyArray:
        """The middle of each bin, of shape (bins,)."""
        centers: NumpyArray = (self.edges[:-1] + self.edges[1:]) / 2
        return centers

    @property
    def widths(self) -> NumpyArray:
        """The width of each bin, of shape (bins,)."""
        widths: NumpyArray = self.edges[1:] - self.edges[:-1]
        return widths

    def __repr__(self) -> str:
        if self.labels is not None:
            return f"<tfilefs.Axis of {', '.join(self.labels)}>"
        return f"<tfilefs.Axis of {len(self)} bins from {self.edges[0]} to {self.edges[-1]}>"


def _labels_of(axis: dict[str, Any], bins: int) -> tuple[str, ...] | None:
    """Of an axis in ROOT's JSON, where each bin has one and no two are equal."""
    texts = {text["fUniqueID"]: text["fString"] for text in (axis.get("fLabels") or {"arr": []})["arr"]}
    labels = tuple(str(texts[i + 1]) for i in range(bins) if i + 1 in texts)
    return labels if len(labels) == len(set(labels)) == bins else None


class _Bins:
    """What the files of a histogram say of it in one state of its file, besides its values."""

    def __init__(self, of: Object) -> None:
        self._of = of

    @lazy
    def names(self) -> set[str]:
        return {each.split(".")[0] for each in self._of._place.names()}

    @lazy
    def axes(self) -> tuple[Axis, ...]:
        letters = [each + "edges" for each in "xyz"]
        numbers = [f"edges{i}" for i in range(len(self.names))]
        known = self._json()
        edges = {each: self._of.numpy(each) for each in (*letters, *numbers) if each in self.names}
        return tuple(Axis(each, _labels_of(known.get(f"f{name[0].upper()}axis", {}), len(each) - 1)) for name, each in edges.items())

    def _json(self) -> dict[str, Any]:
        """The object with what ROOT knows of its axes besides edges; nothing of one that is large."""
        if (self._of._place / "object.bin").size() > _LABELLED_MAX:
            return {}
        try:
            known: dict[str, Any] = self._of.json()
            return known
        except (OSError, ValueError):
            return {}


class Histogram(Object):
    """A histogram, or a profile, whose values are means. Each call gives one state of its file."""

    def __init__(self, place: Place, name: str, owner: object = None) -> None:
        super().__init__(place, name, owner)
        self._states: States[_Bins] = States(place / "object.bin", name, lambda: _Bins(Object(place, name)))

    @property
    @of_one_state
    def kind(self) -> str:
        """"MEAN" of a profile, else "COUNT"."""
        return "MEAN" if "effective_entries" in self._states.known.names else "COUNT"

    @property
    @of_one_state
    def axes(self) -> tuple[Axis, ...]:
        """The axes: x, y, z."""
        return self._states.known.axes

    def values(self, flow: bool = False) -> NumpyArray:
        """Contents, or means of a profile: an array of NumPy with a dimension for each axis. `flow`: with the bins below
        and above each axis."""
        return self._array("values", flow)

    def variances(self, flow: bool = False) -> NumpyArray:
        """Squared errors, of the shape of values()."""
        return self._array("variances", flow)

    @of_one_state
    def counts(self, flow: bool = False) -> NumpyArray:
        """Contents; the effective entries of a profile."""
        return self._array("effective_entries" if self.kind == "MEAN" else "values", flow)

    def _array(self, name: str, flow: bool) -> NumpyArray:
        return self.numpy(f"flow/{name}" if flow else name)

    @of_one_state
    def to_numpy(self, flow: bool = False) -> tuple[NumpyArray, ...]:
        """Values and the edges of each axis, as numpy.histogram gives them; with `flow` the outermost edges are infinite."""
        if flow:
            import numpy as np

            edges = [np.concatenate([[-np.inf], axis.edges, [np.inf]]) for axis in self.axes]
            return (self.values(flow=True), *edges)
        return (self.values(), *(axis.edges for axis in self.axes))

    def to_hist(self) -> hist.Hist[Any]:
        """A hist.Hist of the same bins, values and variances. TypeError for a profile."""
        import hist

        # These take what has _to_boost_histogram_, which their types do not say.
        whole: Any = self
        taken: hist.Hist[Any] = hist.Hist(whole)
        return taken

    def to_boost(self) -> boost_histogram.Histogram[Any]:
        """The same of boost_histogram."""
        import boost_histogram as bh

        whole: Any = self
        taken: bh.Histogram[Any] = bh.Histogram(whole)
        return taken

    @of_one_state
    def plot(self, **options: Any) -> Any:
        """Draws with mplhep, which takes the options: histplot of one axis, hist2dplot of two. Returns what these return."""
        import mplhep

        if len(self.axes) > 2:
            raise TypeError(f"{self.name} has {len(self.axes)} axes: one and two are drawn")
        return (mplhep.histplot if len(self.axes) == 1 else mplhep.hist2dplot)(self, **options)

    @of_one_state
    def _to_boost_histogram_(self) -> Any:
        """For hist.Hist(h) and boost_histogram.Histogram(h)."""
        import boost_histogram as bh

        if self.kind == "MEAN":
            raise TypeError(f"{self.name} is a profile: it has means, and not the sums that a histogram of means is made of")
        taken = bh.Histogram(*(bh.axis.StrCategory(axis.labels) if axis.labels else bh.axis.Variable(axis.edges) for axis in self.axes),
                             storage=bh.storage.Weight())
        view: Any = taken.view(flow=True)
        kept = tuple(slice(1 if axis.labels else 0, None) for axis in self.axes)  # nothing is below the first label
        view["value"], view["variance"] = self.values(flow=True)[kept], self.variances(flow=True)[kept]
        return taken
