# SPDX-License-Identifier: Apache-2.0
"""Columns copied into a mount become an RNTuple where that is asked for, with the promises that hold for trees."""

import errno
import json
import os
import shutil
import signal
import subprocess

import numpy as np
import pyarrow
import pyarrow.feather
import pytest
import uproot

import mounted
import random_columns
from oracle.test_writing import assert_same_files

FORMAT = ("rw", "format=rntuple")


def kind(table):
    with open(os.path.join(table, ".schema.json")) as schema:
        return json.load(schema)["kind"]


def columns_at(directory, entries=200, seed=1):
    random_columns.every_field(random_columns.Columns(str(directory), entries, seed))
    return str(directory)


def copy_into(table, directory):
    shutil.copytree(directory, table, dirs_exist_ok=True)


def append_through(table, more):
    """Appends the files of `more` to the columns of the table, offsets behind the last."""
    for above, _, files in os.walk(more):
        for name in files:
            path = os.path.join(above, name)
            content = np.fromfile(path, "u1")
            into = os.path.join(table, os.path.relpath(path, more))
            if name == "offsets.i8":
                content = np.fromfile(path, "<i8")[1:] + np.fromfile(into, "<i8")[-1]
            with open(into, "ab") as file:
                file.write(content.tobytes())


def test_a_table_is_made_and_grows(tmp_path):
    """Made, appended to, given a new column, renamed, and robbed of some, in one mount and in further ones."""
    directory, more = columns_at(tmp_path / "columns"), columns_at(tmp_path / "more", 70, 2)
    (tmp_path / "out").mkdir()
    for mounts in (1, 2):  # all in one mount, and each step in its own
        file = tmp_path / "out" / f"{mounts}.root"
        expected = str(tmp_path / f"expected{mounts}")
        shutil.copytree(directory, expected)
        m = mounted.Mounted(tmp_path / "out", FORMAT)
        steps = (
            lambda table: copy_into(table, directory),
            lambda table: append_through(table, more),
            lambda table: np.arange(270, dtype="<i8").tofile(os.path.join(table, "late.i8")),
            lambda table: (shutil.rmtree(os.path.join(table, "hits")), os.remove(os.path.join(table, "n_f4.f4"))),
            lambda table: np.ones(270, "<f8").tofile(os.path.join(table, "n_f4.f8")),
        )
        for number, step in enumerate(steps):
            table = os.path.join(m.path, file.name, "Events")
            os.makedirs(table, exist_ok=True)
            step(table)
            mounted.fsync(table)
            if mounts == 2:
                assert m.close() == 0
                m = mounted.Mounted(tmp_path / "out", ("rw",))  # what exists keeps its form
            if number == 1:
                random_columns.append(expected, more)
            if number == 2:
                np.arange(270, dtype="<i8").tofile(os.path.join(expected, "late.i8"))
        os.remove(os.path.join(expected, "n_f4.f4"))
        shutil.rmtree(os.path.join(expected, "hits"))
        np.ones(270, "<f8").tofile(os.path.join(expected, "n_f4.f8"))
        os.rename(os.path.join(m.path, file.name, "Events"), os.path.join(m.path, file.name, "Other"))
        mounted.fsync(m.path)
        assert kind(os.path.join(m.path, file.name, "Other")) == "rntuple"
        assert_same_files(expected, os.path.join(m.path, file.name, "Other"))
        assert m.errors() == ""
        assert m.close() == 0
        with uproot.open(file) as opened:
            assert opened["Other"]["late"].array().tolist() == list(range(270))


def test_a_marker_asks_for_it(tmp_path, mount):
    m = mount(tmp_path, "rw")
    for name, marker in (("plain", None), ("marked", ".rntuple")):
        table = os.path.join(m.path, "out.root", name)
        os.makedirs(table)
        if marker:
            open(os.path.join(table, marker), "wb").close()
        np.arange(3, dtype="<f4").tofile(os.path.join(table, "x.f4"))
    mounted.fsync(os.path.join(m.path, "out.root"))
    assert [kind(os.path.join(m.path, "out.root", name)) for name in ("plain", "marked")] == ["ttree", "rntuple"]
    assert os.listdir(os.path.join(m.path, "out.root", "marked")) == ["x.f4"]


def test_what_exists_keeps_its_form(tmp_path, mount):
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        os.makedirs(os.path.join(m.path, "out.root", "tree"))
        np.arange(3, dtype="<f4").tofile(os.path.join(m.path, "out.root", "tree", "x.f4"))
    m = mount(tmp_path, *FORMAT)
    tree = os.path.join(m.path, "out.root", "tree")
    np.arange(3, dtype="<f4").tofile(os.path.join(tree, "y.f4"))
    with pytest.raises(OSError) as error:
        os.makedirs(os.path.join(tree, "hits", "values"))
        open(os.path.join(tree, "hits", "offsets.i8"), "wb").close()
        open(os.path.join(tree, "hits", "values", "x.f4"), "wb").close()
    assert error.value.errno == errno.EOPNOTSUPP
    shutil.rmtree(os.path.join(tree, "hits"))
    mounted.fsync(tree)
    assert kind(tree) == "ttree" and sorted(os.listdir(tree)) == ["x.f4", "y.f4"]


def test_an_arrow_file(tmp_path, mount):
    m = mount(tmp_path, *FORMAT)
    os.mkdir(os.path.join(m.path, "out.root"))
    table = pyarrow.table({"run": [1, 2], "pt": [[1.5], [2.5, 3.5]], "name": ["a", "bc"]})
    pyarrow.feather.write_feather(table, os.path.join(m.path, "out.root", "Events.arrow"))
    mounted.fsync(os.path.join(m.path, "out.root"))
    assert kind(os.path.join(m.path, "out.root", "Events")) == "rntuple"
    with uproot.open(tmp_path / "out.root") as opened:
        assert opened["Events"].arrays().tolist() == table.to_pylist()


@pytest.mark.parametrize("column, why", (
    ("a.b.f4", "takes no '.'"), ("a b/x.f4", "takes no '.'"), ("list/raw.u1", "not decoded"),
))
def test_what_is_refused(tmp_path, mount, column, why):
    m = mount(tmp_path, *FORMAT)
    table = os.path.join(m.path, "out.root", "Events")
    os.makedirs(table)
    np.arange(3, dtype="<f4").tofile(os.path.join(table, "x.f4"))
    with pytest.raises(OSError) as error:
        os.makedirs(os.path.dirname(os.path.join(table, column)), exist_ok=True)
        if "raw" in column:
            open(os.path.join(table, "list", "offsets.i8"), "wb").close()
        open(os.path.join(table, column), "wb").close()
    assert error.value.errno == errno.EOPNOTSUPP and why in m.errors()


def test_it_is_found_again_after_a_kill(tmp_path):
    """What fsync promised comes into an RNTuple, also where a mount that makes trees brings it in."""
    directory = columns_at(tmp_path / "columns")
    (tmp_path / "out").mkdir()
    m = mounted.Mounted(tmp_path / "out", (*FORMAT, "commit=86400"))
    table = os.path.join(m.path, "out.root", "Events")
    os.makedirs(table)
    copy_into(table, directory)
    for above, _, files in os.walk(table):
        for name in files:
            mounted.fsync(os.path.join(above, name))
    m.process.send_signal(signal.SIGKILL)
    m.process.wait()
    m.close()
    result = subprocess.run([mounted.program(), "recover", tmp_path / "out" / "out.root"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    with mounted.Mounted(tmp_path / "out") as after:
        table = os.path.join(after.path, "out.root", "Events")
        assert kind(table) == "rntuple"
        assert_same_files(directory, table)
