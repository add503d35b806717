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


def open_awkward(table):
    """Opens a table as described in docs/recipes.md."""
    view = json.loads(mounted_table.read_exactly(os.path.join(table, ".awkward.json")))
    files = {key: lambda name=name: np.load(os.path.join(table, name + ".npy"), mmap_mode="r").reshape(-1) for key, name in view["files"].items()}
    return awkward.from_buffers(view["form"], view["length"], files)


def compare(table):
    """The differences from the column files, as text."""
    entries = mounted_table.schema_of(table)["entries"]
    expected = {path: leaf for path, leaf in columnar.mount_leaves(table, entries, unions=True).items() if not leaf.missing}
    array = open_awkward(table)
    assert len(array) == entries
    found, variants = {}, alternatives(table)
    for name in array.fields:
        add_leaves(found, (name,), array[name].layout, [], variants)
    return columnar.differences(expected, found)


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
