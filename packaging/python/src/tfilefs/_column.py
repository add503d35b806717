# SPDX-License-Identifier: Apache-2.0
"""One column of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._names import without_type
from ._reading import as_numpy
from ._states import States, of_one_state

if TYPE_CHECKING:
    from ._place import Place
    from ._table import Table
    from ._types import NumpyArray

_NUMBERS = {"b1": "bool", "i1": "int8_t", "u1": "uint8_t", "i2": "int16_t", "u2": "uint16_t", "i4": "int32_t", "u4": "uint32_t",
            "i8": "int64_t", "u8": "uint64_t", "f4": "float", "f8": "double"}
_WORDS = {"unsigned char": "uint8_t", "unsigned short": "uint16_t", "unsigned int": "uint32_t", "unsigned long": "uint64_t",
          "signed char": "int8_t", "short": "int16_t", "int": "int32_t", "long": "int64_t", "string": "std::string",
          **{each: "std::" + each for each in ("vector", "map", "set", "multiset", "multimap", "list", "deque", "pair", "array", "bitset")}}
_WORD = re.compile(r"(?<![\w:])(?:" + "|".join(_WORDS) + r")(?!\w)")


def _member(part: dict[str, Any]) -> str:
    """The name of a part in records of its column: `x`, or `p.x`; empty if there are none."""
    of_lists = {path.count("/") for path in part["lists"]}  # `values` and `chars`, which stand beside the offsets
    return ".".join(each for i, each in enumerate(without_type(part["path"]).split("/")) if i and i not in of_lists)


def typename(parts: list[dict[str, Any]]) -> str:
    """The type of a column in C++, from what the schema says of its parts: `float[]` is a counted array."""
    first, last = parts[0], parts[-1]
    top, branch = without_type(first["path"].split("/")[0]), first["branch"].rstrip(".")
    is_whole = "/" not in branch and not branch.startswith(top + ".") or not first["field"] and len(parts) == 1 and not _member(first)
    if first["class"] and is_whole:
        return _WORD.sub(lambda found: _WORDS[found[0]], first["class"]).replace(" >", ">")
    members = {_member(each): each for each in parts if each["role"] != "offsets"}
    if members.keys() - {""}:
        return "struct {" + " ".join(f"{_numbers(each)} {name};" for name, each in members.items()) + "}"
    return _numbers(last)


def _numbers(part: dict[str, Any]) -> str:
    """Without its class, as text or numbers in lists and arrays."""
    shape = "".join(f"[{size}]" for size in part["shape"])
    if part["role"] == "chars":
        return "char*" + "[]" * (len(part["lists"]) - 1) + shape
    return _NUMBERS[part["dtype"][1:]] + "[]" * len(part["lists"]) + shape


class Column:
    """A column of a table, or a member of one. Nothing is read until it is asked for.

    `name`: below the table. `typename`: in C++, as `float`, `double[3]`, `float[]`, `std::vector<float>`. `title`."""

    def __init__(self, table: Table, top: str, members: Sequence[str] = ()) -> None:
        self.table, self.name = table, "/".join((top, *members))
        self._top, self._members = top, list(members)

    @property
    def _place(self) -> Place:
        return self.table._place

    @property
    def _states(self) -> States[Any]:
        return self.table._states

    @property
    def typename(self) -> str:
        """The type in C++; of a member that of the whole column."""
        return self.table.typenames()[self._top]

    @property
    def title(self) -> str:
        """The title of its branch or field."""
        return str(self.table.parts_of(self._top)[0]["title"])

    @property
    def num_entries(self) -> int:
        """The number of entries of the table."""
        return self.table.num_entries

    def __len__(self) -> int:
        return self.num_entries

    def keys(self) -> list[str]:
        """The names of its members; none if it is no record, and no list of records."""
        return self.table.buffers.members(self._top, self._members)

    def __getitem__(self, member: str) -> Column:
        """A member of a record: t["event"]["x"]."""
        if not isinstance(member, str):
            raise TypeError(f"{self.name} is not read yet: array() and numpy() give its entries, of which {member!r} may be asked for")
        return self.table[f"{self.name}/{member}"]

    @of_one_state
    def array(self, entry_start: int | None = None, entry_stop: int | None = None, library: str = "ak", copy: bool | None = None) -> Any:
        """Entries of the column, of library "ak" an awkward.Array, of "np" a numpy.ndarray: of one number for each entry
        of shape (entries,), of arrays of fixed shape (entries, ...), else of objects. `copy` as for Table.arrays."""
        if library in ("np", "numpy"):
            return self.numpy(entry_start, entry_stop, copy)
        if library not in ("ak", "awkward"):
            return self.table.arrays([self._top], entry_start=entry_start, entry_stop=entry_stop, library=library, copy=copy)[self._top]
        part = self.table.between(entry_start, entry_stop)
        return self.table.buffers.column(self._top, *part, self.table.is_copied(copy, *part), self._members)

    @of_one_state
    def numpy(self, entry_start: int | None = None, entry_stop: int | None = None, copy: bool | None = None) -> NumpyArray:
        """The same as an array of NumPy, without Awkward Array where the column is numbers."""
        if not self._members and self.table.is_numbers(self._top):
            part = self.table.between(entry_start, entry_stop)
            return self.table.read(self._top, self.table.is_copied(copy, *part), *part)
        found: NumpyArray = as_numpy(self.array(entry_start, entry_stop, copy=copy))
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NumpyArray:
        array = self.numpy(copy=True if copy else None)
        if dtype is None or array.dtype == dtype:
            return array
        if copy is False:
            raise ValueError(f"{self.name} is {array.dtype}: as {dtype} it would be copied")
        found: NumpyArray = array.astype(dtype)
        return found

    __iter__ = None  # what is not read yet has no entries
    __contains__ = None

    def __repr__(self) -> str:
        try:
            return f"<tfilefs.Column {self.name!r}: {self.typename}>"
        except OSError:
            return f"<tfilefs.Column {self.name!r}>"

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()
