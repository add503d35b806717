# SPDX-License-Identifier: Apache-2.0
"""Mounts of an ordinary user without fusermount3: in a namespace of users and mounts, as batch nodes and containers allow it."""

import os
import shutil
import subprocess
import tempfile

import pytest

USER = "65534"

# The device as udev makes it, whatever it is here; and no helper.
ROOTLESS = """
umount --all --lazy --types fuse.tfilefs
mknod "$1/fuse" c 10 229 && chmod 666 "$1/fuse" && mount --bind "$1/fuse" /dev/fuse || exit 77
mount --bind /dev/null /usr/bin/fusermount3
exec setpriv --reuid="$2" --regid="$2" --clear-groups env HOME="$1" unshare --user --map-root-user --mount sh -euc "$3" sh "$1"
"""


@pytest.fixture
def as_rootless(program, samples):
    """Runs lines of sh there: $1 is a directory with tfilefs and plain.root. None: the machine does not allow it."""
    with tempfile.TemporaryDirectory() as directory:  # that of pytest is for its user alone
        for path in (program, os.path.join(samples("storage"), "plain.root")):
            shutil.copy(path, directory)
        os.chown(directory, int(USER), int(USER))

        def run(commands):
            done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", ROOTLESS, "sh", directory, USER,
                                   "cd $1; " + commands], capture_output=True, text=True, timeout=60)
            if done.returncode == 77 or "unshare failed" in done.stderr:
                pytest.skip(f"no such namespace can be made here: {done.stderr}")
            return done

        yield run


pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may make the device")


def test_a_file_is_read_and_written(as_rootless):
    done = as_rootless("""
        ./tfilefs plain.root mnt; ls mnt; ./tfilefs umount mnt
        ./tfilefs -o rw new.root mnt; mkdir mnt/Events; printf 01234567 >mnt/Events/x.i4; ./tfilefs umount mnt
        ./tfilefs -f new.root mnt & sleep 0.1; until [ -e mnt/Events ]; do sleep 0.1; done
        cat mnt/Events/x.i4; ./tfilefs umount mnt; wait""")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "h\nt\n01234567"


def test_doctor_tries_it(as_rootless):
    done = as_rootless("./tfilefs doctor")
    assert done.returncode == 0 and "was written, mounted, read and unmounted" in done.stdout, done.stdout + done.stderr


def test_the_daemon_of_a_job_that_did_not_unmount_ends_by_a_signal(as_rootless):
    """It holds its mount, which no other program can see: the scheduler of a batch job ends all of its programs."""
    done = as_rootless("./tfilefs plain.root mnt; ls mnt >/dev/null; sed -n 's/.*\"pid\": \\([0-9]*\\).*/\\1/p' mnt/.tfilefs/config.json")
    assert done.returncode == 0, done.stdout + done.stderr
    daemon = int(done.stdout)
    os.kill(daemon, 15)
    for _ in range(200):
        if not os.path.exists(f"/proc/{daemon}"):
            return
        subprocess.run(["sleep", "0.05"], check=True)
    raise AssertionError("the daemon did not end")
