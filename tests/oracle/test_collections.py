# SPDX-License-Identifier: Apache-2.0
"""Maps, sets, pairs, bitsets, collections in collections and arrays of objects, at several split levels, compared with
ROOT."""

import os

import pytest

import mounted_table
from oracle.literals import assert_equal, read_literal

FILES = [f"shelf-{split}-{codec}" for split in (0, 1, 2, 99) for codec in (101, 505)]


@pytest.mark.parametrize("name", FILES)
def test_against_root(samples, shared_mount, name):
    directory = samples("shelf")
    table = os.path.join(shared_mount(directory).path, name + ".root", "t")
    oracle = read_literal(os.path.join(directory, name + ".txt"))
    assert_equal(table, oracle)
    assert mounted_table.raw_branches(table) == {}
    mounted_table.assert_schema_matches_files(table)


def test_each_split_level_shows_the_same_files(samples, shared_mount):
    top = shared_mount(samples("shelf")).path
    paths = {split: set(mounted_table.columns_of(os.path.join(top, f"shelf-{split}-101.root", "t"))) for split in (0, 1, 2, 99)}
    assert paths[0] == paths[1] == paths[2] == paths[99]
