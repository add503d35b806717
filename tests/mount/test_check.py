# SPDX-License-Identifier: Apache-2.0
"""`tfilefs check`: no output for good files; if the file has checksums, no damage goes unnoticed; what loses nothing is a
note."""

import contextlib
import os
import random
import re
import shutil
import subprocess
import sys
import zlib

import awkward
import numpy as np
import pytest
import uproot

import mounted


def check(program, path):
    done = subprocess.run([program, "check", str(path)], capture_output=True, text=True, errors="replace", timeout=120)
    return done.returncode, done.stdout.splitlines(), done.stderr


def records(program, path):
    """Address, size and class of each record except the file's own and the free list."""
    text = subprocess.run([program, "map", str(path)], capture_output=True, text=True, check=True).stdout
    found = [(int(at), int(n), name) for at, n, name in re.findall(r"At:(\d+) +N=(\d+) +(\S+)", text)]
    return [each for each in found if each[2] not in ("END", "FreeSegments") and each[0] > 100]


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """codec -> a file with trees of numbers and lists, one in a directory, and a histogram."""
    directory = tmp_path_factory.mktemp("check")
    codecs = {"zlib": uproot.ZLIB(1), "lz4": uproot.LZ4(1), "lzma": uproot.LZMA(1), "zstd": uproot.ZSTD(5), "none": None}
    counts = np.arange(3000) % 4
    for name, codec in codecs.items():
        with uproot.recreate(directory / f"{name}.root", compression=codec) as file:
            for tree in ("Events", "sub/deep/T"):
                batch = {
                    "x": np.arange(3000, dtype="f4"),
                    "list": awkward.unflatten(np.arange(counts.sum(), dtype="f8"), counts),
                }
                file.mktree(tree, {"x": "f4", "list": "var * float64"})
                file[tree].extend(batch)
                file[tree].extend(batch)
            file["h"] = np.histogram(np.arange(1000.0), bins=50)
    return directory


@pytest.mark.parametrize("codec", ["zlib", "lz4", "lzma", "zstd", "none"])
def test_good_files_have_no_errors(program, good, codec):
    path = good / f"{codec}.root"
    code, lines, errors = check(program, path)
    assert (code, errors) == (0, "")
    summary = re.fullmatch(rf"{path}: (\d+) records, (\d+) keys, (\d+) tables, (\d+) baskets: no errors", lines[0])
    assert len(lines) == 1 and summary
    found, keys, tables, chunks = map(int, summary.groups())
    assert found >= len(records(program, path)) and keys >= 5 and tables >= 2 and chunks >= 12


@pytest.mark.parametrize("compression", [0, 101, 207, 404, 505])
def test_what_root_writes_has_no_errors(program, samples, compression):
    code, lines, _ = check(program, f"{samples('numbers')}/numbers-{compression}.root")
    assert code == 0, lines


def same_content(stored, damaged):
    """deflate has bits without meaning: padding, and the lengths of unused codes."""
    try:
        return zlib.decompress(damaged) == zlib.decompress(stored)
    except zlib.error:
        return False


@pytest.mark.parametrize("codec", ["zlib", "lz4", "lzma"])
def test_a_flipped_bit_is_found_where_it_is(program, good, tmp_path, codec):
    whole = (good / f"{codec}.root").read_bytes()
    path = tmp_path / "damaged.root"
    choose = random.Random(7)
    looked_at = 0
    for address, size, name in records(program, good / f"{codec}.root"):
        # Only in compressed bytes, not in the key.
        stored = whole[address : address + size]
        keylen = int.from_bytes(stored[14:16], "big")
        if stored[keylen : keylen + 2] not in (b"ZL", b"L4", b"XZ"):
            continue
        at = choose.randrange(address + keylen + 9, address + size)
        damaged = whole[:at] + bytes([whole[at] ^ 1 << choose.randrange(8)]) + whole[at + 1 :]
        if codec == "zlib" and same_content(stored[keylen + 9 :], damaged[address + keylen + 9 : address + size]):
            continue
        path.write_bytes(damaged)
        code, lines, _ = check(program, path)
        looked_at += 1
        is_former = name == "TList"  # a StreamerInfo that uproot has freed: nobody reads it
        assert code == 0 if is_former else code in (4, 8, 12), (name, at - address, lines)
        assert any(f"(at byte {address})" in line and (": note: " in line) == is_former for line in lines), (name, address, at - address, lines)
    assert looked_at > 5


@pytest.mark.parametrize("branch", ["list", "vector"])
def test_a_damaged_basket_is_found_alone(program, good, samples, tmp_path, branch):
    source = good / "lzma.root" if branch == "list" else os.path.join(samples("siblings"), "main.root")
    shutil.copy(os.path.join(samples("siblings"), "side.root"), tmp_path)
    with open(source, "rb") as file:
        whole = file.read()
    path = tmp_path / "damaged.root"
    text = subprocess.run([program, "map", source], capture_output=True, text=True, check=True).stdout
    baskets = [(int(at), int(n)) for at, n in re.findall(rf"At:(\d+) +N=(\d+) +TBasket .*name: {branch} ", text)]
    assert len(baskets) > 1
    for address, size in baskets:
        path.write_bytes(whole[: address + size - 20] + b"\xa5" * 20 + whole[address + size :])
        code, lines, _ = check(program, path)
        assert code & 4 and f"(at byte {address})" in lines[0], lines
        assert len(lines) == 2, "what lies beside it is whole"


def test_what_uproot_frees_is_no_error(program, tmp_path):
    """It leaves the bytes of a footer unchanged: in this file, they begin like the length of a gap."""
    path = tmp_path / "freed.root"
    content = {"x": np.arange(10.0), "list": awkward.Array([[1, 2], [3]] * 5)}
    with uproot.recreate(path) as file:
        ntuple = file.mkrntuple("data", content)
        for _ in range(3):
            ntuple.extend(content)
    status, lines, _ = check(program, path)
    assert status == 0, lines
    assert not any(line.startswith(("=", " ")) for line in lines)


def test_bytes_that_are_no_record_have_a_name(program, good, tmp_path):
    path = tmp_path / "hole.root"
    image = bytearray((good / "none.root").read_bytes())
    at, size, _ = next(each for each in records(program, good / "none.root") if each[2] == "StreamerInfo")
    image[at : at + size] = bytes(size)
    path.write_bytes(image)
    status, lines, _ = check(program, path)
    assert status == 4 and any(line.startswith("unmarked bytes: note: neither a record nor free space") for line in lines), lines
    assert lines[-1].endswith(": 1 errors, 1 notes"), lines


def test_a_map_that_nobody_gets_is_no_success(program, tmp_path):
    with uproot.recreate(tmp_path / "many.root") as file:
        for number in range(200):
            file[f"text{number}"] = "text"
    with open("/dev/full", "wb") as full:
        done = subprocess.run([program, "map", tmp_path / "many.root"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1 and b"cannot write" in done.stderr


def test_a_sibling_masks_no_record(program, samples, tmp_path):
    """A basket in another file has the same address as an object here, which is checked nevertheless."""
    for name in ("main.root", "side.root"):
        shutil.copy(os.path.join(samples("siblings"), name), tmp_path)
    path = tmp_path / "main.root"
    assert check(program, path)[0] == 0
    here = {at: (n, name) for at, n, name in records(program, path)}
    there = {at: name for at, _, name in records(program, tmp_path / "side.root")}
    [address] = [at for at in here if here[at][1] == "TNamed" and there.get(at) == "TBasket"]
    whole = bytearray(path.read_bytes())
    end = address + here[address][0]
    whole[end - 20 : end] = b"\xa5" * 20
    path.write_bytes(whole)
    code, lines, _ = check(program, path)
    assert code == 4 and len(lines) == 2 and lines[0].startswith("first;1: ") and f"(at byte {address})" in lines[0], lines


def test_damage_in_a_sibling_names_it(program, samples, tmp_path):
    for name in ("main.root", "side.root"):
        shutil.copy(os.path.join(samples("siblings"), name), tmp_path)
    baskets = [(at, n) for at, n, name in records(program, tmp_path / "side.root") if name == "TBasket"]
    whole = bytearray((tmp_path / "side.root").read_bytes())
    address, size = baskets[-1]
    whole[address + size - 20 : address + size] = b"\xa5" * 20
    (tmp_path / "side.root").write_bytes(whole)
    code, lines, _ = check(program, tmp_path / "main.root")
    assert code == 4 and len(lines) == 2 and f"(at byte {address} of side.root)" in lines[0], lines
    with mounted.Mounted(tmp_path / "main.root") as m:
        for name, _, columns in os.walk(m.path):
            for column in columns:
                with contextlib.suppress(OSError), open(os.path.join(name, column), "rb") as file:
                    file.read()
        assert f"(at byte {address} of side.root)" in m.errors()


def test_a_record_that_is_overwritten_is_found(program, good, tmp_path):
    whole = (good / "none.root").read_bytes()
    path = tmp_path / "damaged.root"
    for address, size, name in records(program, good / "none.root"):
        if name == "TList":
            continue  # former StreamerInfos, freed by uproot
        path.write_bytes(whole[:address] + b"\xa5" * min(size, 30) + whole[address + min(size, 30) :])
        code, lines, _ = check(program, path)
        assert code == 4 and len(lines) > 1, (name, lines)


def test_a_file_that_is_cut_is_found(program, good, tmp_path):
    path = tmp_path / "cut.root"
    shutil.copy(good / "zlib.root", path)
    with open(path, "r+b") as file:
        file.truncate(path.stat().st_size - 100)
    assert check(program, path)[0] == 4


def test_what_cannot_be_checked(program, tmp_path):
    (tmp_path / "no.root").write_bytes(b"something else" * 100)
    code, lines, errors = check(program, tmp_path / "no.root")
    assert (code, lines) == (8, []) and errors.count("\n") == 1
    assert check(program, tmp_path / "missing.root")[0] == 8
    assert subprocess.run([program, "check"], capture_output=True).returncode == 16


def patch(path, to, at, value):
    image = bytearray(path.read_bytes())
    image[at : at + len(value)] = value
    to.write_bytes(image)


def key_list_of_root(path):
    return next(at for at, _, name in records(mounted.program(), path) if name == "KeysList")


def peak_of_check(path):
    """The largest resident size, in bytes."""
    code = "import resource, subprocess, sys\nsubprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)\n" \
           "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    done = subprocess.run([sys.executable, "-c", code, mounted.program(), "check", str(path)], capture_output=True, text=True)
    return int(done.stdout) << 10


def blocks_of(whole, address, size):
    """Address and size of the blocks of a compressed record."""
    at, blocks = address + int.from_bytes(whole[address + 14 : address + 16], "big"), []
    while at < address + size:
        blocks.append((at, 9 + int.from_bytes(whole[at + 3 : at + 6], "little")))
        at += blocks[-1][1]
    return blocks


@pytest.mark.parametrize("is_listed", (True, False))
def test_a_large_object_is_checked_block_by_block(program, samples, tmp_path, is_listed):
    """Also one that no key has: memory is for a block, not for the 200 MB of the object."""
    source = os.path.join(samples("large_matrix"), "large_matrix.root")
    path = tmp_path / "large.root"
    with open(source, "rb") as file:
        whole = bytearray(file.read())
    found = {name: (at, size) for at, size, name in records(program, source)}
    address, size = found["TH2S"]
    if not is_listed:
        entry = whole.index(whole[address : address + 18], key_list_of_root(source))
        whole[entry + 18 : entry + 22] = found["TH1F"][0].to_bytes(4, "big")
    path.write_bytes(whole)
    code, lines, _ = check(program, path)
    assert code == (0 if is_listed else 4) and len(lines) == (1 if is_listed else 2) and not any("note" in line for line in lines), lines
    assert peak_of_check(path) < 96 << 20
    blocks = blocks_of(whole, address, size)
    assert len(blocks) > 10
    for at, stored in (blocks[1], blocks[-1]):
        patch(path, tmp_path / "damaged.root", at + stored - 8, b"\xa5" * 8)
        code, lines, _ = check(program, tmp_path / "damaged.root")
        assert code == 4 and any(f"(at byte {at})" in line and (": note: " in line) != is_listed for line in lines), lines


def test_what_loses_nothing_is_a_note(program, good, tmp_path):
    """As uproot 3: the record of the list of keys has a false length, behind which nobody who walks finds records."""
    path = tmp_path / "short.root"
    at = key_list_of_root(good / "zlib.root")
    keylen = int.from_bytes((good / "zlib.root").read_bytes()[at + 14 : at + 16], "big")
    patch(good / "zlib.root", path, at, (keylen + 4).to_bytes(4, "big"))
    code, lines, errors = check(program, path)
    assert (code, errors) == (0, "") and len(lines) > 1 and lines[-1].endswith(f": no errors, {len(lines) - 1} notes"), lines
    assert all(": note: " in line for line in lines[:-1]), lines
    with uproot.open(path) as file, uproot.open(good / "zlib.root") as whole:
        assert file.keys() == whole.keys() and file["Events"]["x"].array().tolist() == whole["Events"]["x"].array().tolist()


@pytest.mark.parametrize("codec", ("none", "zlib", "lzma"))
def test_files_of_uproot_3_have_notes_at_most(program, samples, codec):
    code, lines, _ = check(program, os.path.join(samples("uproot3_files"), codec + ".root"))
    assert code == 0 and len(lines) > 1 and all(": note: " in line for line in lines[:-1]), lines


def test_damage_behind_a_note_is_an_error(program, good, tmp_path):
    """Records that no walk reaches are checked by their keys and tables."""
    path = tmp_path / "both.root"
    at = key_list_of_root(good / "lzma.root")
    keylen = int.from_bytes((good / "lzma.root").read_bytes()[at + 14 : at + 16], "big")
    patch(good / "lzma.root", path, at, (keylen + 4).to_bytes(4, "big"))
    needed = [each for each in records(program, good / "lzma.root") if each[0] > at and each[2] in ("TBasket", "TH1D")]
    assert len(needed) > 3
    for address, size, name in needed:
        damaged = tmp_path / "damaged.root"
        patch(path, damaged, address + size - 12, b"\xa5" * 8)
        code, lines, _ = check(program, damaged)
        assert code == 4 and any(f"(at byte {address})" in line and ": note: " not in line for line in lines), (name, lines)


def test_what_readers_differ_on_is_a_warning(program, good, tmp_path):
    path = tmp_path / "directory.root"
    at = next(at for at, _, name in records(program, good / "none.root") if name == "TDirectory")
    patch(good / "none.root", path, at, b"\0\0\0\1")
    code, lines, _ = check(program, path)
    assert code == 4 and "sub;1: warning: key: the record is not the one in the key list" in lines[0] and ": 1 warnings" in lines[-1], lines
    with uproot.open(path) as file:
        assert file["sub/deep/T"].num_entries == 6000
    shutil.copy(good / "zlib.root", path)
    with open(path, "r+b") as file:
        file.truncate(path.stat().st_size - 1)
    code, lines, _ = check(program, path)
    assert code == 4 and re.match(r".*: warning: the file is damaged \(truncated: .*; recovered \d+ keys", lines[0]), lines
