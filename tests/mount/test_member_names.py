# SPDX-License-Identifier: Apache-2.0
"""Members of records that are called as the files of the layout are: read, found, copied, written anew, in chains."""

import os
import shutil
import subprocess

import numpy as np
import pytest
import uproot

import mounted
import mounted_table
from oracle.literals import compare, read_literal

# The directories of records, and the members of which they consist.
LISTED = {
    "matrix": {"%76alues.f4x3"}, "row": {"%76alues"}, "letter": {"%63hars.u1"}, "byte": {"%72aw.u1"},
    "steps": {"%6Fffsets.i8"}, "choice": {"%74ags.i1", "%69ndex.i8", "x.f4"}, "matrices/values": {"%76alues.f4x3"},
    "rows/values": {"%76alues"}, "entries/values": {"key", "value.i4"}, "tracks/values/matrix": {"%76alues.f4x3"},
    "text": {"%6Fffsets.i8", "chars.u1"}, "texts/values": {"%6Fffsets.i8", "chars.u1"},
    "tracks/values/choice": {"%74ags.i1", "%69ndex.i8", "x.f4"}, "track/row/%76alues": {"offsets.i8", "values.f4"},
}
FILES = ("named_members-0-505", "named_members-99-505")


def written(directory, name):
    with open(os.path.join(directory, name + ".root.written")) as lines:
        entries = [eval(line) for line in lines]
    return {branch: [entry[branch] for entry in entries] for branch in entries[0]}


def kept(value, like):
    """A value without the members that are not there."""
    if isinstance(value, dict) and isinstance(like, dict):
        return {name: kept(value[name], item) for name, item in like.items() if name in value}
    if isinstance(value, (list, tuple)) and isinstance(like, (list, tuple)) and len(value) == len(like):
        return [kept(*pair) for pair in zip(value, like)]
    return value


def assert_values(table, values, *without, in_part=False):
    assert set(mounted_table.columns_of(table)) and mounted_table.raw_branches(table) == {}
    for branch, entries in values.items():
        if branch in without:
            continue
        mine = mounted_table.read_node(table, branch)
        assert len(mine) == len(entries) > 0
        for entry, (a, b) in enumerate(zip(mine, entries)):
            compare(a, kept(b, a) if in_part else b, f"[{entry}]/{branch}")


def repack(*arguments, status=0):
    done = subprocess.run([mounted.program(), "repack", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", FILES)
def test_reading(samples, shared_mount, name):
    directory = samples("named_members")
    table = os.path.join(shared_mount(directory).path, name + ".root", "t")
    values = written(directory, name)
    root = read_literal(os.path.join(directory, name + ".txt"))
    assert root == {branch: entries for branch, entries in values.items() if branch != "values"}
    assert_values(table, values)
    mounted_table.assert_schema_matches_files(table)
    assert {path: set(os.listdir(os.path.join(table, path))) for path in LISTED} == LISTED
    assert "values.f4" in os.listdir(table)  # a column of the table is nobody's member


def test_both_names_are_found(samples, shared_mount):
    table = os.path.join(shared_mount(samples("named_members")).path, FILES[1] + ".root", "t")
    matrix = os.path.join(table, "matrix")
    whole = mounted_table.read_exactly(os.path.join(matrix, "%76alues.f4x3"))
    for name in ("%76alues", "values", "values.f4x3"):
        assert mounted_table.read_exactly(os.path.join(matrix, name)) == whole
    assert os.getxattr(os.path.join(matrix, "%76alues.f4x3"), "user.tfilefs.name") == b"values"
    assert os.getxattr(os.path.join(table, "row", "%76alues"), "user.tfilefs.name") == b"values"
    np.testing.assert_array_equal(np.load(os.path.join(matrix, "values.npy")).tobytes(), whole)
    assert not os.path.exists(os.path.join(table, "steps", "offsets.i8"))  # it would make a list of the record
    with open(os.path.join(table, "..", "t.jsonl")) as lines:
        assert '"matrix":{"values":[' in lines.readline().replace(" ", "")


@pytest.mark.parametrize("name", FILES)
def test_repack_to_rntuple_and_back(samples, tmp_path, name):
    directory = samples("named_members")
    values = written(directory, name)
    ntuple, part, tree = (tmp_path / f"{kind}.root" for kind in ("ntuple", "part", "tree"))
    repack("--format", "rntuple", os.path.join(directory, name + ".root"), ntuple)
    repack("--entries", "10:25", ntuple, part)
    said = repack("--format", "ttree", ntuple, tree, status=1)  # records in records, and lists of these, are not written
    with mounted.Mounted(str(tmp_path)) as m:
        assert_values(os.path.join(m.path, "ntuple.root", "t"), values)
        assert_values(os.path.join(m.path, "part.root", "t"), {branch: entries[10:25] for branch, entries in values.items()})
        top = os.path.join(m.path, "tree.root", "t")
        there = {entry.split(".")[0] for entry in os.listdir(top)}
        assert there >= {"values", "matrix", "row", "letter", "byte", "steps", "choice", "text", "matrices", "texts"}
        assert all(branch in said for branch in set(values) - there)
        assert_values(top, values, *(set(values) - there), in_part=True)
        left_out = [line.split(": ")[3] + "/" for line in said.splitlines() if "left out" in line]
        for path, names in LISTED.items():
            assert set(os.listdir(os.path.join(m.path, "ntuple.root", "t", path))) == names, path
            if path.split("/")[0] in there and not any((path + "/").startswith(one) for one in left_out):
                assert set(os.listdir(os.path.join(top, path))) == names, path
    with uproot.open(tree) as file:
        assert file["t"]["matrix."].keys() == ["values[3]"] or any("values" in key for key in file["t"].keys(recursive=True))
        np.testing.assert_array_equal(file["t"]["values"].array(library="np"), np.array(values["values"], "f4"))


@pytest.mark.parametrize("options", ((), ("format=rntuple",)))
def test_copies(samples, tmp_path, options):
    """Between mounts, then within one."""
    directory = samples("named_members")
    name, source, target = FILES[1], tmp_path / "source", tmp_path / "target"
    target.mkdir()
    values = written(directory, name)
    not_in_trees = () if options else ("track", "tracks", "rows", "entries")
    source.mkdir()
    shutil.copy(os.path.join(directory, name + ".root"), source / "in.root")
    with mounted.Mounted(str(source)) as before, mounted.Mounted(str(target), ("rw", "commit=86400", *options)) as after:
        into = os.path.join(after.path, "new.root")
        os.makedirs(os.path.join(into, "t"))
        for entry in os.listdir(os.path.join(before.path, "in.root", "t")):
            if entry not in not_in_trees:
                subprocess.run(["cp", "-r", os.path.join(before.path, "in.root", "t", entry), os.path.join(into, "t")], check=True)
        subprocess.run([mounted.program(), "commit", into], check=True)
        subprocess.run(["cp", "-r", os.path.join(into, "t"), os.path.join(into, "again")], check=True)
        subprocess.run([mounted.program(), "commit", into], check=True)
        for table in ("t", "again"):
            assert_values(os.path.join(into, table), values, *not_in_trees)
    with mounted.Mounted(str(target)) as m:
        for table in ("t", "again"):
            assert_values(os.path.join(m.path, "new.root", table), values, *not_in_trees)
            for path in LISTED:
                if path.split("/")[0] not in not_in_trees:
                    assert set(os.listdir(os.path.join(m.path, "new.root", table, path))) == LISTED[path]


def test_beside_other_members_nothing_is_escaped(tmp_path):
    with mounted.Mounted(str(tmp_path), ("rw", "commit=86400")) as m:
        table = os.path.join(m.path, "new.root", "t")
        os.makedirs(os.path.join(table, "r"))
        for name in ("column.f4", "r/values.f4", "r/chars.u1", "r/tags.i1"):
            np.arange(3, dtype=name[-2:]).tofile(os.path.join(table, name))
        subprocess.run([mounted.program(), "commit", m.path], check=True)
        assert set(os.listdir(os.path.join(table, "r"))) == {"values.f4", "chars.u1", "tags.i1"}
    with mounted.Mounted(str(tmp_path)) as m:
        record = os.path.join(m.path, "new.root", "t", "r")
        assert set(os.listdir(record)) == {"values.f4", "chars.u1", "tags.i1"}
        np.testing.assert_array_equal(np.fromfile(os.path.join(record, "values.f4"), "f4"), [0, 1, 2])


@pytest.mark.parametrize("table_format", ("tree", "rntuple"))
def test_records_may_come_before_columns(tmp_path, table_format):
    """Until then they could be tables themselves."""
    with mounted.Mounted(str(tmp_path), ("rw", "commit=86400", f"format={table_format}")) as m:
        table = os.path.join(m.path, "new.root", "t")
        os.makedirs(os.path.join(table, "row", "%76alues"))
        os.makedirs(os.path.join(table, "matrix"))
        np.arange(9, dtype="f4").tofile(os.path.join(table, "matrix", "%76alues.f4x3"))
        np.arange(4, dtype="i8").tofile(os.path.join(table, "row", "%76alues", "offsets.i8"))
        np.arange(3, dtype="f4").tofile(os.path.join(table, "row", "%76alues", "values.f4"))
        np.arange(3, dtype="i4").tofile(os.path.join(table, "x.i4"))
        subprocess.run([mounted.program(), "commit", m.path], check=True)
    with mounted.Mounted(str(tmp_path / "new.root")) as m:
        table = os.path.join(m.path, "t")
        assert os.listdir(os.path.join(table, "matrix")) == ["%76alues.f4x3"]
        assert np.fromfile(os.path.join(table, "matrix", "%76alues.f4x3"), "f4").tolist() == list(range(9))
        assert np.fromfile(os.path.join(table, "row", "%76alues", "values.f4"), "f4").tolist() == [0, 1, 2]


def test_chains(tmp_path):
    """The members of all files together decide."""
    for name, members in (("a", ("%76alues.f4",)), ("b", ("values.f8", "x.f4"))):
        with mounted.Mounted(str(tmp_path), ("rw", "commit=86400")) as m:
            table = os.path.join(m.path, name + ".root", "t")
            os.makedirs(os.path.join(table, "r"))
            for file in ("column.f4", *("r/" + member for member in members)):
                np.arange(3, dtype=file[-2:]).tofile(os.path.join(table, file))
            subprocess.run([mounted.program(), "commit", m.path], check=True)
    a, b = str(tmp_path / "a.root"), str(tmp_path / "b.root")
    shutil.copy(a, tmp_path / "c.root")
    with mounted.Mounted([a, b], ("chain=union",)) as m:
        record = os.path.join(m.path, "t", "r")
        assert set(os.listdir(record)) == {"values.f8", "x"}  # x: 0 or 1
        np.testing.assert_array_equal(np.fromfile(os.path.join(record, "values.f8"), "f8"), [0, 1, 2] * 2)
    with mounted.Mounted([a, str(tmp_path / "c.root")], ("chain",)) as m:
        record = os.path.join(m.path, "t", "r")
        assert os.listdir(record) == ["%76alues.f4"]
        assert os.getxattr(os.path.join(record, "%76alues.f4"), "user.tfilefs.name") == b"values"
        np.testing.assert_array_equal(np.fromfile(os.path.join(record, "%76alues.f4"), "f4"), [0, 1, 2] * 2)
    with mounted.Mounted([a, b], ("chain=common",)) as m:
        assert os.listdir(os.path.join(m.path, "t", "r")) == ["%76alues.f8"]
