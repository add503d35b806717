# SPDX-License-Identifier: Apache-2.0
"""Fields that claim far more than their file contains: every view of every such file answers, with little memory, and
other files can be read."""

import os
import re
import struct

import pytest
import uproot

import hostile_file
import mounted


@pytest.fixture(scope="module")
def claimed(samples):
    def image(name):
        with open(os.path.join(samples("claimed"), name + ".root"), "rb") as file:
            return file.read()

    return image


def key_of(image, name):
    """(begin, length of the header, size) of the record for the key of this name in the root directory."""
    for match in re.finditer(re.escape(bytes([len(name)]) + name.encode()), image):
        for begin in range(max(0, match.start() - 60), match.start()):
            size, version, length, _, keylen, _, seek = struct.unpack_from(">ihiihhi", image, begin)
            if seek == begin and version == 4 and size <= length + keylen:
                return begin, keylen, size
    raise AssertionError(name)


def patched(image, within, old, new):
    """Replaces `old` by `new` everywhere in the record `within`."""
    begin, keylen, size = key_of(image, within)
    begin, end = begin + keylen, begin + size
    assert len(old) == len(new)
    places = [begin + match.start() for match in re.finditer(re.escape(old), image[begin:end])]
    assert places
    damaged = bytearray(image)
    for place in places:
        damaged[place : place + len(new)] = new
    return damaged


def integer(value):
    return struct.pack(">i", value)


TREE = {
    "dimensions": (b"m[2][3]", b"m[9][9]"),
    "dimensions beyond any memory": (b"\0\0\0\6", integer(2**31 - 1)),
    "fEntries": (struct.pack(">q", 100), struct.pack(">q", 10**12)),
    "fEntries as many as can be": (struct.pack(">q", 100), struct.pack(">q", 2**63 - 1)),
    "fMaxBaskets": (integer(10), integer(10**8)),
    "fWriteBasket": (integer(2), integer(10**8)),
    "fWriteBasket below none": (integer(2), integer(-(2**31))),
    "lists of floats": (b"vector<float>", b"vector<TList>"),
    "lists without end": (b"vector<vector<float> >", b"vector<vector<vector<v"),
}


@pytest.mark.parametrize("claim", TREE)
def test_tree(claimed, tmp_path, claim):
    path = tmp_path / "claims.root"
    hostile_file.write(path, patched(claimed("tree"), "t", *TREE[claim]))
    hostile_file.is_survived(path)


# Fields after a basket's key: fVersion, fBufferSize, fNevBufSize, fNevBuf, fLast; and the beginnings of its lists and
# strings.
BASKET = {"fBufferSize": 2, "fNevBufSize": 6, "fNevBuf": 10, "fLast": 14}
BRANCHES = ("x", "n", "a", "m", "v", "vv", "s")


@pytest.fixture(scope="module")
def baskets(samples):
    """For each branch, of its first basket: the places of fVersion and of the content, and the length of the key."""
    with uproot.open(os.path.join(samples("claimed"), "tree.root")) as file:
        image = open(file.file_path, "rb").read()
        found = {}
        for branch in BRANCHES:
            seek = int(file["t"][branch].member("fBasketSeek")[0])
            keylen = struct.unpack_from(">h", image, seek + 14)[0]
            found[branch] = (seek + keylen - 19, seek + keylen, keylen)
    return found


@pytest.mark.parametrize("value", (10**8, 2**31 - 1, -1))
@pytest.mark.parametrize("field", BASKET)
def test_baskets(claimed, baskets, tmp_path, field, value):
    """In a basket of every branch at once, and in the lengths of their contents."""
    damaged = bytearray(claimed("tree"))
    for begin, _, _ in baskets.values():
        struct.pack_into(">i", damaged, begin + BASKET[field], value)
    path = tmp_path / "claims.root"
    hostile_file.write(path, damaged)
    hostile_file.is_survived(path)


@pytest.mark.parametrize("value", (10**8, 2**31 - 1, -1))
def test_lengths_in_baskets(claimed, baskets, tmp_path, value):
    """Of counted arrays, lists, lists of lists, and strings: in each entry of their first baskets."""
    image = claimed("tree")
    damaged = bytearray(image)
    for branch in ("n", "v", "vv", "s"):
        begin, content, keylen = baskets[branch]
        last = struct.unpack_from(">i", image, begin + BASKET["fLast"])[0]
        end = min(content - keylen + last, content + 400)
        if branch == "s":
            damaged[content : content + 5] = b"\xff" + integer(value)
            continue
        for place in range(content, end, 4):
            if image[place] != 0x40:  # the first byte of a list's byte count
                struct.pack_into(">i", damaged, place, value)
    path = tmp_path / "claims.root"
    hostile_file.write(path, damaged)
    hostile_file.is_survived(path)


BINS = {
    "one": (21, 23), "two": (23, 25), "graph": (27,), "stack": (21, 23), "sparse": (29, 31),
}


@pytest.mark.parametrize("value", (10**8, 2**31 - 1, -1, 0))
@pytest.mark.parametrize("name", BINS)
def test_bins(claimed, tmp_path, name, value):
    """Numbers of bins, cells and points: each by itself, and all together."""
    image = claimed("histograms")
    path = tmp_path / "claims.root"
    every = image
    for count in BINS[name]:
        hostile_file.write(path, patched(image, name, integer(count), integer(value)))
        hostile_file.is_survived(path)
        every = patched(every, name, integer(count), integer(value))
    hostile_file.write(path, every)
    hostile_file.is_survived(path)


@pytest.mark.parametrize("value", (10**8, 2**31 - 1, -1))
def test_length_of_a_text(claimed, tmp_path, value):
    old = b"\x11how long is this?"
    path = tmp_path / "claims.root"
    hostile_file.write(path, patched(claimed("histograms"), "text", old, b"\xff" + integer(value) + old[5:]))
    hostile_file.is_survived(path)


FORMULA = 4001  # characters
FORMULAS = {
    "parentheses": "(" * 2000 + "x" + ")" * 2000,
    "parentheses that nobody closes": "(" * FORMULA,
    "signs": "-" * 4000 + "x",
    "functions of functions": "sin(" * 800 + "x" + ")" * 800,
    "powers of powers": "x^" * 2000 + "x",
    "choices": "x?" * 1000 + "x" + ":x" * 1000,
    "parameters": "[99999999]+" * 363 + "x",
    "numbers": "9" * FORMULA,
    "exponents": "1e99999999+" * 363 + "x",
    "dimensions": "x[999999999]+" * 307 + "x",
    "long sums": "TMath::Gaus(x,1e9,1e-9)+" * 160 + "x",
    "names": "A" * FORMULA,
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas(claimed, tmp_path, name):
    """Of functions of one and two variables that are drawn at as many points as a file can claim."""
    image = claimed("formulas")
    text = FORMULAS[name].encode().ljust(FORMULA, b" ")
    assert len(text) == FORMULA
    image = image.replace(b"x" + b"+0" * 2000, text).replace(b"y" + b"+0" * 2000, text)
    path = tmp_path / "claims.root"
    for points in (4099, 2**31 - 1):
        hostile_file.write(path, image.replace(integer(4099), integer(points)).replace(integer(4111), integer(points)))
        hostile_file.is_survived(path)


def described_by(image, key):
    """Makes the content of this key the file's record of classes."""
    begin, _, size = key_of(image, key)
    with_infos = bytearray(image)
    struct.pack_into(">i", with_infos, 37, begin)  # fSeekInfo
    struct.pack_into(">i", with_infos, 41, size)  # fNbytesInfo
    return bytes(with_infos)


def test_classes_that_hold_themselves(claimed, tmp_path):
    """By value, in vectors, as their own bases, in a ring of three, and eight times each of the next of forty."""
    image = described_by(claimed("objects"), "infos")
    path = tmp_path / "claims.root"
    for name in (b"Recursive1", b"Recursive2", b"Recursive3"):
        hostile_file.write(path, image.replace(b"TObjString", name))
        hostile_file.is_survived(path)


def test_a_class_of_a_million_members(claimed, tmp_path):
    path = tmp_path / "claims.root"
    hostile_file.write(path, described_by(claimed("many_elements"), "infos"))
    hostile_file.is_survived(path)


@pytest.mark.parametrize("bins, budget", ((100_000_000, 64 << 20), (16_000_000, 8 << 20)))
def test_bins_that_compress(samples, bins, budget):
    """All claimed bins exist, in a file of 28 kB."""
    path = os.path.join(samples("many_bins"), f"bins{bins}.root")
    assert os.path.getsize(path) < 40_000
    hostile_file.is_survived(path, beside=False, budget=budget)


def test_a_record_of_a_table_that_compresses(samples):
    """It is refused if the memory of the mount does not suffice to read it, and the errors say so."""
    path = os.path.join(samples("many_bins"), "record.root")
    hostile_file.is_survived(path, beside=False)
    with mounted.Mounted(path, [f"memory={hostile_file.BUDGET}"]) as m:
        with pytest.raises(OSError):
            os.listdir(os.path.join(m.path, "t"))
        assert "/t: " in m.errors() and "memory=" in m.errors()
