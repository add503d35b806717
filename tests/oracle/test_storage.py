# SPDX-License-Identifier: Apache-2.0
"""The forms in which a file can store a tree: clusters, embedded baskets, other files, recovery, 64-bit addresses."""

import json
import os
import subprocess
import sys

import pytest

import mounted
import mounted_table
import root_process
from oracle.compare import assert_table_equals_oracles

BRANCHES = {"number", "n", "list", "text", "vector", "matrix"}
TRUNCATED = ("is truncated",)


def compare(samples, shared_mount, file, tree, **more):
    directory = samples("storage")
    table = os.path.join(shared_mount(directory).path, file, *tree.split("/"))
    return assert_table_equals_oracles(table, os.path.join(directory, file), tree, **more)


@pytest.mark.parametrize(
    "file, tree",
    [
        ("plain.root", "t"),
        ("autoflush.root", "t"),
        ("embedded.root", "t"),
        ("embedded-after-flush.root", "t"),
        ("cycles.root", "t"),
        ("directories.root", "a/b/c/t"),
        ("big.root", "d/t"),
        ("big.root", "u"),
        ("killed-saved.root", "t"),
    ],
)
def test_tree_is_equal(samples, shared_mount, file, tree):
    assert set(compare(samples, shared_mount, file, tree)) == BRANCHES


def test_circular(samples, shared_mount):
    assert set(compare(samples, shared_mount, "circular.root", "t")) == {"number", "x"}


def test_ntuples(samples, shared_mount):
    assert compare(samples, shared_mount, "ntuples.root", "single") == ["x", "y", "z"]
    assert compare(samples, shared_mount, "ntuples.root", "twice") == ["a", "b"]


def test_branches_of_different_length(samples, shared_mount):
    assert compare(samples, shared_mount, "uneven.root", "t") == ["a", "b"]


def test_clusters_are_those_of_autoflush(samples, shared_mount):
    schema = mounted_table.schema_of(os.path.join(shared_mount(samples("storage")).path, "autoflush.root", "t"))
    assert schema["entries"] == 750
    assert schema["clusters"][:4] == [0, 100, 200, 250] and schema["clusters"][-1] == 750


def test_branch_in_another_file(samples, shared_mount):
    """uproot does not follow fFileName: ROOT is the only oracle for that branch."""
    assert set(compare(samples, shared_mount, "other-file.root", "t", root_only=("vector",))) == BRANCHES


def test_branch_in_a_missing_file(samples, shared_mount):
    """The other branches are complete. The branch whose file is missing says so, and its name appears in the errors."""
    m = shared_mount(os.path.join(samples("storage"), "alone"))
    table = os.path.join(m.path, "other-file.root", "t")
    assert mounted_table.read_node(table, "number") == list(range(1, 101))
    with pytest.raises(OSError):
        values = os.path.join(table, "vector")
        for name in os.listdir(values):
            mounted_table.read_exactly(os.path.join(values, name))
    assert "other-file-side.root" in m.errors()


def test_recovered_after_a_kill(samples, shared_mount):
    """No directory record was saved: the keys are found by walking the file, as TFile::Recover does."""
    directory = samples("storage")
    oracle = root_process.read_with_root(os.path.join(directory, "killed.root"), "t", ("probably not closed", "recover"))
    m = shared_mount(directory)
    table = os.path.join(m.path, "killed.root", "t")
    for name in BRANCHES:
        mounted_table.assert_same(mounted_table.read_node(table, name), oracle[name], name)
    assert "killed.root" in m.errors()


def test_recovered_after_a_cut(samples, shared_mount):
    directory = samples("storage")
    oracle = root_process.read_with_root(os.path.join(directory, "cut.root"), "t", TRUNCATED)
    m = shared_mount(directory)
    table = os.path.join(m.path, "cut.root", "t")
    for name in BRANCHES:
        mounted_table.assert_same(mounted_table.read_node(table, name), oracle[name], name)
    assert "cut.root" in m.errors()


def test_older_cycles_are_found_by_name(samples, mount):
    m = mount(os.path.join(samples("storage"), "cycles.root"))
    assert sorted(os.listdir(m.path)) == ["t", "text"]
    for cycle in (1, 2, 3):
        assert os.path.isdir(os.path.join(m.path, f"text;{cycle}"))
    sizes = [os.stat(os.path.join(m.path, name, "object.bin")).st_size for name in ("text;1", "text;2", "text;3", "text")]
    assert sizes[0] < sizes[1] < sizes[2] == sizes[3]
    assert len(mounted_table.read_node(os.path.join(m.path, "t;1"), "number")) == 10
    assert len(mounted_table.read_node(os.path.join(m.path, "t;2"), "number")) == 20
    assert not os.path.exists(os.path.join(m.path, "text;4"))


def test_older_cycles_are_listed_on_request(samples, mount):
    m = mount(os.path.join(samples("storage"), "cycles.root"), "views=listed")
    assert {"t", "text", "text;1", "text;2", "t;1"} <= set(os.listdir(m.path))


def test_names_that_need_escapes(samples, mount):
    m = mount(os.path.join(samples("storage"), "names.root"))
    names = os.listdir(os.fsencode(m.path))
    for name in (b"a%2Fb", b"%2E.", b"%2E", b"%2Ehidden", b"%2541", b"100%", b"line\nbreak", b"\x1b[31mred", b"\xff\xfe",
                 b"two words", b"semi;7", "été".encode(), b"%"):
        assert name in names, name
    long_names = [name for name in names if name.startswith(b"nnnn")]
    assert len(long_names) == 2 and all(len(name) <= 255 for name in long_names)
    originals = {os.getxattr(os.path.join(os.fsencode(m.path), name), "user.tfilefs.name") for name in long_names}
    assert originals == {b"n" * 300 + b"1", b"n" * 300 + b"2"}
    assert os.getxattr(os.path.join(m.path, "a%2Fb"), "user.tfilefs.name") == b"a/b"


def test_names_of_branches_that_need_escapes(samples, mount):
    m = mount(os.path.join(samples("storage"), "names.root"))
    table = os.path.join(m.path, "t")
    for name in ("a.b.f4", "ends.f4", "sl%2Fash.f4", "%252F.f4", "%2Edot.f4", "x.f4"):
        assert mounted_table.read_array(os.path.join(table, name)).tolist() == [0, 1, 2, 3, 4], name
    assert len([name for name in os.listdir(table) if name.startswith("nnnn") and name.endswith(".f4")]) == 2
    mounted_table.assert_schema_matches_files(table)


def test_listing_of_directories(samples, mount):
    m = mount(os.path.join(samples("storage"), "directories.root"))
    assert sorted(os.listdir(m.path)) == ["a", "empty", "h2", "with space"]
    assert sorted(os.listdir(os.path.join(m.path, "a/b/c"))) == ["h", "t"]
    assert os.listdir(os.path.join(m.path, "empty")) == []


def object_bytes(directory, file):
    """uproot's decompressed payload of each key that is neither table nor directory: {path: bytes}."""
    import uproot

    with uproot.open(os.path.join(directory, file)) as opened:
        found = {}
        for path, class_name in opened.classnames(cycle=False).items():
            if not class_name.startswith(("TDirectory", "TTree", "TNtuple")):
                chunk, cursor = opened.key(path).get_uncompressed_chunk_cursor()
                found[path] = bytes(chunk.raw_data)
        return found


@pytest.mark.parametrize("file", ("directories.root", "plain.root", "big.root"))
def test_object_bytes(samples, shared_mount, file):
    directory = samples("storage")
    m = shared_mount(directory)
    oracle = object_bytes(directory, file)
    assert oracle or file == "big.root"
    for path, payload in oracle.items():
        assert mounted_table.read_exactly(os.path.join(m.path, file, path, "object.bin")) == payload, path


def hadd(target, *sources):
    tool = os.path.join(root_directory(), "bin", "hadd")
    subprocess.run([tool, "-f", target, *sources], check=True, capture_output=True,
                   env=dict(os.environ, PYTHONWARNINGS="ignore"))


def root_directory():
    import importlib.util

    return os.path.dirname(importlib.util.find_spec("ROOT").origin)


def test_hadd_of_different_codecs(samples, mount, tmp_path):
    """hadd copies baskets unchanged, so a branch then contains several codecs."""
    numbers = samples("numbers")
    merged = str(tmp_path / "merged.root")
    hadd(merged, *(os.path.join(numbers, f"numbers-{codec}.root") for codec in (101, 505, 0, 404)))
    m = mount(merged)
    compared = assert_table_equals_oracles(
        os.path.join(m.path, "t"), merged, "t", ("a_f", "m_f", "c_f", "k_f", "jagged")
    )
    assert len(mounted_table.read_node(os.path.join(m.path, "t"), "n")) == 1200 and len(compared) > 70
