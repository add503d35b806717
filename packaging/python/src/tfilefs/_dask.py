# SPDX-License-Identifier: Apache-2.0
"""What dask-awkward asks of a function that reads: its form, which columns a graph needs, and each partition."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

from ._buffers import Form, selected
from ._error import MountError
from ._mount import Opened, open

if TYPE_CHECKING:
    from ._table import Table
    from ._types import AwkwardArray

Options = tuple[tuple[str, object], ...]


class Partitions:
    """Reads entries (start, stop) of a table as records, in whichever process it is called: it is pickled without what it has
    opened. It needs dask-awkward where a graph is made, and only Awkward Array where partitions are read."""

    use_optimization = True
    behavior = None
    attrs = None

    def __init__(self, sources: tuple[str, ...], options: Options, table: str, entries: int, form: Form) -> None:
        self._sources, self._options, self._table, self._entries, self._form = sources, options, table, entries, form

    def __call__(self, part: tuple[int, int]) -> AwkwardArray:
        table: Table = _opened(self._sources, self._options, os.getpid())[self._table]
        return table._states.read(lambda: self._read(table, *part))

    def _read(self, table: Table, start: int, stop: int) -> AwkwardArray:
        if table.num_entries != self._entries:  # partitions are of the old ones
            raise MountError(f"{table.name} has {table.num_entries} entries, and had {self._entries} when the graph was made")
        return table.buffers.of_form(self._form, start, stop, copy=True)

    @property
    def form(self) -> Any:
        import awkward as ak

        return ak.forms.from_dict(self._form)

    def mock(self) -> AwkwardArray:
        """An array without entries and without data, by which dask-awkward knows the type."""
        found: AwkwardArray = _protocol().mock(self)
        return found

    def mock_empty(self, backend: str = "cpu") -> AwkwardArray:
        found: AwkwardArray = _protocol().mock_empty(self, backend)
        return found

    def prepare_for_projection(self) -> tuple[Any, Any, Any]:
        found: tuple[Any, Any, Any] = _protocol().prepare_for_projection(self)
        return found

    def necessary_columns(self, report: Any, state: Any) -> frozenset[str]:
        """Of the columns and members that a graph uses, as `event.x`."""
        found: frozenset[str] = _protocol().necessary_columns(self, report, state)
        return found

    def project(self, report: Any, state: Any) -> Partitions:
        return self.project_columns(self.necessary_columns(report, state))

    def project_columns(self, columns: frozenset[str]) -> Partitions:
        """The same for these columns and members alone."""
        return Partitions(self._sources, self._options, self._table, self._entries, selected(self._form, columns))

    project_manually = project_columns


def _protocol() -> Any:
    from dask_awkward.lib.io.columnar import ColumnProjectionMixin

    return ColumnProjectionMixin


@functools.lru_cache(maxsize=4)
def _opened(sources: tuple[str, ...], options: Options, process: int) -> Opened:
    """What partitions read in this process; it stays open for the next ones."""
    return open(sources, share=True, **dict(options))


def partitions(table: Table, columns: list[str], step_size: int | str, start: int, stop: int) -> list[tuple[int, int]]:
    """Entries (start, stop) of each partition: whole clusters, as many as do not pass `step_size`, but one at least."""
    from ._reading import Reading

    largest = Reading(table, columns, None, "ak", True).entries_of(step_size)
    borders = [start, *(each for each in table.schema["clusters"] if start < each < stop), stop]
    found, first = [], start
    for last, after in zip(borders[1:], [*borders[2:], None]):
        if after is None or after - first > largest:
            found.append((first, last))
            first = last
    return found
