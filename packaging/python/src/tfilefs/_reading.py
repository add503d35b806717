# SPDX-License-Identifier: Apache-2.0
"""Entries of chosen columns of a table, as one library or another has them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from ._cut import Cut
    from ._table import Table

Library = Literal["ak", "np", "pd", "pl", "arrow"]

_LIBRARIES: dict[str, Library] = {
    "ak": "ak", "awkward": "ak", "np": "np", "numpy": "np", "pd": "pd", "pandas": "pd", "pl": "pl", "polars": "pl", "arrow": "arrow",
    "pyarrow": "arrow"}
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_BLOCK = "32 MB"  # which is read at once for steps that are smaller: each read of a column costs about as much as 100 KB of it


class Reading:
    """Parts of a table, which are read, or if not `copy` mapped once for all parts. Steps are parts that follow each other: those that
    are read share what is read for several of them."""

    def __init__(self, table: Table, names: list[str], cut: str | None, library: str, copy: bool) -> None:
        if library not in _LIBRARIES:
            raise ValueError(f"library={library!r}; there are {', '.join(_LIBRARIES)}")
        self._table, self._names, self._copy = table, names, copy
        self._library = _LIBRARIES[library]
        self._cut = None if cut is None else _cut_of(cut, table)
        self._mapped: dict[str, Any] = {}
        self._blocks: dict[str, tuple[int, int, Any]] = {}  # what was read last: first entry, last entry, and the array
        self._block, self._end = 0, 0

    def steps(self, start: int, stop: int, step_size: int | str) -> range:
        """The first entries of the parts that are going to be asked for."""
        steps = range(start, stop, self.entries_of(step_size))
        if self._copy and steps.step < stop - start:
            self._block, self._end = self.entries_of(_BLOCK) // steps.step * steps.step, stop
        return steps

    def part(self, start: int, stop: int) -> Any:
        """Entries start..stop, as far as they fulfil the cut."""
        kept = None if self._cut is None else self._cut.mask(
            {name: self._column(name, start, stop) for name in self._cut.columns}, stop - start)
        if self._library == "ak":
            record = self._records(start, stop)
            return record if kept is None else record[kept]
        if self._library == "np":
            arrays = {name: as_numpy(self._column(name, start, stop)) for name in self._names}
            return arrays if kept is None else {name: array[kept] for name, array in arrays.items()}
        if self._library == "pd" and all(self._table.is_numbers(name) and not self._table.parts_of(name)[0]["shape"] for name in self._names):
            return self._frame_of_numbers(start, stop, kept)
        table = self._arrow(start, stop)
        if kept is not None:
            import pyarrow as pa

            table = table.filter(pa.array(kept))
        return table if self._library == "arrow" else self._frame(table, start, stop, kept)

    def _once(self, key: str, make: Any, start: int, stop: int) -> Any:
        """What is mapped is mapped as a whole, once."""
        if self._copy:
            return self._read(key, make, start, stop)
        if key not in self._mapped:
            self._mapped[key] = make(0, self._table.num_entries)
        return self._mapped[key][start:stop]

    def _read(self, key: str, make: Any, start: int, stop: int) -> Any:
        """Of a block, if steps are smaller. Where a block cannot be read, the step perhaps can."""
        if self._block <= stop - start:
            return make(start, stop)
        first, last, read = self._blocks.get(key, (0, 0, None))
        if not first <= start <= stop <= last:
            first, last = start, min(start + self._block, self._end)
            try:
                read = make(first, last)
            except OSError:
                return make(start, stop)
            self._blocks[key] = first, last, read
        return read[start - first:stop - first]

    def _column(self, name: str, start: int, stop: int) -> Any:
        """Of numbers an array of NumPy, else one of Awkward Array."""
        table = self._table
        if table.is_numbers(name):
            return self._once(name, lambda first, last: table.read(name, self._copy, first, last), start, stop)
        return self._once(name, lambda first, last: table.buffers.column(name, first, last, self._copy), start, stop)

    def _records(self, start: int, stop: int) -> Any:
        return self._once("", lambda first, last: self._table.buffers.record(self._names, first, last, self._copy), start, stop)

    def _arrow(self, start: int, stop: int) -> Any:
        """A table of Arrow: its parts share the memory of the whole."""
        if "" not in self._mapped:
            self._mapped[""] = self._table.read_arrow(self._names, self._copy)
        return self._mapped[""].slice(start, stop - start)

    def _frame(self, table: Any, start: int, stop: int, kept: Any) -> Any:
        if self._library == "pl":
            import polars

            return polars.from_arrow(table)
        frame = table.to_pandas()
        frame.index = self._index(start, stop, kept)
        return frame

    def _frame_of_numbers(self, start: int, stop: int, kept: Any) -> Any:
        """Without Arrow, whose file has the form of all columns of the table: that of a wide one takes longer than to read some."""
        import pandas

        columns = {name: self._column(name, start, stop) for name in self._names}
        chosen = columns if kept is None else {name: column[kept] for name, column in columns.items()}
        return pandas.DataFrame(chosen, self._index(start, stop, kept), copy=True)

    def _index(self, start: int, stop: int, kept: Any) -> Any:
        import pandas

        index = pandas.RangeIndex(start, stop)
        return index if kept is None else index[kept]

    def entries_of(self, step_size: int | str) -> int:
        """How many entries a step has: a number, or so many that their columns take "100 MB"."""
        if not isinstance(step_size, str):
            entries = int(step_size)
        else:
            found = re.fullmatch(r"\s*([0-9.]+)\s*([kMGT]?)i?B?\s*", step_size, re.IGNORECASE)
            if not found:
                raise ValueError(f"step_size={step_size!r}; a number of entries, or a size such as '100 MB'")
            wanted = float(found[1]) * _UNITS[found[2].lower()]
            names = {*self._names, *(self._cut.columns if self._cut else [])}
            size = sum(map(self._table.bytes_of, names))
            entries = max(1, int(wanted * self._table.num_entries / size)) if size else max(1, self._table.num_entries)
        if entries < 1:
            raise ValueError(f"step_size={step_size!r} is less than one entry")
        return entries


def _cut_of(text: str, table: Table) -> Cut:
    from ._cut import Cut

    return Cut(text, table.keys())


def as_numpy(array: Any) -> Any:
    """An array of NumPy; of lists and texts one of objects: for each entry an array, or a str."""
    import numpy as np

    if isinstance(array, np.ndarray):
        return array
    import awkward as ak

    layout = ak.to_packed(array).layout
    if layout.is_list and layout.parameter("__array__") not in ("string", "bytestring"):
        values = as_numpy(ak.Array(layout.content))
        offsets = np.asarray(layout.to_ListOffsetArray64(True).offsets)
        found = [values[first:last] for first, last in zip(offsets[:-1], offsets[1:])]
    else:
        try:
            return np.asarray(ak.to_numpy(array, allow_missing=False)) if layout.is_numpy else _objects(array.to_list())
        except ValueError:
            found = array.to_list()
    return _objects(found)


def _objects(values: list[Any]) -> Any:
    import numpy as np

    result = np.empty(len(values), object)
    for i, value in enumerate(values):
        result[i] = value
    return result
