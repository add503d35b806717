# SPDX-License-Identifier: Apache-2.0
"""Tables that are written: arrays become the files of columns, which the mount commits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ._error import refusals
from ._given import as_lists, columns_of
from ._names import dtype_of, in_a_mount, without_type

if TYPE_CHECKING:
    from ._types import NumpyArray

Parts = dict[str, Any]  # what the files below a table get; paths that end in offsets.i8 are offsets

OFFSETS = "offsets.i8"
TABLE = ".table"  # makes a directory one

_UNTYPED = "there is nothing in it that has a type: awkward.enforce_type(x, 'var * float32') gives it one"


class StagedTable:
    """A table that is written and not committed yet. Mount.commit(), or the end of the block, makes it a Table."""

    def __init__(self, path: str, name: str, owner: object = None) -> None:
        self.path, self.name = path, name
        self._owner = owner

    def extend(self, data: Any) -> None:
        """More entries, for each column. ValueError if these are other columns, or columns of different lengths."""
        with refusals(getattr(self._owner, "path", "")):
            extend(self.path, data)

    def __repr__(self) -> str:
        return f"<tfilefs.StagedTable {self.name!r}>"


def is_staged_table(path: str, names: list[str]) -> bool:
    """Whether a directory that is no table yet has columns."""
    return TABLE in names or any(without_type(name) != name or os.path.exists(os.path.join(path, name, OFFSETS)) for name in names)


def write_table(path: str, data: Any) -> None:
    """A new table. All files are there before the first is filled: what has too few items is not committed."""
    parts = _parts(data)
    os.makedirs(path)
    with open(os.path.join(path, TABLE), "xb"):  # of records alone it would be a directory, and each record a table
        pass
    for name in parts:
        os.makedirs(os.path.dirname(os.path.join(path, name)), exist_ok=True)
        with open(os.path.join(path, name), "xb"):
            pass
    for name, numbers in parts.items():
        _append(os.path.join(path, name), numbers)


def extend(path: str, data: Any) -> None:
    """Entries behind those of a table, which may be committed or not."""
    there = {os.path.relpath(os.path.join(folder, name), path) for folder, _, names in os.walk(path) for name in names} - {TABLE}
    parts = _parts(data, there)
    if differing := sorted(there ^ set(parts)):
        raise ValueError(f"the columns are others than those of the table, or of another type: {', '.join(differing)}")
    for name, numbers in parts.items():
        if os.path.basename(name) == OFFSETS:
            numbers = numbers[1:] + _last(os.path.join(path, name))
        _append(os.path.join(path, name), numbers)


def _last(path: str) -> int:
    """The last offset, behind which the next list begins."""
    with open(path, "rb", buffering=0) as file:
        file.seek(-8, os.SEEK_END)
        return int.from_bytes(file.read(8), "little", signed=True)


def _append(path: str, numbers: NumpyArray) -> None:
    with open(path, "ab") as file:
        file.write(numbers.reshape(-1).view("u1").data)


def _parts(data: Any, there: Iterable[str] = ()) -> Parts:
    """Of columns of one length, or ValueError. `there`: the files of the table that they come to."""
    columns = columns_of(data)
    if len({len(column) for column in columns.values()}) != 1:
        told = ", ".join(f"{name} has {len(column)}" for name, column in columns.items())
        raise ValueError(f"columns of a table have the same number of entries; {told}" if told else "a table has columns")
    parts: Parts = {}
    for name, column in columns.items():
        found = dict(_of_column(in_a_mount(name), column, there))
        if not found:
            raise ValueError(f"{name} is a record without members")
        parts.update(found)
    return parts


def _of_column(path: str, column: Any, there: Iterable[str]) -> Iterator[tuple[str, NumpyArray]]:
    import numpy as np

    if isinstance(column, np.ndarray):
        depth, dtype = _lists_in(path, there)
        if depth == 0 or depth >= column.ndim and column.size:
            yield from _of_numbers(path, column)
            return
        column = as_lists(column, depth, dtype)
    import awkward as ak

    yield from _of_layout(path, ak.to_packed(column).layout)


def _lists_in(path: str, there: Iterable[str]) -> tuple[int, str]:
    """Of a column of a table: how deep its lists are in lists, and the type of the numbers in them."""
    depth = 0
    while f"{path}/{OFFSETS}" in there:
        path, depth = path + "/values", depth + 1
    return depth, next((dtype_of(name) or "" for name in there if without_type(name) == path), "<f8")


def _of_numbers(path: str, array: NumpyArray) -> Iterator[tuple[str, NumpyArray]]:
    if array.dtype.names:
        for name in array.dtype.names:
            yield from _of_numbers(f"{path}/{in_a_mount(name)}", array[name])
        return
    kind = f"{array.dtype.kind}{array.dtype.itemsize}"
    if kind not in ("b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"):
        raise TypeError(f"{path}: {array.dtype} is not written; numbers of 1 to 8 bytes, float32 and float64 are")
    if 0 in array.shape[1:]:
        raise TypeError(f"{path}: {_UNTYPED}")
    shape = "".join(f"x{size}" for size in array.shape[1:])
    import numpy as np

    yield f"{path}.{kind}{shape}", np.ascontiguousarray(array, array.dtype.newbyteorder("<"))


def _of_layout(path: str, layout: Any) -> Iterator[tuple[str, NumpyArray]]:
    """The files of a layout of Awkward Array."""
    import numpy as np

    if layout.is_option:
        if np.asarray(layout.mask_as_bool(valid_when=False)).any():
            raise TypeError(f"{path} has nulls, which are not written: awkward.fill_none replaces them")
        yield from _of_layout(path, layout.project())
    elif layout.is_indexed:
        yield from _of_layout(path, layout.project())
    elif layout.is_record:
        for name in layout.fields:
            yield from _of_layout(f"{path}/{in_a_mount(name)}", layout.content(name))
    elif layout.is_numpy or layout.is_regular and _is_numbers(layout):
        import awkward as ak

        yield from _of_numbers(path, ak.to_numpy(layout))
    elif layout.is_list:
        lists = layout.to_ListOffsetArray64(True)
        offsets = np.asarray(lists.offsets)
        is_text = layout.parameter("__array__") in ("string", "bytestring")
        yield f"{path}/{OFFSETS}", np.ascontiguousarray(offsets, "<i8")
        content = lists.content[: int(offsets[-1])]
        yield from _of_numbers(f"{path}/chars", np.asarray(content.data)) if is_text else _of_layout(f"{path}/values", content)
    else:
        raise TypeError(f"{path}: {_UNTYPED if layout.is_unknown else f'{layout.form.type} is not written'}")


def _is_numbers(layout: Any) -> bool:
    if layout.parameter("__array__") is not None:
        return False
    return layout.is_numpy or layout.is_regular and _is_numbers(layout.content)
