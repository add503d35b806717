# SPDX-License-Identifier: Apache-2.0
"""std::array in collections, pairs and classes, compared with what was written and with what ROOT reads."""

import os

import pytest

import mounted_table
from oracle.literals import assert_equal, compare, read_literal

# What ROOT 6.40 splits, but does not write: it says that it does not find the member of std::array.
NOT_WRITTEN = {"points", "shorts", "doubles", "set", "flags", "objects", "vectors", "strings"}


def written(path):
    with open(path) as lines:
        entries = [eval(line) for line in lines]
    return {name: [entry[name] for entry in entries] for name in entries[0]}


@pytest.mark.parametrize("name", ["grids-0-101", "grids-0-505"])
def test_unsplit(samples, shared_mount, name):
    directory = samples("grids")
    table = os.path.join(shared_mount(directory).path, name + ".root", "t")
    values = written(os.path.join(directory, name + ".root.written"))
    assert read_literal(os.path.join(directory, name + ".txt")) == values
    assert_equal(table, values)
    assert mounted_table.raw_branches(table) == {}
    mounted_table.assert_schema_matches_files(table)
    columns = mounted_table.columns_of(table)
    assert columns["points/values.f4x3"]["lists"] == ["points/offsets.i8"]
    assert {"point_lists/values/values.i4x2", "values/values/value.f4x3", "grid/points/values.f4x3"} <= set(columns)


def arrays_themselves(value):
    """Without the member of std::array, which has a branch of its own in split files."""
    if isinstance(value, dict):
        return arrays_themselves(value["_M_elems"]) if set(value) == {"_M_elems"} else {
            name: arrays_themselves(member) for name, member in value.items()}
    return [arrays_themselves(item) for item in value] if isinstance(value, list) else value


def test_split(samples, shared_mount):
    directory = samples("grids")
    table = os.path.join(shared_mount(directory).path, "grids-99-101.root", "t")
    columns = mounted_table.columns_of(table)
    assert "it was not written" in columns["points/values/_M_elems.f4x3"]["reason"]
    unsplit = mounted_table.columns_of(os.path.join(shared_mount(directory).path, "grids-0-101.root", "t"))
    assert "values/values/value.f4x3" in columns.keys() & unsplit.keys(), "a map's values have one place"
    values = written(os.path.join(directory, "grids-99-101.root.written"))
    seen = 0
    for branch, name, entries in each_member(table, values):
        mine = arrays_themselves(mounted_table.values_of(branch))
        assert len(mine) == len(entries) == 30
        for entry, (a, b) in enumerate(zip(mine, entries)):
            compare(a, b, f"[{entry}]/{name}")
        seen += 1
    assert seen > 20


def each_member(table, values):
    """Of what ROOT wrote: the branches, and the members of the object and of its own objects."""
    for name, entries in values.items():
        path = mounted_table.node_path(table, name)
        if name in ("grid", "cell", "pair_list"):
            yield from each_member(path, {member: [entry[member] for entry in entries] for member in entries[0]})
        elif name not in NOT_WRITTEN and not (os.path.basename(table), name) in {("cell", "edges"), ("pair_list", "second")}:
            yield path, name, entries
