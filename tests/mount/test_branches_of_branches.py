# SPDX-License-Identifier: Apache-2.0
"""A branch with leaves of its own and with branches below it shows both."""

import json
import os
import subprocess

import numpy as np
import pytest
import uproot

import mounted
import root_process

WRITE = """
import array, sys, ROOT
file = ROOT.TFile(sys.argv[1], "RECREATE")
tree = ROOT.TTree("t", "")
one, two, inner, items = array.array("f", [0]), array.array("i", [0, 0]), array.array("d", [0]), array.array("f", [0] * 4)
n = array.array("i", [0])
tree.Branch("n", n, "n/I")
parents = [tree.Branch("single", one, "F/F"), tree.Branch("several", two, "a/I:b/I"), tree.Branch("list", items, "values[n]/F")]
below = []
for parent in parents:
    child = ROOT.TBranch(parent, "below", inner, "D/D")
    ROOT.SetOwnership(child, False)
    parent.GetListOfBranches().Add(child)
    below.append(child)
empty = ROOT.TBranch(below[0], "deeper", inner, "D/D")
ROOT.SetOwnership(empty, False)
below[0].GetListOfBranches().Add(empty)
for entry in range(6):
    one[0], two[0], two[1], inner[0], n[0] = entry + .5, entry, -entry, entry + .25, entry % 4
    for i in range(4):
        items[i] = entry + i
    tree.Fill()
    for child in below:
        child.Fill()
tree.Write()
for name in ("single", "several.a", "several.b", "list"):
    count = tree.Draw(name, "", "goff")
    print(name, [tree.GetV1()[i] for i in range(count)])
file.Close()
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The file, and what TTree::Draw says of the leaves that stand beside branches."""
    path = tmp_path_factory.mktemp("branches") / "b.root"
    done = root_process.run_code(WRITE, path)
    assert done.returncode == 0, done.stderr
    return path, {name: eval(values) for name, values in (line.split(" ", 1) for line in done.stdout.splitlines())}


def test_both_are_shown(written):
    path, drawn = written
    with mounted.Mounted(path) as m:
        table = os.path.join(m.path, "t")

        def read(column, dtype):
            return np.fromfile(os.path.join(table, column), dtype).tolist()

        assert read("single/F.f4", "f4") == drawn["single"] == [entry + .5 for entry in range(6)]
        assert read("several/a.i4", "i4") == drawn["several.a"] and read("several/b.i4", "i4") == drawn["several.b"]
        assert read("list/values/values.f4", "f4") == drawn["list"]
        assert np.diff(np.fromfile(os.path.join(table, "list/values/offsets.i8"), "i8")).tolist() == [0, 1, 2, 3, 0, 1]
        for parent in ("single", "several", "list"):
            below = "single/below/D.f8" if parent == "single" else f"{parent}/below.f8"
            assert read(below, "f8") == [entry + .25 for entry in range(6)]
        with open(os.path.join(table, ".schema.json")) as schema:
            columns = {column["path"]: column for column in json.load(schema)["columns"]}
        assert (columns["single/F.f4"]["branch"], columns["single/F.f4"]["field"]) == ("single", ["F"])
        # Of a branch below one of branches; nothing was filled into the last.
        assert columns["single/below/deeper.f8"]["length"] == 0
        with open(table + ".jsonl") as lines:
            assert json.loads(lines.readlines()[2])["several"] == {"a": 2, "b": -2, "below": 2.25}


@pytest.mark.parametrize("form", ["keep", "rntuple"])
def test_both_are_copied(written, tmp_path, form):
    path, drawn = written
    done = subprocess.run([mounted.program(), "repack", "--format", form, path, tmp_path / "out.root"], capture_output=True, text=True)
    if form == "keep":
        assert done.returncode == 0, done.stderr
        return
    assert done.returncode == 1 and done.stderr.splitlines() == [
        "tfilefs: left out: t: single/below/deeper: f8, with fewer entries than the table"], done.stderr
    with uproot.open(tmp_path / "out.root") as file:
        array = file["t"].arrays()
        assert array["single"]["F"].tolist() == drawn["single"] and array["several"]["b"].tolist() == drawn["several.b"]
        assert array["single"]["below"]["D"].tolist() == [entry + .25 for entry in range(6)]
