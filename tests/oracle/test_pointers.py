# SPDX-License-Identifier: Apache-2.0
"""Pointers of every sort, collections of them, and ROOT's classes with streamers of their own, at several split levels,
against ROOT."""

import os

import pytest

import mounted_table
from mounted_table import Raw

FILES = [f"pointers-{split}-{codec}" for split in (0, 1, 99) for codec in (101, 505)]

# Base classes, which are directories where the object is not split; TObject's own members, which ROOT changes on reading.
BASES = ("Part",)
BOOKKEEPING = {"TObject", "fUniqueID", "fBits"}
SOME = "..."  # in ROOT's answer: further members are not told


def members_of(record):
    flat = {}
    for name, value in record.items():
        flat.update(members_of(value) if name in BASES else {name: value})
    return flat


def compare(mine, theirs, path):
    assert not isinstance(mine, Raw), f"{path} is not decoded"
    if isinstance(theirs, dict):
        assert isinstance(mine, dict), f"{path}: {mine!r:.200} != {theirs!r:.200}"
        mine = members_of(mine)
        if SOME not in theirs and "TObject" not in theirs:
            assert mine.keys() - BOOKKEEPING == theirs.keys(), f"{path}: {mine!r:.200} != {theirs!r:.200}"
        for name in theirs.keys() - {SOME}:
            if name == "TObject":
                assert mine[name]["fUniqueID"] == theirs[name]["fUniqueID"], path
            else:
                compare(mine[name], theirs[name], f"{path}/{name}")
    elif isinstance(theirs, tuple):
        assert mine and mine[0] == theirs[0], f"{path}: {mine!r:.200} != {theirs!r:.200}"
        compare(mine[1], theirs[1], f"{path}/{theirs[0]}")
    elif isinstance(theirs, list):
        assert isinstance(mine, list) and len(mine) == len(theirs), f"{path}: {mine!r:.200} != {theirs!r:.200}"
        if path.endswith("/map"):  # in whatever order the reader's table has
            mine, theirs = (sorted(items, key=lambda item: str(item["key"][1]["fString"])) for items in (mine, theirs))
        for a, b in zip(mine, theirs):
            compare(a, b, path)
    else:
        assert mounted_table.same(mine, theirs), f"{path}: mount {mine!r}, ROOT {theirs!r}"


@pytest.mark.parametrize("name", FILES)
def test_against_root(samples, shared_mount, name):
    directory = samples("pointers")
    table = os.path.join(shared_mount(directory).path, name + ".root", "t")
    with open(os.path.join(directory, name + ".txt")) as literal:
        oracle = eval(literal.read(), {"nan": float("nan"), "inf": float("inf")})
    assert {"owner", "top_hits", "top_parts", "top_counted"} <= oracle.keys()
    for branch, values in oracle.items():
        mine = mounted_table.read_node(table, branch)
        assert len(mine) == len(values) > 0, branch
        for entry, (a, b) in enumerate(zip(mine, values)):
            compare(a, b, f"[{entry}]/{branch}")
    mounted_table.assert_schema_matches_files(table)


def test_a_pointer_to_one_class_is_optional(samples, shared_mount):
    table = os.path.join(shared_mount(samples("pointers")).path, "pointers-0-101.root", "t")
    columns = mounted_table.columns_of(table)
    assert columns["owner/one/offsets.i8"]["optional"] is True
    assert "optional" not in columns["owner/hits/offsets.i8"]


def test_tags_name_their_classes(samples, shared_mount):
    table = os.path.join(shared_mount(samples("pointers")).path, "pointers-0-101.root", "t")
    columns = mounted_table.columns_of(table)
    classes = columns["owner/part/tags.i1"]["class"].split("|")
    assert classes[0] == "Part" and set(classes) == {"Part", "Track", "Shower"}
    assert columns["owner/part/tags.i1"]["role"] == "tags" and columns["owner/part/index.i8"]["role"] == "index"
    other = columns["owner/objects/values/other/raw.u1"]
    assert other["role"] == "raw" and other["reason"] and other["size"] in (None, 0)
