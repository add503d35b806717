# SPDX-License-Identifier: Apache-2.0
"""A branch whose items contradict its lists is left out of a table's views, and does not spoil them."""

import json
import os
import shutil
import subprocess

import numpy as np
import polars
import pyarrow as pa
import pyarrow.parquet
import pytest

GOOD = [[entry + i / 8 for i in range(entry % 6)] for entry in range(100)]
POINTS = [[{"x": entry} for _ in range(entry % 6)] for entry in range(100)]
TABLES = {"unwritten": {"good": GOOD}, "longer": {"points": POINTS, "good": GOOD}}


@pytest.fixture(params=TABLES)
def odd(request, samples, shared_mount):
    """Path of the file, of the table in a mount, and the columns that its views have."""
    path = os.path.join(samples("contradictions"), request.param + ".root")
    return path, os.path.join(shared_mount(path).path, "t"), TABLES[request.param]


def test_arrow(odd):
    _, table, wanted = odd
    read = pa.ipc.open_file(pa.memory_map(table + ".arrow")).read_all()
    read.validate(full=True)
    assert read.to_pydict() == wanted
    assert polars.read_ipc(table + ".arrow").to_dict(as_series=False) == wanted


def test_parquet(odd):
    _, table, wanted = odd
    assert pa.parquet.read_table(table + ".parquet").to_pydict() == wanted


def test_json(odd):
    _, table, wanted = odd
    with open(table + ".jsonl") as file:
        read = [json.loads(line) for line in file]
    assert read == [{name: values[entry] for name, values in wanted.items()} for entry in range(100)]


def test_check_names_it(odd, program):
    path, _, wanted = odd
    done = subprocess.run([program, "check", path], capture_output=True, text=True)
    assert done.returncode == 4
    [line] = [line for line in done.stdout.splitlines() if "has no values" in line]
    assert ("points.y" if "points" in wanted else "_M_elems") in line
    # One that is longer contradicts the sums of its record, too.
    assert any(f": {number} errors" in done.stdout.splitlines()[-1] for number in (["1", "2"] if "longer" in path else ["1"])), done.stdout


def test_what_is_longer_than_its_lists_has_no_values(samples, shared_mount):
    table = os.path.join(shared_mount(os.path.join(samples("contradictions"), "longer.root")).path, "t")
    with open(os.path.join(table, ".schema.json")) as file:
        [column] = [column for column in json.load(file)["columns"] if column["reason"]]
    assert column["path"] == "points/values/y.f4" and (column["length"], column["size"]) == (0, 0)
    assert "101 entries, and its lists have 100" in column["reason"]
    assert os.path.getsize(os.path.join(table, column["path"])) == 0
    assert os.path.getsize(os.path.join(table, "points/values/x.i4")) == 4 * sum(map(len, POINTS))
    with open(os.path.join(table, ".awkward.json")) as file:
        assert json.load(file)["form"]["fields"] == ["points", "good"]
    with open(os.path.join(table, "points.txt")) as file:
        assert file.readlines()[3] == "(3) (3) (3)\n"


@pytest.fixture
def alone(samples, mount, tmp_path):
    """A file and its mount; the branch `other` is stored in a file that does not exist."""
    path = tmp_path / "main.root"
    shutil.copy(os.path.join(samples("siblings"), "main.root"), path)
    return path, os.path.join(mount(path).path, "t")


def test_a_missing_file_takes_no_more_than_its_branch(alone, program):
    path, table = alone
    wanted = [[entry * 0.37 + i for i in range(entry % 5)] for entry in range(1000)]
    with open(os.path.join(table, ".schema.json")) as file:
        reasons = {column["path"]: column["reason"] for column in json.load(file)["columns"]}
    assert reasons["vector/offsets.i8"] is None and reasons["vector/values.f8"] is None
    assert "side.root" in reasons["other/offsets.i8"] and "side.root" in reasons["other/values.i4"]
    assert pa.ipc.open_file(pa.memory_map(table + ".arrow")).read_all().to_pydict() == {"vector": wanted}
    assert pa.parquet.read_table(table + ".parquet").to_pydict() == {"vector": wanted}
    with open(table + ".jsonl") as file:
        assert [json.loads(line) for line in file] == [{"vector": values} for values in wanted]
    with open(os.path.join(table, ".awkward.json")) as file:
        assert json.load(file)["form"]["fields"] == ["vector"]
    done = subprocess.run([program, "check", path], capture_output=True, text=True)
    assert done.returncode == 4 and "side.root" in done.stdout
    with pytest.raises(OSError):
        open(os.path.join(table, "other", "offsets.i8"), "rb").read()


def test_a_file_without_baskets_is_not_missed(samples, mount, tmp_path, program):
    path = tmp_path / "few.root"
    shutil.copy(os.path.join(samples("siblings"), "few.root"), path)
    m = mount(path)
    with open(os.path.join(m.path, "t.jsonl")) as file:
        assert [json.loads(line) for line in file] == [{"other": [entry * i for i in range(entry % 3)]} for entry in range(10)]
    assert m.errors() == ""
    done = subprocess.run([program, "check", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_what_was_not_written_says_so(samples, shared_mount):
    table = os.path.join(shared_mount(os.path.join(samples("contradictions"), "unwritten.root")).path, "t")
    with open(os.path.join(table, ".schema.json")) as file:
        columns = json.load(file)["columns"]
    [column] = [column for column in columns if "it was not written" in (column["reason"] or "")]
    assert column["path"].startswith("odd/values/") and (column["length"], column["size"]) == (0, 0)
    assert os.path.getsize(os.path.join(table, column["path"])) == 0, "every branch has a column"
    assert np.fromfile(os.path.join(table, "odd", "offsets.i8"))[-1:].view("<i8").tolist() == [sum(map(len, GOOD))]
    with pytest.raises(FileNotFoundError):
        open(os.path.join(table, "odd.txt"))
    with open(os.path.join(table, ".awkward.json")) as file:
        assert json.load(file)["form"]["fields"] == ["good"]
    with open(os.path.join(table, "good.txt")) as file:
        assert len(file.readlines()) == 100
