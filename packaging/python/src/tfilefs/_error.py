# SPDX-License-Identifier: Apache-2.0
"""What can go wrong with a mount."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any


class MountError(OSError):
    """The file could not be mounted, or not unmounted, and the text is what the program said; or the mount has gone."""


def of_a_mount(method: Callable[..., Any]) -> Callable[..., Any]:
    """Of what has a `path` in a mount: an error of the system is told as one of the mount, if that has gone."""

    @functools.wraps(method)
    def told(self: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return method(self, *arguments, **named)
        except OSError:
            if os.path.isdir(self.path):
                raise
            raise MountError(f"{self.path} is not mounted any more") from None

    return told
