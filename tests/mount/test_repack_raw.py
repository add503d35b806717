# SPDX-License-Identifier: Apache-2.0
"""`tfilefs repack --keep-raw`: branches that are not decoded become streamer fields of RNTuples, from which ROOT reads the
same objects; how such fields are shown."""

import os
import shutil
import subprocess

import numpy
import pytest
import uproot

import mounted

FIELDS = {"packed": "Packed", "whole": "Holder", "plain": "Plain", "many": "std::vector<Packed>", "split.packed": "Packed"}


def repack(*arguments, status=0):
    done = subprocess.run([mounted.program(), "repack", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return done


@pytest.fixture(scope="module")
def handmade(samples):
    return samples("handmade")


def as_read(handmade, form, path):
    """What ROOT reads: the types of fields, and the values, a line for each field and entry."""
    done = subprocess.run(["./handmade", form, str(path)], cwd=handmade, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    types = dict(line.split(" is ") for line in lines if " is " in line)
    return types, [line for line in lines if " is " not in line]


def values_of(lines, entries):
    """The lines of these entries, with new numbers."""
    number = {str(entry): str(i) for i, entry in enumerate(entries)}
    split = [line.split(" ", 2) for line in lines]
    return [" ".join((name, number[entry], rest)) for name, entry, rest in split if entry in number]


def test_root_reads_the_same_objects(handmade, tmp_path):
    path, out = os.path.join(handmade, "handmade.root"), tmp_path / "out.root"
    plain = repack("--format", "rntuple", path, tmp_path / "plain.root", status=1)
    for name in ("packed", "whole", "plain", "many", "split/packed", "twice"):
        assert f"left out: t: {name}: the bytes do not follow" in plain.stderr
    done = repack("--format", "rntuple", "--keep-raw", "--verify", path, out, status=1)
    assert [line for line in done.stderr.splitlines() if "left out" in line] == [
        "tfilefs: left out: t: twice: its objects may refer to each other by positions in a basket"]
    types, values = as_read(handmade, "ntuple", out)
    assert types == FIELDS
    assert values == as_read(handmade, "tree", path)[1] and len(values) == 5 * 2000
    # In clusters of their own, as the page list of another cluster begins at 0 again.
    repack("--format", "rntuple", "--keep-raw", "--drop", "twice", "--cluster", "4K", path, tmp_path / "small.root")
    assert as_read(handmade, "ntuple", tmp_path / "small.root")[1] == values
    assert uproot.open(out)["t"]["run"].array(library="np").tolist() == list(range(2000))


def test_a_selection_and_a_copy_of_the_copy(handmade, tmp_path):
    path = os.path.join(handmade, "handmade.root")
    numpy.arange(7, 2000, 3).astype("i8").tofile(tmp_path / "some.i8")
    done = repack("--format", "rntuple", "--keep-raw", "--verify", "--drop", "twice", "--select", tmp_path / "some.i8", path, tmp_path / "a.root")
    assert "not compared" not in done.stderr
    expected = values_of(as_read(handmade, "tree", path)[1], range(7, 2000, 3))
    assert as_read(handmade, "ntuple", tmp_path / "a.root")[1] == expected
    # By columns, from one RNTuple to another.
    done = repack("--keep-raw", "--entries", "0:500", "--verify", tmp_path / "a.root", tmp_path / "b.root")
    assert "by columns" in done.stdout and "not compared" not in done.stderr
    done = repack("--verify", path, tmp_path / "same.root")
    assert "as stored" in done.stdout and "not compared" not in done.stderr
    assert as_read(handmade, "ntuple", tmp_path / "b.root")[1] == [line for line in expected if int(line.split()[1]) < 500]
    several = repack("--format", "rntuple", "--keep-raw", "--drop", "twice", path, path, tmp_path / "two.root")
    assert "4000 entries" in several.stdout
    twice = as_read(handmade, "ntuple", tmp_path / "two.root")[1]
    assert len(twice) == 5 * 4000 and twice[2000].split(" ", 2)[2] == twice[0].split(" ", 2)[2]


def test_the_mount_shows_the_bytes(handmade, tmp_path):
    repack("--format", "rntuple", "--keep-raw", "--drop", "twice", os.path.join(handmade, "handmade.root"), tmp_path / "out.root")
    for name in ("handmade.root", "streamed.root"):
        shutil.copy(os.path.join(handmade, name), tmp_path)
    with mounted.Mounted(tmp_path) as m:
        def column(file, name):
            return open(os.path.join(m.path, file, "t", name), "rb").read()

        for name in ("packed", "split/packed"):
            for part in ("offsets.i8", "raw.u1"):
                assert column("out.root", f"{name}/{part}") == column("handmade.root", f"{name}/{part}")
        # As ROOT's own streamer fields, byte for byte: with the header that an unsplit object does not have in a tree, and
        # without the one that a collection has there.
        for name in ("packed", "whole", "plain", "many"):
            for part in ("offsets.i8", "raw.u1"):
                assert column("out.root", f"{name}/{part}") == column("streamed.root", f"{name}/{part}"), name
        assert b"" == open(os.path.join(m.path, ".tfilefs", "errors"), "rb").read()


def test_what_cannot_be_kept_is_named(samples, tmp_path):
    path = os.path.join(samples("pointers"), sorted(name for name in os.listdir(samples("pointers")) if name.endswith(".root"))[0])
    without = repack("--format", "rntuple", path, tmp_path / "a.root", status=1)
    kept = repack("--format", "rntuple", "--keep-raw", path, tmp_path / "b.root", status=1)
    named = [{line for line in done.stderr.splitlines() if "left out" in line} for done in (without, kept)]
    assert named[1] and named[1] <= named[0]
