# SPDX-License-Identifier: Apache-2.0
"""Maps, sets, pairs, bitsets, collections in collections and arrays of objects, at several split levels, against ROOT."""

import os

import pytest

import mounted_table
from mounted_table import Raw

FILES = [f"shelf-{split}-{codec}" for split in (0, 1, 2, 99) for codec in (101, 505)]

# TObject's members, which ROOT changes on reading and the literals leave out.
BOOKKEEPING = {"TObject"}


def compare(mine, theirs, path):
    assert not isinstance(mine, Raw), f"{path} is not decoded"
    if isinstance(mine, dict):
        assert isinstance(theirs, dict) and mine.keys() - BOOKKEEPING == theirs.keys(), f"{path}: {mine!r:.200} != {theirs!r:.200}"
        for name in theirs:
            compare(mine[name], theirs[name], f"{path}/{name}")
    elif isinstance(mine, list):
        assert isinstance(theirs, list) and len(mine) == len(theirs), f"{path}: {mine!r:.200} != {theirs!r:.200}"
        if path.rpartition("/")[2].startswith("hashed_"):  # in whatever order the reader's tables have
            mine, theirs = sorted(mine, key=str), sorted(theirs, key=str)
        for a, b in zip(mine, theirs):
            compare(a, b, path)
    else:
        assert mounted_table.same(mine, theirs), f"{path}: mount {mine!r}, ROOT {theirs!r}"


@pytest.mark.parametrize("name", FILES)
def test_against_root(samples, shared_mount, name):
    directory = samples("shelf")
    table = os.path.join(shared_mount(directory).path, name + ".root", "t")
    with open(os.path.join(directory, name + ".txt")) as literal:
        oracle = eval(literal.read(), {"nan": float("nan"), "inf": float("inf")})
    for branch, values in oracle.items():
        mine = mounted_table.read_node(table, branch)
        assert len(mine) == len(values) > 0, branch
        for entry, (a, b) in enumerate(zip(mine, values)):
            compare(a, b, f"[{entry}]/{branch}")
    assert mounted_table.raw_branches(table) == {}
    mounted_table.assert_schema_matches_files(table)


def test_each_split_level_shows_the_same_files(samples, shared_mount):
    top = shared_mount(samples("shelf")).path
    paths = {split: set(mounted_table.columns_of(os.path.join(top, f"shelf-{split}-101.root", "t"))) for split in (0, 1, 2, 99)}
    assert paths[0] == paths[1] == paths[2] == paths[99]
