# SPDX-License-Identifier: Apache-2.0
"""TABLE/.awkward.json: its form, with the column files as buffers, gives the arrays of the column files."""

import gc
import json
import os

import awkward
import numpy as np
import pytest
import uproot

import columnar
import mounted_table
import root_process
from root_process import run_script


def open_awkward(table):
    """Opens a table as described in docs/recipes/arrays.md."""
    view = json.loads(mounted_table.read_exactly(os.path.join(table, ".awkward.json")))
    files = {key: lambda name=name: np.load(os.path.join(table, name + ".npy"), mmap_mode="r").reshape(-1) for key, name in view["files"].items()}
    return awkward.from_buffers(view["form"], view["length"], files)


def compare(table):
    """The differences from the column files, as text."""
    entries = mounted_table.schema_of(table)["entries"]
    expected = {path: leaf for path, leaf in columnar.mount_leaves(table, entries, unions=True, dates=False).items() if not leaf.missing}
    array = open_awkward(table)
    assert len(array) == entries and not invalid(array)
    found, variants = {}, alternatives(table)
    for name in array.fields:
        add_leaves(found, (name,), array[name].layout, [], variants)
    return columnar.differences(expected, found)


def invalid(array):
    """The fields whose forms Awkward Array says are invalid, with the reasons."""
    errors = {name: awkward.validity_error(array[name]) for name in array.fields}
    return {name: error for name, error in errors.items() if error}


def alternatives(table):
    """The types for the tags of each variant, by the path of its fields."""
    tags = [column for column in mounted_table.schema_of(table)["columns"] if column["role"] == "tags"]
    return {tuple(part for part in column["path"].split("/")[:-1] if part != "values"): column["class"].split("|")
            for column in tags}


def add_leaves(leaves, path, layout, lists, variants):
    if layout.is_record:
        for name in layout.fields:
            add_leaves(leaves, (*path, name), layout.content(name), lists, variants)
    elif isinstance(layout, awkward.contents.UnmaskedArray):
        add_leaves(leaves, path, layout.content, lists, variants)
    elif layout.is_option:
        index = np.asarray(layout.index)
        assert index[index >= 0].tolist() == list(range(len(layout.content)))
        add_leaves(leaves, path, layout.content, lists + [np.concatenate([[0], np.cumsum(index >= 0)])], variants)
    elif layout.is_union:
        leaves[(*path, "tags")] = columnar.Leaf(np.asarray(layout.tags), lists, 0)
        leaves[(*path, "index")] = columnar.Leaf(np.asarray(layout.index)[: len(layout.tags)], lists, 0)
        for content, name in zip(layout.contents[1:], variants[path], strict=True):
            assert content.content.parameter("__record__") in (None, name)
            add_leaves(leaves, (*path, name), content, lists, variants)
    elif layout.is_regular:
        add_leaves(leaves, path, layout.content[: len(layout) * layout.size], lists, variants)
    elif layout.is_list:
        offsets = np.asarray(layout.offsets)
        content = layout.content[: offsets[-1]]
        if layout.parameter("__array__") in ("string", "bytestring"):
            leaves[path] = columnar.Leaf(np.asarray(content.data), lists + [offsets], 0)
        else:
            add_leaves(leaves, path, content, lists + [offsets], variants)
    else:
        leaves[path] = columnar.Leaf(np.asarray(layout.data), lists, 0)


@pytest.mark.parametrize("sample", columnar.SAMPLES)
def test_equals_the_columns(samples, shared_mount, sample):
    kind, name = sample.split("/")
    for table in columnar.tables_in(shared_mount(os.path.join(samples(kind), name + ".root")).path):
        assert not compare(table)


def test_is_lazy(mount, tmp_path):
    path = tmp_path / "two.root"
    with uproot.recreate(path) as file:
        file.mktree("t", {"small": "i4", "large": "f8"})
        file["t"].extend({"small": np.arange(100_000, dtype="i4"), "large": np.arange(100_000, dtype="f8")})
    m = mount(path)

    def decoded():
        with open(os.path.join(m.path, ".tfilefs/stats.json"), encoding="utf-8") as stats:
            return json.load(stats)["cache"]["bytes_decoded"]

    array = open_awkward(os.path.join(m.path, "t"))
    assert len(array) == 100_000 and decoded() == 0
    assert awkward.sum(array["small"]) == 4_999_950_000
    assert 400_000 <= decoded() < 800_000
    del array
    gc.collect()  # unmaps the file before the mount ends


def test_a_table_of_twelve_thousand_branches(mount, samples):
    table = os.path.join(mount(os.path.join(samples("many_branches"), "many_branches.root")).path, "t")
    view = json.loads(mounted_table.read_exactly(os.path.join(table, ".awkward.json")))
    names = [f"c{branch}" for branch in range(12_000)]
    assert view["length"] == 3 and view["form"]["fields"] == names
    assert sorted(view["files"].values()) == sorted(f"{name}.i4" for name in names)
    first = {"form": dict(view["form"], fields=names[:1], contents=view["form"]["contents"][:1]), "length": 3}
    files = {key: np.load(os.path.join(table, name + ".npy")) for key, name in view["files"].items() if name == "c0.i4"}
    assert awkward.from_buffers(first["form"], first["length"], files).tolist() == [{"c0": entry} for entry in range(3)]


WRITE_HISTOGRAMS = """
import sys, ROOT
file = ROOT.TFile(sys.argv[1], "RECREATE")
tree, histograms, kept = ROOT.TTree("t", ""), ROOT.std.vector["TH1*"](), []
tree.Branch("split", histograms)
tree.Branch("whole", histograms, 32000, 0)
for entry in range(4):
    histograms.clear()
    for i in range(entry):
        made = ROOT.TH1F(f"f{i}", "", 3, 0, 1) if i % 2 else ROOT.TH1D(f"d{i}", "", 2, 0, 1)
        made.SetDirectory(ROOT.nullptr)
        made.SetEntries(10 * entry + i)
        kept.append(made)
        histograms.push_back(made)
    tree.Fill()
tree.Write()
for entry in tree:
    print([[made.ClassName(), made.GetEntries()] for made in entry.split])
file.Close()
"""


def test_unions_of_classes_are_valid(mount, tmp_path):
    """Of pointers to histograms, one to each of which may be null."""
    done = root_process.run_code(WRITE_HISTOGRAMS, tmp_path / "h.root", check=True)
    wanted = [[each[1] for each in eval(line)] for line in done.stdout.splitlines()]
    array = open_awkward(os.path.join(mount(tmp_path / "h.root").path, "t"))
    for branch in ("split", "whole"):
        assert awkward.validity_error(array[branch]) in ("", None)
        assert [[(made["TH1"] if "TH1" in made else made)["fEntries"] for made in entry] for entry in array[branch].to_list()] == wanted
    del array
    gc.collect()


def test_unions_of_variants_are_valid(mount, tmp_path):
    """Also where alternatives are numbers of two types, or of one, which Awkward Array could merge."""
    run_script(os.path.join("oracle", "variant_ntuples.py"), ["make", str(tmp_path / "v.root"), "0", "200", "100"])
    [table] = columnar.tables_in(mount(tmp_path / "v.root").path)
    array = open_awkward(table)
    assert not invalid(array) and len(array.fields) > 4
    del array
    gc.collect()
