# SPDX-License-Identifier: Apache-2.0
"""tfilefs.open in several processes of one user: one daemon for those that open the same, and which ones share none."""

import contextlib
import glob
import json
import os
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np
import pytest
import uproot

from conftest import ROOT
import mounted

SOURCE = os.path.join(ROOT, "packaging", "python", "src")

READER = """
import json, os, sys, tfilefs
f = tfilefs.open(sys.argv[1], **json.loads(sys.argv[2]))
total = float(f["Events"]["energy"].numpy().sum(dtype="f8"))
print(json.dumps({"directory": f._server._daemon.directory, "total": total}), flush=True)
sys.stdin.readline()
total = float(f["Events"]["energy"].numpy().sum(dtype="f8"))
print(json.dumps({"directory": f._server._daemon.directory, "total": total}), flush=True)
"""


class Reader:
    """A process that has opened a file and read a column, and does so again when it is told to. `found`: what it told last."""

    def __init__(self, program, path, options=None, **environment):
        self._process = subprocess.Popen([sys.executable, "-c", READER, path, json.dumps(options or {})], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True,
                                         env=dict(os.environ, PYTHONPATH=SOURCE, TFILEFS=program) | environment)

    def wait(self):
        self.found = json.loads(self._process.stdout.readline())
        return self.found["directory"]

    def again(self):
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return self.wait()

    def kill(self):
        self._process.kill()
        self._process.wait()


@pytest.fixture
def runtime(monkeypatch):
    """XDG_RUNTIME_DIR of a test; its name is short, as it is of a login."""
    path = tempfile.mkdtemp(prefix="run-", dir="/tmp")
    monkeypatch.setenv("XDG_RUNTIME_DIR", path)
    yield path
    assert gone(f"{path}/tfilefs/*"), glob.glob(f"{path}/tfilefs/*")
    shutil.rmtree(path)


@pytest.fixture
def readers(program, sample, runtime):
    """start(**environment): a Reader; all are killed in the end."""
    started = []

    def start(path=sample, options=None, **environment):
        started.append(Reader(program, path, options, **environment))
        return started[-1]

    yield start
    for each in started:
        each.kill()


@pytest.fixture
def total(sample):
    with uproot.open(sample) as file:
        return float(file["Events/energy"].array(library="np").sum(dtype="f8"))


def gone(pattern):
    mounted.wait_until(lambda: not glob.glob(pattern), 20)
    return not glob.glob(pattern)


def daemon_at(directory):
    """Its process."""
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(os.path.join(directory, "socket"))
        return struct.unpack("3i", asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]


def decoded_chunks(opened):
    """Clusters of the column, counted each time one was decoded."""
    page = opened._server.read(".tfilefs/metrics").decode()
    return sum(int(line.split()[-1]) for line in page.splitlines() if line.startswith("tfilefs_decoded_chunks_total{"))


def test_eight_processes_decode_once(tfilefs, sample, readers, total):
    started = [readers() for _ in range(8)]
    [directory] = {each.wait() for each in started}
    assert [each.found["total"] for each in started] == [total] * 8
    with tfilefs.open(sample) as f, uproot.open(sample) as file:
        assert f._server._daemon.directory == directory
        child = os.fork()
        if child == 0:
            os._exit(0 if float(f["Events"]["energy"].numpy().sum(dtype="f8")) == total else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert decoded_chunks(f) == file["Events/energy"].num_baskets
    assert stat.S_IMODE(os.stat(directory).st_mode) == stat.S_IMODE(os.stat(os.path.dirname(directory)).st_mode) == 0o700
    for name in ("socket", "token", "lifeline"):
        assert os.stat(os.path.join(directory, name)).st_mode & 0o077 == 0


def test_it_stays_for_the_last_one_and_a_moment(readers, total):
    first, second = readers(), readers()
    directory = first.wait()
    assert second.wait() == directory
    first.kill()  # it may be the one that has started it
    time.sleep(3)
    assert second.again() == directory and second.found["total"] == total
    second.kill()
    third = readers()  # while it lingers
    assert third.wait() == directory
    time.sleep(3)
    assert third.again() == directory
    third.kill()
    assert gone(directory)


def test_one_that_is_killed_is_replaced(readers, total):
    old = readers()
    directory = old.wait()
    others = [readers() for _ in range(3)]
    os.kill(daemon_at(directory), signal.SIGKILL)  # while they open
    new = readers()
    others.append(new)
    for each in others:
        each.wait()
        assert each.found["total"] == total
    assert old.again() != directory and old.found["total"] == total
    assert {each.again() for each in others} == {old.found["directory"]} and not os.path.exists(directory)


def test_what_is_stale_is_no_hindrance(readers, runtime, total):
    first = readers()
    directory = first.wait()
    os.kill(daemon_at(directory), signal.SIGKILL)
    first.kill()
    open(directory.rpartition(".")[0] + ".lock", "w").close()  # of one that was killed while it held it
    assert os.path.exists(directory)
    second = readers()
    assert second.wait() != directory and second.found["total"] == total
    assert os.listdir(f"{runtime}/tfilefs") == [os.path.basename(second.found["directory"])], "it has cleared away the other"


def test_one_that_was_killed_leaves_nothing(tfilefs, sample, runtime):
    f = tfilefs.open(sample)
    directory, ended = f._server._daemon.directory, select.poll()
    ended.register(f._server._daemon._joined.lifeline, 0)
    os.kill(daemon_at(directory), signal.SIGKILL)
    assert ended.poll(20_000)
    f.close()
    assert not os.path.exists(directory)


@pytest.mark.parametrize("share", (True, False))
def test_what_was_killed_with_its_reader_is_cleared_away(tfilefs, sample, readers, runtime, tmp_path, monkeypatch, share):
    monkeypatch.setenv("TMPDIR", runtime)
    monkeypatch.setattr("tempfile.tempdir", runtime)
    alive, reader = readers(options={"share": share, "memory": "1G"}), readers(options={"share": share})
    directories = alive.wait(), reader.wait()
    killed = daemon_at(directories[1])
    os.kill(killed, signal.SIGKILL)
    reader.kill()
    with contextlib.suppress(OSError):
        mounted.wait_until(lambda: not os.listdir(f"/proc/{killed}/fd"))  # a busy machine takes its time to end it
    shutil.copy(sample, tmp_path / "other.root")
    with tfilefs.open(tmp_path / "other.root", share=share):
        assert [os.path.exists(each) for each in directories] == [True, False]
    assert alive.again() == directories[0]


@pytest.mark.parametrize("environment", ({"AWS_SECRET_ACCESS_KEY": "other"}, {"BEARER_TOKEN": "other"}, {"https_proxy": "http://127.0.0.1:9"},
                                         {"X509_USER_PROXY": "/tmp/other"}, {"HOME": "/tmp"}))
def test_other_credentials_are_another_daemon(readers, environment):
    first, same, other = readers(), readers(PWD="/other", SLURM_PROCID="1"), readers(**environment)
    assert first.wait() == same.wait() != other.wait()


def test_other_options_and_names_are_another_daemon(readers, sample, tmp_path):
    os.symlink(sample, tmp_path / "link.root")
    started = [readers(), readers(options={"memory": "1G"}), readers(path=str(tmp_path / "link.root")), readers(options={"share": False})]
    assert len({each.wait() for each in started}) == 4
    assert not started[-1].found["directory"].startswith(os.environ["XDG_RUNTIME_DIR"])


def test_it_tells_nothing_to_the_service_that_has_started_it(readers):
    with open(f"/proc/{daemon_at(readers(NOTIFY_SOCKET='/tmp/none').wait())}/environ", "rb") as environment:
        assert b"NOTIFY_SOCKET" not in environment.read()


def test_another_program_is_another_daemon(program, readers, sample, tmp_path):
    copy = tmp_path / "tfilefs"
    copy.write_text(f"#!/bin/sh\nexec '{program}' \"$@\"\n")
    copy.chmod(0o755)
    first, other = readers(), readers(TFILEFS=str(copy))
    assert first.wait() != other.wait()


@pytest.mark.parametrize("how", ("open to others", "a link", "of another user"))
def test_a_place_that_others_could_use_is_not_used(readers, runtime, tmp_path, total, how):
    place = os.path.join(runtime, "tfilefs")
    if how == "a link":
        os.symlink(tmp_path, place)
    else:
        os.mkdir(place)
        os.chmod(place, 0o755 if how == "open to others" else 0o700)
        if how == "of another user":
            if os.geteuid() != 0:
                pytest.skip("needs root")
            os.chown(place, 12345, 12345)
    reader = readers()
    assert reader.wait().startswith("/tmp/") and not reader.found["directory"].startswith(place) and reader.found["total"] == total
    assert os.listdir(place) == [] and os.listdir(tmp_path) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_another_user_has_one_of_its_own(tfilefs, sample, runtime):
    """And cannot enter this one's."""
    with tfilefs.open(sample) as f:
        directory = f._server._daemon.directory
        for name in ("", "socket", "token", "lifeline"):
            done = subprocess.run(["setpriv", "--reuid", "12345", "--regid", "12345", "--clear-groups", "stat", f"{directory}/{name}"],
                                  capture_output=True, text=True)
            assert done.returncode != 0 and "Permission denied" in done.stderr


def test_a_file_that_cannot_be_opened_leaves_nothing(tfilefs, runtime, tmp_path):
    (tmp_path / "text.root").write_text("text")
    for _ in range(2):
        with pytest.raises(tfilefs.MountError, match="text.root"):
            tfilefs.open(tmp_path / "text.root")
    assert os.listdir(f"{runtime}/tfilefs") == []


def test_arrays_of_one_are_not_changed_by_another(tfilefs, sample, readers):
    with tfilefs.open(sample) as f:
        mine = f["Events"]["energy"].numpy()
        before = mine.copy()
        readers().wait()
        assert np.array_equal(mine, before) and not mine.flags.writeable
