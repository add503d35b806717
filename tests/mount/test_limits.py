# SPDX-License-Identifier: Apache-2.0
"""A mount that can have no more threads, descriptors or memory (ulimit): it fails with one line and exit status 1, or works.
What fails later is an errno of the one who asks. It never hangs, and is never ended by a signal."""

import concurrent.futures
import ctypes
import errno
import itertools
import os
import shutil
import subprocess
import tempfile

import numpy as np
import pytest
import uproot

import remote_files
import mounted
import other_user

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the limit of threads is none for root, who has to make a user for it")

USERS = itertools.count(23_500)  # one for each mount: threads are counted by user
ENTRIES = 50_000
LIBC = ctypes.CDLL(None, use_errno=True)


@pytest.fixture(scope="module")
def place():
    """A directory that every user can look into, with a.root in it."""
    directory = tempfile.mkdtemp(prefix="tfilefs-limits-")
    os.chmod(directory, 0o755)
    with uproot.recreate(os.path.join(directory, "a.root")) as file:
        file["T"] = {"x": np.arange(ENTRIES), "y": np.arange(ENTRIES) / 7}
    yield directory
    shutil.rmtree(directory)


class UserMount:
    """A mount made by root, whose daemon is run by a user."""

    def __init__(self, source, options=(), limit=(), user=None):
        self.path = tempfile.mkdtemp(prefix="tfilefs-test-")
        self.user = user or next(USERS)
        device = os.open("/dev/fuse", os.O_RDWR)
        settings = f"fd={device},rootmode=40000,user_id={self.user},group_id={self.user},allow_other"
        if LIBC.mount(b"test", self.path.encode(), b"fuse.tfilefs", 0, settings.encode()) != 0:
            raise OSError(ctypes.get_errno(), "mount(2)")
        self._messages = tempfile.TemporaryFile()
        command = [*limit, "setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups", mounted.program(), "-f",
                   *(f"-o{option}" for option in options), source, f"/dev/fd/{device}"]
        self.process = subprocess.Popen(command, stdout=self._messages, stderr=self._messages, pass_fds=[device])
        os.close(device)
        try:
            os.stat(self.path)  # waits until the daemon answers, or has ended
            self.failed = False
        except OSError:
            self.failed = True

    def close(self):
        """The exit status, and what was said."""
        subprocess.run(["umount", self.path], check=True, timeout=20)
        os.rmdir(self.path)
        status = self.process.wait(20)
        self._messages.seek(0)
        return status, self._messages.read().decode()


def outcome(source, limit):
    """What comes of a mount under a limit: "right", or the message or errno with which it failed."""
    m = UserMount(source, limit=("prlimit", limit))
    got = None if m.failed else remote_files.read(os.path.join(m.path, "T", "x.i8"), 10)
    status, said = m.close()
    if m.failed:
        told = [line for line in said.splitlines() if "there is an abandoned journal next to it" not in line]  # the log, which is here as well
        assert status == 1 and len(told) == 1, (limit, status, said)
        return said
    assert status == 0, (limit, status, said)
    assert isinstance(got, str) or got == np.arange(ENTRIES).tobytes(), (limit, "wrong bytes")
    return got if isinstance(got, str) else "right"


def outcomes(source, limits):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda limit: outcome(source, limit), limits))


def test_few_threads(place):
    got = outcomes(os.path.join(place, "a.root"), [f"--nproc={count}" for count in range(1, 25)])
    assert got[0] != "right" and got[-1] == "right"
    assert any("thread" in message or "temporarily" in message for message in got), got


def test_few_descriptors(place):
    got = outcomes(os.path.join(place, "a.root"), [f"--nofile={count}" for count in range(4, 40, 2)])
    assert got[0] != "right" and got[-1] == "right", got


def test_in_the_background(place):
    """The process that was started tells what the daemon cannot do."""
    for count in range(2, 6):
        user, point = next(USERS), tempfile.mkdtemp(prefix="tfilefs-test-")
        done = subprocess.run(["prlimit", f"--nproc={count}", "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups",
                               mounted.program(), os.path.join(place, "a.root"), point], capture_output=True, text=True, timeout=20)
        os.rmdir(point)
        assert done.returncode == 1 and done.stderr.count("\n") == 1 and point in done.stderr, (count, done)


def limit_threads(m, count):
    command = ["setpriv", f"--reuid={m.user}", f"--regid={m.user}", "--clear-groups", "prlimit", f"--pid={m.process.pid}"]
    subprocess.run([*command, f"--nproc={count}:"], check=True, timeout=10)


def write_table(top):
    os.makedirs(os.path.join(top, "new.root", "T"))
    np.arange(9).tofile(os.path.join(top, "new.root", "T", "z.i8"))


def test_no_more_threads_later(place):
    """What needs one is an error until there is one again; what is written is committed at the end."""
    directory = os.path.join(place, "writable")
    os.mkdir(directory)
    shutil.copy(os.path.join(place, "a.root"), directory)
    for path in (directory, os.path.join(directory, "a.root")):
        os.chmod(path, 0o777)
    m = UserMount(directory, ("rw",))
    limit_threads(m, 1)
    for name in ("x.i8", "y.f8"):
        got = remote_files.read(os.path.join(m.path, "a.root", "T", name), 10)
        assert not isinstance(got, str) or got in {"EAGAIN", "EBUSY", "EIO"}, got
    limit_threads(m, 1000)
    assert remote_files.read(os.path.join(m.path, "a.root", "T", "x.i8"), 10) == np.arange(ENTRIES).tobytes()
    limit_threads(m, 1)
    try:
        other_user.run_as(m.user, write_table, m.path)
        is_written = True
    except OSError as error:
        is_written = False
        assert error.errno in {errno.EAGAIN, errno.EBUSY, errno.EIO}
    limit_threads(m, 1000)
    assert m.close()[0] == 0
    if is_written:
        with uproot.open(os.path.join(directory, "new.root")) as file:
            assert file["T/z"].array(library="np").tolist() == list(range(9))


@pytest.mark.parametrize("group, mode", ((0, 0o644), (0, 0o600), (None, 0o644)))
def test_a_user_writes_a_file_of_a_group_that_is_not_the_users(place, group, mode):
    """As it is after `chown USER FILE` by root: its journal cannot get that group, and lets in its owner alone anyway."""
    directory = os.path.join(place, f"of-{group}-{mode:o}")
    os.mkdir(directory)
    os.chmod(directory, 0o777)
    path = os.path.join(directory, "a.root")
    shutil.copy(os.path.join(place, "a.root"), path)
    user = next(USERS)
    os.chown(path, user, user if group is None else group)
    os.chmod(path, mode)
    m = UserMount(path, ("rw",), user=user)
    try:
        other_user.run_as(user, np.save, os.path.join(m.path, "T", "z.npy"), np.arange(ENTRIES))
    finally:
        status, said = m.close()
    assert status == 0, said
    with uproot.open(path) as file:
        assert file["T/z"].array(library="np").tolist() == list(range(ENTRIES))
    after = os.stat(path)
    assert (after.st_uid, after.st_gid, after.st_mode & 0o777) == (user, user if group is None else group, mode)
    assert os.listdir(directory) == ["a.root"]
