# SPDX-License-Identifier: Apache-2.0
"""Columns as files of every kind that can be written, with random content; and the same columns with more entries
appended."""

import os

import numpy as np

DTYPES = {name: np.dtype("?" if name == "b1" else "<" + name) for name in "b1 i1 u1 i2 u2 i4 u4 i8 u8 f4 f8".split()}


class Columns:
    """Writes files below `directory`, which is made: `entries` entries of each column, with random content from
    `seed`."""

    def __init__(self, directory, entries, seed):
        self.directory, self.entries, self.random = directory, entries, np.random.default_rng(seed)
        os.makedirs(directory)

    def put(self, path, array):
        file = os.path.join(self.directory, path)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        np.ascontiguousarray(array).tofile(file)

    def values(self, dtype, count):
        if dtype == "b1":
            return self.random.integers(0, 2, count).astype("?")
        if dtype[0] == "f":
            return self.random.normal(size=count).astype(DTYPES[dtype])
        limits = np.iinfo(DTYPES[dtype])
        return self.random.integers(limits.min, limits.max, count, dtype=DTYPES[dtype], endpoint=True)

    def offsets(self, items, most=4):
        lengths = self.random.integers(0, most, items)
        return np.concatenate([[0], np.cumsum(lengths)]).astype("<i8")

    def number(self, name, dtype, shape=()):
        suffix = "".join(f"x{n}" for n in shape)
        self.put(f"{name}.{dtype}{suffix}", self.values(dtype, self.entries * int(np.prod(shape, dtype=int))))

    def record(self, name):
        """The members of a record."""
        return Columns(os.path.join(self.directory, name), self.entries, self.random.integers(1 << 30))

    def records(self, name):
        """The members of the records in a list."""
        offsets = self.offsets(self.entries)
        self.put(f"{name}/offsets.i8", offsets)
        return Columns(os.path.join(self.directory, name, "values"), int(offsets[-1]), self.random.integers(1 << 30))

    def lists(self, name, dtype, depth=1, offsets=None):
        """`dtype` may be chars: the innermost lists are then texts."""
        items, path = self.entries, name
        for level in range(depth):
            given = offsets if offsets is not None and level == 0 else self.offsets(items, 300 if dtype == "chars" and depth == 1 else 4)
            self.put(f"{path}/offsets.i8", given)
            items = int(given[-1])
            inner = level + 1 < depth
            path += "/values" if inner else ""
        if dtype == "chars":
            self.put(f"{path}/chars.u1", self.random.integers(32, 127, items).astype("u1"))
        else:
            self.put(f"{path}/values.{dtype}", self.values(dtype.split("x")[0], items * int(np.prod([int(n) for n in dtype.split("x")[1:]], dtype=int))))


def every_kind(columns):
    for dtype in DTYPES:
        columns.number(f"n_{dtype}", dtype)
        columns.number(f"m_{dtype}", dtype, (2, 3))
        columns.lists(f"v_{dtype}", dtype)
        columns.number(f"rec/{dtype}", dtype)
    columns.number("rec/shape", "f4", (2,))
    columns.number("a%2Fb", "f4")
    columns.lists("w_float", "f4", depth=2)
    columns.lists("w_int", "i4", depth=2)
    columns.lists("s", "chars")
    columns.lists("vs", "chars", depth=2)
    for counter in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
        offsets = columns.offsets(columns.entries)
        columns.put(f"nC{counter}.{counter}", np.diff(offsets).astype(DTYPES[counter]))
        columns.lists(f"C{counter}_x", "f4", offsets=offsets)
        columns.lists(f"C{counter}_{counter}", counter, offsets=offsets)
    offsets = columns.offsets(columns.entries)
    columns.put("np3.i4", np.diff(offsets).astype("<i4"))
    columns.lists("p3", "f4x3", offsets=offsets)


def every_field(columns):
    """The kinds that an RNTuple holds: lists and records in each other, too."""
    for dtype in DTYPES:
        columns.number(f"n_{dtype}", dtype)
        columns.number(f"m_{dtype}", dtype, (2, 3))
        columns.lists(f"v_{dtype}", dtype)
    columns.lists("arrays", "f4x3")
    columns.lists("deep", "i4", depth=3)
    columns.lists("s", "chars")
    columns.lists("vs", "chars", depth=2)
    members(columns.records("hits"), 2)
    members(columns.record("event"), 2)
    columns.record("one").number("member", "i2")
    dictionary = columns.records("map")
    dictionary.lists("key", "chars")
    dictionary.number("value", "f8")
    for counter in ("i4", "u4", "u8"):
        offsets = columns.offsets(columns.entries)
        columns.put(f"nC{counter}.{counter}", np.diff(offsets).astype(DTYPES[counter]))
        columns.lists(f"C{counter}_x", "f4", offsets=offsets)


def members(columns, depth):
    columns.number("x", "f4")
    columns.number("pos", "f8", (3,))
    columns.number("flag", "b1")
    columns.lists("name", "chars")
    columns.lists("near", "u2", depth=2)
    if depth > 1:
        members(columns.records("inner"), depth - 1)
        members(columns.record("part"), depth - 1)


def append(directory, more):
    """Changes `directory` to the content of a table after the columns of `more` were appended to its own."""
    for above, _, files in os.walk(directory):
        for name in files:
            path = os.path.join(above, name)
            with open(os.path.join(more, os.path.relpath(path, directory)), "rb") as file:
                rest = file.read()
            if name == "offsets.i8":
                first = np.fromfile(path, "<i8")
                np.concatenate([first, np.frombuffer(rest, "<i8")[1:] + first[-1]]).tofile(path)
            else:
                with open(path, "ab") as file:
                    file.write(rest)
