# SPDX-License-Identifier: Apache-2.0
"""A ROOT file with several names (hard links): one writer, by whichever name, in one mount, in several, and after a
crash."""

import contextlib
import errno
import os
import random
import subprocess
import threading
import time

import numpy as np
import pytest

import campaign
import mounted
from staged_values import OPTIONS, VALUES, kill, make_file, run, stage, tables


@pytest.fixture(params=["one mount", "two mounts"])
def linked(request, tmp_path):
    """A file with two names: where both are in mounts, the pids of their daemons, and where they lie."""
    first = make_file(tmp_path / "src")
    second = tmp_path / ("src" if request.param == "one mount" else "other") / "b.root"
    second.parent.mkdir(exist_ok=True)
    os.link(first, second)
    with contextlib.ExitStack() as stack:
        m = stack.enter_context(mounted.Mounted(first.parent, OPTIONS))
        n = m if request.param == "one mount" else stack.enter_context(mounted.Mounted(second.parent, OPTIONS))
        yield os.path.join(m.path, "a.root"), os.path.join(n.path, "b.root"), m, n, first, second
    for path in (first, second):
        assert run("check", path).returncode == 0
    assert not [name for name in (*os.listdir(first.parent), *os.listdir(second.parent)) if "tfilefs" in name]


def test_a_second_name_waits_for_the_first(linked):
    a, b, m, n, first, second = linked
    stage(os.path.join(a, "U"))
    for change in (lambda: os.makedirs(os.path.join(b, "V")), lambda: open(os.path.join(b, "T", "x.i4"), "ab"),
                   lambda: os.makedirs(os.path.join(b, "T", "list")), lambda: os.rename(b, b + ".aside.root"),
                   lambda: os.rename(os.path.join(b, "T"), os.path.join(b, "W"))):
        with pytest.raises(OSError) as refused:
            change()
        assert refused.value.errno == errno.EBUSY
    assert f"process {m.process.pid} is writing this file under another of its names, {first}" in n.errors()
    mounted.fsync(a)
    stage(os.path.join(b, "V"))
    with pytest.raises(OSError) as refused:
        os.makedirs(os.path.join(a, "W"))
    assert refused.value.errno == errno.EBUSY
    mounted.fsync(b)
    for name, root in (("A", a), ("B", b), ("A", a)):
        with open(os.path.join(root, "T", "x.i4"), "ab") as file:
            file.write(VALUES.tobytes())
        mounted.fsync(root)
    assert tables(first) == tables(second) == {"T": 4 * VALUES.tolist(), "U": VALUES.tolist(), "V": VALUES.tolist()}


@pytest.mark.sanitized
def test_what_was_committed_by_any_name_is_there(linked):
    """Writers at both names, at the same time: whatever was committed stays, and the others are told."""
    a, b, _, _, first, second = linked
    done, refused, end = {}, set(), time.monotonic() + 2

    def write(root, who):
        i = 0
        while time.monotonic() < end or i == 0:
            i += 1
            table, values = os.path.join(root, f"{who}{i}"), np.full(500, i, "<i4")
            try:
                stage(table, values)
                mounted.fsync(table)
                done[f"{who}{i}"] = values.tolist()
            except OSError as error:
                refused.add(error.errno)
                time.sleep(0.001)

    writers = [threading.Thread(target=write, args=(root, f"{name}{k}_")) for name, root in (("A", a), ("B", b)) for k in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert refused <= {errno.EBUSY, errno.EEXIST} and {name[0] for name in done}, refused
    for root in (a, b):
        with contextlib.suppress(OSError):
            mounted.fsync(root)
    there = tables(first)
    assert {name: there.get(name) for name in done} == done
    assert tables(second) == there


@pytest.mark.parametrize("how", ["recover", "mount"])
def test_a_crash_is_found_by_the_other_name(tmp_path, how):
    first, second = make_file(tmp_path / "src"), tmp_path / "other" / "b.root"
    second.parent.mkdir()
    os.link(first, second)
    m = mounted.Mounted(first.parent, OPTIONS)
    stage(os.path.join(m.path, "a.root", "U"))
    with open(os.path.join(m.path, "a.root", "T", "x.i4"), "ab") as file:
        file.write(VALUES.tobytes())
        file.flush()
        os.fsync(file.fileno())
    mounted.fsync(os.path.join(m.path, "a.root", "U", "x.i4"))
    kill(m)
    with mounted.Mounted(second.parent, OPTIONS) as m:
        with pytest.raises(OSError) as refused:
            os.makedirs(os.path.join(m.path, "b.root", "V"))
        assert refused.value.errno == errno.EBUSY and f"`tfilefs recover {first}`" in m.errors()
    with mounted.Mounted(second.parent if how == "mount" else second) as m:
        os.listdir(os.path.join(m.path, "b.root" if how == "mount" else ""))
        mounted.wait_until(lambda: "under another of its names" in m.errors())
        assert f"under another of its names, {first}: not committed" in m.errors()
    if how == "recover":
        said = run("recover", second)
        assert said.returncode == 0 and f"{first}: recovered" in said.stdout, said
    else:
        mounted.Mounted(first.parent, OPTIONS).close()
    assert tables(second) == {"T": 2 * VALUES.tolist(), "U": VALUES.tolist()}
    with mounted.Mounted(second.parent, OPTIONS) as m:
        stage(os.path.join(m.path, "b.root", "V"))
    assert sorted(tables(first)) == ["T", "U", "V"]
    assert os.listdir(first.parent) == ["a.root"] and os.listdir(second.parent) == ["b.root"]


def test_a_name_that_came_while_it_was_written_counts(tmp_path):
    """The next change notes by which name the file is written."""
    first, second = make_file(tmp_path / "src"), tmp_path / "b.root"
    m = mounted.Mounted(first.parent, OPTIONS)
    stage(os.path.join(m.path, "a.root", "U"))
    os.link(first, second)
    stage(os.path.join(m.path, "a.root", "V"))
    mounted.fsync(os.path.join(m.path, "a.root", "V", "x.i4"))
    kill(m)
    said = run("recover", second)
    assert said.returncode == 0 and "recovered" in said.stdout, said
    assert sorted(tables(second)) == ["T", "U", "V"]


def test_a_directory_copied_as_links_is_recovered_once(tmp_path):
    """`cp -al` gives the journal a second name, too."""
    first = make_file(tmp_path / "src")
    m = mounted.Mounted(first.parent, OPTIONS)
    stage(os.path.join(m.path, "a.root", "U"))
    with open(os.path.join(m.path, "a.root", "T", "x.i4"), "ab") as file:
        file.write(VALUES.tobytes())
    for path in ("U", "T"):
        mounted.fsync(os.path.join(m.path, "a.root", path, "x.i4"))
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-al", first.parent, copy], check=True)
    with mounted.Mounted(copy, OPTIONS) as n, pytest.raises(OSError) as refused:
        os.makedirs(os.path.join(n.path, "a.root", "V"))
    assert refused.value.errno == errno.EBUSY
    kill(m)
    for directory in (copy, first.parent):
        with mounted.Mounted(directory, OPTIONS) as m:
            os.listdir(os.path.join(m.path, "a.root"))
            assert m.errors() == ""
        assert os.listdir(directory) == ["a.root"]
        assert tables(directory / "a.root") == {"T": 2 * VALUES.tolist(), "U": VALUES.tolist()}


def test_without_attributes_a_file_has_one_name(tmp_path):
    """Where nothing can be noted in a file, one with several names is not written, and the line says what to do."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "ramfs", "ramfs", disk]).returncode != 0:
        pytest.skip("no ramfs can be mounted")
    try:
        path = make_file(disk)
        os.link(path, disk / "b.root")
        with mounted.Mounted(disk, OPTIONS) as m:
            with pytest.raises(OSError) as refused:
                os.makedirs(os.path.join(m.path, "b.root", "V"))
            assert refused.value.errno == errno.EOPNOTSUPP
            assert "has 2 names (hard links)" in m.errors() and "cp FILE COPY" in m.errors()
            os.rename(os.path.join(m.path, "b.root"), os.path.join(m.path, "c.root"))
            os.unlink(disk / "c.root")
            stage(os.path.join(m.path, "a.root", "U"))
        assert sorted(tables(path)) == ["T", "U"]
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


class Names:
    """A file with names in two mounts, that come and go; tables that are written through any of them, and daemons that
    are killed. What an fsync has promised is `promised`, by table."""

    def __init__(self, base, seed):
        self._base, self._random = base, random.Random(seed)
        make_file(base / "m0", "a.root")
        self._names = [(0, "a.root")]
        (base / "m1").mkdir()
        self._mounts = [None, None]
        self.promised = {"T": VALUES.tolist()}
        self.done = {}
        for i in range(2):
            self._mount(i)

    def _path(self, at):
        return self._base / f"m{at[0]}" / at[1]

    def _has_journal(self, at):
        return os.path.exists(f"{self._path(at)}.tfilefs-journal")

    def _root(self, at):
        return os.path.join(self._mounts[at[0]].path, at[1])

    def _mount(self, i):
        self._mounts[i] = mounted.Mounted(self._base / f"m{i}", ("rw", f"commit={self._random.choice([0, 86400])}"))

    def step(self):
        action = self._random.choices(("make", "append", "commit", "link", "unlink", "kill", "mount", "recover"), (6, 6, 4, 2, 1, 2, 1, 1))[0]
        at = self._random.choice(self._names)
        try:
            getattr(self, "_" + action + "_by")(at)
        except OSError as error:
            # What is staged by one name is not there by another before it is committed.
            unseen = action == "append" and error.errno == errno.ENOENT and any(map(self._has_journal, self._names))
            assert error.errno == errno.EBUSY or unseen, (action, at, error, [m.errors() for m in self._mounts])
            action += " refused"
        self.done[action] = self.done.get(action, 0) + 1

    def _make_by(self, at):
        table, number = f"N{len(self.promised)}", self._random.randint(1, 3000)
        self._write(at, table, np.full(number, number, "<i4"), new=True)

    def _append_by(self, at):
        self._write(at, self._random.choice(sorted(self.promised)), np.arange(self._random.randint(1, 2000), dtype="<i4"))

    def _write(self, at, table, values, new=False):
        directory = os.path.join(self._root(at), table)
        if new:
            os.makedirs(directory)
        with open(os.path.join(directory, "x.i4"), "ab" if not new else "wb") as file:
            file.write(values.tobytes())
            file.flush()
            os.fsync(file.fileno())
        self.promised[table] = [*self.promised.get(table, []), *values.tolist()]

    def _commit_by(self, at):
        mounted.fsync(self._root(at))

    def _link_by(self, at):
        new = (self._random.randint(0, 1), f"{self._random.choice('abc')}.root")
        # A link that comes after the last change is not noted, if its writer is killed before the next one.
        if new not in self._names and not any(self._has_journal(name) for name in self._names):
            os.link(self._path(at), self._path(new))
            self._names.append(new)

    def _unlink_by(self, at):
        if len(self._names) > 1 and not self._has_journal(at):
            os.unlink(self._path(at))
            self._names.remove(at)

    def _kill_by(self, at):
        kill(self._mounts[at[0]])
        self._mount(at[0])

    def _mount_by(self, at):
        assert self._mounts[at[0]].close() == 0
        self._mount(at[0])

    def _recover_by(self, at):
        for m in self._mounts:
            kill(m)
        said = run("recover", self._path(at))
        assert said.returncode == 0, (said, self._names)
        for i in range(2):
            self._mount(i)

    def end(self):
        for m in self._mounts:
            kill(m)
        for at in self._names:
            said = run("recover", self._path(at))
            assert said.returncode == 0, (said, self._names)
            assert run("check", self._path(at)).returncode == 0
            assert tables(self._path(at)) == self.promised


@pytest.mark.parametrize("run_number", range(3))
def test_no_name_loses_what_was_promised(tmp_path, run_number):
    """Links come and go, daemons are killed between any two calls: what an fsync has returned for is there."""
    seed = campaign.SEED + run_number
    names = Names(tmp_path, seed)
    try:
        for _ in range(campaign.LENGTH["operations"] // 50):
            names.step()
        names.end()
    except BaseException:
        print(f"seed {seed}: {names.done}")
        for m in names._mounts:
            kill(m)
        raise
    campaign.report(f"several names: {names.done}")


@pytest.mark.parametrize("options", [("commit=600",), ("commit=0",)])
@pytest.mark.parametrize("which", ["one mount", "two mounts"])
def test_what_is_taken_away_by_one_name_stays_under_the_others(tmp_path, which, options):
    """A snapshot by links (`cp -al`) is whole, however far `rm -r` came before it was committed."""
    first = make_file(tmp_path / "src")
    with mounted.Mounted(first.parent, OPTIONS) as m:
        for name in ("U", "V"):
            stage(os.path.join(m.path, "a.root", name))
        with open(os.path.join(m.path, "a.root", "V", "y.i4"), "wb") as file:
            file.write(VALUES.tobytes())
    os.chmod(first, 0o640)
    os.setxattr(first, "user.note", b"kept")
    second = tmp_path / ("src" if which == "one mount" else "other") / "b.root"
    second.parent.mkdir(exist_ok=True)
    os.link(first, second)
    before = second.read_bytes()
    whole = tables(second)
    with contextlib.ExitStack() as stack:
        m = stack.enter_context(mounted.Mounted(first.parent, ("rw", *options)))
        n = m if which == "one mount" else stack.enter_context(mounted.Mounted(second.parent, ("rw", *options)))
        a, b = os.path.join(m.path, "a.root"), os.path.join(n.path, "b.root")
        os.unlink(os.path.join(a, "V", "y.i4"))
        mounted.fsync(a)
        subprocess.run(["rm", "-r", os.path.join(a, "T")], check=True)
        mounted.fsync(a)
        assert second.read_bytes() == before and not os.path.samefile(first, second)
        assert tables(first) == {"U": VALUES.tolist(), "V": VALUES.tolist()}
        assert (os.stat(first).st_mode & 0o7777, os.getxattr(first, "user.note")) == (0o640, b"kept")
        stage(os.path.join(b, "W"))  # each is a file of its own from now on
        stage(os.path.join(a, "W"), VALUES[:7])
        mounted.fsync(a)
        mounted.fsync(b)
        assert tables(first)["W"] == VALUES[:7].tolist()
        subprocess.run(["rm", "-r", a], check=True)
        mounted.fsync(m.path)
        # With commit=0 a part of T may be committed while rm takes its time.
        assert [line for line in m.errors().splitlines() if not line.endswith(("older cycles: V;1", "older cycles: T;1"))] == []
    assert not first.exists() and tables(second) == whole | {"W": VALUES.tolist()}
    assert run("check", second).returncode == 0


def test_what_a_killed_writer_took_away_stays_under_the_other_name(tmp_path):
    first = make_file(tmp_path / "src")
    with mounted.Mounted(first.parent, OPTIONS) as m:
        stage(os.path.join(m.path, "a.root", "U"))
    second = tmp_path / "b.root"
    os.link(first, second)
    m = mounted.Mounted(first.parent, OPTIONS)
    subprocess.run(["rm", "-r", os.path.join(m.path, "a.root", "T")], check=True)
    stage(os.path.join(m.path, "a.root", "V"))
    mounted.fsync(os.path.join(m.path, "a.root", "V", "x.i4"))
    kill(m)
    assert run("recover", first).returncode == 0
    assert sorted(tables(first)) == ["U", "V"] and sorted(tables(second)) == ["T", "U"]
    assert sorted(os.listdir(tmp_path)) == ["b.root", "src"] and os.listdir(first.parent) == ["a.root"]


def test_without_room_for_a_copy_nothing_is_taken_away(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", disk]).returncode != 0:
        pytest.skip("no tmpfs can be mounted")
    try:
        path = make_file(disk, values=np.random.default_rng(1).integers(0, 2**31, 900_000, "<i4"))
        with mounted.Mounted(disk, OPTIONS) as m:
            stage(os.path.join(m.path, "a.root", "U"))
        os.link(path, disk / "b.root")
        before = path.read_bytes()
        assert len(before) > 3 << 20
        with mounted.Mounted(disk, OPTIONS) as m:
            subprocess.run(["rm", "-r", os.path.join(m.path, "a.root", "U")], check=True)
            with pytest.raises(OSError) as refused:
                mounted.fsync(os.path.join(m.path, "a.root"))
            assert refused.value.errno == errno.ENOSPC and "No space left" in m.errors()
            assert path.read_bytes() == before
            os.unlink(disk / "b.root")  # then it is changed in place
            mounted.fsync(os.path.join(m.path, "a.root"))
        assert sorted(tables(path)) == ["T"] and os.listdir(disk) == ["a.root"]
    finally:
        subprocess.run(["umount", "-l", disk], check=True)
