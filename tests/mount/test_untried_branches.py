# SPDX-License-Identifier: Apache-2.0
"""Branches whose content depends on their entries: these are not read before the content is requested."""

import concurrent.futures
import json
import os

import pytest

import mounted_table

BASKET = 60_000  # minimum size of the first basket of each branch


@pytest.fixture
def opened(mount, samples):
    return mount(os.path.join(samples("whole_objects"), "vectors.root"))


def bytes_taken_in(m):
    """Bytes of all reads by the daemon; those of requests are few."""
    with open(f"/proc/{m.process.pid}/io") as counts:
        return int(counts.readline().split()[1])


def names_below(top):
    return sorted(os.path.relpath(os.path.join(directory, name), top)
                  for directory, _, names in os.walk(top) for name in names)


def test_a_listing_of_the_table_reads_no_entries(opened):
    before = bytes_taken_in(opened)
    assert len(os.listdir(os.path.join(opened.path, "t"))) == 25
    assert all(os.path.isdir(os.path.join(opened.path, "t", f"v{i:02}")) for i in range(24))
    assert bytes_taken_in(opened) - before < BASKET


def test_a_look_into_one_branch_reads_one_basket(opened):
    table = os.path.join(opened.path, "t")
    os.listdir(table)
    before = bytes_taken_in(opened)
    below = names_below(os.path.join(table, "v05"))
    assert {os.path.basename(name) for name in below} >= {"offsets.i8", "fX.f8", "fY.f8", "fZ.f8"}
    assert BASKET < bytes_taken_in(opened) - before < 3 * BASKET


def test_the_schema_says_what_the_directories_say(opened):
    table = os.path.join(opened.path, "t")
    with open(os.path.join(table, ".schema.json")) as file:
        columns = {column["path"]: column for column in json.load(file)["columns"]}
    assert sorted(columns) == names_below(table)
    for name, column in columns.items():
        size = os.path.getsize(os.path.join(table, name))
        assert column["length"] is None or size == column["length"] * int(column["dtype"][-1])


def test_whoever_looks_at_once_sees_the_same(opened):
    table = os.path.join(opened.path, "t")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        schemas = pool.map(lambda _: open(os.path.join(table, ".schema.json")).read(), range(2))
        listings = pool.map(lambda i: names_below(os.path.join(table, f"v{i % 24:02}")), range(96))
        assert len(set(schemas)) == 1
        assert len({tuple(names) for names in listings}) == 1


def test_columns_below_are_read_and_counted(opened):
    table = os.path.join(opened.path, "t")
    offsets = mounted_table.read_array(os.path.join(table, "v00", "offsets.i8"))
    assert list(offsets[:4]) == [0, 0, 1, 3]
    [name] = [name for name in names_below(os.path.join(table, "v00")) if name.endswith("fX.f8")]
    values = mounted_table.read_array(os.path.join(table, "v00", name))
    assert len(values) == offsets[-1] and 0 <= values.min() < values.max() < 1
    with open(os.path.join(table, "v00.txt")) as text:
        assert text.readline() == "\n"
    with open(os.path.join(opened.path, ".tfilefs", "stats.json")) as file:
        [stats] = [one for one in json.load(file)["tables"] if one["table"] == "/t"]
    [branch] = stats["branches"]
    assert branch["branch"] == "v00" and f"v00/{name}" in branch["columns"]
