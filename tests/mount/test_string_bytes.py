# SPDX-License-Identifier: Apache-2.0
"""Strings that are not UTF-8 are bytes in Arrow and Parquet files: readers refuse a whole table with such a string."""

import os

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet
import pytest

import mounted_table


@pytest.fixture
def path(samples):
    return os.path.join(samples("strings"), "strings.root")


def tables(top):
    return [os.path.join(top, name) for name in os.listdir(top) if os.path.exists(os.path.join(top, name, ".schema.json"))]


def arrow_of(table):
    return pa.ipc.open_file(pa.memory_map(table + ".arrow")).read_all()


def innermost(type):
    while pa.types.is_list(type) or pa.types.is_large_list(type):
        type = type.value_type
    return type


def kinds(table):
    """Names of the columns of strings, and of the columns of bytes."""
    fields = [(field.name, innermost(field.type)) for field in table.schema]
    return ({name for name, type in fields if pa.types.is_string(type) or pa.types.is_large_string(type)},
            {name for name, type in fields if pa.types.is_binary(type) or pa.types.is_large_binary(type)})


def is_text(value):
    if isinstance(value, list):
        return all(map(is_text, value))
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_readers_take_the_table(path, shared_mount):
    found = 0
    for table in tables(shared_mount(path).path):
        arrow = arrow_of(table)
        arrow.validate(full=True)
        texts, binaries = kinds(arrow)
        for name in texts | binaries:
            assert is_text(mounted_table.read_node(table, name)) == (name in texts), name
        found += len(binaries)
        for name in binaries:
            assert arrow[name].to_pylist() == mounted_table.read_node(table, name)
        assert kinds(pa.parquet.read_table(table + ".parquet")) == (texts, binaries)
        rows = arrow.num_rows
        assert len(polars.read_ipc(table + ".arrow")) == len(polars.read_parquet(table + ".parquet")) == rows
        assert duckdb.sql(f"select * from '{table}.parquet'").fetchall() is not None
    assert found > 0, "the sample has such strings"


@pytest.mark.parametrize("option", ["utf8", "binary"])
def test_the_option_decides_for_all(path, shared_mount, option):
    seen = set()
    for table in tables(shared_mount(path, "strings=" + option).path):
        for kind in (arrow_of(table).schema, pa.parquet.read_schema(table + ".parquet")):
            texts, binaries = kinds(kind.empty_table())
            assert not (binaries if option == "utf8" else texts)
            seen |= texts | binaries
    assert seen
