# SPDX-License-Identifier: Apache-2.0
"""The content of the columns of tests/samples/wide.py, as one array of bytes each."""

import functools

import numpy as np

COLUMNS, LISTS, ENTRIES = 1000, 10, 5000


def path(column):
    """The path of column number c below the table: first the doubles, then lists, their offsets, and the matrices."""
    if column < COLUMNS:
        return f"c{column}.f8"
    if column < COLUMNS + LISTS:
        return f"list{column - COLUMNS}/values.f4"
    return ("list0/offsets.i8", "n.i4", "matrix.f8x10x10")[column - COLUMNS - LISTS]


ALL = COLUMNS + LISTS + 3


@functools.lru_cache(maxsize=64)
def expected(column):
    entries = np.arange(ENTRIES)
    if column < COLUMNS:
        values = (1000.0 * column + entries).astype("<f8")
    elif column < COLUMNS + LISTS:
        values = np.repeat(10000 * (column - COLUMNS) + entries, entries % 5).astype("<f4")
    else:
        values = (np.concatenate(([0], np.cumsum(entries % 5))).astype("<i8"), (entries % 5).astype("<i4"),
                  np.arange(100 * ENTRIES).astype("<f8"))[column - COLUMNS - LISTS]
    return values.tobytes()
