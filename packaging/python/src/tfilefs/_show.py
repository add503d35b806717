# SPDX-License-Identifier: Apache-2.0
"""Tables for terminals."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Protocol


class Stream(Protocol):
    """What text is written to."""

    def write(self, text: str, /) -> object: ...


def show(head: tuple[str, ...], rows: Iterable[tuple[str, ...]], stream: Stream | None) -> None:
    """A line for each row, with columns as wide as what is in them; to the standard output for None."""
    lines = [head, *(tuple(map(_printable, row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    lines.insert(1, tuple("-" * width for width in widths))
    for i, line in enumerate(lines):
        text = ("-+-" if i == 1 else " | ").join(cell.ljust(width) for cell, width in zip(line, widths))
        (stream or sys.stdout).write(text.rstrip() + "\n")


def _printable(text: str) -> str:
    """Names come from files: nothing in them commands a terminal."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
