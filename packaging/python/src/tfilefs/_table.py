# SPDX-License-Identifier: Apache-2.0
"""A TTree or RNTuple."""

from __future__ import annotations

import errno
import functools
import html
import json
import os
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from ._error import MountError, of_a_mount

if TYPE_CHECKING:
    import awkward
    import numpy
    import pyarrow

_TYPE = re.compile(r"\.(b1|[iu][1248]|f[48])(x\d+)*$")


def _without_type(path: str) -> str:
    return _TYPE.sub("", path)


def _array(path: str, dtype: numpy.dtype) -> numpy.ndarray:
    """All numbers of a file, or the error. (numpy.fromfile returns memory that nobody has written where a read fails.)"""
    import numpy as np

    with open(path, "rb") as file:
        numbers = np.empty(os.fstat(file.fileno()).st_size // dtype.itemsize, dtype)
        if file.readinto(numbers.view("u1").data) != numbers.nbytes:
            raise OSError(errno.EIO, "the file ends too early", path)
    return numbers


class Table:
    """A table. What is read is in memory: it stays when the mount has gone."""

    def __init__(self, path: str, name: str, owner: object = None) -> None:
        self.path, self.name = path, name
        self._owner = owner

    def __len__(self) -> int:
        """The number of entries."""
        return self.schema["entries"]

    @functools.cached_property
    @of_a_mount
    def schema(self) -> dict[str, Any]:
        """What .schema.json says of the table and of each column."""
        with open(os.path.join(self.path, ".schema.json"), encoding="utf-8", errors="surrogateescape") as file:
            return json.load(file)

    @functools.cached_property
    def columns(self) -> list[str]:
        """The names that awkward() and arrow() take; numpy() those of them that are one number for each entry."""
        return list(dict.fromkeys(_without_type(column["path"].split("/")[0]) for column in self.schema["columns"]))

    @functools.cached_property
    def _numbers(self) -> dict[str, dict[str, Any]]:
        return {_without_type(column["path"]): column for column in self.schema["columns"]}

    def numpy(self, *names: str) -> numpy.ndarray | dict[str, numpy.ndarray]:
        """A column as an array; several, or without a name all that are numbers, as a dictionary of arrays. Parts of a list
        are columns, too: numpy("Muon_pt/values")."""
        numbers = (name for name in self.columns if name in self._numbers and not self._numbers[name]["reason"])
        arrays = {name: self._read(name) for name in names or numbers}
        return arrays if len(names) != 1 else arrays[names[0]]

    @of_a_mount
    def _read(self, name: str) -> numpy.ndarray:
        import numpy as np

        column = self._numbers.get(name) or self._numbers.get(_without_type(name))
        if column is None:
            if name in self.columns:
                raise TypeError(f"{name} is not one number for each entry: awkward({name!r}) reads it")
            raise KeyError(f"{name}; there are {', '.join(self.columns)}")
        if column["reason"]:
            raise TypeError(f"{name}: {column['reason']}")
        return _array(os.path.join(self.path, column["path"]), np.dtype(column["dtype"])).reshape(-1, *column["shape"])

    @of_a_mount
    def awkward(self, *patterns: str) -> awkward.Array:
        """Columns as one array of records; all of them without a pattern. awkward("energy", "Muon_*")"""
        import awkward as ak
        import numpy as np

        with open(os.path.join(self.path, ".awkward.json"), encoding="utf-8", errors="surrogateescape") as file:
            view = json.load(file)
        kept = [i for i, field in enumerate(view["form"]["fields"])
                if not patterns or any(fnmatchcase(field, pattern) for pattern in patterns)]
        if not kept:
            raise KeyError(f"{', '.join(patterns)}; there are {', '.join(view['form']['fields'])}")
        form = ak.forms.from_dict({**view["form"], **{part: [view["form"][part][i] for i in kept] for part in ("fields", "contents")}})
        buffers = {key: np.load(os.path.join(self.path, view["files"][key] + ".npy")).reshape(-1)
                   for key in form.expected_from_buffers(recursive=True) if key in view["files"]}
        return ak.from_buffers(form, view["length"], buffers)

    @of_a_mount
    def arrow(self, *names: str) -> pyarrow.Table:
        """Columns as a table of Arrow; all of them without a name."""
        import pyarrow as pa

        with pa.OSFile(self.path + ".arrow") as file:
            fields = pa.ipc.open_file(file).schema.names
            if unknown := [name for name in names if name not in fields]:
                raise KeyError(f"{', '.join(unknown)}; there are {', '.join(fields)}")
            wanted = [fields.index(name) for name in names] if names else None
            return pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=wanted)).read_all()

    def __repr__(self) -> str:
        try:
            return f"<tfilefs.Table {self.name!r}: {len(self)} entries of {', '.join(self.columns)}>"
        except MountError:
            return f"<tfilefs.Table {self.name!r}, not mounted any more>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(column['path'])}</td><td>{html.escape(column['dtype'])}</td>"
            f"<td>{html.escape(' × '.join(map(str, column['shape'])))}</td><td>{column['length']}</td>"
            f"<td>{html.escape(column['title'])}</td></tr>"
            for column in self.schema["columns"])
        return (f"<table><caption>{html.escape(self.name)}: {len(self)} entries</caption>"
                f"<tr><th>column</th><th>type</th><th>shape</th><th>items</th><th>title</th></tr>{rows}</table>")
