# SPDX-License-Identifier: Apache-2.0
"""Columns that are copied into a mount become a tree that ROOT and uproot read, value by value."""

import errno
import os
import shutil
import subprocess
import time

import numpy as np
import pytest
import uproot

import mounted
import root_process


@pytest.fixture
def columns():
    random = np.random.default_rng(20)
    counts = random.integers(0, 5, 5000)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype("<i8")
    words = [b"w" * int(n) for n in random.integers(0, 300, 5000)]
    return {
        "px.f4": random.normal(size=5000).astype("<f4"),
        "id.i8": np.arange(5000, dtype="<i8"),
        "flag.b1": random.integers(0, 2, 5000).astype("u1"),
        "pos.f8x3": random.normal(size=(5000, 3)),
        "nMuon.i4": counts.astype("<i4"),
        "Muon_pt/offsets.i8": offsets,
        "Muon_pt/values.f4": random.normal(size=int(offsets[-1])).astype("<f4"),
        "hits/offsets.i8": offsets,
        "hits/values.i2": random.integers(-99, 99, int(offsets[-1])).astype("<i2"),
        "name/offsets.i8": np.concatenate([[0], np.cumsum([len(w) for w in words])]).astype("<i8"),
        "name/chars.u1": np.frombuffer(b"".join(words), "u1"),
    }


def put(table, columns):
    for path, values in columns.items():
        os.makedirs(os.path.dirname(os.path.join(table, path)), exist_ok=True)
        with open(os.path.join(table, path), "wb") as file:
            file.write(values.tobytes())


def check_table(file, table, columns):
    """What uproot and ROOT read is what was put in."""
    split = lambda path: np.split(columns[path + "/values." + kind(columns, path)], columns[path + "/offsets.i8"][1:-1])
    with uproot.open(file) as f:
        tree = f[table]
        arrays = {name: tree[name].array(library="np") for name in tree.keys()}
    from_root = root_process.read_with_root(file, table)
    for path, values in columns.items():
        name = path.split("/")[0].split(".")[0]
        if path.endswith("/offsets.i8"):
            continue
        if path.endswith("/chars.u1"):
            offsets = columns[name + "/offsets.i8"]
            expected = [values[a:b].tobytes() for a, b in zip(offsets, offsets[1:])]
            assert [text.encode() for text in arrays[name]] == expected
            assert list(from_root[name]) == expected
        elif "/" in path:
            for got in (arrays[name], from_root[name]):
                assert len(got) == len(columns[name + "/offsets.i8"]) - 1
                for a, b in zip(got, split(name)):
                    assert np.array_equal(np.asarray(a), b), name
        else:
            for got in (arrays[name], from_root[name]):
                assert np.array_equal(np.asarray(list(got)).reshape(values.shape), values.astype(np.asarray(list(got)).dtype)), name


def kind(columns, path):
    return next(p.rsplit(".", 1)[1] for p in columns if p.startswith(path + "/values."))


def commit(directory):
    descriptor = os.open(directory, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def test_a_new_file(tmp_path, mount, columns):
    m = mount(tmp_path, "rw")
    table = os.path.join(m.path, "out.root", "Events")
    os.makedirs(table)
    put(table, columns)
    assert open(os.path.join(table, "px.f4"), "rb").read() == columns["px.f4"].tobytes()
    assert not os.path.exists(tmp_path / "out.root")
    commit(table)
    assert m.errors() == ""
    check_table(tmp_path / "out.root", "Events", columns)
    for path, values in columns.items():
        assert open(os.path.join(table, path), "rb").read() == values.tobytes(), path
    assert not os.path.exists(tmp_path / "out.root.tfilefs-journal")


def test_unmounting_commits(tmp_path, mount, columns):
    with_mount = mounted.Mounted(tmp_path, ("rw",))
    table = os.path.join(with_mount.path, "out.root", "Events")
    os.makedirs(table)
    put(table, columns)
    assert with_mount.close() == 0
    check_table(tmp_path / "out.root", "Events", columns)
