# SPDX-License-Identifier: Apache-2.0
"""The map of autofs that is shipped, with Debian's automount, in a mount namespace of its own."""

import os
import shutil
import signal
import subprocess
import time

import pytest

from conftest import ROOT

TIMEOUT = 2  # seconds without use, after which a file is unmounted


def has_autofs():
    with open("/proc/filesystems", encoding="utf-8") as file:
        return "autofs" in file.read().split() and shutil.which("automount") is not None


pytestmark = [pytest.mark.skipif(os.geteuid() != 0, reason="only root may run automount"),
              pytest.mark.skipif(not has_autofs(), reason="no automount, or a kernel without autofs")]

# mount(8) looks for helpers in /sbin alone. The mounts of other tests are copied with the namespace, and would stay.
SCRIPT = """
set -e
umount --all --lazy --types fuse.tfilefs
cd "$1"
mkdir upper work
ln -s "$2" upper/mount.fuse.tfilefs
mount -t overlay overlay -o lowerdir=/usr/sbin,upperdir=upper,workdir=work /usr/sbin
exec automount --foreground --verbose --dont-check-daemon --pid-file="$1/pid" "$1/master"
"""


class Automount:
    """Looks as a program in automount's mount namespace sees the directory."""

    def __init__(self, directory, helper):
        self.directory = directory
        with open(directory / "log", "wb") as log:  # autofs hides nothing from the daemon's process group: it has its own
            self.daemon = subprocess.Popen(["unshare", "--mount", "--propagation", "private", "sh", "-c", SCRIPT, "sh",
                                            directory, helper], stdout=log, stderr=log, start_new_session=True)
        self.wait_until(lambda: "mounted indirect" in self.log(), "automount is ready")

    def log(self):
        return (self.directory / "log").read_text()

    def wait_until(self, condition, what):
        deadline = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < deadline and self.daemon.poll() is None, f"{what}: {self.log()}"
            time.sleep(0.05)

    def run(self, *command):
        return subprocess.run(["nsenter", f"--mount=/proc/{self.daemon.pid}/ns/mnt", *command], capture_output=True,
                              text=True, timeout=30)

    def is_mounted(self, name):
        with open(f"/proc/{self.daemon.pid}/mounts", encoding="utf-8") as mounts:
            return any(line.split()[1] == str(self.directory / "files" / name) for line in mounts)

    def kill_mount(self, name):
        point = str(self.directory / "files" / name)
        for pid in self.run("pgrep", "--exact", "tfilefs").stdout.split():
            with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
                if point in file.read().split("\0"):
                    os.kill(int(pid), signal.SIGKILL)

    def end(self):
        self.daemon.send_signal(signal.SIGTERM)
        try:
            self.daemon.wait(20)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            raise


@pytest.fixture
def automount(installed, sample, tmp_path):
    with open(os.path.join(ROOT, "packaging", "examples", "auto.tfilefs"), encoding="utf-8") as file:
        shipped = file.read()
    assert ":/data/run1.root" in shipped and "https://data.example.org/" in shipped
    # Nobody listens at port 1.
    (tmp_path / "map").write_text(shipped.replace(":/data/run1.root", f":{sample}")
                                  .replace("https://data.example.org/", "http://127.0.0.1:1/"))
    (tmp_path / "master").write_text(f"{tmp_path}/files {tmp_path}/map --timeout={TIMEOUT}\n")
    (tmp_path / "files").mkdir()
    automount = Automount(tmp_path, f"{installed.prefix}/sbin/mount.fuse.tfilefs")
    yield automount
    automount.end()


def test_a_file_is_mounted_when_it_is_looked_at_and_goes_again(automount):
    run1 = automount.directory / "files" / "run1"
    for _ in range(2):
        assert not automount.is_mounted("run1")
        listed = automount.run("ls", run1)
        assert listed.stdout.split() == ["Events", "calorimeter", "tracker"], automount.log()
        assert automount.is_mounted("run1")
        automount.wait_until(lambda: not automount.is_mounted("run1"), "it goes without use")


def test_a_file_that_is_not_there_is_no_such_file(automount):
    for _ in range(2):
        listed = automount.run("ls", automount.directory / "files" / "run2")
        assert listed.returncode == 2 and "No such file or directory" in listed.stderr


def test_a_file_whose_daemon_was_killed_is_mounted_again(automount):
    run1 = automount.directory / "files" / "run1"
    assert automount.run("ls", run1).returncode == 0
    automount.kill_mount("run1")
    automount.wait_until(lambda: not automount.is_mounted("run1"), "what it leaves goes")
    listed = automount.run("ls", run1)
    assert listed.stdout.split() == ["Events", "calorimeter", "tracker"], automount.log()
