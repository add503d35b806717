# SPDX-License-Identifier: Apache-2.0
"""Damaged and malicious files: an error on the path concerned; neighbours stay readable; the daemon lives and stays
small."""

import errno
import os
import random
import re
import shutil
import struct
import subprocess
import time

import awkward
import hypothesis
import hypothesis.strategies as st
import pytest
import uproot

import hostile_file
import mounted
import mounted_table

BUDGET = 64 << 20
RESIDENT_MAX = BUDGET + (200 << 20)
READ_MAX = 32 << 20  # per file: a hostile size may claim far more


def read_some(path):
    """The first READ_MAX bytes and the last page."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        done = 0
        while done < READ_MAX and (part := os.pread(descriptor, 1 << 20, done)):
            done += len(part)
        size = os.fstat(descriptor).st_size
        if size > READ_MAX:
            os.pread(descriptor, 4096, size - 4096)
        return done
    finally:
        os.close(descriptor)


def look_at_everything(top, views=(".schema.json", ".map.txt", ".keys.json", ".header.json")):
    """Lists, stats and reads everything; returns {path: errno} of failures, and the number of files read."""
    errors, read = {}, 0

    def attempt(action, path):
        nonlocal read
        try:
            result = action(path)
            read += isinstance(result, int)
            return result
        except OSError as error:
            assert error.errno in hostile_file.DAMAGE, f"{path}: {error}"
            errors[os.path.relpath(path, top)] = error.errno
            return None

    pending, directories = [top], 0
    while pending:
        directory = pending.pop()
        directories += 1
        assert directories < 20000, "a directory that never ends"
        names = attempt(os.listdir, directory) or []
        if directory.count("/") - top.count("/") > 120:
            raise AssertionError(f"a directory without a bottom: {directory[-300:]}")
        for name in names:
            path = os.path.join(directory, name)
            status = attempt(os.lstat, path)
            if status is None:
                continue
            if os.path.isdir(path):
                pending.append(path)
            else:
                attempt(read_some, path)
        for view in views:
            if os.path.exists(os.path.join(directory, view)):
                attempt(read_some, os.path.join(directory, view))
    return errors, read


def survives(source, **more):
    """Mounts, reads everything, and checks that the daemon lives, is small, and ends without error."""
    with mounted.Mounted(source, [f"memory={BUDGET}"]) as m:
        result = look_at_everything(m.path, **more)
        assert m.alive()
        assert m.resident_bytes() < RESIDENT_MAX, f"{m.resident_bytes() >> 20} MiB"
        return result


def is_mounted(path):
    """The same by a mount: if the file is refused, then with one line and exit 1."""
    try:
        survives(path)
        return True
    except mounted.MountFailed as refusal:
        assert refusal.status == 1, refusal
        assert len(refusal.message.strip().splitlines()) == 1 and os.fspath(path) in refusal.message, refusal
        return False


def is_read(path):
    """All readable parts of a file are read, or it is refused, which is False."""
    return "refused" not in hostile_file.read_everything(path, BUDGET)


@pytest.fixture(scope="module")
def plain(samples):
    with open(os.path.join(samples("storage"), "plain.root"), "rb") as file:
        return bytearray(file.read())


def test_truncated_at_every_512_bytes(plain, tmp_path):
    """All cuts in one mirror: each is a plain file, or shows what recovery finds; the whole file beside them is
    intact."""
    for size in range(0, len(plain), 512):
        hostile_file.write(tmp_path / f"cut{size:06d}.root", plain[:size])
    hostile_file.write(tmp_path / "whole.root", plain)
    with mounted.Mounted(tmp_path, [f"memory={BUDGET}"]) as m:
        errors, read = look_at_everything(m.path, views=())
        assert m.alive() and m.resident_bytes() < RESIDENT_MAX
        assert not [path for path in errors if path.startswith("whole.root")]
        assert mounted_table.read_node(os.path.join(m.path, "whole.root", "t"), "number") == list(range(1, 501))
        assert read > len(plain) // 512


def test_truncated_file_alone(plain, tmp_path):
    """Some of the same cuts as files: refused, with one line by a mount, or recovered. A mount shows as much."""
    path = tmp_path / "cut.root"
    outcomes = set()
    for size in (0, 3, 4, 63, 64, 100, 512, 1024, 8192, len(plain) // 2, len(plain) - 512, len(plain) - 1):
        hostile_file.write(path, plain[:size])
        outcomes.add(is_read(path))
        if size in (0, 1024, len(plain) // 2):
            assert is_mounted(path) == is_read(path)
    assert outcomes == {True, False}


HEADER_FIELDS = {  # offsets in the small form; docs/format.md, "Header"
    "magic": 0, "fVersion": 4, "fBEGIN": 8, "fEND": 12, "fSeekFree": 16, "fNbytesFree": 20, "nfree": 24,
    "fNbytesName": 28, "fCompress": 33, "fSeekInfo": 37, "fNbytesInfo": 41,
}
EXTREMES = (0, -1, 0x7FFFFFFF)


@pytest.mark.parametrize("field", HEADER_FIELDS)
@pytest.mark.parametrize("value", EXTREMES)
def test_header_fields(plain, tmp_path, field, value):
    damaged = bytearray(plain)
    struct.pack_into(">i", damaged, HEADER_FIELDS[field], value)
    path = tmp_path / "header.root"
    hostile_file.write(path, damaged)
    is_read(path)


@pytest.mark.parametrize("value", (0, 1, 255))
def test_header_units(plain, tmp_path, value):
    damaged = bytearray(plain)
    damaged[32] = value
    path = tmp_path / "units.root"
    hostile_file.write(path, damaged)
    assert is_read(path), "fUnits is not what tells the form of a file"


def root_record(image):
    """Offset of the root directory's record: fBEGIN + fNbytesName."""
    begin, name = struct.unpack_from(">i", image, 8)[0], struct.unpack_from(">i", image, 28)[0]
    return begin + name


@pytest.mark.parametrize("field, at, form", [
    ("version", 0, ">h"), ("fNbytesKeys", 10, ">i"), ("fNbytesName", 14, ">i"), ("fSeekDir", 18, ">i"),
    ("fSeekParent", 22, ">i"), ("fSeekKeys", 26, ">i"),
])
@pytest.mark.parametrize("value", EXTREMES)
def test_root_directory_fields(plain, tmp_path, field, at, form, value):
    damaged = bytearray(plain)
    struct.pack_into(form, damaged, root_record(plain) + at, max(min(value, 0x7FFF), -1) if form == ">h" else value)
    path = tmp_path / "directory.root"
    hostile_file.write(path, damaged)
    is_read(path)


def key_list(image):
    return struct.unpack_from(">i", image, root_record(image) + 26)[0]


def key_in_list(image, name):
    """Offset of the key header of `name` in the root directory's key list."""
    start = key_list(image)
    keylen = struct.unpack_from(">h", image, start + 14)[0]
    count = struct.unpack_from(">i", image, start + keylen)[0]
    at = start + keylen + 4
    for _ in range(count):
        text = at + 26
        class_size = image[text]
        name_at = text + 1 + class_size
        if bytes(image[name_at + 1 : name_at + 1 + image[name_at]]).decode() == name:
            return at
        at += struct.unpack_from(">h", image, at + 14)[0]
    raise AssertionError(name)


KEY_FIELDS = {"fNbytes": (0, ">i"), "fVersion": (4, ">h"), "fObjlen": (6, ">i"), "fKeylen": (14, ">h"), "fCycle": (16, ">h"),
              "fSeekKey": (18, ">i"), "fSeekPdir": (22, ">i")}


@pytest.mark.parametrize("field", KEY_FIELDS)
@pytest.mark.parametrize("value", (*EXTREMES, 1))
def test_key_fields(plain, tmp_path, field, value):
    """In the key list of the root directory: that key may be lost, but not the file beside it in the mirror."""
    at, form = KEY_FIELDS[field]
    damaged = bytearray(plain)
    struct.pack_into(form, damaged, key_in_list(plain, "t") + at, max(min(value, 0x7FFF), -1) if form == ">h" else value)
    path = tmp_path / "key.root"
    hostile_file.write(path, damaged)
    is_read(path)


@pytest.mark.parametrize("count", (0, -1, 1, 3, 0x7FFFFFFF))
def test_number_of_keys(plain, tmp_path, count):
    damaged = bytearray(plain)
    start = key_list(plain)
    struct.pack_into(">i", damaged, start + struct.unpack_from(">h", plain, start + 14)[0], count)
    path = tmp_path / "count.root"
    hostile_file.write(path, damaged)
    is_read(path)


def baskets(path, branch):
    with uproot.open(path) as file:
        tree_branch = file["t"][branch]
        return [int(seek) for seek in tree_branch.member("fBasketSeek")[: tree_branch.num_baskets]]


def entries_of(path, branch):
    """[first, last) entries of each basket."""
    with uproot.open(path) as file:
        return list(file["t"][branch].entry_offsets)


@pytest.fixture(scope="module")
def plain_path(samples):
    return os.path.join(samples("storage"), "plain.root")


# In a basket's own key (form with 64-bit addresses), and the header after it.
BASKET_FIELDS = {"fNbytes": (0, ">i"), "fVersion": (4, ">h"), "fObjlen": (6, ">i"), "fKeylen": (14, ">h")}


@pytest.mark.parametrize("field", BASKET_FIELDS)
@pytest.mark.parametrize("value", (*EXTREMES, 2_000_000_000))
@pytest.mark.parametrize("branch", ("matrix", "list", "text", "vector"))
def test_basket_fields(plain, plain_path, tmp_path, field, value, branch):
    """One basket is damaged: an error there at most; the other branches are intact, and no 2 GB are allocated."""
    at, form = BASKET_FIELDS[field]
    damaged = bytearray(plain)
    seek = baskets(plain_path, branch)[1]
    struct.pack_into(form, damaged, seek + at, max(min(value, 0x7FFF), -1) if form == ">h" else value)
    path = tmp_path / "basket.root"
    hostile_file.write(path, damaged)
    with mounted.Mounted(path, [f"memory={BUDGET}"]) as m:
        errors, _ = look_at_everything(m.path)
        assert m.alive() and m.resident_bytes() < RESIDENT_MAX
        # `list` counts with n, but no other branch depends on a damaged one.
        assert not [name for name in errors if not name.startswith(f"t/{branch}") and name != "t/.schema.json"], errors
        assert mounted_table.read_node(os.path.join(m.path, "t"), "number") == list(range(1, 501))
        if errors:
            assert branch in m.errors()


def test_damaged_payload_costs_its_own_entries_alone(plain, plain_path, tmp_path):
    """EIO for the bytes of one basket; the same column can be read before and after it."""
    damaged = bytearray(plain)
    seeks, entries = baskets(plain_path, "matrix"), entries_of(plain_path, "matrix")
    keylen = struct.unpack_from(">h", plain, seeks[2] + 14)[0]
    damaged[seeks[2] + keylen : seeks[2] + keylen + 9] = b"XX\x08" + b"\xff" * 6
    path = tmp_path / "payload.root"
    hostile_file.write(path, damaged)
    with mounted.Mounted(path) as m, mounted.Mounted(plain_path) as good:
        column = "t/matrix.f8x2x2"
        size = os.stat(os.path.join(m.path, column)).st_size
        assert size == 500 * 32
        with open(os.path.join(good.path, column), "rb") as file:
            whole = file.read()
        descriptor = os.open(os.path.join(m.path, column), os.O_RDONLY | os.O_DIRECT)
        os.close(descriptor)
        descriptor = os.open(os.path.join(m.path, column), os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
        page = 4096
        first, last = entries[2] * 32, entries[3] * 32
        try:
            for offset in range(0, size, page):
                if offset + page <= first // page * page or offset >= last:
                    assert os.pread(descriptor, page, offset) == whole[offset : offset + page], offset
            with pytest.raises(OSError) as error:
                os.pread(descriptor, page, (first + last) // 2 // page * page)
            assert error.value.errno == errno.EIO
        finally:
            os.close(descriptor)
        told = m.errors().splitlines()
        assert len(told) >= 1 and any("matrix" in line for line in told)
        assert all("\x1b" not in line for line in told)


def patch_key_name(image, old, new):
    """Renames a key in its list; both names have the same length."""
    assert len(old) == len(new)
    at = bytes(image).index(bytes([len(old)]) + old, key_list(image))
    image[at + 1 : at + 1 + len(old)] = new


HOSTILE_NAMES = (b"..", b".", b"/", b"\0", b"../../etc/passwd", b"a/../../b", b"\x1b]0;owned\x07", b"\n", b"%2F", b"%00",
                 b"\xff\xfe\xfd", b"CON", b"-rf", b"a" * 250, b".tfilefs", b".schema.json", b"t;1", b"~", b"\xe2\x80\xae")


def test_hostile_key_names(mount, tmp_path):
    """Names with a meaning to a path or a terminal: escaped, found again, and none of them leads out of the mount."""
    path = tmp_path / "names.root"
    placeholders = [
        f"{i:02d}".encode() + b"x" * (len(name) - 2) if len(name) > 1 else bytes([ord("A") + i])
        for i, name in enumerate(HOSTILE_NAMES)
    ]
    with uproot.recreate(path) as file:
        for placeholder in placeholders:
            file[placeholder.decode()] = "text"
    image = bytearray(path.read_bytes())
    for placeholder, name in zip(placeholders, HOSTILE_NAMES):
        patch_key_name(image, placeholder, name)
    hostile_file.write(path, image)
    m = mount(path)
    top = os.fsencode(m.path)
    names = os.listdir(top)
    assert len(names) == len(HOSTILE_NAMES)
    assert not any(name in (b".", b"..", b"") or b"/" in name or b"\0" in name or len(name) > 255 for name in names)
    found = set()
    for name in names:
        status = os.stat(os.path.join(top, name))
        assert status.st_dev == os.stat(top).st_dev
        assert os.stat(os.path.join(top, name, b"object.bin")).st_size > 0
        found.add(os.getxattr(os.path.join(top, name), "user.tfilefs.name"))
    assert found == set(HOSTILE_NAMES)


def test_directory_that_holds_itself(samples, tmp_path):
    """A subdirectory whose key list is its parent's: a walk ends, with an error or at a bounded depth."""
    source = os.path.join(samples("storage"), "directories.root")
    with open(source, "rb") as file:
        image = bytearray(file.read())
    with uproot.open(source) as file:
        key = file.key("a")
        seek, keylen = key.fSeekKey, key.fKeylen
    at_keys = 26  # of fSeekKeys in the record; fNbytesKeys is at 10
    record = seek + keylen
    root = root_record(image)
    image[record + at_keys : record + at_keys + 4] = image[root + at_keys : root + at_keys + 4]
    image[record + 10 : record + 14] = image[root + 10 : root + 14]
    path = tmp_path / "loop.root"
    hostile_file.write(path, image)
    with mounted.Mounted(path) as m:
        errors, _ = look_at_everything(m.path)
        assert m.alive()
        assert "h2" in os.listdir(m.path)


def test_tree_of_absurd_entries(plain_path, tmp_path):
    """fEntries of the tree and of a branch set to 2^60 in a stored tree record: no memory is allocated for them."""
    source = tmp_path / "stored.root"
    with uproot.recreate(source, compression=None) as file:
        file.mktree("t", {"x": "f8", "y": "i4"})
        file["t"].extend({"x": [0.5] * 777, "y": [1] * 777})
    image = source.read_bytes()
    needle = struct.pack(">q", 777)
    places = [match.start() for match in re.finditer(re.escape(needle), image)]
    assert len(places) >= 3
    for value in (2**60, -1, 2**63 - 1, 776, 778):
        for place in places:
            damaged = bytearray(image)
            struct.pack_into(">q", damaged, place, value)
            path = tmp_path / "entries.root"
            hostile_file.write(path, damaged)
            is_read(path)


def flips(image, seed, count):
    generator = random.Random(seed)
    damaged = bytearray(image)
    for _ in range(count):
        at = generator.randrange(len(damaged))
        kind = generator.randrange(3)
        if kind == 0:
            damaged[at] ^= 1 << generator.randrange(8)
        elif kind == 1:
            damaged[at : at + 4] = generator.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x40\0\0\0"))
        else:
            damaged[at] = generator.randrange(256)
    return bytes(damaged[: len(image)])


@pytest.mark.sanitized
@pytest.mark.parametrize("seed", range(4))
def test_random_damage(samples, tmp_path, seed):
    """Forty damaged copies of several files in one mirror, all of which are read; the seed is in the test's name."""
    images = []
    for sample, file in (("storage", "plain.root"), ("storage", "embedded.root"), ("storage", "directories.root"),
                         ("event", "event-99-101.root"), ("event", "event-0-101.root"), ("strings", "strings.root")):
        with open(os.path.join(samples(sample), file), "rb") as opened:
            images.append(opened.read())
    for i in range(40):
        image = images[i % len(images)]
        hostile_file.write(tmp_path / f"damaged{i}.root", flips(image, seed * 1000 + i, 1 + i % 20))
    survives(tmp_path, views=(".schema.json",))


@hypothesis.given(data=st.data())
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_damage_in_stored_metadata(tmp_path_factory, data):
    """Bytes of an uncompressed file: each one is checked by the parsers, not by a codec."""
    directory = tmp_path_factory.getbasetemp() / "stored-metadata"
    directory.mkdir(exist_ok=True)
    source = directory / "source.root"
    if not source.exists():
        with uproot.recreate(source, compression=None) as file:
            file.mktree("t", {"x": "f8", "l": "var * int32", "s": "string"})
            file["t"].extend({"x": [0.5] * 20, "l": awkward.Array([[1, 2]] * 20), "s": awkward.Array(["a", "bc"] * 10)})
    image = bytearray(source.read_bytes())
    for at, value in data.draw(st.lists(st.tuples(st.integers(0, len(image) - 1), st.integers(0, 255)), min_size=1, max_size=6)):
        image[at] = value
    path = directory / "damaged.root"
    hostile_file.write(path, image)
    is_read(path)
