# SPDX-License-Identifier: Apache-2.0
"""Locks on plain files of a mirror with rw: one process in the mount, one in another mount, one beside both, and the
file system of the source decides between all of them."""

import concurrent.futures
import contextlib
import itertools
import os
import signal
import sqlite3
import struct
import subprocess
import sys
import time

import pytest

import mounted
from locking_process import LockingProcess

HOWS = ("posix", "ofd", "flock")
PAIRS = [("mount", "mount"), ("mount", "other mount"), ("mount", "source"), ("source", "mount")]


class Places:
    def __init__(self, source, stack):
        self._source, self._stack, self._mounts = source, stack, {}

    def at(self, place, name):
        if place == "source":
            return os.path.join(self._source, name)
        if place not in self._mounts:
            self._mounts[place] = self._stack.enter_context(mounted.Mounted(self._source, ("rw",)))
        return os.path.join(self._mounts[place].path, name)


@pytest.fixture
def places(tmp_path):
    (tmp_path / "file").write_bytes(bytes(1000))
    with contextlib.ExitStack() as stack:
        yield Places(tmp_path, stack)


@pytest.fixture
def process():
    with contextlib.ExitStack() as stack:

        def make(path=None, flags=os.O_RDWR):
            made = LockingProcess()
            stack.callback(made.end)
            if path:
                made.open("f", path, flags)
            return made

        yield make


def pair(places, process, where):
    return [process(places.at(place, "file")) for place in where]


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("where", PAIRS, ids="-".join)
def test_kinds_of_locks(places, process, where, how):
    a, b = pair(places, process, where)
    for mine, theirs in itertools.product(("read", "write"), repeat=2):
        assert a.lock(how, "f", mine)
        assert b.lock(how, "f", theirs) == (mine == theirs == "read"), (mine, theirs)
        assert a.lock(how, "f", "none") and b.lock(how, "f", "none")
    assert a.lock(how, "f", "write") and a.lock(how, "f", "read") and b.lock(how, "f", "read")
    assert not a.lock(how, "f", "write")


@pytest.mark.parametrize("how", ("posix", "ofd"))
@pytest.mark.parametrize("where", PAIRS, ids="-".join)
def test_ranges(places, process, where, how):
    a, b = pair(places, process, where)
    assert a.lock(how, "f", "write", 10, 10) and a.lock(how, "f", "read", 30, 0)
    assert b.lock(how, "f", "write", 0, 10) and b.lock(how, "f", "write", 20, 10)
    assert not b.lock(how, "f", "read", 19, 1) and not b.lock(how, "f", "write", 1 << 40, 1)
    assert b.lock(how, "f", "read", 1 << 40, 1)
    assert b.test(how, "f", "write", 0, 25) == ("write", 10, 10)
    assert b.test(how, "f", "write", 35, 5) == ("read", 30, 0)
    assert b.test(how, "f", "read", 35, 5)[0] == "none"
    assert a.lock(how, "f", "none", 12, 2)
    assert b.lock(how, "f", "write", 12, 2) and not b.lock(how, "f", "write", 11, 1)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("where", PAIRS, ids="-".join)
def test_who_waits_gets_it(places, process, where, how):
    a, b = pair(places, process, where)
    assert a.lock(how, "f", "write")
    b.start("lock", how, "f", "write", waits=True)
    assert not b.has_answered(0.1)
    assert a.lock(how, "f", "none")
    assert b.answer()
    assert not a.lock(how, "f", "read")


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("where", PAIRS, ids="-".join)
def test_who_waits_can_be_interrupted(places, process, where, how):
    """And then has no lock, also later."""
    a, b = pair(places, process, where)
    third = process(places.at("source", "file"))
    assert a.lock(how, "f", "write")
    for number in range(3):
        b.start("lock", how, "f", "write", waits=True)
        assert not b.has_answered(0.02)
        b.signal()
        assert b.answer() is None
    assert a.lock(how, "f", "none")
    assert third.lock(how, "f", "write")
    b.start("lock", how, "f", "write", waits=True)
    assert not b.has_answered(0.02)
    b.signal(signal.SIGKILL)
    b.process.join()
    assert third.lock(how, "f", "none")
    assert a.lock(how, "f", "write")


def test_many_wait_and_nobody_else_does(places, process):
    """More than the mount has threads."""
    holder = process(places.at("mount", "file"))
    assert holder.lock("posix", "f", "write")
    waiting = [process(places.at("mount", "file")) for _ in range(12)]
    for one in waiting:
        one.start("lock", "posix", "f", "write", waits=True)
    begin = time.monotonic()
    for number in range(100):
        with open(places.at("mount", f"new{number}"), "wb") as file:
            file.write(b"some text")
        os.stat(places.at("mount", "file"))
    assert time.monotonic() - begin < 10
    assert not any(one.has_answered() for one in waiting)
    assert holder.lock("posix", "f", "none")
    for _ in waiting:  # one after the other, in any order
        ready = next(one for one in itertools.cycle(waiting) if one.has_answered(0.01))
        assert ready.answer() and ready.lock("posix", "f", "none")
        waiting = [one for one in waiting if one is not ready]


@pytest.mark.parametrize("ended", ("closed", "killed"))
@pytest.mark.parametrize("how", HOWS)
def test_locks_go_with_their_owner(places, process, how, ended):
    a, b = pair(places, process, ("mount", "source"))
    assert a.lock(how, "f", "write") and not b.lock(how, "f", "read")
    if ended == "closed":
        a.close("f")
    else:
        a.signal(signal.SIGKILL)
        a.process.join()
    assert b.lock(how, "f", "write", waits=True)


def test_a_process_loses_its_locks_with_any_descriptor(places, process):
    """Those of fcntl(2) that are not of an open file; as POSIX has it."""
    a, b = pair(places, process, ("mount", "source"))
    a.open("second", places.at("mount", "file"), os.O_RDONLY)
    for how in HOWS:
        assert a.lock(how, "f", "write", *(() if how == "flock" else (10, 10) if how == "ofd" else (0, 10)))
    a.close("second")
    assert b.lock("posix", "f", "write", 0, 10)
    assert not b.lock("posix", "f", "write", 10, 10) and not b.lock("flock", "f", "read")


def test_an_open_file_keeps_its_locks_until_it_is_closed_everywhere(places, process):
    a, b = pair(places, process, ("mount", "source"))
    a.duplicate("second", "f")
    assert a.lock("ofd", "f", "write") and a.lock("flock", "f", "write")
    a.close("f")
    assert not b.lock("ofd", "f", "write") and not b.lock("flock", "f", "write")
    a.close("second")
    assert b.lock("ofd", "f", "write", waits=True) and b.lock("flock", "f", "write", waits=True)


def test_open_files_of_one_process_are_apart(places, process):
    a = process(places.at("mount", "file"))
    a.open("second", places.at("mount", "file"))
    for how in ("ofd", "flock"):
        assert a.lock(how, "f", "write") and not a.lock(how, "second", "write")
    assert not a.lock("posix", "f", "read")
    assert a.lock("ofd", "f", "none") and a.lock("posix", "f", "write") and a.lock("posix", "second", "write")


def test_a_file_is_one_under_all_of_its_names(places, process, tmp_path):
    os.link(tmp_path / "file", tmp_path / "second")
    a, b = process(places.at("mount", "file")), process(places.at("mount", "second"))
    for how in ("posix", "flock"):
        assert a.lock(how, "f", "write") and not b.lock(how, "f", "write")
    os.rename(places.at("mount", "file"), places.at("mount", "third"))
    assert not b.lock("posix", "f", "write") and a.lock("posix", "f", "none") and b.lock("posix", "f", "write")


def test_who_only_reads_locks_too(places, process):
    a = process(places.at("mount", "file"), os.O_RDONLY)
    b = process(places.at("source", "file"))
    assert a.lock("posix", "f", "read") and not b.lock("posix", "f", "write") and b.lock("posix", "f", "read")
    with pytest.raises(OSError):
        a.lock("posix", "f", "write")
    assert a.lock("flock", "f", "write") and not b.lock("flock", "f", "read")


@pytest.mark.parametrize("how", HOWS)
def test_other_files_of_the_mount_can_be_locked(places, process, how):
    """Staged columns and what is made on the fly: for the programs of the mount."""
    top = places.at("mount", "new.root")
    os.makedirs(os.path.join(top, "Events"))
    column = os.path.join(top, "Events", "x.i8")
    with open(column, "wb") as file:
        file.write(bytes(16))
    for path, flags, kind in ((column, os.O_RDWR, "write"), (os.path.join(places.at("mount", ".tfilefs"), "README"), os.O_RDONLY, "read")):
        a, b = process(path, flags), process(path, flags)
        assert a.lock(how, "f", kind) and b.lock(how, "f", kind) == (kind == "read")
        b.close("f")
        a.close("f")


COUNTS_IN_TWO_PAGES = """
import fcntl, mmap, os, struct, sys
path, how, times = sys.argv[1], getattr(fcntl, sys.argv[2]), int(sys.argv[3])
file = os.open(path, os.O_RDWR)
pages = mmap.mmap(file, 40960)
for _ in range(times):
    how(file, fcntl.LOCK_EX)
    first, last = (struct.unpack_from("q", pages, at)[0] for at in (0, 36864))
    assert first == last
    for at in (36864, 0):
        struct.pack_into("q", pages, at, first + 1)
    how(file, fcntl.LOCK_UN)
"""


@pytest.mark.parametrize("how", ("lockf", "flock"))
@pytest.mark.parametrize("where", PAIRS, ids="-".join)
def test_what_is_mapped_is_shared_under_locks(places, tmp_path, where, how):
    """Each mount has pages of its own in the kernel; who has the lock sees what the last one who had it wrote."""
    (tmp_path / "mapped").write_bytes(bytes(40960))
    times = 100
    counting = [
        subprocess.Popen([sys.executable, "-c", COUNTS_IN_TWO_PAGES, places.at(place, "mapped"), how, str(times)]) for place in where
    ]
    assert [one.wait(100) for one in counting] == [0, 0]
    content = (tmp_path / "mapped").read_bytes()
    assert struct.unpack_from("q", content, 0) == struct.unpack_from("q", content, 36864) == (2 * times,)


COUNTS_IN_A_PAGE_OF_ALL = """
import fcntl, mmap, os, struct, sys
path, at, times = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
file = os.open(path, os.O_RDWR)
page = mmap.mmap(file, 4096)
for _ in range(times):
    fcntl.lockf(file, fcntl.LOCK_EX, 8, at)
    struct.pack_into("q", page, at, struct.unpack_from("q", page, at)[0] + 1)
    fcntl.lockf(file, fcntl.LOCK_UN, 8, at)
"""


@pytest.mark.parametrize("where", PAIRS, ids="-".join)
def test_a_page_is_shared_by_who_has_locks_of_its_parts(places, tmp_path, where):
    """The kernel writes it as a whole, and what others have changed in it stays."""
    (tmp_path / "mapped").write_bytes(bytes(4096))
    times = 300
    counting = [
        subprocess.Popen([sys.executable, "-c", COUNTS_IN_A_PAGE_OF_ALL, places.at(place, "mapped"), str(8 * number), str(times)])
        for number, place in enumerate(where + where[:1])
    ]
    assert [one.wait(100) for one in counting] == [0, 0, 0]
    assert struct.unpack_from("4q", (tmp_path / "mapped").read_bytes()) == (times, times, times, 0)


def test_a_mount_ends_though_pages_are_being_written(places, tmp_path):
    """The kernel has changed pages written before it forgets them, also when the session has just ended."""
    (tmp_path / "mapped").write_bytes(bytes(40960))
    for delay in (0.05, 0.1, 0.15, 0.2):
        m = mounted.Mounted(tmp_path, ("rw",))
        counting = [
            subprocess.Popen([sys.executable, "-c", COUNTS_IN_TWO_PAGES, os.path.join(m.path, "mapped"), "lockf", "1000000"],
                             stderr=subprocess.DEVNULL) for _ in range(2)
        ]
        time.sleep(delay)
        m.process.send_signal(signal.SIGTERM)
        assert m.process.wait(60) == 0
        for one in counting:
            one.kill()
            one.wait()
        m.close()


ROWS = 15


def inserted(path, who, rows=ROWS, synchronous="full"):
    """In a process of its own, which another one begins at the same time."""
    script = f"""
import sqlite3, sys
db = sqlite3.connect({path!r}, timeout=60, isolation_level=None)
db.execute("pragma synchronous = {synchronous}")
for i in range({rows}):
    db.execute("begin immediate")
    db.execute("insert into t values (?, ?, (select count(*) from t))", ({who!r}, i))
    db.execute("commit")
"""
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100)


def after_writers(places, tmp_path, mode, where, *how):
    path = tmp_path / "data.db"
    db = sqlite3.connect(path)
    assert db.execute(f"pragma journal_mode = {mode}").fetchone()[0] == mode
    db.execute("create table t (who, i, before)")
    db.commit()
    db.close()
    paths = [places.at(place, "data.db") for place in where]
    with concurrent.futures.ThreadPoolExecutor() as threads:
        for done in threads.map(lambda path, who: inserted(path, who, *how), paths, "abc"):
            assert done.returncode == 0, done.stderr
    db = sqlite3.connect(path)
    assert db.execute("pragma integrity_check").fetchone()[0] == "ok"
    rows = db.execute("select who, i, before from t order by rowid").fetchall()
    db.close()
    return rows


@pytest.mark.parametrize("mode", ("delete", "truncate", "persist", "wal"))
@pytest.mark.parametrize("where", PAIRS[:3], ids="-".join)
def test_sqlite_loses_nothing(places, tmp_path, mode, where):
    rows = after_writers(places, tmp_path, mode, where)
    assert sorted(row[:2] for row in rows) == sorted((who, i) for who in "ab" for i in range(ROWS))
    assert [row[2] for row in rows] == list(range(2 * ROWS)), "each sees what was committed before"


@pytest.mark.parametrize("where", PAIRS[:3], ids="-".join)
def test_sqlite_with_an_index_in_shared_memory_loses_nothing(places, tmp_path, where):
    """Readers and writers of WAL have parts of one page."""
    rows = after_writers(places, tmp_path, "wal", where + where[:1], 300, "normal")
    assert sorted(row[:2] for row in rows) == sorted((who, i) for who in "abc" for i in range(300))
    assert [row[2] for row in rows] == list(range(900)), "each sees what was committed before"


WRITTEN_OVER = """
import fcntl, mmap, os, sys
file = os.open(sys.argv[1], os.O_RDWR)
fcntl.lockf(file, fcntl.LOCK_EX)
page = mmap.mmap(file, 8192)
assert page[100:103] == b"aaa"
os.pwrite(file, b"b", 100)
page[100:101] = b"a"
os.ftruncate(file, 4096)
os.ftruncate(file, 8192)
page[5000:5001] = b"a"
fcntl.lockf(file, fcntl.LOCK_UN)
"""


def test_what_is_put_back_through_a_mapping_is_written(places, tmp_path):
    (tmp_path / "mapped").write_bytes(b"a" * 8192)
    subprocess.run([sys.executable, "-c", WRITTEN_OVER, places.at("mount", "mapped")], check=True, timeout=60)
    assert (tmp_path / "mapped").read_bytes() == b"a" * 4096 + bytes(904) + b"a" + bytes(3191)
