# SPDX-License-Identifier: Apache-2.0
"""Scalars, fixed and counted arrays, matrices and leaflists of every leaf type, with every codec."""

import os

import pytest

import mounted_table
import root_process
from oracle.compare import assert_table_equals_oracles

# uproot cannot read Float16_t arrays without a range, nor leaflists in which one leaf is counted.
UPROOT_CANNOT = ("a_f", "m_f", "c_f", "k_f", "jagged")
LEAF_TYPES = "OBbSsIiLlGgFDfd"
BRANCHES = 6 + 5 * len(LEAF_TYPES)


def assert_all_equal(table, oracle):
    assert len(oracle) == BRANCHES
    for name, values in oracle.items():
        mounted_table.assert_same(mounted_table.read_node(table, name), values, name)


@pytest.mark.parametrize("codec", (0, 101, 207, 301, 404, 505))
def test_each_codec(samples, shared_mount, codec):
    directory = samples("numbers")
    file = f"numbers-{codec}.root"
    table, path = os.path.join(shared_mount(directory).path, file, "t"), os.path.join(directory, file)
    if codec == 301:  # raw deflate, which uproot cannot read
        assert_all_equal(table, root_process.read_with_root(path, "t"))
    else:
        assert len(assert_table_equals_oracles(table, path, "t", UPROOT_CANNOT)) == BRANCHES


def test_big_baskets(samples, shared_mount):
    directory = samples("numbers")
    file = "numbers-big-baskets.root"
    assert_table_equals_oracles(
        os.path.join(shared_mount(directory).path, file, "t"), os.path.join(directory, file), "t", UPROOT_CANNOT
    )


def test_offset_map(samples, shared_mount):
    """Baskets without offsets (kGenerateOffsetMap). uproot does not support them, and ROOT reads them wrongly if an
    item is packed or has several numbers. So the oracle is the file of the same content with offsets; for the others,
    also ROOT."""
    directory = samples("numbers")
    table = os.path.join(shared_mount(directory).path, "numbers-offset-map.root", "t")
    assert_all_equal(table, root_process.read_with_root(os.path.join(directory, "numbers-101.root"), "t"))
    root = root_process.read_with_root(os.path.join(directory, "numbers-offset-map.root"), "t")
    for name in [f"c_{leaf}" for leaf in LEAF_TYPES if leaf not in "fd"] + ["other"]:
        mounted_table.assert_same(mounted_table.read_node(table, name), root[name], name)


def test_no_entries(samples, shared_mount):
    directory = samples("numbers")
    file = "numbers-empty.root"
    assert_table_equals_oracles(
        os.path.join(shared_mount(directory).path, file, "t"), os.path.join(directory, file), "t", UPROOT_CANNOT
    )


def test_counters_without_a_mark(samples, shared_mount):
    """Only the first leaf of a name was marked as a counter by ROOT 3."""
    directory = samples("unmarked")
    table = os.path.join(shared_mount(directory).path, "unmarked.root", "t")
    oracle = root_process.read_with_root(os.path.join(directory, "unmarked.root"), "t")
    assert oracle.keys() == {"first", "second"} and oracle["second"][2]["grid"]
    assert not mounted_table.raw_branches(table)
    for name, values in oracle.items():
        mounted_table.assert_same(mounted_table.read_node(table, name), values, name)
