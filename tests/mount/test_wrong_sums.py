# SPDX-License-Identifier: Apache-2.0
"""Sums in the records of branches that their baskets contradict: as in files of ROOT 5.34, which has counted baskets
twice. No size comes from them."""

import json
import mmap
import os
import struct
import subprocess

import awkward as ak
import numpy as np
import pytest
import uproot

import faulty_server as faulty
import mounted

SUMS = struct.Struct(">qqqq")  # as they follow each other in the record of a branch


def patched(path, to, sums, changed):
    """A copy of a file whose branches claim other sums: changed(fEntries, fFirstEntry, fTotBytes, fZipBytes)."""
    with open(path, "rb") as file:
        data = file.read()
    for claimed in set(map(tuple, sums.values())):
        old, new = SUMS.pack(*claimed), SUMS.pack(*changed(*claimed))
        assert old in data
        data = data.replace(old, new)
    with open(to, "wb") as file:
        file.write(data)
    return to


def by_root(samples, tmp_path):
    directory = samples("wrong_sums")
    with open(os.path.join(directory, "sums.json")) as file:
        return os.path.join(directory, "right.root"), json.load(file)


def by_uproot(samples, tmp_path):
    """One record of the tree for each change; only the last one is listed."""
    path = tmp_path / "uproot.root"
    random = np.random.default_rng(2)
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        def part():
            counts = random.integers(0, 6, 1000)
            lists = {name: ak.unflatten(random.random(counts.sum(), dtype="f4"), counts) for name in ("a", "b", "c")}
            return {"list": ak.zip(lists), "fixed": random.random((1000, 3)), "other": ak.unflatten(
                random.integers(0, 9, counts[::-1].sum()), counts[::-1])}

        tree = file.mktree("t", part())
        for _ in range(5):
            tree.extend(part())
    with uproot.open(path) as file:
        sums = {name: [branch.member("fEntries"), branch.member("fFirstEntry"), branch.member("fTotBytes"),
                       branch.member("fZipBytes")] for name, branch in file["t"].items(recursive=True)
                if branch.member("fZipBytes") > 0}
    return str(path), sums


# What is added is a whole number of items of each column.
CHANGES = {
    "fTotBytes doubled": lambda entries, first, total, stored: (entries, first, 2 * total, stored),
    "fTotBytes with more": lambda entries, first, total, stored: (entries, first, total + 32 * 24000, stored),
    "fTotBytes with less": lambda entries, first, total, stored: (entries, first, total - 24 * 24, stored),
    "fTotBytes of nothing": lambda entries, first, total, stored: (entries, first, 0, stored),
    "both": lambda entries, first, total, stored: (entries, first, total + 24 * 1000, stored + 24 * 500),
    "fZipBytes": lambda entries, first, total, stored: (entries, first, total, 3 * stored),
    "fEntries": lambda entries, first, total, stored: (entries + 100, first, total, stored),
}


def sizes_and_bytes(table, order=sorted):
    """Of each file its size, before it is read, and its bytes as they are mapped into memory."""
    found = {}
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(table) for name in names]
    for path in order(paths):
        size = os.stat(path).st_size
        with open(path, "rb") as file:
            data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)[:] if size > 0 else file.read()
        assert len(data) == size, path
        found[os.path.relpath(path, table)] = data
    return found


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("writer", (by_root, by_uproot), ids=("ROOT", "uproot"))
def test_sizes_are_those_of_the_baskets(samples, mount, tmp_path, program, writer, change):
    path, sums = writer(samples, tmp_path)
    wrong = patched(path, str(tmp_path / "wrong.root"), sums, CHANGES[change])
    right = sizes_and_bytes(os.path.join(mount(path).path, "t"))
    assert len(right) >= 8 and sum(map(len, right.values())) > 100_000
    for order in (sorted, lambda paths: sorted(paths, reverse=True)):
        assert sizes_and_bytes(os.path.join(mount(wrong).path, "t"), order) == right
    with open(wrong, "rb") as file, open(path, "rb") as unchanged:
        assert file.read() != unchanged.read()
    done = subprocess.run([program, "check", path], capture_output=True, text=True)
    assert done.returncode == 0 and "no errors" in done.stdout
    if change == "fEntries":  # tells nothing of what is stored
        return
    done = subprocess.run([program, "check", wrong], capture_output=True, text=True)
    named = [line for line in done.stdout.splitlines() if "the totals in the record of the branch are wrong" in line]
    assert done.returncode == 4 and len(named) == len(sums), done.stdout
    assert all(("fTotBytes" in line) == ("fZipBytes" != change) for line in named)


def test_values_are_roots(samples, mount, tmp_path):
    """All that uproot reads of the right file is in the wrong one."""
    path, sums = by_root(samples, tmp_path)
    wrong = patched(path, str(tmp_path / "wrong.root"), sums, CHANGES["fTotBytes with more"])
    table = os.path.join(mount(wrong).path, "t")
    with uproot.open(path) as file:
        for name, of_each in (("x", 1), ("y", 1), ("alone", 1), ("shaped", 3), ("numbers", 1)):
            expected = file["t"][name].array()
            [column] = [each for each in os.listdir(os.path.join(table, name)) if each.startswith("values.")]
            values = np.memmap(os.path.join(table, name, column), dtype=f"<{column.split('.')[1][:2]}", mode="r")
            offsets = np.memmap(os.path.join(table, name, "offsets.i8"), dtype="<i8", mode="r")
            np.testing.assert_array_equal(values, ak.to_numpy(ak.flatten(expected, axis=None)))
            np.testing.assert_array_equal(np.diff(offsets), ak.num(expected))
            assert len(values) == of_each * offsets[-1]


def test_disk_usage_is_that_of_the_baskets(samples, mount, tmp_path):
    path, sums = by_root(samples, tmp_path)
    wrong = patched(path, str(tmp_path / "wrong.root"), sums, CHANGES["fZipBytes"])
    blocks = [os.stat(os.path.join(mount(each).path, "t", "y", "values.f8")).st_blocks for each in (path, wrong)]
    assert blocks[0] == blocks[1] > 1


@pytest.mark.parametrize("change", (None, "fTotBytes with more"))
def test_remote_sizes_take_three_round_trips(samples, tmp_path, change):
    """The headers of all lists come together, and so do those of lists whose records are wrong."""
    path, sums = by_uproot(samples, tmp_path)
    if change:
        path = patched(path, str(tmp_path / "wrong.root"), sums, CHANGES[change])
    with open(path, "rb") as file:
        data = file.read()
    with faulty.FaultyServer() as server:
        server.put("/a.root", data + bytes(2 << 20))  # more than is read as a whole
        server.rule = waves = faulty.Waves()
        with mounted.Mounted(server.url("a.root"), ("timeout=10", "recheck=60")) as m:
            opened = waves.count
            done = subprocess.run(["ls", "-lR", m.path], capture_output=True, text=True, timeout=60)
            assert done.returncode == 0 and done.stdout.count("values") >= 4
        assert waves.count - opened <= 3, waves.sizes
