# SPDX-License-Identifier: Apache-2.0
"""RNTuples written by tfilefs, and those of ROOT and uproot to which it appends, read by ROOT, uproot and the mount."""

import os
import shutil
import subprocess

import numpy as np
import pytest
import uproot

import mounted_table
import random_columns
from oracle.compare import text_to_bytes
from oracle.test_writing import assert_same_files, nodes_of, write_table


@pytest.fixture
def root(samples):
    """root("read", FILE, NTUPLE, DIRECTORY), root("make", FILE, SETTINGS): samples/ntuple_columns.cpp."""
    program = os.path.join(samples("ntuple_columns"), "ntuple_columns")

    def run(*arguments):
        result = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60)
        assert result.returncode == 0 and not result.stderr, result.stdout + result.stderr

    return run


def assert_reads_back(file, directory, root, mount):
    """ROOT's views, uproot and the mount read the files below `directory` from Events."""
    read = file + ".columns"
    root("read", file, "Events", read)
    assert_same_files(directory, read)
    with uproot.open(file) as opened:
        table = opened["Events"]
        for name, values in nodes_of(directory).items():
            mounted_table.assert_same(text_to_bytes(table[name].array().tolist()), values, f"{name} by uproot")
    shutil.rmtree(read)
    assert_same_files(directory, os.path.join(mount(os.path.dirname(file)).path, os.path.basename(file), "Events"))


def counted(columns, counter, name):
    """A list and its counter, which is a projection of it."""
    offsets = columns.offsets(columns.entries)
    columns.put(counter, np.diff(offsets).astype("<" + counter[-2:]))
    columns.lists(name, "f4", offsets=offsets)


@pytest.fixture
def place(tmp_path):
    os.mkdir(tmp_path / "files")
    return str(tmp_path / "files" / "written.root"), str(tmp_path / "columns"), str(tmp_path / "more")


@pytest.mark.parametrize("codec, clusters", (
    ("none", (1000,)), ("zlib:1", (7, 100, 1, 33)), ("lz4:4", (1000,)), ("lzma:2", (1000,)), ("zstd:5", (7, 100, 1, 33)),
))
def test_every_field(place, root, shared_mount, codec, clusters):
    file, directory, _ = place
    random_columns.every_field(random_columns.Columns(directory, 250, seed=len(codec)))
    write_table(file, "Events", "rntuple", codec, directory, *clusters)
    assert_reads_back(file, directory, root, shared_mount)


def test_entries_and_fields_are_added_and_removed(place, root, shared_mount):
    """Each in a commit of its own: clusters behind those that are there, also in another codec; fields of all entries."""
    file, directory, more = place
    random_columns.every_field(random_columns.Columns(directory, 90, seed=1))
    write_table(file, "Events", "rntuple", "zstd", directory, 40)
    added = random_columns.Columns(more, 90, seed=2)
    added.number("late", "i4")
    added.lists("late_list", "f8", depth=2)
    random_columns.members(added.records("late_records"), 1)
    counted(added, "nlatest.u4", "latest_x")
    write_table(file, "Events", "rntuple", "none", more, 1)  # in the clusters that there are
    shutil.copytree(more, directory, dirs_exist_ok=True)
    assert_reads_back(file, directory, root, shared_mount)

    for seed, codec in ((3, "none"), (4, "lz4")):
        shutil.rmtree(more)
        columns = random_columns.Columns(more, 20 * seed, seed)
        random_columns.every_field(columns)
        columns.number("late", "i4")
        columns.lists("late_list", "f8", depth=2)
        random_columns.members(columns.records("late_records"), 1)
        counted(columns, "nlatest.u4", "latest_x")
        write_table(file, "Events", "rntuple", codec, more, 25)
        random_columns.append(directory, more)
    assert_reads_back(file, directory, root, shared_mount)

    write_table(file, "Events", "drop", "n_f4", "hits", "late_list", "deep", "nCu8", "Cu4_x", "nCu4")
    for name in ("n_f4.f4", "nCu4.u4", "nCu8.u8"):
        os.remove(os.path.join(directory, name))
    for name in ("hits", "late_list", "deep", "Cu4_x"):
        shutil.rmtree(os.path.join(directory, name))
    assert_reads_back(file, directory, root, shared_mount)


def test_page_lists_of_many_commits_are_joined(place, root, shared_mount):
    file, directory, more = place
    random_columns.Columns(directory, 3, seed=0).lists("v", "f4")
    write_table(file, "Events", "rntuple", "zstd", directory, 3)
    for seed in range(1, 104):
        shutil.rmtree(more, ignore_errors=True)
        random_columns.Columns(more, 3, seed).lists("v", "f4")
        write_table(file, "Events", "rntuple", "zstd", more, 3)
        random_columns.append(directory, more)
    assert_reads_back(file, directory, root, shared_mount)
    assert os.path.getsize(file) < 200_000


def test_roots_own_grows(place, root, shared_mount):
    """Entries are appended to the clusters of ROOT, which has added a field late, and a field to all of them."""
    file, directory, more = place
    for settings in ("0", "505"):
        root("make", file, settings)
        shutil.copytree(os.path.join(shared_mount(os.path.dirname(file)).path, "written.root", "Events"), directory)
        columns = random_columns.Columns(more, 30, seed=1)
        columns.lists("ours", "i8")
        write_table(file, "Events", "rntuple", "lz4", more, 1)
        shutil.copytree(more, directory, dirs_exist_ok=True)
        shutil.rmtree(more)
        columns = random_columns.Columns(more, 17, seed=2)
        for name, dtype, shape in (("x", "f4", ()), ("n", "i2", ()), ("b", "b1", ()), ("a", "u4", (2,))):
            columns.number(name, dtype, shape)
        columns.lists("s", "chars")
        offsets = columns.offsets(17)
        columns.lists("v", "f8", depth=2, offsets=offsets)
        columns.put("nv.u4", np.diff(offsets).astype("<u4"))  # a projection
        counted(columns, "count.u8", "late")  # whatever its name is
        columns.lists("ours", "i8")
        write_table(file, "Events", "rntuple", "zlib:1", more, 10)
        random_columns.append(directory, more)
        assert_reads_back(file, directory, root, shared_mount)
        for path in (directory, more):
            shutil.rmtree(path)
        os.remove(file)


def test_uproots_own_grows(place, root, shared_mount):
    file, directory, more = place
    with uproot.recreate(file) as made:
        made.mkrntuple("Events", {"x": np.arange(20, dtype="f4"), "i": np.arange(20, dtype="i8")})
    shutil.copytree(os.path.join(shared_mount(os.path.dirname(file)).path, "written.root", "Events"), directory)
    columns = random_columns.Columns(more, 9, seed=1)
    columns.number("x", "f4")
    columns.number("i", "i8")
    write_table(file, "Events", "rntuple", "zstd", more, 9)
    random_columns.append(directory, more)
    assert_reads_back(file, directory, root, shared_mount)
