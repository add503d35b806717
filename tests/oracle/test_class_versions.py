# SPDX-License-Identifier: Apache-2.0
"""One branch with objects written by several versions of their classes, compared with ROOT."""

import os

import pytest

import mounted_table
from oracle.literals import assert_equal, read_literal


@pytest.mark.parametrize("name", ["merged-new-old", "merged-old-new"])
def test_members_go_to_the_columns_of_their_names(samples, shared_mount, name):
    directory = samples("versions")
    table = os.path.join(shared_mount(directory).path, name + ".root", "t")
    entries = read_literal(os.path.join(directory, name + ".txt"))
    assert len(entries) == 12
    assert_equal(table, {"whole": entries})
    mounted_table.assert_schema_matches_files(table)
    mine = mounted_table.read_node(table, "whole")
    # The newest version is the one that is shown.
    assert {"more", "text", "same", "list", "corner", "a"} <= set(mine[0]["part"]) and "gone" not in mine[0]["part"]
    assert "added" in mine[0]["part"]["corner"] and "old" not in mine[0]["part"]["corner"]
