# SPDX-License-Identifier: Apache-2.0
"""What stands at a path of a mount."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Iterable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import TYPE_CHECKING, Any

from ._error import MountError, first_of, missing, of_a_mount, refusals
from ._html import page
from ._names import Filter, in_a_mount, matching
from ._place import MountedPlace, Place, Placed
from ._show import Stream, show

if TYPE_CHECKING:
    from ._types import NumpyArray


def item_at(place: Place, name: str, owner: object) -> Any:
    """The directory, table or object there; of any other file its path."""
    from ._histogram import Histogram
    from ._table import Table
    from ._write import StagedTable, is_staged_table

    if not place.is_directory():
        if not place.exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        return place.path
    if not (place / "object.bin").exists() or (place / ".awkward.json").exists():  # of a table, with a column of that name
        if is_table(place):  # which is asked first: a wide table takes long to list
            return Table(place, name, owner)
        if isinstance(place, MountedPlace) and is_staged_table(place.path, place.names()):
            return StagedTable(place.path, name, owner)
        return Directory(place, name, owner)
    names = place.names()
    is_histogram = any(each.startswith("values.") for each in names) and any("edges" in each for each in names)
    return Histogram(place, name, owner) if is_histogram else Object(place, name, owner)


def is_table(place: Place) -> bool:
    return (place / ".schema.json").exists()


def class_at(place: Place) -> str:
    """The class of the key there; `TDirectory` of what is no key, as the files of a directory."""
    return place.attribute("class") or ("TTree" if is_table(place) else "TDirectory" if place.is_directory() else "")


class Directory(Placed, Mapping[str, Any]):
    """A directory of a ROOT file, or of ROOT files: a mapping of names. A name may be a path: d["tracker/hits"].

    `path`: where other programs find it. `name`: by which it was asked for."""

    def __init__(self, place: Place, name: str, owner: object = None) -> None:
        self._place, self.name = place, name
        self._owner = owner  # the mount, which stays as long as anything of it is referred to

    def _below(self, name: object) -> Place:
        """Of what is in the directory or below it: a name that leads out of it is not there."""
        parts = [part for part in name.split("/") if part not in ("", ".")] if isinstance(name, str) else [".."]
        if ".." in parts or "\0" in "".join(parts):
            raise KeyError(name)
        return self._place / "/".join(parts) if parts else self._place

    @of_a_mount
    def __getitem__(self, name: str) -> Any:
        """The Directory, Table, Histogram or Object of that name. KeyError, with the nearest name, if there is none.

        A column of a table is found as well: d["Events/energy"] is d["Events"]["energy"]."""
        place = self._below(name)
        try:
            column = self._column(name)
            return item_at(place, name, self if self._owner is None else self._owner) if column is None else column
        except (FileNotFoundError, NotADirectoryError):
            self._place.names()
            raise missing(name, self._near(name)) from None

    @of_a_mount
    def __setitem__(self, name: str, value: Any) -> None:
        """Writes a new table, histogram or object, of a mount with "rw". It is committed by Mount.commit(), or when the mount
        ends. Directories above it are made.

        A table: a dictionary of arrays, records of Awkward Array, a structured array, a DataFrame of pandas or polars, a table
        of Arrow. A histogram: what numpy.histogram gives, and of hist, boost_histogram and uproot. An object: a Histogram or
        Object of another mount, which is copied.

        FileExistsError if there is something of that name, TypeError for anything else, ValueError for columns of different
        lengths, MountError for what the mount refuses."""
        from ._write_histogram import is_histogram, write_histogram
        from ._write import write_table

        path = self._new_path(name)
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, "it is there already", name)
        with self._refusals():
            if isinstance(value, Object):
                value._place.copy_to(path)
            else:
                (write_histogram if is_histogram(value) else write_table)(path, value)

    def mkdir(self, name: str) -> Directory:
        """Makes a directory, and those above it; of a mount with "rw"."""
        path = self._new_path(name)
        with self._refusals():
            os.makedirs(path, exist_ok=True)
        return Directory(MountedPlace(path), name, self if self._owner is None else self._owner)

    def _new_path(self, name: str) -> str:
        """Of what gets that name."""
        self._below(name)
        return self._below("/".join(in_a_mount(part) for part in name.split("/") if part not in ("", "."))).writable_path()

    def _refusals(self) -> contextlib.AbstractContextManager[None]:
        return refusals(self.path if self._owner is None else getattr(self._owner, "path", ""))

    def _column(self, name: str) -> Any:
        """The column of a table that a path leads to; None if it leads elsewhere."""
        parts = [part for part in name.split("/") if part not in ("", ".")]
        for i in range(1, len(parts)):
            above = "/".join(parts[:i])
            if class_at(self._below(above)) not in ("", "TDirectory"):
                table, rest = self[above], "/".join(parts[i:])
                return table[rest] if is_table(table._place) and hasattr(table, "num_entries") and parts[i] in table else None
        return None

    def _near(self, name: str) -> list[str]:
        """What is in the last directory of a path that is there, with the path."""
        above, _, _ = name.rpartition("/")
        while above and not self._below(above).is_directory():
            above, _, _ = above.rpartition("/")
        place = self._below(above)
        found = self[above].keys() if above and is_table(place) else (each for each in place.names() if not each.startswith("."))
        return sorted(f"{above}/{each}" if above else each for each in found)

    @of_a_mount
    def __iter__(self) -> Iterator[str]:
        return iter(sorted(name for name in self._place.names() if not name.startswith(".")))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        try:
            return self._below(name).exists() or self._column(str(name)) is not None
        except KeyError:
            return False

    def _names(self, recursive: bool) -> Iterator[str]:
        for name in self:
            yield name
            place = self._place / name
            if recursive and class_at(place) == "TDirectory":
                yield from (f"{name}/{each}" for each in Directory(place, name)._names(True))

    @of_a_mount
    def keys(self, recursive: bool = False, filter_name: Filter = None, filter_classname: Filter = None) -> KeysView[str]:
        """The names of what is in the directory. `recursive`: with what is in its directories, as paths. `filter_name`,
        `filter_classname`: only those that match, or whose class matches, one of these names, patterns and regular
        expressions, "/Jet_.*/i", or for which a function is true."""
        names = matching(filter_name, self._names(recursive))
        if filter_classname is not None:
            classes = {name: class_at(self._place / name) for name in names}
            wanted = set(matching(filter_classname, classes.values()))
            names = [name for name in names if classes[name] in wanted]
        return dict.fromkeys(names).keys()

    def items(self, recursive: bool = False, filter_name: Filter = None, filter_classname: Filter = None) -> ItemsView[str, Any]:
        """The names that keys() gives, each with what f[name] gives, which is looked up when it is met."""
        return ItemsView(_Chosen(self, self.keys(recursive, filter_name, filter_classname)))

    def values(self, recursive: bool = False, filter_name: Filter = None, filter_classname: Filter = None) -> ValuesView[Any]:
        """What f[name] gives for each of the names that keys() gives."""
        return ValuesView(_Chosen(self, self.keys(recursive, filter_name, filter_classname)))

    def classnames(self, recursive: bool = False, filter_name: Filter = None, filter_classname: Filter = None) -> dict[str, str]:
        """{name: class} of the keys that keys() gives: {"Events": "TTree", "tracker": "TDirectory"}."""
        return {name: class_at(self._place / name) for name in self.keys(recursive, filter_name, filter_classname)}

    def show(self, recursive: bool = False, filter_name: Filter = None, filter_classname: Filter = None, *, stream: Stream | None = None) -> None:
        """Prints a line for each of the keys that keys() gives: name, class, title."""
        rows = [(name, each, (self._place / name).attribute("title"))
                for name, each in self.classnames(recursive, filter_name, filter_classname).items()]
        show(("name", "class", "title"), rows, stream)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        try:
            return f"<tfilefs.{type(self).__name__} {self.name!r}: {first_of(self)}>"
        except MountError:
            return f"<tfilefs.{type(self).__name__} {self.name!r}, not mounted any more>"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.keys(recursive=True))

    def _repr_html_(self) -> str:
        """A table of names, classes and titles; the first hundred."""
        rows = [(name, classname, (self._place / name).attribute("title")) for name, classname in self.classnames().items()]
        return page(self.name or os.path.basename(getattr(self, "source", "")), ("name", "class", "title"), rows)


class _Chosen(Mapping[str, Any]):
    """Some names of a directory."""

    def __init__(self, directory: Directory, names: Iterable[str]) -> None:
        self._directory, self._names = directory, list(names)

    def __getitem__(self, name: str) -> Any:
        return self._directory[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Object(Placed):
    """An object that is no table: its arrays, its JSON, and its plot where it has one."""

    def __init__(self, place: Place, name: str, owner: object = None) -> None:
        self._place, self.name = place, name
        self._owner = owner  # the mount, which stays as long as anything of it is referred to

    @property
    def classname(self) -> str:
        """The class: `TH1D`."""
        return self._place.attribute("class")

    @property
    def title(self) -> str:
        """The title of its key."""
        return self._place.attribute("title")

    @of_a_mount
    def numpy(self, array: str) -> NumpyArray:
        """One of its arrays, in memory: numpy("x") of a graph. FileNotFoundError if it has no array of that name."""
        return (self._place / (array + ".npy")).npy()

    @of_a_mount
    def json(self) -> Any:
        """The object as ROOT's own JSON."""
        return json.loads((self._place / "object.json").text("surrogateescape"))

    @of_a_mount
    def svg(self, log: str = "") -> str:
        """The plot; `log`: the axes that are logarithmic, such as "y". FileNotFoundError if it has none."""
        name = f"plot.log{log}.svg" if log else "plot.svg"
        return (self._place / name).text()

    def _repr_svg_(self) -> str | None:
        try:
            return self.svg()
        except OSError:
            return None

    def __repr__(self) -> str:
        return f"<tfilefs.{type(self).__name__} {self.name!r}>"
