# SPDX-License-Identifier: Apache-2.0
"""What tfilefs.open gives, in other processes: it is pickled as what was opened, and opened there again."""

import copy
import multiprocessing
import os
import pickle
import shutil

import numpy as np
import pytest

THERE = ("Events", "tracker", "tracker/layer0", "tracker/layer0/hits", "Events/energy", "Events/Muon_pt")


def read(item):
    return item._place._server._daemon.directory, item.table.name, item.numpy(10, 20)


@pytest.fixture
def opened(tfilefs, sample):
    with tfilefs.open(sample) as f:
        yield f


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_what_is_opened_is_opened_again(tfilefs, opened, protocol):
    again = pickle.loads(pickle.dumps(opened, protocol))
    assert list(again) == list(opened) and again.source == opened.source and again is not opened
    for name in THERE:
        item = pickle.loads(pickle.dumps(opened[name], protocol))
        assert type(item) is type(opened[name]) and item.name == opened[name].name and repr(item) == repr(opened[name])
    opened.close()
    assert np.array_equal(again["tracker/layer0/hits"].values(), item.table._owner["tracker/layer0/hits"].values())
    again.close()
    with pytest.raises(tfilefs.MountError, match="not open any more"):
        pickle.dumps(again)


def test_other_processes_read_by_the_same_daemon(opened):
    column = opened["Events"]["energy"]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        directory, table, found = pool.apply(read, (column,))
    assert directory == opened._server._daemon.directory and table == "Events" and np.array_equal(found, column.numpy(10, 20))


def test_names_mean_the_same_in_another_directory(tfilefs, sample, tmp_path, monkeypatch):
    shutil.copy(sample, tmp_path / "x.root")
    monkeypatch.chdir(tmp_path)
    with tfilefs.open("x.root", "memory=256M", share=False) as f:
        pickled = pickle.dumps(f["Events"])
    monkeypatch.chdir("/")
    table = pickle.loads(pickled)
    assert len(table) == 100_000 and table._owner._wanted.options == ("memory=256M",) and not table._owner._wanted.is_shared
    os.remove(tmp_path / "x.root")
    with pytest.raises(FileNotFoundError):
        pickle.loads(pickled)


def test_copies(opened):
    table = opened["Events"]
    assert copy.copy(table) is table
    deep = copy.deepcopy({"f": opened, "t": table})
    assert deep["t"]._owner is deep["f"] is not opened and len(deep["t"]) == len(table)


def test_a_mount_is_not_pickled_and_why_is_said(tfilefs, sample):
    with tfilefs.mount(sample) as f:
        for item in (f, f["Events"], f["Events"]["energy"], f["tracker/layer0/hits"]):
            with pytest.raises(TypeError, match="tfilefs.open"):
                pickle.dumps(item)
        assert copy.copy(f["Events"]).num_entries == 100_000
