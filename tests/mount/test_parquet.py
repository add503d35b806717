# SPDX-License-Identifier: Apache-2.0
"""TABLE.parquet: opened by pyarrow, polars, DuckDB and pandas, it equals the column files."""

import os

import awkward
import duckdb
import numpy as np
import pandas
import polars
import pyarrow.parquet
import pytest
import uproot

import columnar
import mounted_table


def open_parquet(path):
    table = pyarrow.parquet.read_table(path)
    table.validate()
    return table


@pytest.mark.parametrize("sample", columnar.SAMPLES)
def test_equals_the_columns(samples, shared_mount, sample):
    kind, name = sample.split("/")
    mount = shared_mount(os.path.join(samples(kind), name + ".root"))
    for path in columnar.tables_in(mount.path):
        entries = mounted_table.schema_of(path)["entries"]
        table = open_parquet(path + ".parquet")
        assert table.num_rows == entries
        found = columnar.arrow_leaves(table, columnar.optional_nodes(path))
        assert not columnar.differences(columnar.mount_leaves(path, entries), found, shapes_are_lists=True)
    assert mount.errors() == ""


ENTRIES = 700_000  # more than one row group; lists and strings with several pages


@pytest.fixture(scope="module")
def large(shared_mount, tmp_path_factory):
    """A table of several baskets, clusters and row groups."""
    path = tmp_path_factory.mktemp("parquet") / "large.root"
    random = np.random.default_rng(5)
    with uproot.recreate(path) as file:
        file.mktree("t", {"x": "f8", "flag": "bool", "small": "i1", "pos": ("f4", (3,)), "list": "var * float32", "text": "string"})
        for begin in range(0, ENTRIES, 100_000):
            counts = random.integers(0, 5, 100_000)
            file["t"].extend({
                "x": random.normal(size=100_000),
                "flag": random.random(100_000) < 0.3,
                "small": random.integers(-128, 128, 100_000).astype("i1"),
                "pos": random.random((100_000, 3)).astype("f4"),
                "list": awkward.unflatten(random.random(counts.sum()).astype("f4"), counts),
                "text": awkward.Array([f"entry {begin + i}" if i % 7 else "" for i in range(100_000)]),
            })
    return shared_mount(path).path


def test_row_groups_and_pages(large):
    path = os.path.join(large, "t")
    table = pyarrow.parquet.ParquetFile(path + ".parquet")
    assert table.metadata.num_rows == ENTRIES
    assert table.num_row_groups > 1
    entries = [table.metadata.row_group(i).num_rows for i in range(table.num_row_groups)]
    clusters = mounted_table.schema_of(path)["clusters"]
    assert set(np.cumsum(entries)) <= set(clusters) and min(entries[:-1]) >= 1 << 18
    assert not columnar.differences(columnar.mount_leaves(path, ENTRIES), columnar.arrow_leaves(table.read()), shapes_are_lists=True)


def test_larger_columns_come_first(large):
    """There is little at the end of the file, where readers look first. But the first column comes before all others: a
    reader that divides a file takes the place of its chunk, plus half the size of the row group, as the middle of the
    group, and looks for it in the file."""
    path = os.path.join(large, "t.parquet")
    groups = pyarrow.parquet.read_metadata(path)
    for i in range(groups.num_row_groups):
        group = groups.row_group(i)
        columns = [group.column(k) for k in range(group.num_columns)]
        names = [column.path_in_schema for column in sorted(columns, key=lambda column: column.data_page_offset)]
        assert names == ["x", "text", "pos.list.element", "list.list.element", "small", "nlist", "flag"]
        middle = columns[0].data_page_offset + sum(column.total_compressed_size for column in columns) // 2
        assert middle < os.path.getsize(path)


def test_readers_agree(large):
    path = os.path.join(large, "t.parquet")
    expected = [
        mounted_table.read_array(os.path.join(large, "t/x.f8")).sum(),
        mounted_table.read_array(os.path.join(large, "t/flag.b1")).sum(),
        mounted_table.read_array(os.path.join(large, "t/small.i1")).sum(dtype="i8"),
        len(mounted_table.read_array(os.path.join(large, "t/list/values.f4"))),
        len(mounted_table.read_array(os.path.join(large, "t/text/chars.u1"))),
    ]
    by_duckdb = duckdb.sql(f"select sum(x), sum(flag::int), sum(small), sum(len(list)), sum(strlen(text)) from '{path}'").fetchall()[0]
    by_polars = polars.scan_parquet(path).select(polars.col("x").sum(), polars.col("flag").sum(), polars.col("small").cast(polars.Int64).sum(),
                                                 polars.col("list").list.len().sum(), polars.col("text").str.len_bytes().sum()).collect().row(0)
    frame = pandas.read_parquet(path)
    by_pandas = (frame["x"].sum(), frame["flag"].sum(), frame["small"].sum(), frame["list"].map(len).sum(), frame["text"].map(len).sum())
    for found in (by_duckdb, by_polars, by_pandas):
        assert np.allclose(np.array(found, "f8"), expected, rtol=1e-9)


def test_a_question_with_a_condition(large):
    path = os.path.join(large, "t.parquet")
    values = mounted_table.read_array(os.path.join(large, "t/x.f8"))[mounted_table.read_array(os.path.join(large, "t/flag.b1"))]
    count, largest = duckdb.sql(f"select count(*), max(x) from '{path}' where flag").fetchall()[0]
    assert (count, largest) == (len(values), values.max())


def test_reads_of_any_part(large):
    """A seek followed by a short read gives the same bytes as the whole file."""
    path = os.path.join(large, "t.parquet")
    whole = mounted_table.read_exactly(path)
    assert whole[:4] == whole[-4:] == b"PAR1"
    with open(path, "rb", buffering=0) as file:
        for offset in range(0, len(whole), 99_991):
            assert os.pread(file.fileno(), 3000, offset) == whole[offset : offset + 3000]


def test_a_table_of_twelve_thousand_branches(mount, samples):
    path = os.path.join(mount(os.path.join(samples("many_branches"), "many_branches.root")).path, "t.parquet")
    table = pyarrow.parquet.read_table(path)
    assert table.column_names == [f"c{branch}" for branch in range(12_000)]
    assert [column.to_pylist() for column in table.columns] == [[branch, branch + 1, branch + 2] for branch in range(12_000)]
