# SPDX-License-Identifier: Apache-2.0
"""Histograms and profiles, as the PlottableHistogram protocol has them: mplhep and hist take them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._items import Object

if TYPE_CHECKING:
    import numpy


class _Traits:
    circular = False
    discrete = False


class Axis:
    """The bins of one axis. axis[i] is (low, high) of the i-th."""

    traits = _Traits()

    def __init__(self, edges: numpy.ndarray) -> None:
        self.edges = edges

    def __len__(self) -> int:
        return len(self.edges) - 1

    def __getitem__(self, i: int) -> tuple[float, float]:
        if not -len(self) <= i < len(self):
            raise IndexError(i)
        i %= len(self)
        return float(self.edges[i]), float(self.edges[i + 1])

    def __iter__(self) -> Iterator[tuple[float, float]]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Axis) and len(self) == len(other) and bool((self.edges == other.edges).all())

    __hash__ = None  # type: ignore[assignment]

    @property
    def centers(self) -> numpy.ndarray:
        return (self.edges[:-1] + self.edges[1:]) / 2

    @property
    def widths(self) -> numpy.ndarray:
        return self.edges[1:] - self.edges[:-1]

    def __repr__(self) -> str:
        return f"<tfilefs.Axis of {len(self)} bins from {self.edges[0]} to {self.edges[-1]}>"


class Histogram(Object):
    """A histogram, or a profile, whose values are means."""

    def __init__(self, path: str, name: str, owner: object = None) -> None:
        super().__init__(path, name, owner)
        names = {each.split(".")[0] for each in os.listdir(path)}
        letters = [each + "edges" for each in "xyz"]
        numbers = [f"edges{i}" for i in range(len(names))]
        self._axes = [each for each in (*letters, *numbers) if each in names]
        self.kind = "MEAN" if "effective_entries" in names else "COUNT"

    @property
    def axes(self) -> tuple[Axis, ...]:
        return tuple(Axis(self.numpy(each)) for each in self._axes)

    def values(self, flow: bool = False) -> numpy.ndarray:
        """Contents, or means of a profile. `flow`: with the bins below and above each axis."""
        return self._array("values", flow)

    def variances(self, flow: bool = False) -> numpy.ndarray:
        return self._array("variances", flow)

    def counts(self, flow: bool = False) -> numpy.ndarray:
        """Contents; the effective entries of a profile."""
        return self._array("effective_entries" if self.kind == "MEAN" else "values", flow)

    def _array(self, name: str, flow: bool) -> numpy.ndarray:
        return self.numpy(os.path.join("flow", name) if flow else name)

    def to_numpy(self, flow: bool = False) -> tuple[numpy.ndarray, ...]:
        """Values and edges, as numpy.histogram gives them."""
        if flow:
            import numpy as np

            edges = [np.concatenate([[-np.inf], axis.edges, [np.inf]]) for axis in self.axes]
            return (self.values(flow=True), *edges)
        return (self.values(), *(axis.edges for axis in self.axes))

    def _to_boost_histogram_(self) -> Any:
        """For hist.Hist(h) and boost_histogram.Histogram(h)."""
        import boost_histogram as bh

        if self.kind == "MEAN":
            raise TypeError(f"{self.name} is a profile: it has means, and not the sums that a histogram of means is made of")
        taken = bh.Histogram(*(bh.axis.Variable(axis.edges) for axis in self.axes), storage=bh.storage.Weight())
        view = taken.view(flow=True)
        view["value"], view["variance"] = self.values(flow=True), self.variances(flow=True)
        return taken
