# SPDX-License-Identifier: Apache-2.0
"""What stands at a path of a mount."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ._error import MountError, of_a_mount

if TYPE_CHECKING:
    import numpy


def item_at(path: str, name: str, owner: object) -> Any:
    """The directory, table or object there; of any other file its path."""
    from ._histogram import Histogram
    from ._table import Table

    if not os.path.isdir(path):
        os.stat(path)
        return path
    names = set(os.listdir(path))
    if "object.bin" in names:
        is_histogram = any(each.startswith("values.") for each in names) and any("edges" in each for each in names)
        return Histogram(path, name, owner) if is_histogram else Object(path, name, owner)
    return (Table if os.path.exists(os.path.join(path, ".schema.json")) else Directory)(path, name, owner)


class Directory(Mapping[str, Any]):
    """A directory of a ROOT file, or of ROOT files: a mapping of names. A name may be a path: d["tracker/hits"]."""

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
        path = self._path(name)
        try:
            return item_at(path, name, self if self._owner is None else self._owner)
        except (FileNotFoundError, NotADirectoryError):
            os.listdir(self.path)
            raise KeyError(name) from None

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

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        try:
            return f"<tfilefs.{type(self).__name__} {self.name!r}: {', '.join(self)}>"
        except MountError:
            return f"<tfilefs.{type(self).__name__} {self.name!r}, not mounted any more>"


class Object:
    """An object that is no table: its arrays, its JSON, and its plot where it has one."""

    def __init__(self, path: str, name: str, owner: object = None) -> None:
        self.path, self.name = path, name
        self._owner = owner  # the mount, which stays as long as anything of it is referred to

    @of_a_mount
    def numpy(self, array: str) -> numpy.ndarray:
        """One of its arrays: numpy("x") of a graph."""
        import numpy as np

        return np.load(os.path.join(self.path, array + ".npy"))

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
