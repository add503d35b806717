# SPDX-License-Identifier: Apache-2.0
"""Tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_ROWS_MAX = 100


def page(caption: str, head: Iterable[str], rows: Sequence[Iterable[object]]) -> str:
    """A table of HTML: of many rows the first hundred, and how many more there are."""
    import html

    def line(cells: Iterable[object], kind: str) -> str:
        return "<tr>" + "".join(f"<{kind}>{html.escape(str(cell))}</{kind}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows[:_ROWS_MAX])
    more = f"<p>and {len(rows) - _ROWS_MAX} more</p>" if len(rows) > _ROWS_MAX else ""
    return f"<table><caption>{html.escape(caption)}</caption>{line(head, 'th')}{body}</table>{more}"
