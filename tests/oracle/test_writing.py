# SPDX-License-Identifier: Apache-2.0
"""Tables written by tfilefs, read by ROOT, uproot and the mount, value by value."""

import filecmp
import os
import pickle
import shutil
import subprocess

import pytest
import uproot

import mounted
import mounted_table
import random_columns
import root_process
from oracle.compare import text_to_bytes

def write_table(*arguments):
    program = os.path.join(os.path.dirname(mounted.program()), "..", "tests", "write_table")
    result = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stderr


def branch_name(node):
    stem = mounted_table.parse_name(node)[0] if mounted_table.parse_name(node) else node
    return stem.replace("%2F", "/")


def nodes_of(directory):
    return {branch_name(node): mounted_table.values_of(os.path.join(directory, node)) for node in sorted(os.listdir(directory))}


def assert_same_files(left, right):
    """`diff -r`: the same names, the same bytes."""
    for above, directories, files in os.walk(left):
        other = os.path.join(right, os.path.relpath(above, left))
        assert sorted(os.listdir(other)) == sorted(directories + files)
        same, differ, odd = filecmp.cmpfiles(above, other, files, shallow=False)
        assert sorted(same) == sorted(files), (differ, odd)


def read_with_root(file, answer):
    """Like root_process.read_with_root, but ROOT may not even warn."""
    said = root_process.run_script(os.path.join("oracle", "root_reader.py"), [file, "Events", answer])
    assert "Warning in <" not in said, said
    with open(answer, "rb") as file_of_answer:
        return pickle.load(file_of_answer)


def assert_reads_back(file, directory, mount):
    """ROOT, uproot and the mount read the content of the files below `directory` from Events."""
    wanted = nodes_of(directory)
    with uproot.open(file) as opened:
        table = opened["Events"]
        for name, values in wanted.items():
            if "/" not in name:  # uproot would take it for a path
                mounted_table.assert_same(text_to_bytes(table[name].array().tolist()), values, f"{name} by uproot")
    read = read_with_root(file, file + ".pickle")
    assert sorted(read) == sorted(wanted)
    for name, values in wanted.items():
        mounted_table.assert_same(read[name], values, f"{name} by ROOT")
    assert_same_files(directory, os.path.join(mount(os.path.dirname(file)).path, os.path.basename(file), "Events"))


@pytest.mark.parametrize("codec", ("none", "zlib:1", "lz4:4", "lzma:2", "zstd:5"))
@pytest.mark.parametrize("clusters", ((1000,), (7, 100, 1, 33)))
def test_every_kind(tmp_path, shared_mount, codec, clusters):
    directory = str(tmp_path / "columns")
    random_columns.every_kind(random_columns.Columns(directory, 250, seed=len(codec) + len(clusters)))
    os.mkdir(tmp_path / "files")
    file = str(tmp_path / "files" / "written.root")
    write_table(file, "Events", "tree", codec, directory, *clusters)
    assert_reads_back(file, directory, shared_mount)


def test_entries_are_appended(tmp_path, shared_mount):
    directory, more = str(tmp_path / "columns"), str(tmp_path / "more")
    random_columns.every_kind(random_columns.Columns(directory, 90, seed=1))
    os.mkdir(tmp_path / "files")
    file = str(tmp_path / "files" / "written.root")
    write_table(file, "Events", "tree", "zstd", directory, 40)
    for seed in (2, 3):
        shutil.rmtree(more, ignore_errors=True)
        random_columns.every_kind(random_columns.Columns(more, 20 * seed, seed))
        write_table(file, "Events", "tree", "zlib:1", more, 40)
        random_columns.append(directory, more)
    assert_reads_back(file, directory, shared_mount)


def test_branches_beside_and_dropped(tmp_path, shared_mount):
    directory, more = str(tmp_path / "columns"), str(tmp_path / "more")
    random_columns.every_kind(random_columns.Columns(directory, 90, seed=4))
    os.mkdir(tmp_path / "files")
    file = str(tmp_path / "files" / "written.root")
    write_table(file, "Events", "tree", "zstd", directory, 40)
    for node in ("n_f4.f4", "nCi4.i4", "Ci4_x", "Ci4_i4", "rec", "v_f4", "s"):
        path = os.path.join(directory, node)
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    write_table(file, "Events", "drop", "n_f4", "nCi4", "Ci4_x", "Ci4_i4", "rec", "v_f4", "s")
    added = random_columns.Columns(more, 90, seed=5)
    offsets = added.offsets(90)
    added.put("nJet.i4", (offsets[1:] - offsets[:-1]).astype("<i4"))
    added.lists("Jet_pt", "f4", offsets=offsets)
    added.lists("added_texts", "chars", depth=2)
    added.number("n_f4", "f8")
    write_table(file, "Events", "tree", "lz4:1", more, 25)
    shutil.copytree(more, directory, dirs_exist_ok=True)
    assert_reads_back(file, directory, shared_mount)


def test_beside_branches_of_roots_own(tmp_path, samples):
    """Split classes, pointers and embedded baskets stay unchanged."""
    for sample in ("event/event-99-505", "storage/embedded", "numbers/numbers-101"):
        group, name = sample.split("/")
        file = str(tmp_path / f"{name}.root")
        source = os.path.join(samples(group), f"{name}.root")
        shutil.copy(source, file)
        with uproot.open(file) as opened:
            tree = next(key for key, kind in opened.classnames(cycle=False).items() if kind in ("TTree", "TNtuple"))
            entries = opened[tree].num_entries
        more = str(tmp_path / f"{name}-columns")
        added = random_columns.Columns(more, entries, seed=6)
        added.number("added_number", "f4")
        added.lists("added_list", "i8")
        write_table(file, tree, "tree", "zstd", more, max(1, entries // 3))
        before, after = root_process.read_with_root(source, tree), root_process.read_with_root(file, tree)
        wanted = nodes_of(more)
        assert sorted(after) == sorted([*before, *wanted])
        for branch, values in {**before, **wanted}.items():
            mounted_table.assert_same(after[branch], values, f"{sample} {branch}")
        with open(source, "rb") as old, open(file, "rb") as new:
            data = old.read()
            assert new.read(len(data) // 2)[400:] == data[400 : len(data) // 2], "baskets keep their bytes and places"
