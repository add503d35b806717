# SPDX-License-Identifier: Apache-2.0
"""Reading one column of many through a view of the table decodes only that column's baskets."""

import json
import os

import awkward
import duckdb
import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet
import pytest
import uproot

COLUMNS, ENTRIES, BASKETS = 6, 1_000_000, 20
WANTED = 3
# The kernel reads up to two megabytes more than requested, which are five baskets of eight bytes per entry. Readers
# also read the beginning and the end of the file.
BESIDE = 16


def value_of(column):
    return np.arange(ENTRIES, dtype="f8") + column * ENTRIES


@pytest.fixture(scope="module")
def many_columns(tmp_path_factory):
    path = tmp_path_factory.mktemp("pruning") / "many.root"
    step = ENTRIES // BASKETS
    with uproot.recreate(path, compression=uproot.LZ4(1)) as file:
        file.mktree("t", {**{f"c{i}": "f8" for i in range(COLUMNS)}, "list": "var * float64", "other": "var * float64", "last": "f8"})
        for begin in range(0, ENTRIES, step):
            rows = slice(begin, begin + step)
            lists = awkward.unflatten(np.arange(2 * step, dtype="f8"), np.tile([1, 3], step // 2))
            file["t"].extend({**{f"c{i}": value_of(i)[rows] for i in range(COLUMNS)}, "list": lists, "other": lists, "last": value_of(0)[rows]})
    return path


def decoded(m):
    """Baskets decoded so far, by branch."""
    with open(os.path.join(m.path, ".tfilefs/stats.json"), encoding="utf-8") as stats:
        tables = json.load(stats)["tables"]
    return {branch["branch"]: branch["chunks_decoded"] for table in tables for branch in table["branches"] if branch["chunks_decoded"]}


def arrow_column(path, name):
    return pa.ipc.open_file(pa.memory_map(path)).read_all()[name]


READERS = {
    "pyarrow, Parquet": (".parquet", lambda path, name: pyarrow.parquet.read_table(path, columns=[name])[name].to_numpy()),
    "DuckDB, Parquet": (".parquet", lambda path, name: duckdb.sql(f"select {name} from '{path}'").fetchnumpy()[name]),
    "polars, Parquet": (".parquet", lambda path, name: polars.scan_parquet(path).select(name).collect()[name].to_numpy()),
    "pandas, Parquet": (".parquet", lambda path, name: pandas.read_parquet(path, columns=[name])[name].to_numpy()),
    "pyarrow, Arrow": (".arrow", lambda path, name: arrow_column(path, name).to_numpy()),
    "polars, Arrow": (".arrow", lambda path, name: polars.scan_ipc(path).select(name).collect()[name].to_numpy()),
    "pandas, Arrow": (".arrow", lambda path, name: pandas.read_feather(path, columns=[name])[name].to_numpy()),
}


@pytest.mark.parametrize("reader", READERS)
def test_one_column_of_many(many_columns, mount, reader):
    suffix, read = READERS[reader]
    m = mount(many_columns)
    assert np.array_equal(read(os.path.join(m.path, "t" + suffix), f"c{WANTED}"), value_of(WANTED))
    baskets = decoded(m)
    assert baskets.pop(f"c{WANTED}") == BASKETS
    counters = {baskets.pop(name, 0) for name in ("nlist", "nother")}
    assert counters == ({BASKETS} if suffix == ".parquet" else {0}), "what the heads of pages need"
    assert sum(baskets.values()) <= BESIDE, baskets


def test_a_list_of_many(many_columns, mount):
    m = mount(many_columns)
    lists = pyarrow.parquet.read_table(os.path.join(m.path, "t.parquet"), columns=["list"])["list"]
    assert lists.combine_chunks().flatten().to_numpy().tolist() == list(range(2 * ENTRIES // BASKETS)) * BASKETS
    baskets = decoded(m)
    assert (baskets.pop("list"), baskets.pop("nlist"), baskets.pop("nother")) == (BASKETS,) * 3
    assert sum(baskets.values()) <= BESIDE, baskets


def test_looking_at_the_schema_decodes_next_to_nothing(many_columns, mount):
    m = mount(many_columns)
    assert len(pa.ipc.open_file(pa.memory_map(os.path.join(m.path, "t.arrow"))).schema) == COLUMNS + 5
    assert sum(decoded(m).values()) <= BESIDE
    footer = pyarrow.parquet.ParquetFile(os.path.join(m.path, "t.parquet")).metadata
    assert footer.num_rows == ENTRIES
    baskets = decoded(m)
    assert baskets.pop("nlist") == baskets.pop("nother") == BASKETS
    assert sum(baskets.values()) <= BESIDE, baskets


def test_a_condition_skips_row_groups(many_columns, mount):
    """The footer has the smallest and largest values of counters."""
    m = mount(many_columns)
    footer = pyarrow.parquet.ParquetFile(os.path.join(m.path, "t.parquet")).metadata
    names = [footer.row_group(0).column(i).path_in_schema for i in range(footer.num_columns)]
    of_counter = footer.row_group(0).column(names.index("nlist")).statistics
    assert (of_counter.min, of_counter.max, of_counter.null_count) == (1, 3, 0)
    of_number = footer.row_group(0).column(names.index("c0")).statistics
    assert not of_number.has_min_max and of_number.null_count == 0
    assert duckdb.sql(f"select count(c0) from '{m.path}/t.parquet' where nlist > 3").fetchall() == [(0,)]
    assert "c0" not in decoded(m) or decoded(m)["c0"] <= BESIDE


def test_a_large_table_has_no_column_at_its_end(mount, tmp_path):
    """DuckDB first reads the last 256 KiB of the file."""
    entries, steps = 11_000_000, 11
    with uproot.recreate(tmp_path / "large.root", compression=uproot.LZ4(1)) as file:
        file.mktree("t", {name: "f8" for name in "abcd"})
        for step in range(steps):
            file["t"].extend({name: np.full(entries // steps, step + i) for i, name in enumerate("abcd")})
    m = mount(tmp_path / "large.root")
    view = os.path.join(m.path, "t.parquet")
    columns = entries * 4 * 8
    assert columns < os.path.getsize(view) < columns * 1.001
    with open(view, "rb") as file:
        file.seek(-(256 << 10), os.SEEK_END)
        assert file.read(128 << 10) == bytes(128 << 10)
    assert not decoded(m)
    assert duckdb.sql(f"select avg(b), sum(c) from '{view}'").fetchall() == [(6.0, 77_000_000.0)]
    assert decoded(m).keys() <= {"b", "c", "d"} and decoded(m).get("d", 0) <= 1, "what the kernel reads on"


def test_views_of_a_wide_table_open_by_its_metadata(samples, mount):
    """A thousand branches of five baskets each: opening their views reads none of them."""
    m = mount(os.path.join(samples("wide"), "wide.root"))
    path = os.path.join(m.path, "t")
    with open(os.path.join(path, ".awkward.json"), encoding="utf-8") as view:
        assert len(json.load(view)["form"]["fields"]) == 1012
    assert not decoded(m)
    assert len(pa.ipc.open_file(pa.memory_map(path + ".arrow")).schema) == 1012
    assert sum(decoded(m).values()) <= BESIDE
    assert len(pyarrow.parquet.ParquetFile(path + ".parquet").schema_arrow) == 1012
    baskets = decoded(m)
    assert baskets.pop("n") == 5, "all lists have one counter"
    assert sum(baskets.values()) <= 2 * BESIDE, baskets
