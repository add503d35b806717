# SPDX-License-Identifier: Apache-2.0
"""What a column of an RNTuple repeats from commit to commit is stored once, whoever wrote it first: the file grows by
what describes it."""

import os
import shutil
import subprocess

import numpy as np
import pytest
import uproot

import mounted
import root_process

FORMAT = ("rw", "format=rntuple", "compression=none", "commit=600")
ENTRIES = 2000
DESCRIPTION = 4096  # of one commit: a page list, the footer, the anchor, lists of keys and of free space
CHECK = f"""
import sys, numpy as np, ROOT
frame = ROOT.RDataFrame("Events", sys.argv[1])
for name, column in frame.AsNumpy(sys.argv[2:]).items():
    print(name, np.array([list(i) if hasattr(i, "__len__") else i for i in column]).sum(), len(column))
"""


def noise(number):
    return np.random.default_rng(number).uniform(size=ENTRIES)


def append(table, *names):
    """The same entries for each column; of `list` that many lists of two items."""
    for name in names:
        path = os.path.join(table, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        column = noise(len(name))
        if name.endswith("offsets.i8"):
            size = os.path.getsize(path) if os.path.exists(path) else 0
            first = size // 8 - 1 if size else 0
            column = 2 * np.arange(first + (size > 0), first + ENTRIES + 1, dtype="<i8")
        with open(path, "ab") as file:
            file.write(column.tobytes())
    mounted.fsync(table)


def check(file, *times):
    """Columns by the number of appended pieces, in ROOT, uproot and a mount."""
    times = dict(times)
    names = [name.split(".")[0] for name in times]
    done = root_process.run_code(CHECK, file, *names)
    assert done.returncode == 0, done.stderr
    said = {name: (float(total), int(count)) for name, total, count in map(str.split, done.stdout.splitlines())}
    with uproot.open(file) as opened, mounted.Mounted(file) as m:
        for name, count in times.items():
            wanted = np.tile(noise(len(name)), count)
            stem = name.split(".")[0]
            np.testing.assert_array_equal(opened["Events"][stem].array().to_numpy(), wanted)
            np.testing.assert_array_equal(np.fromfile(os.path.join(m.path, "Events", name), "<f8"), wanted)
            np.testing.assert_allclose(said[stem][0], wanted.sum())
            assert said[stem][1] == len(wanted)


def size(file):
    return os.path.getsize(file)


@pytest.mark.parametrize("mounts", ["one mount", "a mount for each commit"])
def test_over_commits(tmp_path, mounts):
    file = tmp_path / "a.root"
    names = ("x.f8", "count.f8")
    m = mounted.Mounted(tmp_path, FORMAT)
    try:
        table = os.path.join(m.path, "a.root", "Events")
        os.makedirs(table)
        append(table, *names, "list/offsets.i8", "list/values.f8", "list/values.f8")
        first = size(file)
        assert first > 8 * ENTRIES * 5
        for time in range(2, 6):
            if mounts != "one mount":
                m.close()
                m = mounted.Mounted(tmp_path, FORMAT)
                table = os.path.join(m.path, "a.root", "Events")
            append(table, *names, "list/offsets.i8", "list/values.f8", "list/values.f8")
            assert size(file) < first + time * DESCRIPTION, time
        # A new column for all entries, in the clusters that there are, and one that is equal to another.
        before = size(file)
        for _ in range(5):
            with open(os.path.join(table, "new.f8"), "ab") as column:
                column.write(noise(len("new.f8")).tobytes())
            with open(os.path.join(table, "z.f8"), "ab") as column:
                column.write(noise(len("x.f8")).tobytes())
        mounted.fsync(table)
        assert 8 * ENTRIES < size(file) - before < 8 * ENTRIES + 2 * DESCRIPTION
    finally:
        m.close()
    check(file, ("x.f8", 5), ("count.f8", 5), ("new.f8", 5), ("z.f8", 5))
    assert subprocess.run([mounted.program(), "check", file], capture_output=True).returncode == 0
    with uproot.open(file) as opened:
        lists = opened["Events"]["list"].array().to_numpy()
    np.testing.assert_array_equal(lists.reshape(-1), np.tile(noise(len("list/values.f8")), 10))


def test_what_other_values_have_in_common(tmp_path):
    """Pages of the same size that differ are stored; and so are those that come back after them, but in another mount."""
    file = tmp_path / "a.root"
    sizes = []
    for turn in range(3):
        with mounted.Mounted(tmp_path, FORMAT) as m:
            table = os.path.join(m.path, "a.root", "Events")
            os.makedirs(table, exist_ok=True)
            for _ in range(2):
                with open(os.path.join(table, "x.f8"), "ab") as column:
                    column.write(noise(turn % 2).tobytes())
                mounted.fsync(table)
        sizes.append(size(file))
    for before, after in zip(sizes, sizes[1:]):
        assert 8 * ENTRIES < after - before < 8 * ENTRIES + 2 * DESCRIPTION
    with uproot.open(file) as opened:
        wanted = np.concatenate([noise(turn % 2) for turn in (0, 0, 1, 1, 0, 0)])
        np.testing.assert_array_equal(opened["Events"]["x"].array().to_numpy(), wanted)


def test_a_column_that_is_removed_and_a_table_that_is_made_anew(tmp_path):
    """The bytes of the former stay; a table of that name begins without them."""
    file = tmp_path / "a.root"
    with mounted.Mounted(tmp_path, FORMAT) as m:
        table = os.path.join(m.path, "a.root", "Events")
        os.makedirs(os.path.join(m.path, "a.root", "Other"))
        append(os.path.join(m.path, "a.root", "Other"), "x.f8")
        os.makedirs(table)
        append(table, "x.f8", "keep.f8")
        before = size(file)
        os.unlink(os.path.join(table, "x.f8"))
        append(table, "keep.f8")
        assert size(file) < before + 2 * DESCRIPTION
        shutil.rmtree(table)
        mounted.fsync(os.path.join(m.path, "a.root"))
        before = size(file)
        os.makedirs(table)
        append(table, "x.f8", "keep.f8")
        assert size(file) > before + 2 * 8 * ENTRIES
        append(table, "x.f8", "keep.f8")
    check(file, ("x.f8", 2), ("keep.f8", 2))


def test_of_a_file_of_root(tmp_path):
    file = tmp_path / "a.root"
    make = f"""
import sys, numpy as np, ROOT
options = ROOT.RNTupleWriteOptions()
options.SetCompression(0)
model = ROOT.RNTupleModel.Create()
model.MakeField["double"]("x")
writer = ROOT.RNTupleWriter.Recreate(model, "Events", sys.argv[1], options)
entry = writer.CreateEntry()
for number in np.fromfile(sys.argv[2]):
    entry["x"] = number
    writer.Fill(entry)
del writer
"""
    noise(len("x.f8")).tofile(tmp_path / "numbers")
    done = root_process.run_code(make, file, tmp_path / "numbers")
    assert done.returncode == 0, done.stderr
    before = size(file)
    with mounted.Mounted(tmp_path, FORMAT) as m:
        append(os.path.join(m.path, "a.root", "Events"), "x.f8")
    assert size(file) < before + 2 * DESCRIPTION
    check(file, ("x.f8", 2))


@pytest.mark.parametrize("form", ["rntuple", "tree"])
def test_a_copy_that_takes_the_place_of_the_file_is_continued(tmp_path, form):
    """The same bytes under the same name are not the file that the mount has open."""
    (tmp_path / "out").mkdir()
    file = tmp_path / "out" / "a.root"
    with mounted.Mounted(tmp_path / "out", ("rw", f"format={form}", "compression=none", "commit=600")) as m:
        table = os.path.join(m.path, "a.root", "Events")
        os.makedirs(table)
        append(table, "x.f8")
        for _ in range(2):
            shutil.copy(file, tmp_path / "copy")
            os.rename(tmp_path / "copy", file)
            append(table, "x.f8")
    with uproot.open(file) as opened:
        np.testing.assert_array_equal(opened["Events"]["x"].array().to_numpy(), np.tile(noise(len("x.f8")), 3))
