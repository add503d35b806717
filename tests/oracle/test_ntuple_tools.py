# SPDX-License-Identifier: Apache-2.0
"""RNTuples that were written here, in the hands of ROOT's own tools: the inspector, hadd, chains, readers of columns that
came late; and RNTuples of ROOT and uproot to which entries are appended here."""

import os
import subprocess
import sys

import awkward
import numpy as np
import pytest
import uproot

import mounted
from root_process import run_script

FORMAT = ("rw", "format=rntuple")


def columns(first, entries):
    """{path: array}: entries numbered from `first`, whose values follow from their numbers."""
    number = np.arange(first, first + entries)
    lengths = number % 4
    items = np.concatenate([np.arange(n) + i for i, n in zip(number, lengths)] or [[]])
    return {
        "run.i8": number.astype("<i8"), "x.f4": (number / 4).astype("<f4"),
        "v/offsets.i8": np.append(0, np.cumsum(lengths)).astype("<i8"), "v/values.f4": items.astype("<f4"),
        "name/offsets.i8": np.append(0, np.cumsum(lengths)).astype("<i8"), "name/chars.u1": items.astype("u1") % 26 + 97,
    }


def append(table, more):
    for path, array in more.items():
        path = os.path.join(table, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if path.endswith("offsets.i8") and os.path.exists(path):
            array = array[1:] + np.fromfile(path, "<i8")[-1]
        with open(path, "ab") as file:
            file.write(array.tobytes())
    mounted.fsync(table)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """ours.root, made in two commits (0 to 300); theirs.root and uproot.root, made by ROOT and uproot (300 to 400)."""
    base = tmp_path_factory.mktemp("tools")
    with mounted.Mounted(base, FORMAT) as m:
        table = os.path.join(m.path, "ours.root", "Events")
        append(table, columns(0, 200))
        append(table, columns(200, 100))
    run_script("oracle/ntuple_tools.py", ["write", str(base / "theirs.root"), "300", "400"])
    later = columns(300, 100)
    lists = awkward.unflatten(later["v/values.f4"], np.diff(later["v/offsets.i8"]))
    names = awkward.Array(["".join(map(chr, later["name/chars.u1"][a:b])) for a, b in zip(later["name/offsets.i8"], later["name/offsets.i8"][1:])])
    with uproot.recreate(base / "uproot.root") as file:
        made = file.mkrntuple("Events", awkward.Array({"run": later["run.i8"], "x": later["x.f4"], "v": lists, "name": names}).layout.form)
        made.extend(awkward.Array({"run": later["run.i8"], "x": later["x.f4"], "v": lists, "name": names}))
    return base


def assert_numbered(path, entries, first=0):
    """ROOT and uproot read entries from `first` on."""
    assert f"{entries} entries from {first}: right" in run_script("oracle/ntuple_tools.py", ["read", str(path), str(first)])
    with uproot.open(path) as file:
        array = file["Events"].arrays()
        assert array["run"].tolist() == list(range(first, first + entries))
        assert awkward.num(array["v"]).tolist() == [i % 4 for i in range(first, first + entries)]
        assert [len(text) for text in array["name"].tolist()] == [i % 4 for i in range(first, first + entries)]


def test_the_inspector_knows_every_column(files):
    said = run_script("oracle/ntuple_tools.py", ["inspect", str(files / "ours.root")])
    assert "fields 5 columns 6 entries 300 clusters 2" in said, said
    assert "SplitInt64 SplitReal32 SplitIndex64 SplitReal32 SplitIndex64 Char" in said, said


@pytest.mark.parametrize("order", [("ours.root", "theirs.root"), ("theirs.root", "ours.root")])
def test_hadd_joins_them_with_others(files, order, tmp_path):
    from oracle.test_storage import hadd
    hadd(str(tmp_path / "merged.root"), *(str(files / name) for name in order))
    with uproot.open(tmp_path / "merged.root") as file:
        run = file["Events"]["run"].array().to_numpy()
    assert sorted(run) == list(range(400)) and run[0] == (0 if order[0] == "ours.root" else 300)
    if run[0] == 0:
        assert_numbered(tmp_path / "merged.root", 400)


def test_a_chain_of_root_reads_them_with_others(files):
    said = run_script("oracle/ntuple_tools.py", ["chain", str(files / "ours.root"), str(files / "theirs.root")])
    assert "400 entries: right" in said, said


def test_entries_are_appended_to_those_of_others(files, tmp_path):
    for name in ("theirs.root", "uproot.root"):
        subprocess.run(["cp", files / name, tmp_path], check=True)
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        for name in ("theirs.root", "uproot.root"):
            append(os.path.join(m.path, name, "Events"), columns(400, 50))
    for name in ("theirs.root", "uproot.root"):
        assert_numbered(tmp_path / name, 150, 300)


def test_root_reads_columns_that_came_late(files, tmp_path):
    subprocess.run(["cp", files / "ours.root", files / "theirs.root", tmp_path], check=True)
    for name, first, entries in (("ours.root", 0, 300), ("theirs.root", 300, 100)):
        with mounted.Mounted(tmp_path, ("rw",)) as m:
            table = os.path.join(m.path, name, "Events")
            append(table, {"late.i8": np.arange(first, first + entries, dtype="<i8") * 3})
            more = columns(first + entries, 40)
            more["late.i8"] = more["run.i8"] * 3
            append(table, more)
        assert_numbered(tmp_path / name, entries + 40, first)
        assert "late: right" in run_script("oracle/ntuple_tools.py", ["late", str(tmp_path / name)])


def test_more_than_a_hundred_commits_are_no_more_than_a_hundred_page_lists(tmp_path):
    with mounted.Mounted(tmp_path, FORMAT) as m:
        for i in range(130):
            append(os.path.join(m.path, "many.root", "Events"), columns(10 * i, 10))
    assert_numbered(tmp_path / "many.root", 1300)
    [said] = [line for line in run_script("oracle/ntuple_tools.py", ["inspect", str(tmp_path / "many.root")]).splitlines() if "groups" in line]
    assert 1 < int(said.split()[-1]) <= 100 and "clusters 130 " in said, said
