# SPDX-License-Identifier: Apache-2.0
"""TDatime and TTimeStamp: the columns are their numbers, and all views show the dates that ROOT tells."""

import ast
import csv
import datetime
import json
import os
import subprocess

import duckdb
import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet
import pytest

import mounted_table

SPLITS = (0, 1, 99)
EPOCH = datetime.datetime(1970, 1, 1)


@pytest.fixture(scope="module", params=SPLITS)
def dates(request, samples, shared_mount):
    """The table in a mount, and what ROOT says of its entries."""
    base = os.path.join(samples("dates"), f"dates-{request.param}")
    with open(base + ".txt") as text:
        return os.path.join(shared_mount(base + ".root").path, "t"), ast.literal_eval(text.read())


def is_date(value):
    """A TDatime is (number, text): is it a date at all?"""
    try:
        datetime.datetime.fromisoformat(value[1])
    except ValueError:
        return False
    return True


def convert(value, datime, timestamp):
    """What ROOT says, with all dates converted."""
    if isinstance(value, tuple):
        return datime(value) if len(value) == 2 else timestamp(value)
    if isinstance(value, list):
        return [convert(item, datime, timestamp) for item in value]
    if isinstance(value, dict):
        return {name: convert(item, datime, timestamp) for name, item in value.items()}
    return value


def without_ids(value):
    """Of the views: members that are no dates."""
    if isinstance(value, list):
        return [without_ids(item) for item in value]
    if isinstance(value, dict):
        return {name: without_ids(item) for name, item in value.items() if name != "id"}
    return value


def texts(entries):
    """In texts: what is no date is shown as its number."""
    return convert(entries, lambda date: date[1] if is_date(date) else date[0], lambda time: time[2])


def values(entries):
    """In columnar files: what is no date is null."""
    return convert(entries, lambda date: date[1] if is_date(date) else None, lambda time: time[0] * 10**9 + time[1])


def from_arrow(value):
    """The same of a value of pyarrow."""
    if isinstance(value, pandas.Timestamp):
        assert value.tz is not None
        return value.value
    if isinstance(value, datetime.datetime):
        assert value.tzinfo is None
        return value.isoformat()
    if isinstance(value, list):
        return [from_arrow(item) for item in value]
    if isinstance(value, dict):
        return {name: from_arrow(item) for name, item in value.items()}
    return value


def test_the_sample_has_all_kinds(dates):
    _, entries = dates
    assert {is_date(entry["date"]) for entry in entries} == {True, False}
    assert {entry["watch"]["perhaps"] is None for entry in entries} == {True, False}
    assert min(entry["time"][0] for entry in entries) < 0


def test_columns_are_the_numbers(dates):
    table, entries = dates
    assert mounted_table.values_of(os.path.join(table, "date.u4")) == [entry["date"][0] for entry in entries]
    assert mounted_table.values_of(os.path.join(table, "time", "fSec.i4")) == [entry["time"][0] for entry in entries]
    assert mounted_table.values_of(os.path.join(table, "time", "fNanoSec.i4")) == [entry["time"][1] for entry in entries]
    found = mounted_table.values_of(os.path.join(table, "watch"))
    as_numbers = convert([entry["watch"] for entry in entries], lambda date: date[0], lambda time: {"fSec": time[0], "fNanoSec": time[1]})
    for mine, roots in zip(without_ids(found), as_numbers):
        assert {**mine, "perhaps": (mine["perhaps"] or [None])[0]} == roots


def test_lines_of_json(dates):
    table, entries = dates
    with open(table + ".jsonl") as lines:
        assert without_ids([json.loads(line) for line in lines]) == texts(entries)


def test_csv(dates):
    table, entries = dates
    with open(table + ".csv", newline="") as text:
        rows = list(csv.DictReader(text))
    wanted = texts(entries)
    assert set(rows[0]) == {"watch.id", "watch.day", "watch.instant", "date", "time"}
    for row, entry in zip(rows, wanted, strict=True):
        assert row["date"] == str(entry["date"]) and row["time"] == entry["time"]
        assert row["watch.day"] == str(entry["watch"]["day"]) and row["watch.instant"] == entry["watch"]["instant"]


def test_lines_of_a_node(dates):
    table, entries = dates
    for name in ("date", "time"):
        assert open(os.path.join(table, name + ".txt")).read().splitlines() == [str(entry[name]) for entry in texts(entries)]
    listed = [" ".join(map(str, entry["watch"]["stamps"])) for entry in texts(entries)]
    assert open(os.path.join(table, "watch", "stamps.txt")).read().splitlines() == listed
    seconds = open(os.path.join(table, "time", "fSec.txt")).read().splitlines()
    assert seconds == [str(entry["time"][0]) for entry in entries]


def test_arrow(dates):
    table, entries = dates
    found = pa.ipc.open_file(pa.memory_map(table + ".arrow")).read_all()
    found.validate(full=True)
    assert found.schema.field("date").type == pa.timestamp("s") and found.schema.field("time").type == pa.timestamp("ns", "UTC")
    assert not found.schema.field("time").nullable
    assert without_ids(from_arrow(found.to_pylist())) == values(entries)
    frame = polars.read_ipc(table + ".arrow")
    assert frame["date"].null_count() == sum(not is_date(entry["date"]) for entry in entries)
    assert frame["time"].dt.epoch("ns").to_list() == [entry["time"] for entry in values(entries)]


def test_parquet(dates):
    table, entries = dates
    found = pyarrow.parquet.read_table(table + ".parquet")
    found.validate(full=True)
    assert found.schema.field("date").type == pa.timestamp("ms") and found.schema.field("time").type == pa.timestamp("ns", "UTC")
    assert without_ids(from_arrow(found.to_pylist())) == values(entries)
    wanted = [entry["date"] and datetime.datetime.fromisoformat(entry["date"]) for entry in values(entries)]
    assert polars.read_parquet(table + ".parquet")["date"].to_list() == wanted
    assert pandas.read_parquet(table + ".parquet")["time"].astype("int64").tolist() == [entry["time"] for entry in values(entries)]
    rows = duckdb.sql(f"select date, watch.list, epoch_ns(time) from '{table}.parquet'").fetchall()
    days = [[day and datetime.datetime.fromisoformat(day) for day in entry["watch"]["list"]] for entry in values(entries)]
    assert rows == [(date, listed, entry["time"]) for date, listed, entry in zip(wanted, days, values(entries), strict=True)]


def test_an_ntuple(samples, shared_mount):
    """Fields of TTimeStamp, and a TDatime by its streamer."""
    table = os.path.join(shared_mount(os.path.join(samples("dates"), "ntuple.root")).path, "n")
    instants = [s * 10**9 + n for s, n in zip(*(mounted_table.values_of(os.path.join(table, "time", name)) for name in ("fSec.i4", "fNanoSec.i4")))]
    numbers = mounted_table.values_of(os.path.join(table, "date.u4"))
    lines = [json.loads(line) for line in open(table + ".jsonl")]
    found = pa.ipc.open_file(pa.memory_map(table + ".arrow")).read_all()
    found.validate(full=True)
    columns = from_arrow(found.to_pydict())
    assert columns["time"] == instants and len(set(instants)) > 100
    assert columns["perhaps"] == [instant if i % 2 else None for i, instant in enumerate(instants)]
    assert from_arrow(pyarrow.parquet.read_table(table + ".parquet").to_pydict()) == columns
    for number, date, line in zip(numbers, columns["date"], lines, strict=True):
        year, month, day, hour, minute, second = (number >> 26) + 1995, number >> 22 & 15, number >> 17 & 31, number >> 12 & 31, number >> 6 & 63, number & 63
        text = f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
        assert (date, line["date"]) == ((text, text) if is_date((number, text)) else (None, number))
    assert [pandas.Timestamp(line["time"]).value for line in lines] == instants


def test_in_a_chain(samples, shared_mount):
    base = samples("dates")
    files = [os.path.join(base, f"dates-{split}.root") for split in (0, 99)]
    single = [pa.ipc.open_file(pa.memory_map(os.path.join(shared_mount(file).path, "t.arrow"))).read_all() for file in files]
    found = pa.ipc.open_file(pa.memory_map(os.path.join(shared_mount(tuple(files), "chain").path, "t.arrow"))).read_all()
    for name in ("date", "time"):
        assert found.schema.field(name).type == single[0].schema.field(name).type
        assert found[name].to_pylist() == sum((one[name].to_pylist() for one in single), [])


def test_objects_have_the_json_of_root(samples, shared_mount):
    top = shared_mount(os.path.join(samples("dates"), "dates-0.root")).path
    entries = ast.literal_eval(open(os.path.join(samples("dates"), "dates-0.txt")).read())
    assert json.load(open(os.path.join(top, "one_date", "object.json"))) == {"_typename": "TDatime", "fDatime": entries[-1]["date"][0]}
    seconds, nanoseconds, _ = entries[-1]["time"]
    assert json.load(open(os.path.join(top, "one_time", "object.json"))) == {"_typename": "TTimeStamp", "fSec": seconds, "fNanoSec": nanoseconds}


@pytest.mark.parametrize("split", SPLITS)
def test_repacked_there_and_back(program, samples, mount, tmp_path, split):
    """The numbers stay the same. (A tree holds no records in records.)"""
    source = os.path.join(samples("dates"), f"dates-{split}.root")
    for form, before in (("rntuple", source), ("ttree", tmp_path / "rntuple.root")):
        done = subprocess.run([program, "repack", "--verify", "--format", form, before, tmp_path / f"{form}.root"], capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
    before = os.path.join(mount(source).path, "t")
    for form, shown in (("rntuple", ("date", "time", "watch/")), ("ttree", ("date", "time", "watch/day"))):
        after = os.path.join(mount(tmp_path / f"{form}.root").path, "t")
        names = [name for name in mounted_table.columns_of(before) if name.startswith(shown)]
        assert len(names) > 4
        for name in names:
            assert np.array_equal(mounted_table.read_array(os.path.join(before, name)), mounted_table.read_array(os.path.join(after, name))), name
