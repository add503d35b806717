# SPDX-License-Identifier: Apache-2.0
"""Endless columns whose bytes are functions of their place: any reader can check any byte without shared state.

A Column has the files that a mount accepts for it, each a Stream of bytes. Entry i is the same however it was
written."""

import awkward as ak
import numpy as np

import mounted_table

NUMBERS = "b1 i1 u1 i2 u2 i4 u4 i8 u8 f4 f8".split()
BLOCK = 4096  # items made at once, if later items follow from earlier ones
MASK = (1 << 64) - 1


def mixed(seed, first, last):
    """64 random bits for each place from `first` to `last` (splitmix64)."""
    with np.errstate(over="ignore"):
        bits = np.arange(first, last, dtype="u8") * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed * 0xD1B54A32D192ED03 & MASK)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return bits ^ (bits >> np.uint64(31))


class Stream:
    """The endless bytes of one file: items of `width` bytes, one after the other."""

    width = 1

    def items(self, first, last):
        raise NotImplementedError

    def bytes(self, begin, end):
        first, last = begin // self.width, -(-end // self.width)
        data = np.ascontiguousarray(self.items(first, last)).tobytes()
        return data[begin - first * self.width : end - first * self.width]


class Numbers(Stream):
    """Numbers of a type, `shape` of them per item."""

    def __init__(self, seed, kind, shape=()):
        self._seed, self._kind, self._each = seed, kind, int(np.prod(shape, dtype=int))
        self.dtype = mounted_table.dtype_of(kind)
        self.width = self.dtype.itemsize * self._each

    def items(self, first, last):
        bits = mixed(self._seed, first * self._each, last * self._each)
        if self._kind == "b1":
            return (bits & np.uint64(1)).astype("?")
        if self._kind[0] == "f":  # exact in both types, and clearly distinct
            return (bits & np.uint64(0xFFFFF)).astype(self.dtype) - self.dtype.type(1 << 19)
        return bits.astype(self.dtype)


class Letters(Stream):
    def __init__(self, seed):
        self._seed = seed

    def items(self, first, last):
        return (mixed(self._seed, first, last) % np.uint64(26) + np.uint64(97)).astype("u1")


class Offsets(Stream):
    """The beginnings of lists. The first `empty` lists have no items; all have fewer than `most`."""

    width = 8

    def __init__(self, seed, most, empty=0):
        self._seed, self._most, self._empty = seed, most, empty
        self._known = np.zeros(1, "<i8")

    def lengths(self, first, last):
        lengths = (mixed(self._seed, first, last) % np.uint64(self._most)).astype("<i8")
        lengths[: max(0, min(last, self._empty) - first)] = 0
        return lengths

    def items(self, first, last):
        while len(self._known) < last:
            begin = len(self._known) - 1
            more = np.cumsum(self.lengths(begin, begin + max(BLOCK, begin))) + self._known[-1]
            self._known = np.concatenate([self._known, more])
        return self._known[first:last]

    def at(self, item):
        return int(self.items(item, item + 1)[0])


class Lengths(Stream):
    """A counter: the length of each list."""

    def __init__(self, offsets):
        self._offsets, self.width = offsets, 4

    def items(self, first, last):
        return np.diff(self._offsets.items(first, last + 1)).astype("<i4")


class Column:
    """`levels`: the offsets of each level of lists, outermost first, as (path, Offsets); `leaf`: (path, Stream)."""

    def __init__(self, branch, levels, leaf, text=False):
        self.branch, self._levels, self._leaf, self._text = branch, levels, leaf, text
        self.files = dict([*levels, leaf])

    def sizes(self, entries):
        """{path: bytes} for that many entries."""
        sizes, items = {}, entries
        for path, offsets in self._levels:
            sizes[path] = 8 * (items + 1)
            items = offsets.at(items)
        sizes[self._leaf[0]] = items * self._leaf[1].width
        return sizes

    def size(self, path, entries):
        return self.sizes(entries)[path]

    def complete(self, written):
        """The number of entries that are complete if that many bytes of each path were written."""
        items = written.get(self._leaf[0], 0) // self._leaf[1].width
        for path, offsets in reversed(self._levels):
            there = max(0, written.get(path, 0) // 8 - 1)
            items = min(there, int(np.searchsorted(offsets.items(0, there + 1), items, "right")) - 1)
        return items

    def is_whole(self, written):
        """Whether the files have exactly these entries: lists begin with an offset of 0."""
        return all(written.get(path) == size for path, size in self.sizes(self.complete(written)).items())

    def kind(self):
        return mounted_table.NAME_TYPE.match(self._leaf[0].rsplit("/", 1)[-1]).group(2)

    def dtype(self):
        return mounted_table.dtype_of(self.kind())

    def entry(self, number):
        """The entry as a Python object: a number, a text, or lists of them."""
        return self._item(0, number)

    def _item(self, level, item):
        if level == len(self._levels):
            return np.atleast_1d(self._leaf[1].items(item, item + 1)).tolist()
        begin, end = (int(at) for at in self._levels[level][1].items(item, item + 2))
        if level < len(self._levels) - 1:
            return [self._item(level + 1, below) for below in range(begin, end)]
        found = self._leaf[1].items(begin, end)
        return found.tobytes().decode() if self._text else found.tolist()

    def difference(self, array, first, last):
        """The difference between uproot's array and these entries; None if they are equal."""
        if len(array) != last - first:
            return f"{len(array)} entries, not {last - first}"
        if self._text and len(self._levels) == 1:
            return self._text_difference(array.to_list(), first, last)
        for level, (_, offsets) in enumerate(self._levels):
            if self._text and level == len(self._levels) - 1:
                return self._text_difference(ak.flatten(array, axis=None).to_list() if last > first else [], first, last)
            found = ak.to_numpy(ak.num(array, axis=1))
            wanted = np.diff(offsets.items(first, last + 1))
            if not np.array_equal(found, wanted):
                return place("length of list", found, wanted, first)
            array = ak.flatten(array, axis=1)
            first, last = offsets.at(first), offsets.at(last)
        found = np.ascontiguousarray(ak.to_numpy(array))
        wanted = self._leaf[1].items(first, last)
        found = found.astype(found.dtype.newbyteorder("<")).reshape(-1)
        return None if found.tobytes() == wanted.tobytes() else place("value", found, wanted, first)

    def _text_difference(self, texts, first, last):
        offsets = self._levels[-1][1].items(first, last + 1)
        letters = self._leaf[1].bytes(int(offsets[0]), int(offsets[-1])).decode()
        wanted = [letters[a - offsets[0] : b - offsets[0]] for a, b in zip(offsets[:-1], offsets[1:])]
        if texts == wanted:
            return None
        at = next((i for i, (one, other) in enumerate(zip(texts, wanted)) if one != other), min(len(texts), len(wanted)))
        return f"text {first + at} is {texts[at : at + 1]}, not {wanted[at : at + 1]}"


def place(what, found, wanted, first):
    if len(found) != len(wanted):
        return f"{len(found)} times {what}, not {len(wanted)}"
    at = int(np.argmax(found != wanted))
    return f"{what} {first + at} is {found[at]}, not {wanted[at]}"


def number(name, kind, seed, shape=()):
    return Column(name, [], (f"{name}.{kind}" + "".join(f"x{n}" for n in shape), Numbers(seed, kind, shape)))


def lists(name, kind, seed, depth=1, empty=0, most=5):
    """`kind` may be chars: strings, or lists of strings."""
    levels, path = [], name
    for level in range(depth):
        inmost = 12 if kind == "chars" and level == depth - 1 else most
        levels.append((path + "/offsets.i8", Offsets(seed + level, inmost, empty if level == 0 else 0)))
        path += "/values" if level < depth - 1 else ""
    if kind == "chars":
        return Column(name, levels, (path + "/chars.u1", Letters(seed + depth)), text=True)
    return Column(name, levels, (f"{path}/values.{kind}", Numbers(seed + depth, kind)))


def counted(name, kind, seed, empty=0):
    """A counted array and its counter."""
    array = lists(name + "_x", kind, seed, empty=empty)
    return Column("n" + name, [], (f"n{name}.i4", Lengths(array._levels[0][1]))), array


def random_columns(random, count, first=0):
    """Columns of all kinds: numbers, lists, nested lists, strings, those in lists; names are numbered from `first`."""
    columns = []
    while len(columns) < count:
        name, seed = f"c{first + len(columns)}", random.randrange(1 << 30)
        kind, empty = random.choice(NUMBERS), random.choice([0, 0, 0, 30, 1000])
        make = random.choices(["number", "shape", "list", "nested", "text", "texts", "deep", "counted"], [5, 1, 5, 2, 2, 1, 1, 1])[0]
        if make == "counted":
            columns += counted(name, kind, seed, empty)
        else:
            columns.append({
                "number": lambda: number(name, kind, seed),
                "shape": lambda: number(name, kind, seed, (3,)),
                "list": lambda: lists(name, kind, seed, empty=empty),
                "nested": lambda: lists(name, kind, seed, 2, empty, 4),
                "text": lambda: lists(name, "chars", seed, empty=empty),
                "texts": lambda: lists(name, "chars", seed, 2, empty, 4),
                "deep": lambda: lists(name, random.choice(["chars", kind]), seed, 3, empty, 3),
            }[make]())
    return columns
