# SPDX-License-Identifier: Apache-2.0
"""`tfilefs repack` of keys that are no tables: what is added, what comes along, what is named."""

import os
import re

import numpy
import pytest
import uproot

import mounted
from mount.test_repack import repack
import root_process
from root_process import run_script


def newest_keys(path):
    """{path: what the newest key of each object says, and its decompressed bytes}"""
    with uproot.open(path) as file:
        found = {}
        for name, class_name in file.classnames(cycle=False).items():
            if not class_name.startswith("TDirectory"):
                key = file.key(name)
                found[name] = (class_name, key.fTitle, key.fCycle, bytes(key.get_uncompressed_chunk_cursor()[0].raw_data))
        return found


@pytest.fixture(scope="module")
def added(tmp_path_factory):
    directory = tmp_path_factory.mktemp("added")
    run_script(os.path.join("oracle", "added_histograms.py"), ["make", str(directory)])
    return directory


def test_histograms_are_added_as_hadd_does(added):
    done = repack("--force", *(added / f"{name}.root" for name in "abc"), added / "out.root", status=1)
    assert [line.split(":")[1:3] for line in done.stderr.splitlines()] == 2 * [[" left out", " text"]], done.stderr
    told = run_script(os.path.join("oracle", "added_histograms.py"), ["compare", str(added)])
    assert int(told.split(" histograms are the same")[0].split()[-1]) == 2 * 26
    with uproot.open(added / "out.root") as file:
        assert file["text"] == "text of a" and file["detector/tracker/later"].values().sum() > 0


def test_other_objects_are_added_as_hadd_does(tmp_path):
    run_script(os.path.join("oracle", "merged_objects.py"), ["make", str(tmp_path)])
    repack(*(tmp_path / f"{name}.root" for name in "abc"), tmp_path / "out.root")
    told = run_script(os.path.join("oracle", "merged_objects.py"), ["compare", str(tmp_path)])
    assert int(told.split(" objects are the same")[0].split()[-1]) == 79


WRITE_ESCAPED = """
import sys, ROOT
ROOT.TH1.AddDirectory(False)
file = ROOT.TFile(sys.argv[1], "RECREATE")
below = file.mkdir("d%2Fe")
for i, name in enumerate(("/", "%2F", "a/b", "a%2Fb", "%252F", "100%")):
    h = ROOT.TH1D("x", "", 1, 0, 1)
    h.Fill(.5, 1 + i)
    for directory in (file, below):
        directory.WriteTObject(h, name)
tree = ROOT.TTree("t", "")
below.WriteTObject(tree, "t%2F")
file.Close()
"""
READ_ESCAPED = """
import sys, ROOT
file = ROOT.TFile(sys.argv[1])
below = file.Get("d%2Fe")
for directory in (file, below):
    for key in directory.GetListOfKeys():
        if key.GetClassName() == "TH1D":
            print(directory.GetName() if directory is below else "", key.GetName(), key.ReadObj().GetSumOfWeights())
print(below.GetKey("t%2F").GetClassName())
"""


def test_keys_have_paths_of_their_own(tmp_path):
    """A name that looks like the escape of another one is not taken for it."""
    source, again, merged = (str(tmp_path / name) for name in ("in.root", "again.root", "merged.root"))
    root_process.run_code(WRITE_ESCAPED, source, check=True)
    wanted = sorted(root_process.run_code(READ_ESCAPED, source, check=True).stdout.split("\n"))
    repack(source, again)
    assert sorted(root_process.run_code(READ_ESCAPED, again, check=True).stdout.split("\n")) == wanted
    repack(source, again, merged)
    sums = [line.rsplit(" ", 1) for line in root_process.run_code(READ_ESCAPED, merged, check=True).stdout.split("\n")]
    twice = sorted(" ".join([*each[:-1], str(float(each[-1]) / 2)]) if len(each) > 1 else each[0] for each in sums)
    assert twice == wanted


WRITE_OTHERS = """
import array, sys, ROOT
ROOT.TH1.AddDirectory(False)
def kept(made):  # by ROOT
    ROOT.SetOwnership(made, False)
    return made
for number, path in enumerate(sys.argv[1:]):
    file = ROOT.TFile(path, "RECREATE")
    sparse = ROOT.THnSparseD("sparse", "", 1, array.array("i", [3 + number]), array.array("d", [0]), array.array("d", [1]))
    sparse.Fill(array.array("d", [.1 + .5 * number]))
    histogram = kept(ROOT.TH1D("h", "", 3, 0, 3))
    histogram.Fill(number)
    stack = ROOT.THStack("stack", "")
    stack.Add(kept(ROOT.TH1D("stacked", "", 3 + number, 0, 3)))
    graphs = ROOT.TMultiGraph("graphs", "")
    graphs.Add(kept(ROOT.TGraph(1 + number)))
    points = ROOT.TPolyLine(2, array.array("d", [0, number]), array.array("d", [0, 1]))
    cuts = [kept(ROOT.TCutG(name, 3, array.array("d", [0, 1, right]), array.array("d", [0, 0, 1]))) for name, right in (("same", 1), ("cut", number))]
    sorted_names = ROOT.TSortedList()
    sorted_names.Add(kept(ROOT.TObjString(f"of file {number}")))
    trees = ROOT.TList()
    entries = [kept(ROOT.TEntryList(f"entries {each}", "", "tree", f"{number}.root")) for each in range(2)]
    trees.Add(entries[1])
    few = ROOT.TList()
    for name in ("one", "two")[:1 + number]:
        few.Add(kept(histogram.Clone(name)))
    for name, made in {"sparse": sparse, "stack": stack, "graphs": graphs, "sorted names": sorted_names, "few": few,
                       "points": points, "cut": cuts[1], "same cut": cuts[0], "entries": entries[0], "entries in a list": trees, "other class": (ROOT.TNamed("n", "t"),
                       ROOT.TObjString("n"))[number], "text": ROOT.TObjString(f"text {number}"), "same": ROOT.TObjString("same"),
                       "same list": ROOT.TList(), "path": (ROOT.TObjString("an object"), ROOT.TList())[number]}.items():
        file.WriteTObject(made, name, "SingleKey")
    (file.mkdir("directory").WriteTObject(ROOT.TObjString("inside"), "inside") if number else file.WriteTObject(ROOT.TObjString("x"), "directory"))
    file.Close()
"""


def test_what_is_not_added_is_named(tmp_path):
    files = [tmp_path / "a.root", tmp_path / "b.root"]
    root_process.run_code(WRITE_OTHERS, *files, check=True)
    done = repack(*files, tmp_path / "out.root", status=1)
    lost = {line.removeprefix("tfilefs: left out: ").split(":")[0] for line in done.stderr.splitlines()}
    assert lost == {"sparse", "stack", "graphs", "sorted names", "few", "points", "cut", "entries", "entries in a list", "other class", "text",
                    "path", "directory", "directory/inside"}
    assert all("b.root" in line for line in done.stderr.splitlines())
    assert newest_keys(tmp_path / "out.root") == newest_keys(files[0])
    dry = repack("--dry-run", *files, tmp_path / "dry.root", status=1)
    assert dry.stderr == done.stderr and not (tmp_path / "dry.root").exists()
    repack("--force", "--no-add", *files, tmp_path / "out.root", status=1)  # "directory" is of another kind
    dry = repack("--dry-run", "--no-add", *files, tmp_path / "dry.root", status=1)
    assert {line.split(":")[2].strip() for line in dry.stderr.splitlines()} == {"directory", "directory/inside"}


def test_classes_of_parts_come_along(tmp_path):
    """The first file has no filled bins, and so does not describe how they are stored."""
    script = """
import array, sys, ROOT
for number, path in enumerate(sys.argv[1:]):
    file = ROOT.TFile(path, "RECREATE")
    sparse = ROOT.THnSparseD("sparse", "", 1, array.array("i", [3]), array.array("d", [0]), array.array("d", [1]))
    if number:
        sparse.Fill(array.array("d", [.1]))
    file.WriteTObject(sparse, "sparse", "SingleKey")
    file.Close()
"""
    files = [tmp_path / f"{name}.root" for name in "abc"]
    root_process.run_code(script, *files, check=True)
    repack(*files, tmp_path / "out.root")
    described = {name: "THnSparseArrayChunk" in uproot.open(tmp_path / f"{name}.root").file.streamers for name in ("a", "b", "out")}
    assert described == {"a": False, "b": True, "out": True}
    with mounted.Mounted(tmp_path) as m:
        assert numpy.fromfile(os.path.join(m.path, "out.root", "sparse", "values.f8")).tolist() == [2]


def test_histograms_are_not_added_where_nobody_wants_it(added):
    repack("--force", "--no-add", *(added / f"{name}.root" for name in "abc"), added / "first.root")
    assert newest_keys(added / "first.root") == newest_keys(added / "a.root")


def test_keys_of_later_files_come_along(tmp_path):
    for name, keys in (("a", ("both", "d/a")), ("b", ("both", "d/b", "e/f/b")), ("c", ("d/b", "c", "a_object"))):
        with uproot.recreate(tmp_path / f"{name}.root") as file:
            for key in keys:
                file[key] = f"of {name}" if key != "a_object" else (numpy.ones(2), numpy.arange(3.0))
            for tree in "T" if name != "c" else "TU":
                file.mktree(tree, {"x": "i8"}).extend({"x": numpy.arange(3)})
    done = repack(tmp_path / "a.root", tmp_path / "b.root", tmp_path / "out.root", status=1)
    assert "1 tables, 4 objects" in done.stdout and re.fullmatch(r"tfilefs: left out: both: the TObjString of .*b\.root, .*\n", done.stderr)
    with uproot.open(tmp_path / "out.root") as file:
        assert [str(file[key]) for key in ("both", "d/a", "d/b", "e/f/b")] == ["of a", "of a", "of b", "of b"]
    done = repack("--force", tmp_path / "a.root", tmp_path / "c.root", tmp_path / "out.root", status=1)
    assert "left out: U: a table of" in done.stderr and "1 tables, 5 objects" in done.stdout
    with uproot.open(tmp_path / "out.root") as file:
        assert file["a_object"].values().tolist() == [1, 1] and file["T"].num_entries == 6


def test_histograms_of_other_axes_are_named(tmp_path):
    values = numpy.arange(4.0)
    for name, edges in (("a", [0, 1, 2, 3, 4]), ("b", [0, 1, 2, 3, 5])):
        with uproot.recreate(tmp_path / f"{name}.root") as file:
            file["h"] = (values, numpy.array(edges, "f8"))
            file["same"] = (values, numpy.arange(5.0))
    done = repack(tmp_path / "a.root", tmp_path / "b.root", tmp_path / "out.root", status=1)
    assert "h: the TH1D of" in done.stderr and "b.root, which cannot be added: its axes differ" in done.stderr
    with uproot.open(tmp_path / "out.root") as file:
        assert file["h"].values().tolist() == values.tolist() and file["same"].values().tolist() == (2 * values).tolist()
