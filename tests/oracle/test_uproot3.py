# SPDX-License-Identifier: Apache-2.0
"""Files of uproot 3: a mount shows what was written, and uproot reads; ROOT does, too, but for the lists."""

import os
import subprocess

import awkward
import numpy as np
import pytest
import uproot

import mounted_table
import root_process

CODECS = ("none", "zlib", "lzma")


@pytest.fixture(scope="module")
def written(samples):
    return dict(np.load(os.path.join(samples("uproot3_files"), "values.npz")))


@pytest.fixture(scope="module", params=CODECS)
def file(request, samples):
    return os.path.join(samples("uproot3_files"), request.param + ".root")


def assert_shows(top, written):
    """A mount of the tables has what was written."""
    for name, values in written.items():
        tree, branch = name.split("/")
        if tree in ("numbers", "shapes"):
            assert np.array_equal(np.load(os.path.join(top, tree, branch + ".npy")), values), name
        if tree == "lists":
            counts = written["counts/" + branch]
            assert np.array_equal(np.load(os.path.join(top, "lists", branch, "values.npy")), values), name
            assert np.array_equal(np.diff(np.load(os.path.join(top, "lists", branch, "offsets.npy"))), counts), name
            assert np.array_equal(np.load(os.path.join(top, "lists", f"n{branch}.npy")), counts), name


def test_tables(file, written, shared_mount):
    top = shared_mount(file).path
    assert_shows(top, written)
    assert mounted_table.schema_of(os.path.join(top, "empty"))["entries"] == 0
    assert mounted_table.schema_of(os.path.join(top, "numbers"))["title"] == "some numbers"
    assert shared_mount(file).errors() == ""


def test_uproot_agrees(file, written):
    with uproot.open(file) as opened:
        for name, values in written.items():
            tree, branch = name.split("/")
            if tree != "counts":
                found = opened[tree][branch].array()
                assert np.array_equal(awkward.to_numpy(awkward.flatten(found) if tree == "lists" else found), values), name


def test_root_agrees(file, written):
    for tree in ("numbers", "shapes"):
        found = root_process.read_with_root(file, tree)
        for name, values in written.items():
            if name.startswith(tree + "/"):
                assert np.array_equal(np.array(found[name.split("/")[1]]).reshape(values.shape), values), name


def test_objects(file, written, shared_mount):
    top = shared_mount(file).path
    values, edges = np.histogram(written["numbers/d"][:2000], bins=50, range=(-100, 100))
    assert np.array_equal(np.load(os.path.join(top, "one", "values.npy")), values)
    assert np.allclose(np.load(os.path.join(top, "one", "xedges.npy")), edges)
    both, x, y = np.histogram2d(written["numbers/d"][:2000], written["numbers/f"][:2000], bins=[5, 7])
    assert np.array_equal(np.load(os.path.join(top, "two", "values.npy")), both)
    assert open(os.path.join(top, "text", "text.txt")).read() == "a text of uproot 3\n"


@pytest.mark.parametrize("options", ((), ("--compression", "zstd"), ("--cluster", "20K"), ("--format", "rntuple")))
def test_repacked_it_stays_the_same(file, program, written, mount, tmp_path, options):
    done = subprocess.run([program, "repack", "--verify", *options, file, tmp_path / "out.root"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert_shows(mount(tmp_path / "out.root").path, written)


def test_lists_that_are_written_anew_are_sound(file, program, written, tmp_path):
    """There and back, ROOT reads the lists as well."""
    for form, source, target in (("rntuple", file, "ntuple.root"), ("ttree", tmp_path / "ntuple.root", "tree.root")):
        done = subprocess.run([program, "repack", "--format", form, source, tmp_path / target], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    found = root_process.read_with_root(str(tmp_path / "tree.root"), "lists")
    for branch in ("j", "k"):
        assert np.array_equal(np.concatenate([np.asarray(each) for each in found[branch]]), written["lists/" + branch])
