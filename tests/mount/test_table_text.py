# SPDX-License-Identifier: Apache-2.0
"""TABLE.csv and TABLE.jsonl, read back by Python, pandas and DuckDB, equal the columns."""

import csv
import io
import json
import math
import os

import duckdb
import numpy as np
import pandas
import pytest
import uproot

import columnar
import mounted_table

FORMULAS = ["=1+1", "+2", "-3", "@x", "\tx", "\n=x", "plain", "", 'say "hi", you\nsecond', "\uff1d1 gr\u00fc\u00dfe \u20ac \U0001f600"]


@pytest.fixture(scope="module")
def mixed(shared_mount, tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "mixed.root"
    with uproot.recreate(path) as file:
        file.mktree("t", {"x": "f8", "n": "i8", "b": "bool", "m": ("f4", (2, 2)), "list": "var * float32", "text": "string"})
        file["t"].extend({
            "x": np.array([0.1, math.nan, math.inf, -math.inf, 1e300, -0.0, 1 / 3, 2, 3, 4]),
            "n": np.array([-(2**63), 2**63 - 1, *range(8)]), "b": np.arange(10) % 3 == 0,
            "m": np.arange(40, dtype="f4").reshape(10, 2, 2),
            "list": [np.arange(i, dtype="f4") for i in range(10)], "text": FORMULAS,
        })
    return os.path.join(shared_mount(path).path, "t")


def test_csv(mixed):
    text = mounted_table.read_exactly(mixed + ".csv").decode()
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0] == ["x", "n", "b", "nlist", "text"], "columns of one number an entry, and strings"
    assert text.count("\r\n") == 11
    assert mounted_table.same([float(row[0]) for row in rows[1:]], mounted_table.read_node(mixed, "x"))
    assert [int(row[1]) for row in rows[1:]] == mounted_table.read_node(mixed, "n")
    assert [row[4] for row in rows[1:]] == ["'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\n", "\uff1d") else text for text in FORMULAS]
    frame = pandas.read_csv(mixed + ".csv", keep_default_na=False, na_values=["nan"])
    assert frame["n"].tolist() == mounted_table.read_node(mixed, "n")
    assert duckdb.sql(f"select sum(b), count(*) from read_csv('{mixed}.csv')").fetchall() == [(4, 10)]


def test_jsonl(mixed):
    lines = [json.loads(line) for line in mounted_table.read_exactly(mixed + ".jsonl").splitlines()]
    assert [line["text"] for line in lines] == FORMULAS
    assert [line["n"] for line in lines] == mounted_table.read_node(mixed, "n")
    assert [line["b"] for line in lines] == [i % 3 == 0 for i in range(10)]
    assert [line["m"] for line in lines] == np.arange(40).reshape(10, 2, 2).tolist()
    assert [line["list"] for line in lines] == [list(range(i)) for i in range(10)]
    finite = [x if math.isfinite(x) else None for x in mounted_table.read_node(mixed, "x")]
    assert [line["x"] for line in lines] == finite
    assert duckdb.sql(f"select sum(len(list)) from read_json('{mixed}.jsonl')").fetchall() == [(45,)]


def plain(value):
    """The value in JSON's form."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, tuple):  # one of several classes
        return {value[0]: plain(value[1])}
    if isinstance(value, mounted_table.Raw):
        return value.hex()
    if isinstance(value, bytes):
        return json.loads(json.dumps(value.decode("utf-8", "surrogateescape")))
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def same(found, expected):
    """Whether the values are equal; a number of four bytes only needs to read back equal as such."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[name], expected[name]) for name in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, float):
        return found == expected or np.float32(found) == np.float32(expected)
    return found == expected


@pytest.mark.parametrize("sample", ("numbers/numbers-101", "strings/strings", "vectors/vectors-505", "event/event-99-505", "shelf/shelf-2-101",
                                    "pointers/pointers-0-101"))
def test_jsonl_is_the_columns(samples, shared_mount, sample):
    kind, name = sample.split("/")
    for table in columnar.tables_in(shared_mount(os.path.join(samples(kind), name + ".root")).path):
        lines = [json.loads(line) for line in mounted_table.read_exactly(table + ".jsonl").splitlines()]
        assert len(lines) == mounted_table.schema_of(table)["entries"]
        compared = 0
        nullable = mounted_table.nullable_nodes(table)
        undecoded = {path.split("/")[0] for path, column in mounted_table.columns_of(table).items() if column["role"] == "raw"}
        for node in set(os.listdir(table)) - undecoded:  # which have other places inside of lists
            field = columnar.field_name(table, node)
            expected = [plain(value) for value in mounted_table.read_node(table, field, nullable=nullable)]
            assert same([line[field] for line in lines], expected), field
            compared += 1
        assert compared > 0


def test_seekable(mixed):
    for view in (".csv", ".jsonl"):
        whole = mounted_table.read_exactly(mixed + view)
        with open(mixed + view, "rb", buffering=0) as file:
            for offset in range(0, len(whole), 7):
                assert os.pread(file.fileno(), 11, offset) == whole[offset : offset + 11]


def test_no_csv_without_plain_columns(mount, tmp_path):
    path = tmp_path / "lists.root"
    with uproot.recreate(path) as file:
        file.mktree("t", {"m": ("f4", (3,))})
        file["t"].extend({"m": np.zeros((2, 3), "f4")})
    m = mount(path)
    with pytest.raises(FileNotFoundError):
        os.stat(os.path.join(m.path, "t.csv"))
    assert "/t.csv: no column with one number or string per entry" in m.errors()
    assert mounted_table.read_exactly(os.path.join(m.path, "t.jsonl")) == b'{"m":[0,0,0]}\n' * 2


def test_a_table_of_twelve_thousand_branches(mount, samples):
    path = os.path.join(mount(os.path.join(samples("many_branches"), "many_branches.root")).path, "t")
    lines = [json.loads(line) for line in mounted_table.read_exactly(path + ".jsonl").splitlines()]
    assert lines == [{f"c{branch}": branch + entry for branch in range(12_000)} for entry in range(3)]
    rows = list(csv.reader(io.StringIO(mounted_table.read_exactly(path + ".csv").decode(), newline="")))
    assert rows[1:] == [[str(branch + entry) for branch in range(12_000)] for entry in range(3)]
    last = os.path.join(path, "c11999")
    assert mounted_table.read_exactly(last + ".txt").split() == [b"11999", b"12000", b"12001"]


def test_a_pointer_is_null_or_the_value(samples, shared_mount):
    table = os.path.join(shared_mount(os.path.join(samples("pointers"), "pointers-0-101.root")).path, "t")
    nullable = mounted_table.nullable_nodes(table)
    assert {os.path.join(table, name) for name in ("owner/one", "owner/unique")} <= nullable
    values = mounted_table.read_node(table, "owner", "unique", nullable=nullable)
    assert None in values and any(values)
    text = mounted_table.read_exactly(os.path.join(table, "owner", "unique.txt")).decode().splitlines()
    assert len(text) == len(values)
    for line, value in zip(text, values):
        assert line == "null" if value is None else line.startswith(f"({value['id']} "), line
    lines = [json.loads(line) for line in mounted_table.read_exactly(table + ".jsonl").splitlines()]
    assert same([line["owner"]["unique"] for line in lines], values)


def test_an_empty_tree_has_all_views(tmp_path, mount):
    with uproot.recreate(tmp_path / "empty.root") as file:
        file.mktree("bare", {"x": "f4"})
        file.mktree("lists", {"v": "var * float64"})
    top = mount(tmp_path / "empty.root").path
    for table, line in (("bare", b'"x"\r\n'), ("lists", b'"nv"\r\n')):
        assert mounted_table.read_exactly(os.path.join(top, table + ".csv")) == line
        assert mounted_table.read_exactly(os.path.join(top, table + ".jsonl")) == b""


def test_a_tree_without_branches_has_all_views(samples, shared_mount):
    top = shared_mount(os.path.join(samples("contradictions"), "empty.root")).path
    for table, entries in (("none", 0), ("counted", 5), ("lists", 0)):
        with open(os.path.join(top, table, ".schema.json")) as schema:
            assert json.load(schema)["entries"] == entries
        lines = mounted_table.read_exactly(os.path.join(top, table + ".jsonl")).splitlines()
        assert lines == [b"{}"] * entries
        assert mounted_table.read_exactly(os.path.join(top, table + ".csv")) == b"\r\n" * (1 + entries)
        for suffix in (".arrow", ".parquet", "/.awkward.json"):
            assert os.path.getsize(os.path.join(top, table + suffix)) > 0
