# SPDX-License-Identifier: Apache-2.0
"""rsync and tar into a mount with rw: what they have copied once is not copied again, and keeps its dates."""

import os
import subprocess
import time

import numpy as np
import pytest
import uproot

import mounted


def ls(path):
    return {name: int(os.stat(os.path.join(path, name)).st_mtime) for name in sorted(os.listdir(path))}


@pytest.fixture
def source(tmp_path):
    """Two tables of a file; their columns have the dates of their keys."""
    (tmp_path / "source").mkdir()
    with uproot.recreate(tmp_path / "source" / "a.root") as file:
        file.mktree("Events", {"px": "f4", "pos": ("f8", (3,))}, title="what was seen")
        file["Events"].extend({"px": np.arange(9000, dtype="f4"), "pos": np.ones((9000, 3))})
        file.mktree("sub/Runs", {"run": "i4", "v": "var * float32"})
        file["sub/Runs"].extend({"run": np.arange(3, dtype="i4"), "v": [[1.0], [], [2.0, 3.0]]})
    with mounted.Mounted(tmp_path / "source") as m:
        yield os.path.join(m.path, "a.root")


def rsync(source, mount_point):
    copy = ["rsync", "-aX", "--itemize-changes", source, mount_point]
    done = subprocess.run(copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if line.startswith(">f") or line.startswith("cd")]


@pytest.mark.parametrize("option", ("commit=5", "commit=1", "commit=0"))
def test_a_second_rsync_copies_nothing(tmp_path, source, option):
    (tmp_path / "copy").mkdir()
    with mounted.Mounted(tmp_path / "copy", ("rw", option)) as m:
        assert len(rsync(source, m.path)) > 6
        assert rsync(source, m.path) == []
        subprocess.run([mounted.program(), "commit", m.path], check=True)
        assert rsync(source, m.path) == []
        subprocess.run(["diff", "-r", source, os.path.join(m.path, "a.root")], check=True)
        assert m.errors() == ""
    assert os.stat(tmp_path / "copy" / "a.root").st_mode & 0o777 == 0o644
    with mounted.Mounted(tmp_path / "copy", ("rw", option)) as m:
        assert rsync(source, m.path) == []
        subprocess.run(["diff", "-r", source, os.path.join(m.path, "a.root")], check=True)
        assert m.errors() == ""
    with uproot.open(tmp_path / "copy" / "a.root") as file:
        assert file["Events"].num_entries == 9000 and file["Events"].title == "what was seen"


@pytest.mark.parametrize("how", ("cp -r", "cp -a", "tar"))
def test_a_copy_can_be_written_and_is_dated(tmp_path, source, how):
    (tmp_path / "copy").mkdir()
    with mounted.Mounted(tmp_path / "copy", ("rw",)) as m:
        if how == "tar":
            subprocess.run(f"tar -C '{source}/..' -c a.root | tar -C '{m.path}' -x", shell=True, check=True)
        else:
            subprocess.run([*how.split(), source, m.path], check=True)
    assert os.stat(tmp_path / "copy" / "a.root").st_mode & 0o600 == 0o600
    with mounted.Mounted(tmp_path / "copy") as m:
        subprocess.run(["diff", "-r", source, os.path.join(m.path, "a.root")], check=True)
        if how != "cp -r":
            assert ls(os.path.join(m.path, "a.root", "Events")) == ls(os.path.join(source, "Events"))
            assert ls(os.path.join(m.path, "a.root", "sub")) == ls(os.path.join(source, "sub"))
            assert ls(os.path.join(m.path, "a.root")) == ls(source)


def test_a_date_that_is_set_becomes_the_key_s(tmp_path):
    day = 86400
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        root = os.path.join(m.path, "out.root")
        for name in ("columns", "directory", "some", "ancient"):
            os.makedirs(os.path.join(root, name))
            for column, when in (("x.f4", 11000 * day + 7), ("y.f4", 11001 * day)):
                with open(os.path.join(root, name, column), "wb") as file:
                    file.write(b"1234")
                if name != "some" or column == "x.f4":
                    os.utime(os.path.join(root, name, column), (0, 5 * day if name == "ancient" else when))
        os.utime(os.path.join(root, "directory"), (0, 12000 * day + 1))
        assert int(os.stat(os.path.join(root, "directory")).st_mtime) == 12000 * day + 1
        before = os.stat(tmp_path).st_mtime
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        shown = ls(os.path.join(m.path, "out.root"))
        assert shown["columns"] == 11001 * day, "the newest of those that were set"
        assert shown["directory"] == 12000 * day + 1
        assert shown["some"] >= int(before) - 5 and shown["some"] < before + 3600
        assert shown["ancient"] == 9131 * day, "1995 is the first that a key can tell"
        assert ls(os.path.join(m.path, "out.root", "columns")) == {"x.f4": 11001 * day, "y.f4": 11001 * day}
        os.rename(os.path.join(m.path, "out.root", "columns"), os.path.join(m.path, "out.root", "moved"))
    with mounted.Mounted(tmp_path) as m:
        assert ls(os.path.join(m.path, "out.root"))["moved"] == 11001 * day


def test_what_is_staged_has_the_dates_of_its_making_and_those_that_are_set(tmp_path):
    day = 86400
    before = int(time.time()) - 2
    with mounted.Mounted(tmp_path, ("rw", "commit=3600")) as m:
        table = os.path.join(m.path, "out.root", "Events")
        os.makedirs(os.path.join(table, "list"))
        columns = [os.path.join(table, name) for name in ("x.f4", "list/values.f4", "list/offsets.i8")]
        for column, content in zip(columns, (b"1234", b"5678", (0).to_bytes(8, "little") + (1).to_bytes(8, "little"))):
            with open(column, "wb") as file:
                file.write(content)
        for path in (table, os.path.join(table, "list"), *columns):
            assert before <= os.stat(path).st_mtime <= time.time() + 2, path
        for number, path in enumerate(columns + [os.path.join(table, "list"), table]):
            os.utime(path, (0, (11000 + number) * day))
        for number, path in enumerate(columns + [os.path.join(table, "list"), table]):
            assert os.stat(path).st_mtime == (11000 + number) * day, path
        with open(columns[0], "r+b") as file:
            file.write(b"4321")
        assert before <= os.stat(columns[0]).st_mtime <= time.time() + 2, "written after it was set"


@pytest.mark.parametrize("end", ("unmounted", "killed"))
def test_dates_that_are_set_outlive_the_mount(tmp_path, end):
    """In the journal, as the bytes; but not of what was written after they were set."""
    day = 86400
    dates = {"x.f4": 11000 * day + 5, "y.f4": 11001 * day, "pair": 11002 * day, "": 11003 * day, "pair/a.f4": -12 * day}

    def shown(m, name):
        return int(os.stat(os.path.join(m.path, "out.root", "Events", name)).st_mtime)

    m = mounted.Mounted(tmp_path, ("rw", "commit=3600"))
    table = os.path.join(m.path, "out.root", "Events")
    os.makedirs(os.path.join(table, "pair"))
    os.makedirs(os.path.join(table, "renamed"))
    for name, size in (("x.f4", 40), ("y.f4", 80), ("later.f4", 40), ("pair/a.f4", 80), ("pair/b.f4", 80), ("renamed/a.f4", 80),
                       ("renamed/b.f4", 80)):
        with open(os.path.join(table, name), "wb") as file:
            file.write(bytes(size))
    for name, date in (*dates.items(), ("later.f4", day), ("renamed", day)):
        os.utime(os.path.join(table, name), (0, date))
    os.rename(os.path.join(table, "renamed/b.f4"), os.path.join(table, "renamed/c.f4"))
    with open(os.path.join(table, "later.f4"), "ab") as file:
        file.write(bytes(40))
    for name in ("x.f4", "y.f4", "later.f4", "pair/a.f4", "pair/b.f4", "renamed/a.f4", "renamed/c.f4"):
        mounted.fsync(os.path.join(table, name))
    assert {name: shown(m, name) for name in dates} == dates
    if end == "killed":
        m.process.kill()
        m.process.wait()
    m.close()
    with mounted.Mounted(tmp_path, ("rw", "commit=3600")) as m:
        assert {name: shown(m, name) for name in dates} == dates
        assert shown(m, "later.f4") > 12000 * day and shown(m, "renamed") > 12000 * day
        with open(os.path.join(m.path, "out.root", "Events", "x.f4"), "ab") as file:
            file.write(bytes(40))
        for name in ("x.f4", "later.f4", "pair/b.f4", "renamed/a.f4", "renamed/c.f4"):
            os.utime(os.path.join(m.path, "out.root", "Events", name), (0, 10000 * day))
    with mounted.Mounted(tmp_path) as m:
        assert shown(m, "x.f4") == dates[""], "of a new table"


def test_what_is_committed_has_the_dates_of_its_keys(tmp_path, source):
    """The same dates as in a mount without rw; the file has its own date."""
    with mounted.Mounted(os.path.join(tmp_path, "source"), ("rw",)) as m:
        same = os.path.join(m.path, "a.root")
        for below in ("", "Events", "sub", "sub/Runs", "sub/Runs/v"):
            assert ls(os.path.join(same, below)) == ls(os.path.join(source, below))
            assert os.stat(os.path.join(same, below)).st_mtime == os.stat(os.path.join(source, below)).st_mtime
            assert os.stat(os.path.join(same, below)).st_mode & 0o777 == 0o755
