# SPDX-License-Identifier: Apache-2.0
"""As a service: what systemd is told, units, and mount points that other programs have mounted."""

import ctypes
import os
import re
import shutil
import socket
import subprocess
import sys
import time

import pytest

import mounted
from conftest import ROOT


def receive(notices, until, seconds=30):
    """What was said, up to a message with that word."""
    said = []
    notices.settimeout(seconds)
    while not said or until not in said[-1]:
        said.append(notices.recv(4096).decode())
    return said


@pytest.mark.parametrize("abstract", (False, True))
def test_the_manager_is_told_when_it_answers_and_when_it_ends(program, sample, tmp_path, abstract):
    name = f"\0tfilefs-test-{os.getpid()}" if abstract else str(tmp_path / "notify")
    notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notices.bind(name)
    mnt = tmp_path / "mnt"
    mnt.mkdir()
    daemon = subprocess.Popen([program, "-f", sample, mnt], env=dict(os.environ, NOTIFY_SOCKET=name.replace("\0", "@")))
    [ready] = receive(notices, "READY=1")
    assert mounted.is_mount_point(mnt) and "Events" in os.listdir(mnt)
    assert f"STATUS={sample} on {mnt}" in ready and f"MAINPID={daemon.pid}" in ready
    with open(f"/proc/{daemon.pid}/environ", "rb") as environment:
        assert b"NOTIFY_SOCKET" in environment.read()  # the environment it was started with
    assert subprocess.run([program, "umount", mnt]).returncode == 0
    assert "STOPPING=1" in receive(notices, "STOPPING")[-1]
    assert daemon.wait(20) == 0


def test_ready_is_not_said_of_what_cannot_be_mounted(program, tmp_path):
    notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notices.bind(str(tmp_path / "notify"))
    (tmp_path / "mnt").mkdir()
    (tmp_path / "text.root").write_text("no ROOT file")
    done = subprocess.run([program, "-f", tmp_path / "text.root", tmp_path / "mnt"], capture_output=True,
                          env=dict(os.environ, NOTIFY_SOCKET=str(tmp_path / "notify")))
    assert done.returncode == 1
    notices.setblocking(False)
    with pytest.raises(BlockingIOError):
        notices.recv(10)


def verify(installed, *units, user=False):
    return subprocess.run(["systemd-analyze", *(["--user"] if user else []), "--man=no", "--recursive-errors=no", "verify", *units],
                          capture_output=True, text=True, env=dict(installed.environment, XDG_RUNTIME_DIR="/tmp"), timeout=120)


def test_units_are_valid(installed, tmp_path):
    with open(f"{installed.prefix}/lib/systemd/user/tfilefs@.service", encoding="utf-8") as unit:
        text = unit.read()
    path = tmp_path / "tfilefs@run1.service"  # the program is where the test installed it
    path.write_text(re.sub(r'="/[^"]*/tfilefs" ', f'="{installed.program}" ', text))
    done = verify(installed, path, user=True)
    assert done.returncode == 0 and "tfilefs@" not in done.stderr, done.stderr
    examples = f"{installed.prefix}/share/doc/tfilefs/examples"
    for name in ("mnt-run1.mount", "mnt-run1.automount"):
        shutil.copy(os.path.join(examples, name), tmp_path)
    done = verify(installed, tmp_path / "mnt-run1.mount", tmp_path / "mnt-run1.automount")
    assert done.returncode == 0 and "mnt-run1" not in done.stderr, done.stderr
    with open(os.path.join(examples, "tfilefs@.service"), encoding="utf-8") as unit:
        path.write_text(unit.read().replace("=tfilefs ", f"={installed.program} "))
    done = verify(installed, path)
    assert done.returncode == 0 and "tfilefs@" not in done.stderr, done.stderr
    for kind in ("socket", "service"):
        with open(os.path.join(examples, f"tfilefs-serve@.{kind}"), encoding="utf-8") as unit:
            (tmp_path / f"tfilefs-serve@run1.{kind}").write_text(unit.read().replace("=tfilefs ", f"={installed.program} "))
    done = verify(installed, tmp_path / "tfilefs-serve@run1.socket", tmp_path / "tfilefs-serve@run1.service")
    assert done.returncode == 0 and "tfilefs-serve@" not in done.stderr, done.stderr


def test_a_unit_that_is_wrong_is_found(installed, tmp_path):
    path = tmp_path / "wrong.service"
    path.write_text("[Service]\nType=sometimes\nExecStart=/nowhere/at/all\n")
    done = verify(installed, path, user=True)
    assert done.returncode != 0 or "wrong.service" in done.stderr


def test_lines_for_fstab_are_taken(program, installed, sample, tmp_path):
    """The options of each example, as mount(8) would pass them to the helper."""
    with open(f"{installed.prefix}/share/doc/tfilefs/examples/fstab", encoding="utf-8") as file:
        lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    assert len(lines) == 4
    for _, _, kind, options, *_ in lines:
        assert kind == "fuse.tfilefs"
        mnt = tmp_path / "mnt"
        mnt.mkdir()
        source = tmp_path / "copy.root"
        shutil.copy(sample, source)
        done = subprocess.run([f"{installed.prefix}/sbin/mount.fuse.tfilefs", source, mnt, "-o", "rw,dev,suid," + options],
                              env=installed.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        with open(mnt / ".tfilefs" / "config.json", encoding="utf-8") as config:
            assert ('"ro": false' in config.read()) == ("writable" in options)
        assert subprocess.run([program, "umount", mnt]).returncode == 0
        mnt.rmdir()


def test_read_only_is_what_was_asked_for_in_any_case(program, installed, sample, tmp_path):
    """`mount -r` of a line of fstab that has `writable`: mount(8) says ro, and that in front."""
    source = tmp_path / "copy.root"
    shutil.copy(sample, source)
    helper = f"{installed.prefix}/sbin/mount.fuse.tfilefs"
    for options, read_only in (("ro,writable", True), ("rw,writable", False), ("rw,noatime,nodiratime,strictatime", True)):
        done = subprocess.run([helper, source, tmp_path / "mnt", "-o", options], env=installed.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        with open(tmp_path / "mnt" / ".tfilefs" / "config.json", encoding="utf-8") as config:
            assert ('"ro": true' in config.read()) == read_only, options
        assert subprocess.run([program, "umount", tmp_path / "mnt"]).returncode == 0


def test_a_mount_that_is_remounted_is_told_what_to_do(installed, sample, tmp_path):
    done = subprocess.run([f"{installed.prefix}/sbin/mount.fuse.tfilefs", sample, tmp_path / "mnt", "-o", "rw,remount,noatime"],
                          env=installed.environment, capture_output=True, text=True)
    assert done.returncode == 1 and f"{tmp_path}/mnt" in done.stderr and "unmount it" in done.stderr, done.stderr
    assert not (tmp_path / "mnt").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may call mount(2)")
@pytest.mark.parametrize("background", (False, True))
def test_a_descriptor_that_another_program_has_mounted(program, sample, tmp_path, background):
    mnt = str(tmp_path / "mnt")
    os.mkdir(mnt)
    device = os.open("/dev/fuse", os.O_RDWR)
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0"
    assert libc.mount(b"run", mnt.encode(), b"fuse.tfilefs", 1, options.encode()) == 0, os.strerror(ctypes.get_errno())
    arguments = [program, *([] if background else ["-f"]), sample, f"/dev/fd/{device}"]
    daemon = subprocess.Popen(arguments, pass_fds=[device], stderr=subprocess.PIPE)
    os.close(device)
    try:
        if background:
            assert daemon.wait(30) == 0
            assert b"/dev/fd/" in daemon.stderr.read()
        with open(os.path.join(mnt, "Events", "run.i4"), "rb") as file:
            assert int.from_bytes(file.read(4), "little") == 2024
        assert sorted(os.listdir(mnt)) == ["Events", "calorimeter", "tracker"]
    finally:
        assert libc.umount2(mnt.encode(), 0) == 0, os.strerror(ctypes.get_errno())
    if not background:
        assert daemon.wait(20) == 0


@pytest.mark.parametrize("option", ("idle=5", "lifeline=0", "auto_unmount"))
def test_what_a_descriptor_cannot_have_is_refused(program, sample, option):
    done = subprocess.run([program, "-o", option, sample, "/dev/fd/77"], capture_output=True, text=True)
    assert done.returncode == 1 and "/dev/fd/77" in done.stderr


def test_a_descriptor_that_is_none_is_refused(program, sample):
    done = subprocess.run([program, sample, "/dev/fd/77"], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1


HOLDER = """
import os, subprocess, sys, time
reading, writing = os.pipe()
subprocess.run([sys.argv[1], "-o", f"lifeline={reading}", sys.argv[2], sys.argv[3]], pass_fds=[reading], check=True,
               stderr=subprocess.DEVNULL)
os.close(reading)
held = open(sys.argv[3] + "/Events/run.i4", "rb")
print("mounted", flush=True)
time.sleep(600)
"""


def test_a_mount_goes_with_the_process_that_holds_its_lifeline(program, sample, tmp_path):
    mnt = tmp_path / "mnt"
    mnt.mkdir()
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, program, sample, mnt], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "mounted\n"
    assert mounted.is_mount_point(mnt)
    holder.kill()
    holder.wait()
    mounted.wait_until(lambda: not mnt.exists(), 20)
    assert not mounted.is_mount_point(mnt)


def test_the_map_of_autofs_names_the_type():
    with open(os.path.join(ROOT, "packaging", "examples", "auto.tfilefs"), encoding="utf-8") as file:
        lines = [line.split() for line in file if not line.startswith("#")]
    assert lines and all(options.startswith("-fstype=fuse.tfilefs,") and place.startswith(":") for _, options, place in lines)
