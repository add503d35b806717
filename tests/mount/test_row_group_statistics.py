# SPDX-License-Identifier: Apache-2.0
"""What COLUMN.stats.json has found is in the footer of the Parquet files that are made later: readers skip row groups."""

import json
import os

import awkward
import numpy as np
import pyarrow.parquet
import pytest
import uproot

import mounted_table

CLUSTER, CLUSTERS = 300_000, 3  # each is a row group
ENTRIES = CLUSTER * CLUSTERS


def values():
    """Each of the columns; their lists have no items in the second cluster."""
    random = np.random.default_rng(7)
    entry = np.arange(ENTRIES)
    third = entry // CLUSTER
    floats = random.normal(size=ENTRIES).astype("f4")
    floats[CLUSTER + 5] = np.nan
    floats[2 * CLUSTER + 1 : 2 * CLUSTER + 3] = -np.inf, np.inf
    zeros = np.where(third == 0, np.where(entry % 2, 0.0, -0.0), np.where(third == 1, 1 + random.random(ENTRIES), 0.0))
    counts = np.where(third == 1, 0, entry % 4)
    return {
        "x": entry / 8,
        "unsorted": random.integers(-(2**62), 2**62, ENTRIES),
        "u64": np.uint64(2**63 - 1000) + (third * 2000 + entry % 100).astype("u8"),
        "u32": (2**31 - 5 + third * 10 + entry % 3).astype("u4"),
        "i8": (third * 40 - 128 + entry % 50).astype("i1"),
        "u16": (third * 20_000 + entry % 300).astype("u2"),
        "flag": (third == 1) | ((third == 2) & (entry % 5 == 0)),
        "f": floats,
        "zero": zeros,
        "pos": random.random((ENTRIES, 3)),
        "list": awkward.unflatten(np.arange(counts.sum(), dtype="f4"), counts),
        "unread": entry.astype("i4"),
    }


WITH = ("x", "unsorted", "u64", "u32", "i8", "u16", "flag", "f", "zero", "pos", "list")


@pytest.fixture(scope="module")
def columns():
    return values()


@pytest.fixture(scope="module", params=("ttree", "rntuple"))
def file(request, columns, tmp_path_factory):
    path = tmp_path_factory.mktemp("statistics") / f"{request.param}.root"
    types = {name: "var * float32" if name == "list" else ("f8", (3,)) if name == "pos" else column.dtype for name, column in columns.items()}
    with uproot.recreate(path, compression=uproot.LZ4(1)) as out:
        parts = [{name: column[begin : begin + CLUSTER] for name, column in columns.items()} for begin in range(0, ENTRIES, CLUSTER)]
        if request.param == "ttree":
            out.mktree("t", types)
        else:
            out.mkrntuple("t", parts.pop(0))
        for part in parts:
            out["t"].extend(part)
    return str(path)


def scan(table, *names):
    for name in names:
        json.loads(mounted_table.read_exactly(os.path.join(table, name + ".stats.json")))


def groups_of(view, name):
    """Of a leaf: the chunk of each row group."""
    footer = pyarrow.parquet.read_metadata(view)
    paths = [footer.row_group(0).column(i).path_in_schema for i in range(footer.num_columns)]
    leaf = next(i for i, path in enumerate(paths) if path.split(".")[0] == name)
    return [footer.row_group(group).column(leaf) for group in range(footer.num_row_groups)]


def test_equal_those_of_the_values(file, columns, mount):
    table = os.path.join(mount(file).path, "t")
    scan(table, *WITH)
    for name in WITH:
        chunks = groups_of(table + ".parquet", name)
        assert len(chunks) == CLUSTERS
        for group, chunk in enumerate(chunks):
            part = columns[name][group * CLUSTER : (group + 1) * CLUSTER]
            part = np.asarray(awkward.flatten(part, axis=None)) if name == "list" else part.ravel()
            found = chunk.statistics
            if len(part) == 0 or (part.dtype.kind == "f" and np.isnan(part).any()):
                assert found is None or not found.has_min_max, (name, group)
                continue
            assert (found.min, found.max) == (part.min(), part.max()), (name, group)
            if name not in ("pos", "list"):
                assert found.null_count == 0
    first = groups_of(table + ".parquet", "zero")[0].statistics
    assert np.signbit(first.min) and not np.signbit(first.max)
    assert not groups_of(table + ".parquet", "unread")[0].statistics.has_min_max
    # The values themselves are as before.
    assert np.array_equal(pyarrow.parquet.read_table(table + ".parquet", columns=["x"])["x"].to_numpy(), columns["x"])


def test_a_file_that_was_looked_at_stays_as_it_was(file, mount):
    table = os.path.join(mount(file).path, "t")
    before = mounted_table.read_exactly(table + ".parquet")
    one_before = mounted_table.read_exactly(os.path.join(table, "x.parquet"))
    scan(table, *WITH)
    assert mounted_table.read_exactly(table + ".parquet") == before
    assert mounted_table.read_exactly(os.path.join(table, "x.parquet")) == one_before
    assert not groups_of(table + ".parquet", "x")[0].statistics.has_min_max


def test_of_one_column_and_of_all(file, columns, mount):
    table = os.path.join(mount(file).path, "t")
    scan(table, "x")
    for view in (table + ".parquet", os.path.join(table, "x.parquet")):
        last = groups_of(view, "x")[-1].statistics
        assert (last.min, last.max) == (columns["x"][-CLUSTER], columns["x"][-1])


def test_the_size_is_the_same(file, mount):
    sizes = []
    for names in ((), ("x",), WITH):
        table = os.path.join(mount(file).path, "t")
        scan(table, *names)
        sizes.append(os.path.getsize(table + ".parquet"))
        assert len(mounted_table.read_exactly(table + ".parquet")) == sizes[-1]
    assert len(set(sizes)) == 1


def test_of_a_chain(columns, mount, tmp_path):
    for number in range(2):
        with uproot.recreate(tmp_path / f"{number}.root") as out:
            out.mktree("t", {"x": "f8", "list": "var * float32"})
            rows = slice(number * CLUSTER, (number + 1) * CLUSTER)
            out["t"].extend({"x": columns["x"][rows], "list": columns["list"][rows]})
    table = os.path.join(mount(str(tmp_path)).path, ".chain=*.root/t")
    scan(table, "x", "list")
    found = [chunk.statistics for chunk in groups_of(table + ".parquet", "x")]
    assert [(each.min, each.max) for each in found] == [(i * CLUSTER / 8, ((i + 1) * CLUSTER - 1) / 8) for i in range(2)]
    assert not any(chunk.statistics and chunk.statistics.has_min_max for chunk in groups_of(table + ".parquet", "list"))
