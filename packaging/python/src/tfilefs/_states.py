# SPDX-License-Identifier: Apache-2.0
"""Files change while they are read: what one call reads is of one state of them."""

from __future__ import annotations

import errno
import functools
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ._error import Method, MountError, of_a_mount

if TYPE_CHECKING:
    from ._place import Place

Known = TypeVar("Known")
Made = TypeVar("Made")

_PAUSES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)  # seconds before each attempt


class lazy(Generic[Made]):
    """An attribute that is made when it is asked for. functools.cached_property has a lock before Python 3.12, which stays
    locked in a fork if a thread made one meanwhile."""

    def __init__(self, make: Callable[[Any], Made]) -> None:
        self._make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Made:
        made: Made = self._make(instance)
        instance.__dict__[self._name] = made
        return made


class State(Generic[Known]):
    """`tag`: of the file that tells states apart. `known`: what was read of this one."""

    def __init__(self, tag: str, known: Known) -> None:
        self.tag, self.known = tag, known


class States(Generic[Known]):
    """Of what is made of several files, all from one file that may change. Threads may use it at the same time.

    `anchor`: a file whose tag (Place.tag) is another one in each state. `make`: something that reads what is to be known of a
    state when it is asked for."""

    def __init__(self, anchor: Place, name: str, make: Callable[[], Known]) -> None:
        self._anchor, self._name, self._make = anchor, name, make
        self._last: State[Known] | None = None
        self._own = threading.local()

    @property
    def last(self) -> State[Known] | None:
        """What was found last, which may be old; None: nothing was."""
        return self._last

    @property
    def now(self) -> State[Known]:
        """In a call of read(): the state that it reads."""
        found: State[Known] = self._own.now
        return found

    @property
    def known(self) -> Known:
        return self.now.known

    def read(self, read: Callable[[], Made], of: State[Known] | None = None) -> Made:
        """What `read` returns, all of one state: of the present one, or of that one. It is called again if the state has
        moved meanwhile. MountError: the file changes all the time, or that state has gone."""
        if getattr(self._own, "now", None) is not None:
            return read()
        for pause in _PAUSES if of is None else _PAUSES[:1]:
            time.sleep(pause)
            state: State[Known] | None = of
            try:
                self._own.now = state = self._begin() if of is None else of
                found = read()
            except Exception as error:
                if not self._has_moved(state, error):
                    raise
            else:
                if not self._has_moved(state):
                    return found
            finally:
                self._own.now = None
            if self._last is state:
                self._last = None
        text = "is changing while it is read" if of is None else "has changed since this reading of it began"
        changing = MountError(f"{self._name} {text}")
        changing.errno = errno.ESTALE
        raise changing

    def _begin(self) -> State[Known]:
        state = self._last
        if state is None:
            self._last = state = State(self._anchor.tag(), self._make())
        return state

    def _has_moved(self, state: State[Known] | None, error: Exception | None = None) -> bool:
        if isinstance(error, OSError) and error.errno == errno.ESTALE:
            return True
        try:
            return state is not None and self._anchor.tag() != state.tag
        except OSError as another:
            if another.errno == errno.ESTALE:
                return True
            if error is not None:
                return False
            raise


def of_one_state(method: Method) -> Method:
    """Of what has `_states`: all that the method reads is of one state. Errors as of_a_mount tells them."""

    @functools.wraps(method)
    def steady(self: Any, *arguments: Any, **named: Any) -> Any:
        return self._states.read(lambda: method(self, *arguments, **named))

    return of_a_mount(steady)  # type: ignore[return-value]
