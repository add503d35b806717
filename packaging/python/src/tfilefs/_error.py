# SPDX-License-Identifier: Apache-2.0
"""What can go wrong with a mount, and how it is told."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])

_NAMES_MAX = 100


class MountError(OSError):
    """The file could not be mounted, or not unmounted, and the text is what the program said; or the mount has gone.

    If the file is not there, the error is a FileNotFoundError as well; if it may not be read, a PermissionError."""


class _Missing(MountError, FileNotFoundError):
    pass


class _Forbidden(MountError, PermissionError):
    pass


_KINDS: dict[int, type[MountError]] = {errno.ENOENT: _Missing, errno.EACCES: _Forbidden, errno.EPERM: _Forbidden}


def mount_error(text: str) -> MountError:
    """What the program said, as the error that its last words stand for."""
    first = text.split("\n")[0]
    for number, kind in _KINDS.items():
        if first.endswith(os.strerror(number)) or number == errno.ENOENT and first.endswith("no file matches"):
            told = kind(text)
            told.errno = number
            return told
    return MountError(text)


def no_such_file(text: str) -> MountError:
    told = _Missing(text)
    told.errno = errno.ENOENT
    return told


def missing(name: object, names: Iterable[str]) -> KeyError:
    """The error for a name that is not there: with the nearest of those that are, or with the first of them."""
    import difflib

    there = list(names)
    by_lower_case: dict[str, str] = {}
    for each in there:
        by_lower_case.setdefault(each.lower(), each)
    near = difflib.get_close_matches(str(name).lower(), by_lower_case, n=3)
    if near:
        return KeyError(f"{name}; the nearest is {', '.join(by_lower_case[each] for each in near)}")
    return KeyError(f"{name}; there are {first_of(there)}" if there else name)


def first_of(names: Iterable[str]) -> str:
    """Names with commas between them; of many the first, and how many more there are."""
    there = list(names)
    more = f" and {len(there) - _NAMES_MAX} more" if len(there) > _NAMES_MAX else ""
    return ", ".join(there[:_NAMES_MAX]) + more


@contextlib.contextmanager
def refusals(mounted: str) -> Iterator[None]:
    """Errors of the system where something is written are told with what the mount at that path says of them."""
    known = _errors_of(mounted)
    try:
        yield
    except MountError:
        raise
    except OSError as error:
        said = [line for line in _errors_of(mounted) if line not in known]
        if not said:
            raise
        told = mount_error("\n".join(said))
        told.errno = error.errno
        raise told from error


def _errors_of(mounted: str) -> list[str]:
    try:
        with open(os.path.join(mounted, ".tfilefs", "errors"), encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


def of_a_mount(method: Method) -> Method:
    """Of what stands at a place (_place.py): an error of the system is told as one of the mount, if that has gone."""

    @functools.wraps(method)
    def told(self: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return method(self, *arguments, **named)
        except OSError:
            if self._place.is_open():
                raise
            raise MountError(self._place.gone()) from None

    return told  # type: ignore[return-value]
