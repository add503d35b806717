# SPDX-License-Identifier: Apache-2.0
""".tfilefs/reads.json: the reads of files as they are told, against what the file is known to have where."""

import json
import os
import shutil

import numpy as np
import pytest
import uproot

import faulty_server
import mounted
import mounted_table

COUNTS = (5000, 2000, 2000)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("read") / "a.root"
    with uproot.recreate(path, compression=None) as file:
        file.mktree("T", {"x": "f8", "y": "f4"})
        for count in COUNTS:
            file["T"].extend({"x": np.arange(count) * 0.1, "y": np.random.default_rng(count).normal(size=count).astype("f4")})
        file["h"] = np.histogram(np.arange(100), bins=10)
    return path


def told(place):
    with open(os.path.join(place, ".tfilefs", "reads.json"), encoding="utf-8") as file:
        return json.load(file)


def baskets(path, branch):
    """[(offset, bytes, first entry, the one behind the last)]"""
    with uproot.open(path) as file:
        found = file["T"][branch]
        entries = np.cumsum([0, *COUNTS])
        return [(found.member("fBasketSeek")[i], found.member("fBasketBytes")[i], entries[i], entries[i + 1]) for i in range(len(COUNTS))]


def test_a_column_that_is_read(mount, source):
    place = mount(source, "prefetch=off").path
    before = told(place)
    assert before["tfilefs"] == 1 and before["last"][-1]["offset"] == 0, "it was opened"
    mounted_table.read_array(os.path.join(place, "T", "x.f8"))
    after = told(place)
    new = [each for each in after["last"] if each["number"] > before["reads"]]
    assert [each["number"] for each in new] == list(range(after["reads"], before["reads"], -1))
    for offset, size, first, end in baskets(source, "x"):
        [read] = [each for each in new if each["offset"] <= offset and offset + size <= each["offset"] + each["bytes"]]
        assert read["entries"][0] <= first and end <= read["entries"][1] and read["from"] in ("disk", "kernel")
        assert before["uptime_seconds"] <= read["at"] <= after["uptime_seconds"] and 0 <= read["seconds"] < 10
    [file] = after["files"]
    assert (file["name"], file["size"]) == (str(source), source.stat().st_size)
    assert file["reads"] == after["reads"] == len(after["last"])
    assert file["bytes"] == sum(each["bytes"] for each in after["last"])
    assert after["cache"]["chunks_decoded"] == len(COUNTS) and after["cache"]["bytes_read"] >= sum(size for _, size, _, _ in baskets(source, "x"))
    mounted_table.read_array(os.path.join(place, "T", "x.f8"))
    assert told(place)["reads"] == after["reads"], "from the cache"


def test_an_object_has_no_entries(mount, source):
    place = mount(source).path
    before = told(place)["reads"]
    with open(os.path.join(place, "h", "object.bin"), "rb") as file:
        assert file.read()
    new = [each for each in told(place)["last"] if each["number"] > before]
    assert new and all(each["entries"] is None for each in new)


def test_the_newest_are_on_the_first_lines(mount, source):
    place = mount(source).path
    mounted_table.read_array(os.path.join(place, "T", "y.f4"))
    with open(os.path.join(place, ".tfilefs", "reads.json"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    begin = lines.index('"last": [') + 1
    each = [json.loads(line.rstrip(",").removesuffix("]}") if line.endswith("}]}") else line.rstrip(",")) for line in lines[begin:]]
    assert [one["number"] for one in each] == list(range(len(each), 0, -1)) and len(each) > 2


def test_files_of_a_directory_and_a_changed_one(mount, source, tmp_path):
    for name in ("a.root", "b.root"):
        shutil.copy(source, tmp_path / name)
    place = mount(tmp_path).path
    for name in ("b.root", "a.root"):
        mounted_table.read_array(os.path.join(place, name, "T", "x.f8"))
    first = told(place)
    assert [os.path.basename(each["name"]) for each in first["files"]] == ["a.root", "b.root"]
    assert {each["file"] for each in first["last"]} == {each["file"] for each in first["files"]}
    with uproot.recreate(tmp_path / "new.root") as file:
        file["T"] = {"x": np.arange(10.0)}
    os.rename(tmp_path / "new.root", tmp_path / "b.root")
    with open(os.path.join(place, "b.root", "T", "x.f8"), "rb") as file:
        assert len(file.read()) == 80
    again = {each["name"]: each for each in told(place)["files"]}
    assert again[first["files"][1]["name"]]["size"] == (tmp_path / "b.root").stat().st_size
    assert again[first["files"][1]["name"]]["reads"] > first["files"][1]["reads"]


def test_of_a_server_and_of_the_disk_before_it(tmp_path):
    """Of a file that is more than what is read when it is opened."""
    with uproot.recreate(tmp_path / "a.root", compression=None) as file:
        file["T"] = {"x": np.random.default_rng(1).normal(size=1_000_000)}
    with faulty_server.FaultyServer() as server:
        server.put("/a.root", (tmp_path / "a.root").read_bytes(), modified=1_700_000_000)
        came_from = []
        for _ in range(2):
            with mounted.Mounted(server.url("a.root"), ("recheck=600", f"diskcache={tmp_path}/cache")) as m:
                mounted_table.read_array(os.path.join(m.path, "T", "x.f8"))
                reads = told(m.path)
                came_from.append({each["from"] for each in reads["last"] if each["entries"]})
                assert reads["files"][0]["name"] == server.url("a.root")
        assert came_from == [{"server"}, {"disk cache"}]
