# SPDX-License-Identifier: Apache-2.0
"""What stands at a path of a mount."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Iterator, KeysView, Mapping
from typing import TYPE_CHECKING, Any

from ._error import MountError, missing, of_a_mount, refusals
from ._html import page
from ._names import Names, in_a_mount, matching

if TYPE_CHECKING:
    from ._types import NumpyArray


def item_at(path: str, name: str, owner: object) -> Any:
    """The directory, table or object there; of any other file its path."""
    from ._histogram import Histogram
    from ._table import Table
    from ._write import StagedTable, is_staged_table

    if not os.path.isdir(path):
        os.stat(path)
        return path
    if not os.path.exists(os.path.join(path, "object.bin")):
        if is_table(path):  # which is asked first: a wide table takes long to list
            return Table(path, name, owner)
        return (StagedTable if is_staged_table(path, os.listdir(path)) else Directory)(path, name, owner)
    names = os.listdir(path)
    is_histogram = any(each.startswith("values.") for each in names) and any("edges" in each for each in names)
    return Histogram(path, name, owner) if is_histogram else Object(path, name, owner)


def is_table(path: str) -> bool:
    return os.path.exists(os.path.join(path, ".schema.json"))


def attribute(path: str, name: str) -> str:
    """What the mount says of a path: `class`, `title`; empty if it says nothing."""
    try:
        return os.fsdecode(os.getxattr(path, "user.tfilefs." + name))
    except OSError:
        return ""


def class_at(path: str) -> str:
    """The class of the key there; `TDirectory` of what is no key, as the files of a directory."""
    return attribute(path, "class") or ("TTree" if is_table(path) else "TDirectory" if os.path.isdir(path) else "")


class Directory(Mapping[str, Any]):
    """A directory of a ROOT file, or of ROOT files: a mapping of names. A name may be a path: d["tracker/hits"].

    `path`: where other programs find it. `name`: by which it was asked for."""

    def __init__(self, path: str, name: str, owner: object = None) -> None:
        self.path, self.name = path, name
        self._owner = owner  # the mount, which stays as long as anything of it is referred to

    def _path(self, name: object) -> str:
        """Of what is in the directory or below it: a name that leads out of it is not there."""
        parts = [part for part in name.split("/") if part not in ("", ".")] if isinstance(name, str) else [".."]
        if ".." in parts or "\0" in "".join(parts):
            raise KeyError(name)
        return os.path.join(self.path, *parts)

    @of_a_mount
    def __getitem__(self, name: str) -> Any:
        """The Directory, Table, Histogram or Object of that name. KeyError, with the nearest name, if there is none.

        A column of a table is found as well: d["Events/energy"] is d["Events"]["energy"]."""
        path = self._path(name)
        try:
            column = self._column(name)
            return item_at(path, name, self if self._owner is None else self._owner) if column is None else column
        except (FileNotFoundError, NotADirectoryError):
            os.listdir(self.path)
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
                import shutil

                shutil.copytree(value.path, path)
            else:
                (write_histogram if is_histogram(value) else write_table)(path, value)

    def mkdir(self, name: str) -> Directory:
        """Makes a directory, and those above it; of a mount with "rw"."""
        path = self._new_path(name)
        with self._refusals():
            os.makedirs(path, exist_ok=True)
        return Directory(path, name, self if self._owner is None else self._owner)

    def _new_path(self, name: str) -> str:
        """Of what gets that name."""
        self._path(name)
        return self._path("/".join(in_a_mount(part) for part in name.split("/") if part not in ("", ".")))

    def _refusals(self) -> contextlib.AbstractContextManager[None]:
        return refusals(self.path if self._owner is None else getattr(self._owner, "path", ""))

    def _column(self, name: str) -> Any:
        """The column of a table that a path leads to; None if it leads elsewhere."""
        parts = [part for part in name.split("/") if part not in ("", ".")]
        for i in range(1, len(parts)):
            above = "/".join(parts[:i])
            if class_at(self._path(above)) not in ("", "TDirectory"):
                table, rest = self[above], "/".join(parts[i:])
                return table[rest] if is_table(table.path) and hasattr(table, "num_entries") and parts[i] in table else None
        return None

    def _near(self, name: str) -> list[str]:
        """What is in the last directory of a path that is there, with the path."""
        above, _, _ = name.rpartition("/")
        while above and not os.path.isdir(self._path(above)):
            above, _, _ = above.rpartition("/")
        found = (each for each in os.listdir(self._path(above)) if not each.startswith("."))
        return sorted(f"{above}/{each}" if above else each for each in found)

    @of_a_mount
    def __iter__(self) -> Iterator[str]:
        return iter(sorted(name for name in os.listdir(self.path) if not name.startswith(".")))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        try:
            return os.path.lexists(self._path(name))
        except KeyError:
            return False

    def _below(self, recursive: bool) -> Iterator[str]:
        for name in self:
            yield name
            path = os.path.join(self.path, name)
            if recursive and class_at(path) == "TDirectory":
                yield from (f"{name}/{each}" for each in Directory(path, name)._below(True))

    @of_a_mount
    def keys(self, recursive: bool = False, filter_name: Names = None) -> KeysView[str]:
        """The names of what is in the directory. `recursive`: with what is in its directories, as paths. `filter_name`:
        only those that match one of these names and patterns."""
        return dict.fromkeys(matching(filter_name, self._below(recursive))).keys()

    def classnames(self, recursive: bool = False, filter_name: Names = None) -> dict[str, str]:
        """{name: class} of the keys that keys() gives: {"Events": "TTree", "tracker": "TDirectory"}."""
        return {name: class_at(os.path.join(self.path, name)) for name in self.keys(recursive, filter_name)}

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        try:
            return f"<tfilefs.{type(self).__name__} {self.name!r}: {', '.join(self)}>"
        except MountError:
            return f"<tfilefs.{type(self).__name__} {self.name!r}, not mounted any more>"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.keys(recursive=True))

    def _repr_html_(self) -> str:
        """A table of names, classes and titles; the first hundred."""
        rows = [(name, classname, attribute(os.path.join(self.path, name), "title")) for name, classname in self.classnames().items()]
        return page(self.name or os.path.basename(getattr(self, "source", "")), ("name", "class", "title"), rows)


class Object:
    """An object that is no table: its arrays, its JSON, and its plot where it has one."""

    def __init__(self, path: str, name: str, owner: object = None) -> None:
        self.path, self.name = path, name
        self._owner = owner  # the mount, which stays as long as anything of it is referred to

    @property
    def classname(self) -> str:
        """The class: `TH1D`."""
        return attribute(self.path, "class")

    @property
    def title(self) -> str:
        """The title of its key."""
        return attribute(self.path, "title")

    @of_a_mount
    def numpy(self, array: str) -> NumpyArray:
        """One of its arrays, in memory: numpy("x") of a graph. FileNotFoundError if it has no array of that name."""
        import numpy as np

        read: NumpyArray = np.load(os.path.join(self.path, array + ".npy"))
        return read

    @of_a_mount
    def json(self) -> Any:
        """The object as ROOT's own JSON."""
        with open(os.path.join(self.path, "object.json"), encoding="utf-8", errors="surrogateescape") as file:
            return json.load(file)

    @of_a_mount
    def svg(self, log: str = "") -> str:
        """The plot; `log`: the axes that are logarithmic, such as "y". FileNotFoundError if it has none."""
        name = f"plot.log{log}.svg" if log else "plot.svg"
        with open(os.path.join(self.path, name), encoding="utf-8") as file:
            return file.read()

    def _repr_svg_(self) -> str | None:
        try:
            return self.svg()
        except OSError:
            return None

    def __repr__(self) -> str:
        return f"<tfilefs.{type(self).__name__} {self.name!r}>"
