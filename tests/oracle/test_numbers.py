# SPDX-License-Identifier: Apache-2.0
"""Scalars, fixed and counted arrays, matrices and leaflists of every leaf type, with every codec."""

import os

import pytest

from oracle.compare import assert_table_equals_oracles

# uproot cannot read Float16_t arrays without a range, nor leaflists of which one leaf is counted.
UPROOT_CANNOT = ("a_f", "m_f", "c_f", "k_f", "jagged")
LEAF_TYPES = "OBbSsIiLlGgFDfd"


@pytest.mark.parametrize("codec", (0, 101, 207, 301, 404, 505))
def test_each_codec(samples, shared_mount, codec):
    directory = samples("numbers")
    file = f"numbers-{codec}.root"
    compared = assert_table_equals_oracles(
        os.path.join(shared_mount(directory).path, file, "t"), os.path.join(directory, file), "t", UPROOT_CANNOT
    )
    assert len(compared) == 6 + 5 * len(LEAF_TYPES)


def test_big_baskets(samples, shared_mount):
    directory = samples("numbers")
    file = "numbers-big-baskets.root"
    assert_table_equals_oracles(
        os.path.join(shared_mount(directory).path, file, "t"), os.path.join(directory, file), "t", UPROOT_CANNOT
    )


def test_offset_map(samples, shared_mount):
    """Baskets without offsets (kGenerateOffsetMap), which uproot does not know: ROOT alone is the oracle."""
    directory = samples("numbers")
    file = "numbers-offset-map.root"
    counted = [kind + leaf for kind in ("c_", "k_") for leaf in LEAF_TYPES]
    assert_table_equals_oracles(
        os.path.join(shared_mount(directory).path, file, "t"), os.path.join(directory, file), "t",
        (*UPROOT_CANNOT, *counted, "other"),
    )


def test_no_entries(samples, shared_mount):
    directory = samples("numbers")
    file = "numbers-empty.root"
    assert_table_equals_oracles(
        os.path.join(shared_mount(directory).path, file, "t"), os.path.join(directory, file), "t", UPROOT_CANNOT
    )
