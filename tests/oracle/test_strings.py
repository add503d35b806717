# SPDX-License-Identifier: Apache-2.0
"""Strings: TLeafC, std::string, std::vector<std::string>."""

import os

import pytest

import mounted_table
from oracle.compare import assert_table_equals_oracles


@pytest.mark.parametrize("kind", ("", "-small-baskets", "-stored", "-offset-map"))
def test_strings(samples, shared_mount, kind):
    directory = samples("strings")
    file = f"strings{kind}.root"
    table = os.path.join(shared_mount(directory).path, file, "t")
    # uproot reads empty TLeafC strings wrongly, and fails if sizes are stored instead of offsets.
    root_only = ("c", "only_short", "s", "plain", "v") if kind == "-offset-map" else ("c",)
    compared = assert_table_equals_oracles(table, os.path.join(directory, file), "t", root_only)
    assert set(compared) == {"c", "only_short", "s", "plain", "v", "after"}


def test_samples_have_what_they_are_for(samples, shared_mount):
    table = os.path.join(shared_mount(samples("strings")).path, "strings.root", "t")
    strings = mounted_table.read_node(table, "c")
    assert b"" in strings and max(map(len, strings)) > 255 and b"tab\t newline\n escape \x1b[31m" in strings
