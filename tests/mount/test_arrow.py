# SPDX-License-Identifier: Apache-2.0
"""TABLE.arrow: opened by pyarrow, polars and awkward, it equals the column files."""

import os

import awkward
import duckdb
import numpy as np
import polars
import pyarrow as pa
import pytest
import uproot

import columnar
import mounted_table


def open_arrow(path):
    table = pa.ipc.open_file(pa.memory_map(path)).read_all()
    try:
        table.validate(full=True)
    except pa.ArrowInvalid as problem:
        assert "Invalid UTF8" in str(problem), problem  # a string shows the bytes in the file
    return table


def compare(path):
    schema = mounted_table.schema_of(path)
    table = open_arrow(path + ".arrow")
    assert table.num_rows == schema["entries"]
    expected = columnar.mount_leaves(path, schema["entries"])
    return columnar.differences(expected, columnar.arrow_leaves(table, columnar.optional_nodes(path)))


@pytest.mark.parametrize("sample", columnar.SAMPLES)
def test_equals_the_columns(samples, shared_mount, sample):
    kind, name = sample.split("/")
    mount = shared_mount(os.path.join(samples(kind), name + ".root"))
    tables = list(columnar.tables_in(mount.path))
    assert tables
    for path in tables:
        assert not compare(path)
    assert mount.errors() == ""


@pytest.fixture
def numbers(samples, shared_mount):
    return shared_mount(os.path.join(samples("numbers"), "numbers-101.root")).path


def test_a_mapping_reader_copies_nothing(numbers):
    before = pa.total_allocated_bytes()
    table = pa.ipc.open_file(pa.memory_map(os.path.join(numbers, "t.arrow"))).read_all()
    assert pa.total_allocated_bytes() == before
    for column in table.columns:
        for array in column.chunks:
            for buffer in array.buffers():
                assert buffer is None or buffer.address % 64 == 0


def test_polars(numbers):
    path = os.path.join(numbers, "t")
    sums = polars.scan_ipc(path + ".arrow").select(polars.col("s_I").cast(polars.Int64).sum(), polars.col("c_S").list.len().sum(),
                                                   polars.col("s_O").sum()).collect()
    assert sums["s_I"][0] == sum(mounted_table.read_node(path, "s_I"))
    assert sums["c_S"][0] == sum(map(len, mounted_table.read_node(path, "c_S")))
    assert sums["s_O"][0] == sum(mounted_table.read_node(path, "s_O"))


@pytest.mark.parametrize("sample", ("pointers-0-101", "pointers-99-505"))
def test_readers_without_unions_open_pointers_to_several_classes(samples, shared_mount, sample):
    mount = shared_mount(os.path.join(samples("pointers"), sample + ".root")).path
    variants = 0
    for path in columnar.tables_in(mount):
        schema = mounted_table.schema_of(path)
        variants += sum(column["role"] == "tags" for column in schema["columns"])
        events = open_arrow(path + ".arrow")  # DuckDB finds it by its name
        assert polars.scan_ipc(path + ".arrow").collect().height == schema["entries"]
        assert polars.scan_parquet(path + ".parquet").collect().height == schema["entries"]
        assert len(events.to_pandas()) == schema["entries"]
        assert len(duckdb.sql("select * from events").fetchall()) == schema["entries"]
        assert len(duckdb.sql(f"select * from '{path}.parquet'").fetchall()) == schema["entries"]
    assert variants > 0


def test_pandas(numbers):
    frame = open_arrow(os.path.join(numbers, "t.arrow")).to_pandas()
    assert np.array_equal(frame["s_D"], mounted_table.read_array(os.path.join(numbers, "t/s_D.f8")), equal_nan=True)


def test_awkward(samples, shared_mount):
    path = shared_mount(os.path.join(samples("vectors"), "vectors-101.root")).path
    array = awkward.from_arrow(open_arrow(os.path.join(path, "t.arrow")))
    for name in array.fields:
        if name.startswith("nested") and "raw.u1" not in os.listdir(os.path.join(path, "t", name)):
            assert mounted_table.same(array[name].to_list(), mounted_table.read_node(os.path.join(path, "t"), name))


def test_mapped_reads_of_any_part(numbers):
    """A seek followed by a short read gives the same bytes as the whole file."""
    path = os.path.join(numbers, "t.arrow")
    whole = mounted_table.read_exactly(path)
    with open(path, "rb", buffering=0) as file:
        for offset in range(0, len(whole), 977):
            assert os.pread(file.fileno(), 100, offset) == whole[offset : offset + 100]


def test_what_has_no_such_view_says_why(samples, mount):
    m = mount(os.path.join(samples("storage"), "directories.root"))
    objects = [name for name in os.listdir(m.path) if not os.path.exists(os.path.join(m.path, name, ".schema.json"))]
    assert objects and m.errors() == ""
    with pytest.raises(FileNotFoundError):
        os.stat(os.path.join(m.path, objects[0] + ".arrow"))
    assert f"/{objects[0]}.arrow: no such view of an object of class TDirectory" in m.errors()
    with pytest.raises(FileNotFoundError):
        os.stat(os.path.join(m.path, "nothing.arrow"))
    assert "nothing" not in m.errors()


def test_listed_beside_the_table(samples, mount):
    m = mount(os.path.join(samples("storage"), "plain.root"), "views=listed")
    assert "t.arrow" in os.listdir(m.path)


def test_the_views_of_many_tables_are_listed(mount, tmp_path):
    """Also of tables without entries, and of names that begin alike."""
    path = tmp_path / "tables.root"
    names = [f"t{number}" for number in range(300)]
    with uproot.recreate(path) as file:
        for number, name in enumerate(names):
            file.mktree(name, {"x": "i4"})
            if number % 2:
                file[name].extend({"x": np.array([number], "i4")})
    top = mount(path, "views=listed").path
    listed = os.listdir(top)
    assert len(listed) == len(set(listed)) and {name + ".arrow" for name in names} <= set(listed)
    assert [open_arrow(os.path.join(top, f"t{number}.arrow"))["x"].to_pylist() for number in (0, 299)] == [[], [299]]


def test_a_real_entry_wins(mount, tmp_path):
    path = tmp_path / "clash.root"
    with uproot.recreate(path) as file:
        for name, value in (("t", 1), ("t.arrow", 2)):
            file.mktree(name, {"x": "i4"})
            file[name].extend({"x": np.array([value], "i4")})
    m = mount(path, "views=listed")
    assert mounted_table.read_array(os.path.join(m.path, "t.arrow/x.i4")).tolist() == [2]
    assert open_arrow(os.path.join(m.path, "t.arrow.arrow"))["x"].to_pylist() == [2]
    assert sorted(os.listdir(m.path)).count("t.arrow") == 1


def test_a_table_of_twelve_thousand_branches(mount, samples):
    path = os.path.join(mount(os.path.join(samples("many_branches"), "many_branches.root")).path, "t.arrow")
    table = open_arrow(path)
    assert table.column_names == [f"c{branch}" for branch in range(12_000)]
    assert [column.to_pylist() for column in table.columns] == [[branch, branch + 1, branch + 2] for branch in range(12_000)]
