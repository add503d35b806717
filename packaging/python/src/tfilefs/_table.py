# SPDX-License-Identifier: Apache-2.0
"""A TTree or RNTuple."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, overload

from ._buffers import Buffers
from ._column import Column, typename
from ._error import first_of, missing, of_a_mount, refusals
from ._html import page
from ._names import Filter, Names, chosen, in_a_mount, matching, without_type
from ._place import MountedPlace, Place, Placed
from ._reading import Reading
from ._show import Stream, show
from ._states import State, States, lazy, of_one_state

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars
    import pyarrow

    from ._types import AwkwardArray, NumpyArray, NumpyArrays


class _Described:
    """What a table says of itself in one state of its file."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def _json(self, name: str) -> dict[str, Any]:
        read: dict[str, Any] = json.loads((self._place / name).text("surrogateescape"))
        return read

    @lazy
    def schema(self) -> dict[str, Any]:
        return self._json(".schema.json")

    @lazy
    def buffers(self) -> Buffers:
        return Buffers(self._place, self._json(".awkward.json"))

    @lazy
    def parts(self) -> dict[str, list[dict[str, Any]]]:
        """What the schema says of the files of each column."""
        found: dict[str, list[dict[str, Any]]] = {}
        for column in self.schema["columns"]:
            found.setdefault(without_type(column["path"].split("/")[0]), []).append(column)
        return found

    @lazy
    def numbers(self) -> dict[str, dict[str, Any]]:
        return {without_type(column["path"]): column for column in self.schema["columns"]}


class Table(Placed):
    """A TTree or RNTuple. `path`: where other programs find it. `name`: by which it was asked for.

    numpy(), awkward() and arrow() read into memory, which stays when the mount has gone. arrays(), iterate() and columns
    map where they can.

    If the file changes, what is asked for next is of the new state, and each call gives one state. MountError if it changes
    all the time."""

    def __init__(self, place: Place, name: str, owner: object = None) -> None:
        self._place, self.name = place, name
        self._owner = owner
        self._states: States[_Described] = States(place / ".schema.json", name, lambda: _Described(place))

    def __len__(self) -> int:
        """The number of entries."""
        return self.num_entries

    @property
    def num_entries(self) -> int:
        """The number of entries."""
        return int(self.schema["entries"])

    @property
    def title(self) -> str:
        """The title of the tree."""
        return str(self.schema["title"])

    @property
    @of_one_state
    def schema(self) -> dict[str, Any]:
        """What .schema.json says of the table and of each column."""
        return self._states.known.schema

    @property
    @of_one_state
    def buffers(self) -> Buffers:
        """The files of the columns, as Awkward Array takes them."""
        return self._states.known.buffers

    @property
    @of_one_state
    def columns(self) -> list[str]:
        """The names that awkward() and arrow() take; numpy() those of them that are one number for each entry."""
        return list(self._states.known.parts)

    @of_one_state
    def parts_of(self, name: str) -> list[dict[str, Any]]:
        """What the schema says of the files of a column. KeyError if there is none of that name."""
        known = self._states.known.parts
        parts = known.get(name) or known.get(in_a_mount(name)) or self._parts_by(name)
        if not parts:
            raise missing(name, self.columns)
        return parts

    def _parts_by(self, name: str) -> list[dict[str, Any]]:
        """Of a name that a mount has cut, by its branch; of what is named by its path, by that."""
        columns = self.schema["columns"]
        return ([each for each in columns if each["branch"] == name or each["branch"].startswith(name + "/")]
                or [each for each in columns if without_type(each["path"]) == name or each["path"].startswith(name + "/")])

    @of_one_state
    def files_of(self, name: str) -> list[str]:
        """The paths of the files of a column."""
        return [(self._place / part["path"]).path for part in self.parts_of(name)]

    @of_one_state
    def bytes_of(self, name: str) -> int:
        """The size of the files of a column. Those whose size the schema has are not looked at."""
        return sum((self._place / part["path"]).size() if part["size"] is None else part["size"] for part in self.parts_of(name))

    @of_one_state
    def is_numbers(self, name: str) -> bool:
        """Whether a column is a number, or an array of fixed shape, for each entry."""
        parts = self.parts_of(name)
        return len(parts) == 1 and "/" not in parts[0]["path"] and parts[0]["length"] == self.num_entries and not parts[0]["reason"]

    @of_one_state
    def keys(self, filter_name: Filter = None, filter_typename: Filter = None) -> list[str]:
        """The names of the columns; of those that match, or whose type matches, one of these names and patterns."""
        names = matching(filter_name, self.buffers.names)
        return names if filter_typename is None else [name for name in names if matching(filter_typename, [typename(self.parts_of(name))])]

    @of_one_state
    def typenames(self, filter_name: Filter = None, filter_typename: Filter = None) -> dict[str, str]:
        """{name: type in C++} of the columns: `float`, `double[3]`, `float[]` for a counted array, `std::vector<float>`."""
        return {name: typename(self.parts_of(name)) for name in self.keys(filter_name, filter_typename)}

    def values(self, filter_name: Filter = None, filter_typename: Filter = None) -> list[Column]:
        """The columns that keys() names. Nothing is read yet."""
        return [Column(self, name) for name in self.keys(filter_name, filter_typename)]

    def items(self, filter_name: Filter = None, filter_typename: Filter = None) -> list[tuple[str, Column]]:
        """The names that keys() gives, each with its column. Nothing is read yet."""
        return [(column.name, column) for column in self.values(filter_name, filter_typename)]

    def show(self, filter_name: Filter = None, filter_typename: Filter = None, *, stream: Stream | None = None) -> None:
        """Prints a line for each column: name, type in C++, and its files below the table."""
        show(("name", "type", "files"), self._lines(filter_name, filter_typename), stream)

    @of_one_state
    def _lines(self, filter_name: Filter, filter_typename: Filter) -> list[tuple[str, str, str]]:
        return [(name, each, ", ".join(part["path"] for part in self.parts_of(name)))
                for name, each in self.typenames(filter_name, filter_typename).items()]

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        return name in self.buffers.names

    def __getitem__(self, name: str) -> Column:
        """A column, or by a path a member of one: t["energy"], t["event/x"]. KeyError with the nearest name if there is
        none. Nothing is read yet."""
        if not isinstance(name, str):
            raise KeyError(name)
        last = self._states.last
        if last is not None and name in last.known.buffers.names:  # whether it still is shows when it is read
            return Column(self, name)
        return self._column(name)

    @of_one_state
    def _column(self, name: str) -> Column:
        top, *members = [name] if name in self.buffers.names else name.split("/")
        if top not in self.buffers.names:
            raise missing(name, self.buffers.names)
        if members:
            self.buffers.members(top, members)
        return Column(self, top, members)

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    def between(self, start: int | None, stop: int | None) -> tuple[int, int]:
        """Entries, as a slice of a list counts them."""
        first, last, _ = slice(start, stop).indices(self.buffers.length)
        return first, max(first, last)

    def is_copied(self, copy: bool | None, start: int, stop: int) -> bool:
        """What copy=None stands for, of entries start..stop. A mapped page that cannot be read ends the process, and a file
        that is mapped holds up a commit: only files of this machine, mounted to be read, are mapped. What is not mounted is
        mapped where all of it is wanted, for it is read before it is mapped."""
        if copy is not None:
            return copy
        is_part = (start, stop) != (0, self.num_entries)
        return not getattr(self._owner, "is_mappable", False) or is_part and not isinstance(self._place, MountedPlace)

    @overload
    def numpy(self, name: str, /) -> NumpyArray: ...
    @overload
    def numpy(self, /) -> NumpyArrays: ...
    @overload
    def numpy(self, name: str, another: str, /, *more: str) -> NumpyArrays: ...
    @of_one_state
    def numpy(self, *names: str) -> NumpyArray | NumpyArrays:
        """A column as an array of shape (entries, ...), in memory; several, or without a name all that are numbers, as a
        dictionary of arrays. Parts of a list are columns, too: numpy("Muon_pt/values"). KeyError for a name that is not there,
        TypeError for a column that is not numbers."""
        numbers = self._states.known.numbers
        numbers_alone = (name for name in self.columns if name in numbers and not numbers[name]["reason"])
        arrays = {name: self.read(name) for name in names or numbers_alone}
        return arrays if len(names) != 1 else arrays[names[0]]

    @of_one_state
    def read(self, name: str, copy: bool = True, start: int = 0, stop: int | None = None) -> NumpyArray:
        """Items start..stop of a column of numbers, or of a part of a list; mapped if not `copy`."""
        numbers = self._states.known.numbers
        column = numbers.get(name) or numbers.get(without_type(name))
        if column is None:
            column, *others = self.parts_of(name)
            if others or "/" in column["path"]:
                raise TypeError(f"{name} is not one number for each entry: awkward({name!r}) reads it")
        if column["reason"]:
            raise TypeError(f"{name}: {column['reason']}")
        size = 1
        for each in column["shape"]:
            size *= each
        place = self._place / column["path"]
        read = place.numbers(column["dtype"], copy, start * size, None if stop is None else stop * size)
        shaped: NumpyArray = read.reshape(-1, *column["shape"])
        return shaped

    @of_one_state
    def awkward(self, *patterns: str) -> AwkwardArray:
        """Columns as one array of records, in memory; all of them without a pattern: awkward("energy", "Muon_*"). KeyError
        for a pattern that stands for nothing."""
        return self.buffers.record(chosen(patterns or None, self.buffers.names), 0, self.buffers.length, copy=True)

    def arrow(self, *names: str) -> pyarrow.Table:
        """Columns as a table of Arrow, in memory; all of them without a name. KeyError for a name that is not there."""
        return self.read_arrow(list(names) or None, copy=True)

    @of_one_state
    def read_arrow(self, names: list[str] | None, copy: bool) -> pyarrow.Table:
        """The same; mapped if not `copy`."""
        import pyarrow as pa

        with self._place.beside(".arrow").arrow_file(copy) as file:
            fields = pa.ipc.open_file(file).schema.names
            for name in names or ():
                if name not in fields:
                    raise missing(name, fields)
            wanted = None if names is None else [fields.index(name) for name in names]
            read = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=wanted)).read_all()
            return read if names is None else read.select(names)

    def to_pandas(self, expressions: Names = None, cut: str | None = None) -> pandas.DataFrame:
        """Columns as a DataFrame of pandas: lists are arrays, texts str. As arrays(..., library="pd")."""
        return self.arrays(expressions, cut, library="pd")

    def to_polars(self, expressions: Names = None, cut: str | None = None) -> polars.DataFrame:
        """Columns as a DataFrame of polars. As arrays(..., library="pl")."""
        return self.arrays(expressions, cut, library="pl")

    def to_duckdb(self, connection: duckdb.DuckDBPyConnection | None = None) -> duckdb.DuckDBPyRelation:
        """A relation of DuckDB, which reads what a query needs, as long as the table is mounted; of what is not mounted, a
        relation of all columns in memory: t.to_duckdb().filter("energy > 100").aggregate("run, count(*)")."""
        import glob

        import duckdb

        if not isinstance(self._place, MountedPlace):
            return (connection or duckdb).from_arrow(self.arrow())  # type: ignore[no-any-return, unused-ignore]
        return (connection or duckdb).read_parquet(glob.escape(self.path + ".parquet"))  # type: ignore[no-any-return, unused-ignore]

    @overload
    def arrays(self, expressions: Names = ..., cut: str | None = ..., *, filter_name: Filter = ..., entry_start: int | None = ...,
               entry_stop: int | None = ..., library: Literal["ak", "awkward"] = ..., copy: bool | None = ...) -> AwkwardArray: ...
    @overload
    def arrays(self, expressions: Names = ..., cut: str | None = ..., *, filter_name: Filter = ..., entry_start: int | None = ...,
               entry_stop: int | None = ..., library: Literal["np", "numpy"], copy: bool | None = ...) -> NumpyArrays: ...
    @overload
    def arrays(self, expressions: Names = ..., cut: str | None = ..., *, filter_name: Filter = ..., entry_start: int | None = ...,
               entry_stop: int | None = ..., library: Literal["pd", "pandas"], copy: bool | None = ...) -> pandas.DataFrame: ...
    @overload
    def arrays(self, expressions: Names = ..., cut: str | None = ..., *, filter_name: Filter = ..., entry_start: int | None = ...,
               entry_stop: int | None = ..., library: Literal["pl", "polars"], copy: bool | None = ...) -> polars.DataFrame: ...
    @overload
    def arrays(self, expressions: Names = ..., cut: str | None = ..., *, filter_name: Filter = ..., entry_start: int | None = ...,
               entry_stop: int | None = ..., library: Literal["arrow", "pyarrow"], copy: bool | None = ...) -> pyarrow.Table: ...
    @overload
    def arrays(self, expressions: Names = ..., cut: str | None = ..., *, filter_name: Filter = ..., entry_start: int | None = ...,
               entry_stop: int | None = ..., library: str, copy: bool | None = ...) -> Any: ...
    @of_one_state
    def arrays(self, expressions: Names = None, cut: str | None = None, *, filter_name: Filter = None, entry_start: int | None = None,
               entry_stop: int | None = None, library: str = "ak", copy: bool | None = None) -> Any:
        """Columns, as "ak" an awkward.Array of records, as "np" {name: array}, of objects where they are lists or texts, as
        "pd" and "pl" a DataFrame, as "arrow" a pyarrow.Table.

        `expressions`: names and patterns; all columns for None. KeyError for what is not there. `filter_name`: of these only
        what matches. `cut`: a condition in NumPy's spelling, "(nMuon >= 2) & any(Muon_pt > 20)": only entries that fulfil it;
        ValueError if it is anything else. `entry_start`, `entry_stop`: as of a slice.

        `copy`: True reads into memory, False maps the files, so that only what is used is read; a mapped page that cannot be
        read ends the process. None maps files of this machine that are mounted to be read, and reads others."""
        names = self._wanted(expressions, filter_name)
        part = self.between(entry_start, entry_stop)
        return Reading(self, names, cut, library, self.is_copied(copy, *part)).part(*part)

    def _wanted(self, expressions: Names, filter_name: Filter) -> list[str]:
        return matching(filter_name, chosen(expressions, self.buffers.names))

    @of_a_mount
    def _part(self, reading: Reading, start: int, stop: int, state: State[_Described]) -> Any:
        return self._states.read(lambda: reading.part(start, stop), state)

    def iterate(self, expressions: Names = None, cut: str | None = None, *, step_size: int | str = "100 MB", filter_name: Filter = None,
                entry_start: int | None = None, entry_stop: int | None = None, library: str = "ak", copy: bool | None = None) -> Iterator[Any]:
        """The same in steps: what arrays() gives, of `step_size` entries each, or of as many as take about "100 MB". MountError
        if the file has changed since the first."""

        def begin() -> tuple[Reading, range, int, State[_Described]]:
            start, stop = self.between(entry_start, entry_stop)
            # Steps are parts: what is not mounted is not held as a whole.
            reading = Reading(self, self._wanted(expressions, filter_name), cut, library, self.is_copied(copy, start, start))
            return reading, reading.steps(start, stop, step_size), stop, self._states.now

        reading, steps, stop, state = self._begun(begin)
        return (self._part(reading, first, min(first + steps.step, stop), state) for first in steps)

    @of_one_state
    def _begun(self, begin: Callable[[], Any]) -> Any:
        return begin()

    @of_a_mount
    def extend(self, data: Any) -> None:
        """More entries, for each column, of a mount with "rw"; data as in f["Events"] = data. They are committed by
        Mount.commit(), or when the mount ends, and shown by what is asked for from then on. ValueError if these are other
        columns, or columns of different lengths."""
        from ._write import extend

        path = self._place.writable_path()
        with refusals(getattr(self._owner, "path", "")):
            extend(path, data)

    def __repr__(self) -> str:
        try:
            return f"<tfilefs.Table {self.name!r}: {len(self)} entries of {first_of(self.columns)}>"
        except OSError as error:
            return f"<tfilefs.Table {self.name!r}, {error if self._place.is_open() else 'not mounted any more'}>"

    @of_one_state
    def _repr_html_(self) -> str:
        rows = [(column["path"], column["dtype"], " × ".join(map(str, column["shape"])), column["length"], column["title"])
                for column in self.schema["columns"]]
        return page(f"{self.name}: {len(self)} entries", ("column", "type", "shape", "items", "title"), rows)
