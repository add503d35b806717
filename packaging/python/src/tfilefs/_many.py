# SPDX-License-Identifier: Apache-2.0
"""Many files as one table: a mount of a chain, for as long as it is read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Union

from ._buffers import Form
from ._error import MountError
from ._mount import Mount, Opened, Source, is_remote, mount, open
from ._names import Filter, Names, chosen, matching
from ._table import Table

if TYPE_CHECKING:
    from dask_awkward.lib.core import Array as DaskArray

Files = Union[Source, Iterable[Source], Mapping[Source, str]]


def _sources(files: Files) -> list[Source]:
    if isinstance(files, (str, os.PathLike)):
        return [files]
    if isinstance(files, Mapping):
        return [f"{os.fspath(path)}:{table}" for path, table in files.items()]
    return list(files)


def _mounted(files: Files, options: dict[str, object]) -> Mount | Opened:
    given = {"chain": True, **options}
    fallback = bool(given.pop("fallback", False))
    return mount(_sources(files), fallback=fallback, **given)


def _table(mounted: Mount | Opened, name: str | None) -> Table:
    """The one of that name, or the only one."""
    tables = [each for each, classname in mounted.classnames(recursive=True).items() if classname != "TDirectory"]
    if name is None and len(tables) != 1:
        raise MountError(f"{mounted.source}: " + (f"there are {', '.join(tables)}; name one of them, as in 'run*.root:{tables[0]}'" if tables
                                                  else "there is no table that all files have"))
    found: Table = mounted[tables[0] if name is None else name]
    return found


def concatenate(files: Files, expressions: Names = None, cut: str | None = None, *, table: str | None = None, filter_name: Filter = None,
                entry_start: int | None = None, entry_stop: int | None = None, library: str = "ak", **options: object) -> Any:
    """Columns of many files as one: what Table.arrays gives, in memory, of the entries of all files in their order.

    `files`: a path, a pattern ("run*.root"), a URL, or several of these in a list; with the table, "run*.root:Events", if
    there is more than one, or {path: table}. `table`: its name in what is mounted, such as the sample of a dataset.
    `options`: of the mount, as chain="union", missing="skip", fallback=True. MountError if a file cannot be opened, FileNotFoundError if there
    is none; KeyError and ValueError as of Table.arrays."""
    with _mounted(files, options) as mounted:
        return _table(mounted, table).arrays(expressions, cut, filter_name=filter_name, entry_start=entry_start, entry_stop=entry_stop,
                                             library=library, copy=True)


def iterate(files: Files, expressions: Names = None, cut: str | None = None, *, step_size: int | str = "100 MB", table: str | None = None,
            filter_name: Filter = None, entry_start: int | None = None, entry_stop: int | None = None, library: str = "ak",
            copy: bool | None = None, **options: object) -> Iterator[Any]:
    """The same in steps, as Table.iterate: a step may have entries of several files. The files are mounted as long as there
    are steps to come."""
    with _mounted(files, options) as mounted:
        yield from _table(mounted, table).iterate(expressions, cut, step_size=step_size, filter_name=filter_name, entry_start=entry_start,
                                                  entry_stop=entry_stop, library=library, copy=copy)


def dask(files: Files, expressions: Names = None, *, step_size: int | str = "100 MB", table: str | None = None, filter_name: Filter = None,
         entry_start: int | None = None, entry_stop: int | None = None, **options: object) -> DaskArray:
    """Columns of many files as one array of dask-awkward: records, of which nothing is read until they are computed, and
    then only those columns and members that the graph uses.

    A partition is as many whole clusters as take about "100 MB" of all columns that are chosen here, or have no more
    entries than a number. The process that computes it opens the files by tfilefs.open, so that the processes of a machine share
    one daemon, and keeps them open. Paths of files are made absolute; those in `options` must be so, if workers run elsewhere.

    `files`, `table`, `options` and errors as of concatenate(). ValueError if there are no entries. It needs dask-awkward."""
    from dask_awkward.lib.io.io import from_map

    from ._dask import Partitions, partitions

    sources = tuple(map(_absolute, _sources(files)))
    given = {"chain": True, **options}
    with open(sources, share=True, **given) as opened:
        found = _table(opened, table)

        def planned() -> tuple[list[tuple[int, int]], int, Form]:
            columns = matching(filter_name, chosen(expressions, found.buffers.names))
            start, stop = found.between(entry_start, entry_stop)
            if start == stop:
                raise ValueError(f"{opened.source}: there are no entries")
            return partitions(found, columns, step_size, start, stop), found.num_entries, found.buffers.form_of(columns)

        parts, entries, form = found._states.read(planned)
        reads = Partitions(sources, tuple(given.items()), found.name, entries, form)
    start = parts[0][0]
    divisions = tuple(first - start for first, _ in parts) + (parts[-1][1] - start,)
    array = from_map(reads, parts, label="tfilefs", divisions=divisions)
    assert not isinstance(array, tuple)  # with a report, which is not asked for
    return array


def _absolute(source: Source) -> str:
    """Also of a list or dataset, "@runs.json"."""
    text = os.fspath(source)
    mark = "@" if text.startswith("@") else ""
    path = os.path.expanduser(text[len(mark):])
    return mark + (path if is_remote(path) else os.path.abspath(path))
