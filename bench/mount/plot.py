# SPDX-License-Identifier: Apache-2.0
"""Bars of a comparison as a pure text SVG: one bar per name, its length the value, in the given order."""

from xml.sax.saxutils import escape

BAR, GAP, NAMES, LENGTH, VALUES = 18, 6, 300, 480, 130  # pixels
OURS, THEIRS = "#0b6e99", "#b8c4ca"


def bars(title, values, unit, ours="tfilefs"):
    """The SVG of {name: value}. Bars whose name begins with `ours` have a different colour."""
    longest = max(values.values(), default=0) or 1
    height = 40 + len(values) * (BAR + GAP) + GAP
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{NAMES + LENGTH + VALUES}" height="{height}" '
             'font-family="sans-serif" font-size="13">',
             '<rect width="100%" height="100%" fill="white"/>',
             f'<text x="10" y="22" font-size="15" font-weight="bold">{escape(title)}</text>']
    for i, (name, value) in enumerate(values.items()):
        y = 40 + i * (BAR + GAP)
        length = LENGTH * value / longest
        lines += [f'<text x="{NAMES - 8}" y="{y + 13}" text-anchor="end">{escape(name)}</text>',
                  f'<rect x="{NAMES}" y="{y}" width="{length:.1f}" height="{BAR}" '
                  f'fill="{OURS if name.startswith(ours) else THEIRS}"/>',
                  f'<text x="{NAMES + length + 6:.1f}" y="{y + 13}">{value:.4g} {escape(unit)}</text>']
    return "\n".join(lines + ["</svg>"]) + "\n"
