# SPDX-License-Identifier: Apache-2.0
"""At the end of a mount, the messages of `tfilefs umount`, and of the daemon itself, about staged bytes are true."""

import contextlib
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
import types

import numpy as np
import pytest
import uproot

import mounted


@pytest.fixture
def small_disk(tmp_path):
    """Two directories in a file system of 2 MB, one of which will be mirrored; and a function that fills it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk]).returncode != 0:
        pytest.skip("only root may mount a small file system")
    (disk / "source").mkdir()
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def fill(disk):
    with open(disk / "full", "wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"f" * 4096):
            pass


def stage(m, name, count):
    table = os.path.join(m.path, "out.root", "Events")
    os.makedirs(table, exist_ok=True)
    values = np.random.default_rng(len(name)).integers(0, 1 << 62, count)
    with open(os.path.join(table, name), "wb") as file:
        file.write(values.tobytes())
    return values


def umount(m, *options):
    return subprocess.run([mounted.program(), "umount", *options, m.path], capture_output=True, text=True)


def test_what_a_full_disk_does_not_keep_keeps_the_mount(small_disk):
    """It is named in the message; once there is room, everything is committed."""
    m = mounted.Mounted(small_disk / "source", ("rw", "commit=600"))
    values = stage(m, "x.i8", 50_000)
    fill(small_disk)
    said = umount(m)
    assert said.returncode == 1 and mounted.is_mount_point(m.path)
    assert "/out.root/Events/x.i8" in said.stderr and "not unmounted" in said.stderr
    assert "kept in the journal" not in said.stderr
    os.unlink(small_disk / "full")
    said = umount(m)
    assert said.returncode == 0 and said.stderr == ""
    assert m.close() == 0
    with uproot.open(small_disk / "source" / "out.root") as file:
        assert np.array_equal(file["Events"]["x"].array(library="np"), values)


def test_a_column_beyond_the_disk_that_compresses_is_written(small_disk):
    with mounted.Mounted(small_disk / "source", ("rw", "commit=600")) as m:
        os.makedirs(os.path.join(m.path, "out.root", "Events"))
        with open(os.path.join(m.path, "out.root", "Events", "x.i8"), "wb") as file:
            for _ in range(40):
                file.write(bytes(100_000))
        assert subprocess.run([mounted.program(), "commit", m.path]).returncode == 0
    with uproot.open(small_disk / "source" / "out.root") as file:
        assert file["Events"].num_entries == 500_000


def test_what_is_removed_needs_no_room(small_disk):
    """And its journal is removed with it."""
    m = mounted.Mounted(small_disk / "source", ("rw", "commit=600"))
    stage(m, "x.i8", 50_000)
    fill(small_disk)
    assert umount(m).returncode == 1
    os.unlink(os.path.join(m.path, "out.root", "Events", "x.i8"))
    os.rmdir(os.path.join(m.path, "out.root", "Events"))
    os.rmdir(os.path.join(m.path, "out.root"))
    assert os.listdir(small_disk / "source") == []
    said = umount(m)
    assert said.returncode == 0 and said.stderr == ""
    assert m.close() == 0


@pytest.mark.parametrize("others", (False, True))
def test_removing_what_filled_the_disk_frees_it(small_disk, others):
    """At once, and other staged data stay."""
    m = mounted.Mounted(small_disk / "source", ("rw", "commit=600"))
    if others:
        synced = stage(m, "y.i8", 1000)
    os.makedirs(os.path.join(m.path, "out.root", "Events"), exist_ok=True)
    path = os.path.join(m.path, "out.root", "Events", "x.i8")
    with pytest.raises(OSError) as full, open(path, "wb", buffering=0) as file:
        while True:
            file.write(b"12345678" * 20_000)
            os.fsync(file.fileno())
    assert full.value.errno == errno.ENOSPC
    free = lambda: os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_bsize
    assert free() < 300_000
    os.unlink(path)
    mounted.wait_until(lambda: free() >= 1_900_000)  # the kernel releases the handle some time later
    assert free() > 1_900_000
    if others:
        assert umount(m).returncode == 0
        with uproot.open(small_disk / "source" / "out.root") as file:
            assert np.array_equal(file["Events"]["y"].array(library="np"), synced)
    assert m.close() == 0


def test_what_is_given_up_is_named(small_disk):
    m = mounted.Mounted(small_disk / "source", ("rw", "commit=600"))
    stage(m, "x.i8", 50_000)
    fill(small_disk)
    said = umount(m, "--lazy")
    assert said.returncode == 1 and "lost" in said.stderr and "/out.root/Events/x.i8" in said.stderr
    assert "kept in the journal" not in said.stderr
    assert m.close() == 1
    assert "lost" in m.messages() and "/out.root/Events/x.i8" in m.messages()


@pytest.fixture
def system_log():
    """A socket in the place of the system log."""
    if os.geteuid() != 0 or os.path.lexists("/dev/log"):
        pytest.skip("no place for a log")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.bind("/dev/log")
        log.settimeout(20)
        yield log
        os.unlink("/dev/log")


def test_what_a_daemon_in_the_background_loses_is_in_the_system_log(small_disk, tmp_path, system_log):
    mount_point = tmp_path / "mnt"
    mount_point.mkdir()
    subprocess.run([mounted.program(), "-o", "rw,commit=600", small_disk / "source", mount_point], check=True)
    m = types.SimpleNamespace(path=str(mount_point))
    stage(m, "x.i8", 50_000)
    fill(small_disk)
    daemon = json.loads((mount_point / ".tfilefs/config.json").read_text())["pid"]
    os.kill(daemon, signal.SIGTERM)
    while "lost" not in (said := system_log.recv(10_000).decode()):
        pass  # its beginning, and each reason
    assert "tfilefs[" in said and "/out.root/Events/x.i8" in said


def test_what_is_idle_stays_while_its_end_would_lose_something(small_disk):
    m = mounted.Mounted(small_disk / "source", ("rw", "commit=600", "idle=1"))
    values = stage(m, "x.i8", 50_000)
    fill(small_disk)
    deadline = time.monotonic() + 20
    time.sleep(2)
    while "though idle" not in m.errors() and time.monotonic() < deadline:
        time.sleep(1.5)  # each look counts as a use
    assert "/out.root/Events/x.i8" in m.errors() and m.alive()
    os.unlink(small_disk / "full")
    assert m.process.wait(20) == 0
    m.close()
    with uproot.open(small_disk / "source" / "out.root") as file:
        assert np.array_equal(file["Events"]["x"].array(library="np"), values)


def test_what_is_kept_is_said_to_be(tmp_path):
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    stage(m, "x.i8", 100)
    stage(m, "y.i8", 50)
    said = umount(m)
    assert said.returncode == 1
    assert said.stderr.splitlines() == ["tfilefs: not committed, kept in the journal: /out.root/Events: y: 50 entries of 100"]
    assert m.close() == 0


def test_a_mount_of_another_pid_namespace_is_committed_too(tmp_path):
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    values = stage(m, "x.i8", 1000)
    there = ["unshare", "--pid", "--fork"]
    if subprocess.run([*there, "true"], capture_output=True).returncode != 0:
        pytest.skip("no PID namespace can be made here")
    stage(m, "y.i8", 500)
    said = subprocess.run([*there, mounted.program(), "umount", m.path], capture_output=True, text=True)
    assert said.returncode == 1 and "/out.root/Events: y: 500 entries of 1000" in said.stderr
    assert "another PID namespace" in said.stderr
    assert m.close() == 0
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    os.unlink(os.path.join(m.path, "out.root", "Events", "y.i8"))
    said = subprocess.run([*there, mounted.program(), "umount", m.path], capture_output=True, text=True)
    assert said.returncode == 0 and not mounted.is_mount_point(m.path)
    with uproot.open(tmp_path / "out.root") as file:
        assert np.array_equal(file["Events"]["x"].array(library="np"), values)
    assert m.close() == 0


def test_a_journal_that_was_removed_keeps_nothing(tmp_path):
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    stage(m, "x.i8", 1000)
    stage(m, "y.i8", 500)
    os.unlink(tmp_path / "out.root.tfilefs-journal")
    said = umount(m)
    assert said.returncode == 1 and mounted.is_mount_point(m.path)
    assert "/out.root/Events/x.i8" in said.stderr and "kept in the journal" not in said.stderr
    stage(m, "y.i8", 1000)
    assert umount(m).returncode == 0
    assert m.close() == 0
    with uproot.open(tmp_path / "out.root") as file:
        assert file["Events"].num_entries == 1000


@pytest.mark.parametrize("became", ("junk", "nothing"))
@pytest.mark.parametrize("options", ((), ("rw",)))
def test_a_source_that_is_no_root_file_any_more(samples, tmp_path, options, became):
    """There was nothing to keep: it is simply unmounted."""
    source = tmp_path / "a.root"
    source.write_bytes(open(os.path.join(samples("numbers"), "numbers-505.root"), "rb").read())
    m = mounted.Mounted(source, options)
    os.listdir(m.path)
    if became == "junk":
        source.write_bytes(b"junk" * 2000)
    else:
        source.unlink()
    said = umount(m)
    assert (said.returncode, said.stderr) == (0, "")
    assert m.close() == 0


@contextlib.contextmanager
def writing(path):
    """A process that keeps writing to the file; returns it."""
    code = "import sys\nwith open(sys.argv[1], 'wb', buffering=0) as f:\n while True: f.write(bytes(80_000))"
    writer = subprocess.Popen([sys.executable, "-c", code, path])
    try:
        mounted.wait_until(lambda: os.path.exists(path) and os.path.getsize(path) > 1_000_000, 20)
        yield writer
    finally:
        writer.kill()
        writer.wait()


def test_who_writes_keeps_the_mount_and_is_named(tmp_path):
    """The disk is not full, so the message does not ask for room."""
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    os.makedirs(os.path.join(m.path, "out.root", "Events"))
    with writing(os.path.join(m.path, "out.root", "Events", "x.i8")) as writer:
        said = umount(m)
        assert said.returncode == 1 and mounted.is_mount_point(m.path)
        assert f"/out.root/Events/x.i8: process {writer.pid} (python" in said.stderr and "is writing it" in said.stderr
        assert "free disk space" not in said.stderr and "would be lost" not in said.stderr
        assert "saved neither" not in said.stderr
        assert said.stderr.splitlines()[-1].startswith(f"tfilefs: {m.path}: not unmounted")
    assert umount(m).returncode == 0
    assert m.close() == 0
    with uproot.open(tmp_path / "out.root") as file:
        assert file["Events"].num_entries % 10_000 == 0


def test_who_reads_or_stands_in_the_mount_is_named(samples, tmp_path):
    m = mounted.Mounted(os.path.join(samples("storage"), "plain.root"))
    column = os.path.join(m.path, "t", "number.i4")
    with open(column, "rb"), subprocess.Popen(["sleep", "600"], cwd=os.path.join(m.path, "t")) as stands:
        said = umount(m)
        stands.kill()
        assert said.returncode == 1 and mounted.is_mount_point(m.path)
        assert f"process {os.getpid()} (" in said.stderr and f"has {column} open" in said.stderr
        assert f"process {stands.pid} (sleep) has {m.path}/t as its working directory" in said.stderr
    assert umount(m).returncode == 0 and m.close() == 0


def test_a_daemon_that_is_stopped_is_told_of(samples):
    """The mount itself must not be used in the meantime, since it does not answer."""
    m = mounted.Mounted(os.path.join(samples("storage"), "plain.root"))

    def is_mounted():
        with open("/proc/self/mounts") as mounts:
            return m.path in mounts.read()

    # A thread that still takes a request has whoever asked wait for it, whatever signal comes.
    mounted.stop_threads(m.process.pid)
    try:
        with subprocess.Popen([mounted.program(), "umount", m.path], stderr=subprocess.PIPE, text=True) as waiting:
            assert waiting.stderr.readline().startswith(f"tfilefs: {m.path}: the daemon does not respond; waiting for it")
            waiting.terminate()
            assert waiting.wait() == -signal.SIGTERM and is_mounted()
        said = umount(m, "--lazy")
        assert said.returncode == 0 and not is_mounted()
        assert f"{m.path}: the daemon does not respond; unmounted" in said.stderr
    finally:
        os.kill(m.process.pid, signal.SIGCONT)
    assert m.close() == 0


def test_who_writes_goes_on_after_a_lazy_unmount(tmp_path):
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    os.makedirs(os.path.join(m.path, "out.root", "Events"))
    with writing(os.path.join(m.path, "out.root", "Events", "x.i8")) as writer:
        said = umount(m, "--lazy")
        assert said.returncode == 1 and not mounted.is_mount_point(m.path)
        assert f"process {writer.pid}" in said.stderr and "lost" not in said.stderr
    assert m.close() == 0
    with uproot.open(tmp_path / "out.root") as file:
        assert file["Events"].num_entries > 100_000


def test_a_full_disk_beside_a_writer_is_still_told(small_disk):
    m = mounted.Mounted(small_disk / "source", ("rw", "commit=600"))
    stage(m, "x.i8", 50_000)
    fill(small_disk)
    with open(os.path.join(m.path, "out.root", "Events", "y.i8"), "wb", buffering=0) as file:
        file.write(bytes(8000))
        said = umount(m)
        assert said.returncode == 1 and "free disk space" in said.stderr
        assert "saved neither to its file nor to the journal: /out.root/Events/x.i8" in said.stderr
        assert f"/out.root/Events/y.i8: process {os.getpid()}" in said.stderr
    os.unlink(small_disk / "full")
    umount(m)
    m.close()


@pytest.mark.parametrize("mirror", (True, False))
@pytest.mark.parametrize("options", ((), ("--lazy",)))
def test_what_a_dead_mount_has_left_in_journals_is_named(tmp_path, mirror, options):
    (tmp_path / "deep").mkdir()
    file = tmp_path / "deep" / "out.root"
    m = mounted.Mounted(tmp_path if mirror else file, ("rw", "commit=600"))
    table = os.path.join(m.path, *(("deep", "out.root") if mirror else ()), "Events")
    os.makedirs(table)
    with open(os.path.join(table, "x.i8"), "wb") as column:
        column.write(np.arange(100).tobytes())
        column.flush()
        os.fsync(column.fileno())
    m.process.kill()
    m.process.wait()
    said = umount(m, *options)
    assert said.returncode == 1 and not mounted.is_mount_point(m.path)
    [line] = said.stderr.splitlines()
    assert line.startswith(f"tfilefs: {file}: not committed") and "Events/x.i8" in line and "tfilefs recover" in line
    assert subprocess.run([mounted.program(), "recover", file]).returncode == 0
    with uproot.open(file) as recovered:
        assert recovered["Events"].num_entries == 100
    m.close()


def test_a_dead_mount_without_journals_is_unmounted_silently(samples, tmp_path):
    m = mounted.Mounted(os.path.join(samples("numbers"), "numbers-505.root"))
    m.process.kill()
    m.process.wait()
    said = umount(m)
    assert (said.returncode, said.stderr) == (0, "") and not mounted.is_mount_point(m.path)
    m.close()


def test_what_is_not_wanted_is_dropped(tmp_path):
    """What was committed stays, of what was not there is no file; nothing is left beside them."""
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    stage(m, "x.i8", 1000)
    subprocess.run([mounted.program(), "commit", m.path], check=True)
    before = (tmp_path / "out.root").read_bytes()
    with open(os.path.join(m.path, "out.root", "Events", "x.i8"), "ab") as file:
        file.write(bytes(800))
    os.makedirs(os.path.join(m.path, "new.root", "Events"))
    np.arange(3).tofile(os.path.join(m.path, "new.root", "Events", "y.i8"))
    (tmp_path / "notes.txt").write_text("plain")
    said = umount(m, "--discard")
    assert (said.returncode, said.stderr) == (0, "") and not mounted.is_mount_point(m.path)
    assert m.close() == 0
    assert sorted(os.listdir(tmp_path)) == ["notes.txt", "out.root"] and (tmp_path / "out.root").read_bytes() == before


def test_nothing_is_dropped_where_nothing_is_written(samples, tmp_path):
    m = mounted.Mounted(os.path.join(samples("numbers"), "numbers-505.root"))
    assert umount(m, "--discard").returncode == 0 and m.close() == 0


def test_what_a_killed_mount_has_left_is_not_dropped(tmp_path):
    """Its programs were promised it."""
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    values = stage(m, "x.i8", 1000)
    mounted.fsync(os.path.join(m.path, "out.root", "Events", "x.i8"))
    m.process.kill()
    m.process.wait()
    m.close()
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    stage(m, "y.i8", 1000)
    said = umount(m, "--discard")
    assert said.returncode == 1 and "mount that was killed" in said.stderr and mounted.is_mount_point(m.path)
    subprocess.run([mounted.program(), "commit", m.path], check=True)
    np.arange(3).tofile(os.path.join(m.path, "out.root", "Events", "z.i8"))
    assert umount(m, "--discard").returncode == 0 and m.close() == 0
    with uproot.open(tmp_path / "out.root") as file:
        assert np.array_equal(file["Events/x"].array(library="np"), values) and set(file["Events"].keys()) == {"x", "y"}


def test_only_who_has_mounted_drops_what_is_staged(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root becomes another user")
    tmp_path.chmod(0o777)
    m = mounted.Mounted(tmp_path, ("rw", "commit=600", "allow_other"))
    values = stage(m, "x.i8", 1000)
    other = "import os, sys\nos.setuid(65534)\nos.setxattr(sys.argv[1], 'user.tfilefs.discard', b'')"
    done = subprocess.run([sys.executable, "-c", other, os.path.join(m.path, ".tfilefs")], capture_output=True, text=True)
    assert "Permission denied" in done.stderr, done.stderr
    assert umount(m).returncode == 0 and m.close() == 0
    with uproot.open(tmp_path / "out.root") as file:
        assert np.array_equal(file["Events/x"].array(library="np"), values)
