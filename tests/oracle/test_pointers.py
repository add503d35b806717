# SPDX-License-Identifier: Apache-2.0
"""All kinds of pointers, collections of them, and ROOT's classes with hand-written streamers, at several split levels,
compared with ROOT."""

import os

import pytest

import mounted_table
from oracle.literals import assert_equal, read_literal

FILES = [f"pointers-{split}-{codec}" for split in (0, 1, 99) for codec in (101, 505)]


@pytest.mark.parametrize("name", FILES)
def test_against_root(samples, shared_mount, name):
    directory = samples("pointers")
    table = os.path.join(shared_mount(directory).path, name + ".root", "t")
    oracle = read_literal(os.path.join(directory, name + ".txt"))
    assert {"owner", "top_hits", "top_parts", "top_counted"} <= oracle.keys()
    assert_equal(table, oracle)
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
