# SPDX-License-Identifier: Apache-2.0
"""Names that people try, which are found and not listed."""

import errno
import io
import json
import os

import awkward
import numpy as np
import pandas
import pyarrow.feather
import pyarrow.parquet
import pytest
import uproot

import mounted_table


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("guessed") / "run.root"
    with uproot.recreate(path) as file:
        file.mktree("Events", {"x": "f8", "n": "i4", "list": "var * float32", "text": "string"})
        file["Events"].extend({"x": np.arange(1000) / 8, "n": np.arange(1000), "text": [f"a{i}" for i in range(1000)],
                               "list": awkward.unflatten(np.arange(1500, dtype="f4"), np.arange(1000) % 4)})
        file.mktree("none", {"x": "f8"})
        file["h"] = np.histogram(np.arange(100.0), bins=10)
        file["d/h2"] = np.histogram2d(np.arange(100.0), np.arange(100.0), bins=5)
    return str(path)


@pytest.fixture(scope="module")
def top(source, shared_mount):
    return shared_mount(source).path


def read(*path):
    return mounted_table.read_exactly(os.path.join(*path))


def test_they_are_found_and_not_listed(top, source, mount):
    listed = {"Events", "none", "h", "d"}
    assert set(os.listdir(top)) == listed
    views = set(os.listdir(mount(source, "views=listed").path))
    assert not views & {"README", "Events.json", "Events.feather", "h.svg", "h.csv", "h.json"}
    assert "README" not in os.listdir(top) and b"What is there but not listed" in read(top, "README")
    assert read(top, "README") == read(top, ".tfilefs", "README")


def test_a_mount_that_is_written_leaves_its_readme_to_others(source, mount, tmp_path):
    (tmp_path / "files").mkdir()
    m = mount(tmp_path / "files", "rw")
    with open(os.path.join(m.path, "README"), "w", encoding="utf-8") as file:
        file.write("mine")
    assert (tmp_path / "files" / "README").read_text() == "mine"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "README").write_text("theirs")
    assert read(mount(tmp_path / "other").path, "README") == b"theirs"


def test_a_table_as_a_json_array(top):
    rows = json.loads(read(top, "Events.json"))
    assert rows == [json.loads(line) for line in read(top, "Events.jsonl").splitlines()]
    assert json.loads(read(top, "none.json")) == []
    frame = pandas.read_json(os.path.join(top, "Events.json"))
    assert frame["n"].tolist() == list(range(1000))
    whole = read(top, "Events.json")
    with open(os.path.join(top, "Events.json"), "rb") as file:
        for begin in (0, 1, 17, len(whole) - 3, len(whole)):
            file.seek(begin)
            assert file.read(100) == whole[begin : begin + 100]


def test_feather_is_arrow(top):
    assert read(top, "Events.feather") == read(top, "Events.arrow")
    assert pyarrow.feather.read_table(os.path.join(top, "Events.feather"))["n"].to_pylist() == list(range(1000))


def test_one_column(top):
    table = pyarrow.parquet.read_table(os.path.join(top, "Events", "list.parquet"))
    assert table.column_names == ["list"] and table.num_rows == 1000
    assert table["list"].to_pylist() == pyarrow.parquet.read_table(os.path.join(top, "Events.parquet"))["list"].to_pylist()
    for name in ("x.parquet", "x.f8.parquet"):
        assert pyarrow.parquet.read_table(os.path.join(top, "Events", name))["x"].to_pylist() == (np.arange(1000) / 8).tolist()
    frame = pandas.read_csv(io.BytesIO(read(top, "Events", "text.csv")))
    assert frame.columns.tolist() == ["text"] and frame["text"].tolist() == [f"a{i}" for i in range(1000)]
    assert pandas.read_csv(os.path.join(top, "Events", "n.csv"))["n"].sum() == 999 * 500
    cells = pandas.read_csv(os.path.join(top, "Events", "list.csv"))
    assert cells.columns.tolist() == ["list"] and [json.loads(cell) for cell in cells["list"]] == table["list"].to_pylist()
    assert "list.csv" not in os.listdir(os.path.join(top, "Events"))


def test_schema_without_a_dot(top):
    assert read(top, "Events", "schema.json") == read(top, "Events", ".schema.json")


def test_files_of_an_object_beside_it(top):
    for path in ("h", "d/h2"):
        for suffix, file in ((".svg", "plot.svg"), (".csv", "table.csv"), (".json", "object.json")):
            assert read(top, path + suffix) == read(top, path, file), path
    for name in ("h.parquet", "nothing.svg", "d.svg", "d.json"):
        with pytest.raises(OSError) as failed:
            read(top, name)
        assert failed.value.errno == errno.ENOENT, name


def test_a_chain_has_them_too(source, mount):
    m = mount(source, "chain")
    assert len(json.loads(read(m.path, "Events.json"))) == 1000
    assert read(m.path, "Events.feather") == read(m.path, "Events.arrow")
    assert pyarrow.parquet.read_table(os.path.join(m.path, "Events", "x.parquet")).num_rows == 1000
    assert b"tfilefs" in read(m.path, "README")
