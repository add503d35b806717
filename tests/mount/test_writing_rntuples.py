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
import root_process
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
        os.makedirs(os.path.join(tree, "hits", "values", "name"))
        open(os.path.join(tree, "hits", "offsets.i8"), "wb").close()
        open(os.path.join(tree, "hits", "values", "name", "offsets.i8"), "wb").close()
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
    ("a.b.f4", "allows no '.'"), ("a b/x.f4", "allows no '.'"), ("list/raw.u1", "undecoded"),
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


def truncated(values, bits):
    mask = np.uint32(0xFFFFFFFF << (32 - bits) & 0xFFFFFFFF)
    return (values.view("<u4") & mask).view("<f4")


def quantized(values, bits, low, high):
    largest = 2**bits - 1
    steps = np.minimum(np.floor(0.5 + (values.astype("f8") - low) * (largest / (high - low))), largest)
    return (low + steps * ((high - low) / largest)).astype("<f4")


ENCODINGS = {"half": ("real16", lambda v: v.astype("<f2").astype("<f4")), "short": ("real32trunc:16", lambda v: truncated(v, 16)),
             "odd": ("real32trunc:11", lambda v: truncated(v, 11)), "near": ("real32quant:12:0:100", lambda v: quantized(v, 12, 0, 100)),
             "whole": ("", lambda v: v)}


def kill_when_synced(m, table):
    """Syncs all files below the table, and kills the mount: they are in its journal."""
    for above, _, files in os.walk(table):
        for name in files:
            mounted.fsync(os.path.join(above, name))
    m.process.send_signal(signal.SIGKILL)
    m.process.wait()
    m.close()


@pytest.mark.parametrize("codec", ["zstd", "none"])
def test_numbers_with_fewer_bits(tmp_path, samples, codec):
    """In columns and in lists; appended to in a further mount; after a kill between the attribute and the commit."""
    values = np.random.default_rng(1).uniform(0, 100, 3000).astype("<f4")
    (tmp_path / "out").mkdir()

    def write(table, part, first):
        for name, (encoding, _) in ENCODINGS.items():
            os.makedirs(os.path.join(table, f"list_{name}"), exist_ok=True)
            for path in (f"{name}.f4", f"list_{name}/values.f4"):
                with open(os.path.join(table, path), "ab") as file:
                    if first and encoding:
                        os.setxattr(file.fileno(), "user.tfilefs.encoding", encoding.encode())
                    file.write(part.tobytes())
            with open(os.path.join(table, f"list_{name}", "offsets.i8"), "ab") as file:
                ends = np.arange(0 if first else 1, len(part) + 1) + (0 if first else len(values) - len(part))
                file.write(ends.astype("<i8").tobytes())

    m = mounted.Mounted(tmp_path / "out", (*FORMAT, f"compression={codec}", "commit=600"))
    table = os.path.join(m.path, "a.root", "Events")
    os.makedirs(table)
    write(table, values[:2000], True)
    assert os.getxattr(os.path.join(table, "half.f4"), "user.tfilefs.encoding") == b"real16"
    kill_when_synced(m, table)
    with mounted.Mounted(tmp_path / "out", ("rw", f"compression={codec}")) as m:
        table = os.path.join(m.path, "a.root", "Events")
        mounted.fsync(table)
        write(table, values[2000:], False)
        mounted.fsync(table)
        for name, (_, shortened) in ENCODINGS.items():
            for path in (f"{name}.f4", f"list_{name}/values.f4"):
                assert np.array_equal(np.fromfile(os.path.join(table, path), "<f4"), shortened(values)), path
    with uproot.open(tmp_path / "out" / "a.root") as file:
        for name, (_, shortened) in ENCODINGS.items():
            assert np.array_equal(np.asarray(file["Events"][name].array()), shortened(values)), name
    read = str(tmp_path / "read")
    subprocess.run([os.path.join(samples("ntuple_columns"), "ntuple_columns"), "read", tmp_path / "out" / "a.root", "Events", read], check=True)
    for name, (_, shortened) in ENCODINGS.items():
        assert np.array_equal(np.fromfile(os.path.join(read, f"{name}.f4"), "<f4"), shortened(values)), name
        assert np.array_equal(np.fromfile(os.path.join(read, f"list_{name}", "values.f4"), "<f4"), shortened(values)), name


# ROOT crashes where Python destroys its views at the end.
READ_CLASSES = """
import os, sys, ROOT
ROOT.gInterpreter.Declare("struct Hit { float x; short id; };")
reader = ROOT.RNTupleReader.Open("Events", sys.argv[1])
hits, vertex = reader.GetView["std::vector<Hit>"]("hits"), reader.GetView["Hit"]("vertex")
assert [[(hit.x, hit.id) for hit in hits(i)] for i in range(2)] == [[(1, 7), (2, 8)], [(3, 9)]]
assert [(vertex(i).x, vertex(i).id) for i in range(2)] == [(5, 1), (6, 2)]
os._exit(0)
"""


def test_records_of_a_class(tmp_path):
    m = mounted.Mounted(tmp_path, (*FORMAT, "commit=600"))
    table = os.path.join(m.path, "a.root", "Events")
    for path in ("hits/values", "vertex"):
        os.makedirs(os.path.join(table, path))
        os.setxattr(os.path.join(table, path), "user.tfilefs.class", b"Hit")
        assert os.getxattr(os.path.join(table, path), "user.tfilefs.class") == b"Hit"
    np.array([0, 2, 3], "<i8").tofile(os.path.join(table, "hits", "offsets.i8"))
    for path, x, i in (("hits/values", [1, 2, 3], [7, 8, 9]), ("vertex", [5, 6], [1, 2])):
        np.array(x, "<f4").tofile(os.path.join(table, path, "x.f4"))
        np.array(i, "<i2").tofile(os.path.join(table, path, "id.i2"))
    kill_when_synced(m, table)
    result = subprocess.run([mounted.program(), "recover", tmp_path / "a.root"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    with uproot.open(tmp_path / "a.root") as file:
        assert file["Events"].arrays().tolist()[1] == {"hits": [{"x": 3, "id": 9}], "vertex": {"x": 6, "id": 2}}
    done = root_process.run_code(READ_CLASSES, tmp_path / "a.root")
    assert done.returncode == 0, done.stdout + done.stderr


def test_encodings_that_cannot_be(tmp_path):
    with mounted.Mounted(tmp_path, FORMAT) as m:
        table = os.path.join(m.path, "a.root", "Events")
        os.makedirs(table)
        np.array([1, 2, 101], "<f4").tofile(os.path.join(table, "x.f4"))
        for encoding in (b"real17", b"real32trunc:9", b"real32quant:12:5:5"):
            with pytest.raises(OSError) as refused:
                os.setxattr(os.path.join(table, "x.f4"), "user.tfilefs.encoding", encoding)
            assert refused.value.errno == errno.EINVAL
        os.setxattr(os.path.join(table, "x.f4"), "user.tfilefs.encoding", b"real32quant:12:0:100")
        with pytest.raises(OSError):
            mounted.fsync(table)
        assert "x, entry 2: 101 is outside of the range of its encoding, 0 to 100" in m.errors()
        os.removexattr(os.path.join(table, "x.f4"), "user.tfilefs.encoding")
        mounted.fsync(table)
        assert np.fromfile(os.path.join(table, "x.f4"), "<f4").tolist() == [1, 2, 101]


def test_the_entry_with_a_value_outside_of_its_encoding_is_named(tmp_path):
    values = np.ones(100_000, "<f4")
    values[77_777] = 1.0000002
    for table, path, offsets in (("T", "x.f4", None), ("L", "v/values.f4", np.arange(0, 100_001, 1000))):
        with mounted.Mounted(tmp_path, FORMAT) as m:
            file = os.path.join(m.path, f"{table}.root", table, path)
            os.makedirs(os.path.dirname(file))
            if offsets is not None:
                offsets.astype("<i8").tofile(os.path.join(os.path.dirname(file), "offsets.i8"))
            values.tofile(file)
            os.setxattr(file, "user.tfilefs.encoding", b"real32quant:8:0:1.0000001")
            with pytest.raises(OSError):
                mounted.fsync(os.path.join(m.path, f"{table}.root", table))
            entry = 77_777 if offsets is None else 77
            assert f"entry {entry}: 1.0000002 is outside of the range of its encoding, 0 to 1.0000001" in m.errors()
            os.removexattr(file, "user.tfilefs.encoding")
            mounted.fsync(os.path.join(m.path, f"{table}.root", table))


def test_it_is_found_again_after_a_kill(tmp_path):
    """What fsync promised comes into an RNTuple, also where a mount that makes trees brings it in."""
    directory = columns_at(tmp_path / "columns")
    (tmp_path / "out").mkdir()
    m = mounted.Mounted(tmp_path / "out", (*FORMAT, "commit=86400"))
    table = os.path.join(m.path, "out.root", "Events")
    os.makedirs(table)
    copy_into(table, directory)
    kill_when_synced(m, table)
    result = subprocess.run([mounted.program(), "recover", tmp_path / "out" / "out.root"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    with mounted.Mounted(tmp_path / "out") as after:
        table = os.path.join(after.path, "out.root", "Events")
        assert kind(table) == "rntuple"
        assert_same_files(directory, table)
