# SPDX-License-Identifier: Apache-2.0
"""Names of a mirror that are taken away: no call that is meant for another kind of thing, or for what is empty, takes a
ROOT file with what is committed to it and staged in it."""

import ctypes
import errno
import itertools
import os
import shutil
import threading
import time

import numpy as np
import pytest
import uproot

import mounted
from test_append_order import i8
from test_names_change import refused

NOREPLACE, EXCHANGE, WHITEOUT = 1, 2, 4
LIBC = ctypes.CDLL(None, use_errno=True)


def rename2(source, to, flags):
    if LIBC.renameat2(-100, os.fsencode(source), -100, os.fsencode(to), flags) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), source)


class Mirror:
    def __init__(self, source, options=("commit=86400",)):
        self.source, self.options = source, ("rw", *options)
        self.mount = mounted.Mounted(source, self.options)

    def at(self, name):
        return os.path.join(self.mount.path, name)

    def append(self, path, *values):
        os.makedirs(os.path.dirname(self.at(path)), exist_ok=True)
        with open(self.at(path), "ab", buffering=0) as file:
            file.write(i8(*values).tobytes())
            os.fsync(file.fileno())

    def commit(self, name):
        mounted.fsync(self.at(name))

    def read(self, path):
        return np.fromfile(self.at(path), "<i8").tolist()

    def make(self, name, kind):
        """What has a name; the length of the name is in it."""
        if kind == "plain":
            with open(self.at(name), "w") as file:
                file.write(name)
        elif kind == "directory":
            os.mkdir(os.path.join(self.source, name))  # in the mount, its name would make it a ROOT file
        elif kind == "full directory":
            os.makedirs(os.path.join(self.source, name, "below"))
        else:
            os.mkdir(self.at(name))
            if kind != "staged empty":
                self.append(name + "/Events/x.i8", len(name))
                if kind != "staged":
                    self.commit(name)
                if kind == "emptied":
                    shutil.rmtree(self.at(name + "/Events"))
                if kind == "emptied file":
                    shutil.rmtree(self.at(name + "/Events"))
                    self.commit(name)
                if kind == "both":
                    self.append(name + "/Events/x.i8", 7)
                if kind == "incomplete":
                    self.append(name + "/Events/y.i8", 7, 8, 9)

    def values(self, name):
        with uproot.open(os.path.join(self.source, name)) as file:
            return {branch.name: branch.array(library="np").tolist() for branch in file["Events"].branches}


@pytest.fixture
def mirror(tmp_path):
    made = []

    def make(*options):
        made.append(Mirror(tmp_path, *([options] if options else [])))
        return made[-1]

    yield make
    for one in made:
        one.mount.close()


EMPTY = ("directory", "staged empty", "emptied", "emptied file")
FULL = ("full directory", "staged", "committed", "both", "incomplete")


def content(m, name):
    """All that is below a name, with the bytes of files."""
    top = m.at(name)
    if os.path.isfile(top):
        return open(top, "rb").read()
    return {os.path.relpath(os.path.join(where, one), top): open(os.path.join(where, one), "rb").read()
            for where, _, files in os.walk(top) for one in files} | {where[len(top):]: None for where, _, _ in os.walk(top)}


@pytest.mark.parametrize("target", ("plain", *EMPTY, *FULL))
@pytest.mark.parametrize("moved", ("plain", "directory", "full directory", "staged empty", "staged", "committed", "both"))
def test_rename_replaces_what_rename_2_says(mirror, moved, target):
    m = mirror()
    m.make("moved.root", moved)
    m.make("target.root", target)
    before = [content(m, name) for name in ("moved.root", "target.root")]
    expected = None
    if moved == "plain":
        expected = None if target == "plain" else errno.EISDIR
    elif target == "plain":
        expected = errno.ENOTDIR
    elif target in FULL:
        expected = errno.ENOTEMPTY
    elif moved == "staged empty":
        expected = errno.EBUSY  # there is nothing to be committed to it yet
    if expected:
        assert refused(os.rename, m.at("moved.root"), m.at("target.root")) == expected
        assert [content(m, name) for name in ("moved.root", "target.root")] == before
        if target in ("committed", "both"):
            m.commit("target.root")
            assert m.values("target.root") == {"x": [11, *([7] if target == "both" else [])]}
    else:
        os.rename(m.at("moved.root"), m.at("target.root"))
        assert os.listdir(m.mount.path) == os.listdir(m.source) == ["target.root"]
        assert content(m, "target.root") == before[0]
        if moved in ("staged", "committed", "both"):
            assert m.values("target.root") == {"x": [10, *([7] if moved == "both" else [])]}
            m.append("target.root/Events/x.i8", 3)
            m.commit("target.root")
            assert m.values("target.root")["x"][-1] == 3
    assert m.mount.close() == 0


@pytest.mark.parametrize("kinds", [*itertools.permutations(("both", "staged", "directory"), 2), ("both", "both"), ("both", "plain"), ("plain", "both")], ids="-".join)
def test_an_exchange_keeps_both(mirror, kinds):
    m = mirror()
    for name, kind in zip(("one.root", "other.root"), kinds):
        m.make(name, kind)
    before = [content(m, name) for name in ("one.root", "other.root")]
    rename2(m.at("one.root"), m.at("other.root"), EXCHANGE)
    assert [content(m, name) for name in ("other.root", "one.root")] == before
    for name, kind, length in (("other.root", kinds[0], 8), ("one.root", kinds[1], 10)):
        if kind in ("both", "staged"):
            assert m.values(name) == {"x": [length, *([7] if kind == "both" else [])]}
            m.append(name + "/Events/x.i8", 3)
            m.commit(name)
            assert m.values(name)["x"][-1] == 3
    assert m.mount.close() == 0


@pytest.mark.parametrize("above", (False, True))
@pytest.mark.parametrize("incomplete", ("one", "other"))
def test_what_cannot_be_committed_is_not_exchanged(mirror, incomplete, above):
    """And is there afterwards, also what is below a directory."""
    m = mirror()
    names, files = ("one.root", "other.root"), ("one.root", "other.root")
    if above:
        names, files = ("one", "other"), ("one/file.root", "other/file.root")
        for name in names:
            os.mkdir(m.at(name))
    for file in files:
        m.make(file, "incomplete" if file.startswith(incomplete) else "both")
    before = [content(m, name) for name in names]
    assert refused(rename2, m.at(names[0]), m.at(names[1]), EXCHANGE) == errno.EBUSY
    assert [content(m, name) for name in names] == before
    m.append(next(file for file in files if file.startswith(incomplete)) + "/Events/x.i8", 1, 2)
    before = [content(m, name) for name in names]
    rename2(m.at(names[0]), m.at(names[1]), EXCHANGE)
    assert [content(m, name) for name in reversed(names)] == before


@pytest.mark.parametrize("target", ("plain", *EMPTY, *FULL))
@pytest.mark.parametrize("moved", ("plain", "directory", "staged", "both"))
def test_noreplace_replaces_nothing(mirror, moved, target):
    m = mirror()
    m.make("moved.root", moved)
    m.make("target.root", target)
    before = [content(m, name) for name in ("moved.root", "target.root")]
    assert refused(rename2, m.at("moved.root"), m.at("target.root"), NOREPLACE) == errno.EEXIST
    assert [content(m, name) for name in ("moved.root", "target.root")] == before
    rename2(m.at("moved.root"), m.at("free.root"), NOREPLACE)
    assert content(m, "free.root") == before[0]


def test_no_device_is_left_behind(mirror):
    m = mirror()
    m.make("file", "plain")
    assert refused(rename2, m.at("file"), m.at("other"), WHITEOUT) == errno.EINVAL
    assert os.listdir(m.source) == ["file"]


@pytest.mark.parametrize("kind", FULL[1:])
def test_other_calls_take_no_root_file(mirror, tmp_path, kind):
    m = mirror()
    m.make("file.root", kind)
    m.make("plain", "plain")
    before = content(m, "file.root")
    path = m.at("file.root")
    assert refused(os.rmdir, path) == errno.ENOTEMPTY
    assert refused(os.unlink, path) == errno.EISDIR
    assert refused(os.link, m.at("plain"), path) == errno.EEXIST
    assert refused(os.symlink, "plain", path) == errno.EEXIST
    assert refused(os.mkdir, path) == errno.EEXIST
    for flags in (os.O_TRUNC, os.O_CREAT, os.O_CREAT | os.O_TRUNC, os.O_APPEND):
        assert refused(os.open, path, os.O_WRONLY | flags) == errno.EISDIR
    assert refused(os.truncate, path, 0) == errno.EISDIR
    assert content(m, "file.root") == before


@pytest.mark.parametrize("kind", EMPTY)
def test_an_empty_root_file_is_removed(mirror, kind):
    m = mirror()
    m.make("file.root", kind)
    os.rmdir(m.at("file.root"))
    assert os.listdir(m.mount.path) == os.listdir(m.source) == []
    m.make("file.root", "staged")
    m.commit("file.root")
    assert m.values("file.root") == {"x": [9]}


@pytest.mark.parametrize("flags", (0, EXCHANGE))
def test_what_is_written_meanwhile_is_not_lost(mirror, flags):
    """Both names are held while one becomes the other: what was synced under a name is under one of the two."""
    m = mirror()
    written = []

    def write(value):
        for _ in range(3):
            try:
                m.append("target.root/Events/x.i8", value)
                return written.append(value)
            except OSError:
                continue  # it was being renamed, or is another one now

    for value in range(100, 115):
        m.make("moved.root", "committed")
        os.makedirs(m.at("target.root"), exist_ok=True)
        thread = threading.Thread(target=write, args=(value,))
        thread.start()
        try:
            rename2(m.at("moved.root"), m.at("target.root"), flags)
        except OSError as error:
            assert error.errno in (errno.ENOTEMPTY, errno.EBUSY)
        thread.join()
        found = [number for name in os.listdir(m.mount.path) if os.path.exists(m.at(name + "/Events/x.i8"))
                 for number in m.read(name + "/Events/x.i8")]
        assert not written or written[-1] in found
        for name in os.listdir(m.mount.path):
            shutil.rmtree(m.at(name))
    assert written
    assert m.mount.close() == 0


@pytest.mark.parametrize("kind", ("committed", "both", "only begins like one"))
def test_what_another_program_removes_is_gone(mirror, kind):
    """Unless something is staged for it here."""
    m = mirror()
    if kind.startswith("only"):
        with open(m.at("file.root"), "wb") as file:
            file.write(b"root = true")
        assert os.path.isfile(m.at("file.root"))
    else:
        m.make("file.root", kind)
        assert m.read("file.root/Events/x.i8")[0] == 9
    os.unlink(os.path.join(m.source, "file.root"))
    mounted.wait_until(lambda: kind == "both" or not os.path.exists(m.at("file.root")), 5)
    if kind == "both":
        time.sleep(0.6)  # longer than the kernel keeps a name
        assert os.path.exists(m.at("file.root"))
        return
    assert os.listdir(m.mount.path) == []
    m.make("file.root", "staged")
    m.commit("file.root")
    assert m.values("file.root") == {"x": [9]}


@pytest.mark.parametrize("call", ("truncate", "create", "unlink"))
def test_a_root_file_that_came_since_is_not_taken_for_the_plain_one(mirror, samples, call):
    """Another program has put it there, within the time in which the kernel keeps a name."""
    m = mirror()
    m.make("name", "plain")
    with open(os.path.join(samples("storage"), "plain.root"), "rb") as file:
        whole = file.read()
    path = m.at("name")
    os.stat(path)
    new, there = os.path.join(m.source, "new"), os.path.join(m.source, "name")
    with open(new, "wb") as file:
        file.write(whole)
    os.rename(new, there)
    if call == "truncate":
        assert refused(os.truncate, path, 0) in (errno.EISDIR, errno.ESTALE)
    elif call == "create":
        assert refused(os.open, path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC) in (errno.EISDIR, errno.ESTALE)
    else:
        assert refused(os.unlink, path) in (errno.EISDIR, errno.ESTALE)
    with open(there, "rb") as file:
        assert file.read() == whole
