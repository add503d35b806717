# SPDX-License-Identifier: Apache-2.0
"""Enumerations in collections, at several split levels, compared with what was written and with what ROOT reads."""

import json
import os

import numpy as np
import pytest

import mounted_table
from oracle.literals import assert_equal, read_literal

NOT_ROOTS = ("codes", "lengths", "wides", "lost")  # which are compared otherwise
FILES = [f"codes-{split}-{codec}" for split in (0, 1, 99) for codec in (101, 505)]


def written(path):
    with open(path) as lines:
        entries = [eval(line) for line in lines]
    return {name: [entry[name] for entry in entries] for name in entries[0]}


def in_one_order(entries):
    """Each reader has the order of its own hash table."""
    return [{**entry, "hashed_set": sorted(entry["hashed_set"])} for entry in entries]


@pytest.mark.parametrize("name", FILES)
def test_of_four_bytes(samples, shared_mount, name):
    directory = samples("codes")
    table = os.path.join(shared_mount(directory).path, name + ".root", "t")
    values, root = written(os.path.join(directory, name + ".root.written")), read_literal(os.path.join(directory, name + ".txt"))
    assert in_one_order(root["codes"]) == in_one_order(values["codes"])
    assert {branch: root[branch] for branch in values if branch not in NOT_ROOTS} == {
        branch: entries for branch, entries in values.items() if branch not in NOT_ROOTS}
    assert_equal(table, {branch: entries for branch, entries in values.items() if branch not in ("lengths", "wides", "lost")})
    assert not [branch for branch in mounted_table.raw_branches(table) if not branch.startswith("lost")]
    mounted_table.assert_schema_matches_files(table)


@pytest.mark.parametrize("name", FILES)
def test_of_other_lengths(samples, shared_mount, name):
    """ROOT 6.40 reads lists and queues of these otherwise than it wrote them, so that only what was written counts."""
    directory = samples("codes")
    table = os.path.join(shared_mount(directory).path, name + ".root", "t")
    values = written(os.path.join(directory, name + ".root.written"))
    assert_equal(table, {"lengths": values["lengths"]})


@pytest.mark.parametrize("name", FILES)
def test_of_which_root_stores_none_in_maps(samples, shared_mount, name):
    """A map whose pair has a dictionary is stored as its number of items, unless it is inside another collection."""
    directory = samples("codes")
    table = os.path.join(shared_mount(directory).path, name + ".root", "t")
    values = written(os.path.join(directory, name + ".root.written"))["wides"]
    node = os.path.join(table, "wides")
    ends = np.fromfile(os.path.join(node, "both", "offsets.i8"), "<i8")
    assert list(np.diff(ends)) == [len(entry["both"]) for entry in values] and ends[-1] > 0
    assert os.listdir(os.path.join(node, "both")) == ["offsets.i8"]
    assert_equal(node, {member: [entry[member] for entry in values] for member in ("maps", "last")})
    assert not [branch for branch in mounted_table.raw_branches(table) if branch.startswith("wides")]
    mounted_table.assert_schema_matches_files(table)


@pytest.mark.parametrize("name", FILES)
def test_what_root_stores_in_part_is_bytes(samples, shared_mount, name):
    table = os.path.join(shared_mount(samples("codes")).path, name + ".root", "t")
    [(branch, reason)] = mounted_table.raw_branches(table).items()
    assert branch.startswith("lost")
    told = "ROOT does not write all items of vector<Small>" if name.startswith("codes-99") else "do not follow"
    assert told in reason


def test_of_which_the_file_says_nothing(samples, shared_mount):
    """ROOT describes neither the enumeration nor the collection of a branch of its own."""
    directory = samples("codes")
    table = os.path.join(shared_mount(directory).path, "lone.root", "t")
    values = [[7] * (entry % 3) for entry in range(40)]
    assert mounted_table.read_node(table, "numbers") == values
    assert mounted_table.read_node(table, "lists") == [[numbers, [], numbers] for numbers in values]
    assert mounted_table.read_node(table, "empty") == [[]] * 40
    assert "offsets.i8" in os.listdir(os.path.join(table, "empty"))
    # One byte for each item: nobody says so, and there is nothing to tell it by.
    assert set(mounted_table.raw_branches(table)) == {"small_lists"}


@pytest.mark.parametrize("split", (0, 1, 99))
def test_what_root_leaves_out_of_pairs(samples, shared_mount, split):
    """The part that the description of the pair lacks has no bytes; all else has."""
    directory = os.path.join(shared_mount(samples("left_out")).path, f"left_out-{split}.root")
    table = os.path.join(directory, "t")
    assert not mounted_table.raw_branches(table)
    lists = {"list": [{"first": 5}, {"first": 6}], "lists": [[{"second": 5}, {"second": 6}], []]}
    wanted = [
        {"first": entry, "narrow": {"first": 7 if entry % 2 else 60000}, "second": {"second": 9}, **lists, "last": 4}
        for entry in range(20)]
    assert mounted_table.read_node(table, "pairs") == wanted
    mounted_table.assert_schema_matches_files(table)
    with open(os.path.join(directory, "key", "object.json")) as file:
        found = json.load(file)
    assert found["narrow"]["first"] == 60000 or found["narrow"]["first"] == 7
    assert "second" not in found["narrow"] and found["second"]["second"] == 9 and found["last"] == 4
    assert [each["first"] for each in found["list"]] == [5, 6]
