# SPDX-License-Identifier: Apache-2.0
"""A column that counts a list becomes a projection in an RNTuple, which stores nothing: `nMuon` beside `Muon_pt`. It is
read as before, by the mount, by ROOT and by uproot, and entries are appended to it."""

import json
import os
import shutil
import subprocess

import numpy as np
import pytest
import uproot

import mounted
import root_process

FORMAT = ("rw", "format=rntuple", "commit=600")

# Prints which top-level fields are projections, and the numbers of each argument, by RDataFrame and by a reader.
READ = """
import json, os, sys, ROOT
file, names = sys.argv[1], sys.argv[2:]
reader = ROOT.RNTupleReader.Open("Events", file)
descriptor = reader.GetDescriptor()
projected = [str(field.GetFieldName()) for field in descriptor.GetTopLevelFields() if field.IsProjectedField()]
aliases = [str(field.GetFieldName()) for field in descriptor.GetTopLevelFields()
           if any(column.IsAliasColumn() for column in descriptor.GetColumnIterable(field))]
inspector = ROOT.Experimental.RNTupleInspector.Create("Events", file)
assert inspector.GetDescriptor().GetNLogicalColumns() - inspector.GetDescriptor().GetNPhysicalColumns() == len(aliases)
frame = ROOT.RDataFrame("Events", file)
numbers = {name: [int(number) for number in column] for name, column in frame.AsNumpy(names).items()}
entry = reader.CreateEntry()
read = {name: [] for name in names}
for i in range(reader.GetNEntries()):
    reader.LoadEntry(i, entry)
    for name in names:
        read[name].append(int(entry[name]))
print(json.dumps({"projected": sorted(projected), "aliases": sorted(aliases), "frame": numbers, "reader": read}))
sys.stdout.flush()
os._exit(0)
"""


def by_root(file, *names):
    done = root_process.run_code(READ, file, *names)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def numbers(path, dtype):
    return np.fromfile(path, "<" + dtype).tolist()


def put(table, path, values, dtype=None):
    """Appends; of offsets what lies behind the last."""
    path = os.path.join(table, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "ab") as file:
        file.write(np.array(values, dtype or "<" + path[-2:]).tobytes())


def put_list(table, name, lengths):
    path = os.path.join(table, name, "offsets.i8")
    before = np.fromfile(path, "<i8") if os.path.exists(path) else np.zeros(0, "<i8")
    first = before[-1] if len(before) else 0
    if not len(before):
        put(table, f"{name}/offsets.i8", [0])
    put(table, f"{name}/offsets.i8", first + np.cumsum(lengths))
    put(table, f"{name}/values.f4", np.arange(first, first + np.sum(lengths)))


def overwrite(path, at, number):
    with open(path, "r+b") as file:
        file.seek(at * number.itemsize)
        file.write(number.tobytes())


LENGTHS = {"nMuon.u4": [2, 0, 1, 5], "nhit.u8": [0, 3, 1, 1], "nJet.i4": [1, 1, 0, 2], "nMuon_id.u4": [9, 9, 9, 9]}


def put_all(table, lengths):
    put_list(table, "Muon_pt", lengths["nMuon.u4"])
    put_list(table, "Muon_id", lengths["nMuon.u4"])
    put_list(table, "Jet_pt", lengths["nJet.i4"])
    put_list(table, "hit", lengths["nhit.u8"])
    for path, values in lengths.items():
        put(table, path, values)


@pytest.fixture
def table(tmp_path):
    """Events in a.root of a mount, committed: the mount, the path of the table, and that of the file."""
    (tmp_path / "out").mkdir()
    m = mounted.Mounted(tmp_path / "out", FORMAT)
    path = os.path.join(m.path, "a.root", "Events")
    os.makedirs(path)
    put_all(path, LENGTHS)
    mounted.fsync(path)
    yield m, path, tmp_path / "out" / "a.root"
    m.close()


def assert_is(path, file, lengths, projected):
    for name, expected in lengths.items():
        assert numbers(os.path.join(path, name), name[-2:]) == expected, name
    names = [name[:-3] for name in lengths]
    said = by_root(file, *names)
    assert said["projected"] == said["aliases"] == sorted(projected)  # no column of its own
    with uproot.open(file) as opened:
        for name, expected in lengths.items():
            for read in (said["frame"][name[:-3]], said["reader"][name[:-3]], opened["Events"][name[:-3]].array().tolist()):
                assert read == expected, name


def test_a_counter_is_a_projection_and_grows(table, tmp_path):
    m, path, file = table
    assert_is(path, file, LENGTHS, ["nMuon", "nhit"])
    more = {"nMuon.u4": [0, 4], "nhit.u8": [1, 1], "nJet.i4": [2, 0], "nMuon_id.u4": [0, 4]}
    put_all(path, more)
    mounted.fsync(path)
    all_of = {name: LENGTHS[name] + more[name] for name in LENGTHS}
    assert_is(path, file, all_of, ["nMuon", "nhit"])
    m.close()
    with mounted.Mounted(tmp_path / "out", ("rw", "commit=600")) as again:
        path = os.path.join(again.path, "a.root", "Events")
        put_all(path, more)
        mounted.fsync(path)
        all_of = {name: all_of[name] + more[name] for name in LENGTHS}
        assert_is(path, file, all_of, ["nMuon", "nhit"])
        shutil.copytree(path, tmp_path / "copy")
        assert subprocess.run(["diff", "-r", path, tmp_path / "copy"]).returncode == 0
        os.makedirs(os.path.join(again.path, "b.root"))
        shutil.copytree(tmp_path / "copy", os.path.join(again.path, "b.root", "Events"))  # a tree
        open(os.path.join(again.path, "b.root", "Events", ".rntuple"), "w").close()
        mounted.fsync(os.path.join(again.path, "b.root", "Events"))
        assert_is(os.path.join(again.path, "b.root", "Events"), tmp_path / "out" / "b.root", all_of, ["nMuon", "nhit"])


def test_an_entry_that_contradicts_is_named(table):
    m, path, file = table
    more = {"nMuon.u4": [0, 4], "nhit.u8": [1, 1], "nJet.i4": [2, 0], "nMuon_id.u4": [0, 4]}
    put_all(path, more)
    overwrite(os.path.join(path, "nMuon.u4"), 5, np.uint32(3))
    with pytest.raises(OSError):
        mounted.fsync(path)
    told = "nMuon, entry 5: it is 3, but the list Muon_pt, whose lengths it shows, has 4 items"
    assert told in m.errors()
    with open(os.path.join(path, ".pending.json")) as pending:
        assert told in pending.read()
    with pytest.raises(OSError):  # that of the commit, once more
        overwrite(os.path.join(path, "nMuon.u4"), 5, np.uint32(4))
    mounted.fsync(path)
    assert_is(path, file, {name: LENGTHS[name] + more[name] for name in LENGTHS}, ["nMuon", "nhit"])


def test_what_comes_later_is_a_projection_with_its_list_only(table):
    _, path, file = table
    put(path, "nJet_pt.u4", LENGTHS["nJet.i4"])  # its list is there already
    mounted.fsync(path)
    put_list(path, "Tau_pt", [1, 0, 0, 2])
    put(path, "nTau.u4", [1, 0, 0, 2])
    mounted.fsync(path)
    lengths = LENGTHS | {"nJet_pt.u4": LENGTHS["nJet.i4"], "nTau.u4": [1, 0, 0, 2]}
    assert_is(path, file, lengths, ["nMuon", "nTau", "nhit"])
    put_all(path, LENGTHS)
    put_list(path, "Tau_pt", [2, 0, 0, 2])
    put(path, "nTau.u4", [2, 0, 0, 2])
    put(path, "nJet_pt.u4", [7, 7, 7, 7])
    mounted.fsync(path)
    lengths = {name: numbers + LENGTHS.get(name, []) for name, numbers in lengths.items()}
    lengths["nTau.u4"] += [2, 0, 0, 2]
    lengths["nJet_pt.u4"] += [7, 7, 7, 7]
    assert_is(path, file, lengths, ["nMuon", "nTau", "nhit"])


def test_a_counter_is_removed_and_a_list_with_it_alone(table):
    m, path, file = table
    os.remove(os.path.join(path, "nhit.u8"))
    mounted.fsync(path)
    assert_is(path, file, {name: LENGTHS[name] for name in LENGTHS if name != "nhit.u8"}, ["nMuon"])
    put(path, "nhit.u8", [7, 7, 7, 7])  # any numbers now
    mounted.fsync(path)
    assert_is(path, file, LENGTHS | {"nhit.u8": [7, 7, 7, 7]}, ["nMuon"])
    shutil.rmtree(os.path.join(path, "Muon_id"))  # a list beside it
    mounted.fsync(path)
    shutil.rmtree(os.path.join(path, "Muon_pt"))
    with pytest.raises(OSError):
        mounted.fsync(path)
    assert "Muon_pt cannot be removed alone: nMuon projects its values, and must be removed as well" in m.errors()
    os.remove(os.path.join(path, "nMuon.u4"))
    mounted.fsync(path)
    rest = {"nhit.u8": [7, 7, 7, 7], "nJet.i4": LENGTHS["nJet.i4"], "nMuon_id.u4": LENGTHS["nMuon_id.u4"]}
    assert_is(path, file, rest, [])
    assert not os.path.exists(os.path.join(path, "Muon_pt"))


def test_it_is_found_again_after_a_kill(table, tmp_path):
    m, path, file = table
    put_all(path, LENGTHS)
    for above, _, files in os.walk(path):
        for name in files:
            mounted.fsync(os.path.join(above, name))
    m.process.kill()
    m.process.wait()
    m.close()
    done = subprocess.run([mounted.program(), "recover", file], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with mounted.Mounted(tmp_path / "out") as after:
        assert_is(os.path.join(after.path, "a.root", "Events"), file, {name: 2 * LENGTHS[name] for name in LENGTHS}, ["nMuon", "nhit"])


@pytest.mark.parametrize("options, projected", (((), ["nMuon", "nhit"]), (("--select", "chosen"), ["nMuon", "nhit"]),
                                                (("--columns", "n*"), []), (("--columns", "n*,Muon_pt"), ["nMuon"])))
def test_repack_makes_projections(tmp_path, options, projected):
    counts = {name: LENGTHS[name] for name in ("nMuon.u4", "nhit.u8", "nJet.i4")}  # with nMuon_id it would be no tree
    with mounted.Mounted(tmp_path, ("rw", "commit=600")) as m:
        os.makedirs(os.path.join(m.path, "in.root", "Events"))
        put_all(os.path.join(m.path, "in.root", "Events"), counts)
        put(os.path.join(m.path, "in.root", "Events"), "chosen.b1", [True, False, True, False], "?")
    done = subprocess.run([mounted.program(), "repack", "--format", "rntuple", "--verify", *options, tmp_path / "in.root", tmp_path / "out.root"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    chosen = [0, 2] if "--select" in options else range(4)
    with mounted.Mounted(tmp_path) as m:
        lengths = {name: [values[i] for i in chosen] for name, values in counts.items()}
        assert_is(os.path.join(m.path, "out.root", "Events"), tmp_path / "out.root", lengths, projected)
    done = subprocess.run([mounted.program(), "repack", "--verify", tmp_path / "out.root", tmp_path / "pages.root"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert by_root(tmp_path / "pages.root", "nMuon")["projected"] == projected
