# SPDX-License-Identifier: Apache-2.0
"""Numbers of files: mapped, or read into memory; and what Awkward Array makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ._error import missing
from ._names import dtype_of
from ._place import Place

if TYPE_CHECKING:
    from ._types import AwkwardArray, NumpyArray

Form = dict[str, Any]


class Buffers:
    """What .awkward.json says of a table: its form, and the files of the buffers."""

    def __init__(self, directory: Place, view: dict[str, Any]) -> None:
        self.directory, self.length, self._files = directory, view["length"], view["files"]
        self._forms: dict[str, Form] = dict(zip(view["form"]["fields"], view["form"]["contents"]))
        self.names = list(self._forms)

    def _read(self, key: str, copy: bool, start: int = 0, stop: int | None = None) -> NumpyArray:
        name: str = self._files[key]
        place, dtype = self.directory / name, dtype_of(name)
        if dtype:
            return place.numbers(dtype, copy, start, stop)
        read: NumpyArray = place.beside(".npy").npy().reshape(-1)[start:stop]
        return read

    def members(self, name: str, members: Sequence[str] = ()) -> list[str]:
        """The names of the members of a column, or of a member of it."""
        form = _narrowed(self._forms[name], members)
        for member in members:
            form = _records(form)["contents"][0]
        return list(_records(form).get("fields") or [])

    def column(self, name: str, start: int, stop: int, copy: bool, members: Sequence[str] = ()) -> AwkwardArray:
        """Entries start..stop of a column, or of a member of it."""
        form = _narrowed(self._forms[name], members)
        array: Any = self._array(form, start, stop, copy)
        for member in members:
            array = array[member]
        found: AwkwardArray = array
        return found

    def _array(self, form: Form, start: int, stop: int, copy: bool) -> AwkwardArray:
        import awkward as ak

        if copy and (start, stop) != (0, self.length) and _is_plain(form):
            return ak.from_buffers(form, stop - start, dict(self._part(form, start, stop)))
        buffers = {key: self._read(key, copy) for key in _keys(form) if key in self._files}
        return ak.from_buffers(form, self.length, buffers)[start:stop]

    def _part(self, form: Form, start: int, stop: int) -> Iterator[tuple[str, NumpyArray]]:
        """The buffers of the items start..stop of a plain form, read alone."""
        kind = form["class"]
        if kind == "NumpyArray":
            size = 1
            for each in form.get("inner_shape", ()):
                size *= each
            key = form["form_key"] + "-data"
            yield key, self._read(key, True, start * size, stop * size)
        elif kind == "ListOffsetArray":
            key = form["form_key"] + "-offsets"
            offsets = self._read(key, True, start, stop + 1)
            first, last = (int(offsets[0]), int(offsets[-1])) if len(offsets) else (0, 0)
            yield key, offsets - first
            yield from self._part(form["content"], first, last)
        elif kind == "RegularArray":
            yield from self._part(form["content"], start * form["size"], stop * form["size"])
        else:
            for content in form["contents"]:
                yield from self._part(content, start, stop)

    def form_of(self, names: list[str]) -> Form:
        """The form of records of these columns."""
        return {"class": "RecordArray", "fields": names, "contents": [self._forms[name] for name in names]}

    def of_form(self, form: Form, start: int, stop: int, copy: bool) -> AwkwardArray:
        """Entries start..stop of a form that form_of() gave and selected() may have narrowed."""
        import awkward as ak

        contents = [self._array(each, start, stop, copy).layout for each in form["contents"]]
        return ak.Array(ak.contents.RecordArray(contents, form["fields"], length=stop - start))

    def record(self, names: list[str], start: int, stop: int, copy: bool) -> AwkwardArray:
        """Entries start..stop of columns, as an array of records."""
        return self.of_form(self.form_of(names), start, stop, copy)


def _below(form: Form) -> list[Form]:
    return [form["content"]] if "content" in form else form.get("contents", [])


def _keys(form: Form) -> Iterator[str]:
    """Of all buffers that a form may have."""
    if "form_key" in form:
        yield from (f"{form['form_key']}-{part}" for part in ("data", "offsets", "index", "mask", "tags"))
    for each in _below(form):
        yield from _keys(each)


def _records(form: Form) -> Form:
    """The records of a column, or the items of its lists."""
    while "content" in form:
        form = form["content"]
    return form


def _narrowed(form: Form, members: Sequence[str]) -> Form:
    """With the named member of its records alone, and of that the next."""
    if not members:
        return form
    if "content" in form:
        return {**form, "content": _narrowed(form["content"], members)}
    fields = form.get("fields") or []
    if not fields:
        raise KeyError(f"{members[0]}; there are no members")
    if members[0] not in fields:
        raise missing("/".join(members), fields)
    content = _narrowed(form["contents"][fields.index(members[0])], members[1:])
    return {**form, "fields": [members[0]], "contents": [content]}


def selected(form: Form, paths: Iterable[str]) -> Form:
    """With those fields of its records that are on one of the paths, as `event.x`, whose names may have dots themselves."""
    wanted = set(paths)
    if "" in wanted:
        return form
    if "content" in form:
        return {**form, "content": selected(form["content"], wanted)}
    if not form.get("fields"):
        return form
    below = {field: [path[len(field) + 1:] for path in wanted if path == field or path.startswith(field + ".")] for field in form["fields"]}
    kept = [(field, selected(content, below[field])) for field, content in zip(form["fields"], form["contents"]) if below[field]]
    return {**form, "fields": [field for field, _ in kept], "contents": [content for _, content in kept]}


def _is_plain(form: Form) -> bool:
    """Without options and unions, whose items are found by numbers of their own."""
    if form["class"] not in ("NumpyArray", "ListOffsetArray", "RegularArray", "RecordArray"):
        return False
    return all(_is_plain(each) for each in _below(form))
