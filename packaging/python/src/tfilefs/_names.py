# SPDX-License-Identifier: Apache-2.0
"""Names in a file and in a mount, and choices among them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import Union

from ._error import missing

Names = Union[str, Iterable[str], None]
Filter = Union[Names, Callable[[str], object]]

_TYPE = re.compile(r"\.(b1|[iu][1248]|f[48])((?:x\d+)*)$")
_ESCAPED = re.compile(r"/|\0|%(?=[0-9a-fA-F]{2})|^\.")


def without_type(path: str) -> str:
    """`px` of `px.f4`: the name of a column without its type and shape."""
    return _TYPE.sub("", path)


def dtype_of(path: str) -> str | None:
    """The type of the numbers of a file, as NumPy spells it; None if its name has none."""
    found = _TYPE.search(path)
    return "<" + found[1] if found else None


def in_a_mount(name: str) -> str:
    """The name of a key or column as a mount has it."""
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", name) or "%"


def as_patterns(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names or [])


def matching(wanted: Filter, there: Iterable[str]) -> list[str]:
    """Those that match one of the names, patterns and regular expressions, "/Jet_.*/i", or for which a function is true;
    all of them for None."""
    if wanted is None:
        return list(there)
    are_like = [wanted] if callable(wanted) else [_like(pattern) for pattern in as_patterns(wanted)]
    return [name for name in there if any(is_like(name) for is_like in are_like)]


def _like(pattern: str) -> Callable[[str], object]:
    """As uproot tells regular expressions from patterns, and where they begin."""
    if found := re.fullmatch(r"/(.*)/([iLmsux]*)", pattern):
        return re.compile(f"(?{found[2]}){found[1]}" if found[2] else found[1]).match
    return lambda name: name == pattern or fnmatchcase(name, pattern)


def chosen(names: Names, there: list[str]) -> list[str]:
    """Those of the names that are named, or match one of the patterns (`*`, `?`, `[a-z]`), each once; all of them for
    None. KeyError for a name or pattern that stands for nothing."""
    if names is None:
        return there
    known, found = set(there), {}
    for pattern in as_patterns(names):
        matches = [pattern] if pattern in known else [name for name in there if fnmatchcase(name, pattern)]
        if not matches:
            raise missing(pattern, there)
        found.update(dict.fromkeys(matches))
    return list(found)
