# SPDX-License-Identifier: Apache-2.0
"""The content of the samples of samples/ntuple.py, and its comparison with the values that a reader returns."""

import json
import math
import os
import typing

NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Known(typing.NamedTuple):
    """A field of a table: one value per entry, in the form described in samples/ntuple_values.h."""

    table: str
    attributes: str  # the name of an attribute set of that table, or ""
    field: str
    values: list | None  # None: the reader failed
    error: str
    tolerance: float


def known_fields(directory, name):
    """NAME.json has the content of the file; NAME-COMPRESSION.read has the values that ROOT read."""
    with open(os.path.join(directory, name), encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            yield Known(line["table"], line.get("attributes", ""), line["field"], line.get("values"), line.get("error", ""),
                        line.get("tolerance", 0))


def number_of(value):
    return NOT_FINITE.get(value, value) if isinstance(value, str) else value


def same_number(mine, known, tolerance):
    if math.isnan(known):
        return math.isnan(mine)
    if isinstance(known, float):
        close = mine == known or abs(mine - known) <= tolerance
        return close and (mine != 0 or known != 0 or math.copysign(1, mine) == math.copysign(1, known))
    return type(mine) is type(known) and mine == known


def same(mine, known, tolerance=0):
    """Whether a reader's value is the known one. Text like "nan" can only be a number here."""
    if isinstance(known, dict):
        return isinstance(mine, dict) and mine.keys() == known.keys() and all(same(mine[key], known[key], tolerance) for key in known)
    if isinstance(known, list):
        return isinstance(mine, list) and len(mine) == len(known) and all(same(a, b, tolerance) for a, b in zip(mine, known))
    mine, known = number_of(mine), number_of(known)
    if isinstance(known, (int, float)) and not isinstance(known, bool):
        return isinstance(mine, (int, float)) and same_number(mine, known, tolerance)
    return type(mine) is type(known) and mine == known


def first_difference(mine, known, tolerance=0):
    """None, or the entry that differs, and the difference."""
    if len(mine) != len(known):
        return f"{len(mine)} entries, not {len(known)}"
    for entry, (a, b) in enumerate(zip(mine, known)):
        if not same(a, b, tolerance):
            return f"[{entry}]: {a!r:.200}, not {b!r:.200}"
    return None
