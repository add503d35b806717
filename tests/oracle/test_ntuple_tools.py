# SPDX-License-Identifier: Apache-2.0
"""RNTuples that were written here, in the hands of ROOT's own tools: the inspector, hadd, chains, and readers of columns
that came late."""

import os
import subprocess

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
    """ours.root, made in two commits (0 to 300); theirs.root, made by ROOT (300 to 400)."""
    base = tmp_path_factory.mktemp("tools")
    with mounted.Mounted(base, FORMAT) as m:
        table = os.path.join(m.path, "ours.root", "Events")
        append(table, columns(0, 200))
        append(table, columns(200, 100))
    run_script("oracle/ntuple_tools.py", ["write", str(base / "theirs.root"), "300", "400"])
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
