# SPDX-License-Identifier: Apache-2.0
"""tfilefs.open: a file without a mount, by a daemon. test_python_reading.py compares what it gives with what a mount gives,
test_python_sharing.py is about processes that share one."""

import concurrent.futures
import gc
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import uproot

import mounted
from conftest import ROOT
from test_python_sharing import daemon_at

SOURCE = os.path.join(ROOT, "packaging", "python", "src")


@pytest.fixture
def opened(tfilefs, sample, tmp_path, monkeypatch):
    """An opened sample, whose daemon is this process's alone."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with tfilefs.open(sample, share=False) as f:
        yield f
    assert_gone(f"{tmp_path}/tfilefs-*")


def assert_gone(pattern):
    mounted.wait_until(lambda: not glob.glob(pattern), 20)


@pytest.fixture
def energy(sample):
    with uproot.open(sample) as file:
        return file["Events/energy"].array(library="np")


def is_sealed(array):
    """Nobody can write to its memory."""
    address = array.__array_interface__["data"][0]
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            first, last = (int(each, 16) for each in line.split()[0].split("-"))
            if first <= address < last:
                return "memfd:tfilefs" in line and line.split()[1] == "r--s"
    return False


def test_columns_that_are_read_whole_are_mapped(opened, energy):
    events = opened["Events"]
    mapped = events["energy"].numpy()
    assert np.array_equal(mapped, energy) and is_sealed(mapped) and not mapped.flags.writeable
    again = events.arrays("energy", library="np")["energy"]
    assert np.shares_memory(mapped, again), "it is there once"
    muons = events["Muon_pt"].array()
    assert is_sealed(muons.layout.content.data) and is_sealed(muons.layout.offsets.data)
    for copied in (events.numpy("energy"), events["energy"].numpy(copy=True)):
        assert np.array_equal(copied, energy) and copied.flags.writeable and not is_sealed(copied)
    part = events["energy"].numpy(10, 20)
    assert np.array_equal(part, energy[10:20]) and part.flags.writeable, "a part is read alone"
    assert len(events["energy"].numpy(200_000)) == 0 and np.array_equal(events["energy"].numpy(-5), energy[-5:])


def test_arrays_stay_when_it_is_closed(opened, energy):
    mapped, table = opened["Events"]["energy"].numpy(), opened["Events"]
    opened.close()
    assert np.array_equal(mapped, energy)
    for gone in (lambda: list(opened), lambda: table.numpy("energy"), lambda: table.awkward("energy")):
        with pytest.raises(OSError, match="not open any more"):
            gone()


def test_what_is_not_used_is_not_kept(opened):
    events = opened["Events"]
    first = events["energy"].numpy()
    assert len(opened._server._mapped) == 1
    del first
    gc.collect()
    assert len(opened._server._mapped) == 0


def test_a_file_that_changes_is_read_again(tfilefs, tmp_path):
    def write(number):
        with uproot.recreate(tmp_path / "new.root") as file:
            file["T"] = {"x": np.full(1000, number, dtype="i4")}
        os.replace(tmp_path / "new.root", tmp_path / "x.root")

    write(1)
    with tfilefs.open(tmp_path / "x.root") as f:
        before = f["T"]["x"].numpy()
        write(2)
        deadline = time.monotonic() + 10
        while (after := f["T"]["x"].numpy())[0] == 1:
            assert time.monotonic() < deadline
        assert before[0] == 1 and after.tolist() == [2] * 1000


def test_what_is_closed_while_it_is_replaced_is_left_once(tfilefs, sample, tmp_path, monkeypatch):
    """By the thread that closes it; the descriptors of others stay open, and no other daemon is started."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    f = tfilefs.open(sample, share=False)
    daemon, others = f._server._daemon, []
    replace = daemon.replace

    def late(directory):
        f.close()
        others.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(5))
        replace(directory)

    monkeypatch.setattr(daemon, "replace", late)
    os.kill(daemon_at(daemon.directory), signal.SIGKILL)
    with pytest.raises(tfilefs.MountError, match="not open any more"):
        f["Events"]["energy"].numpy()
    for each in others:
        os.close(each)
    assert len(others) == 5
    assert_gone(f"{tmp_path}/tfilefs-*/socket")
    f.close()


def test_there_is_no_path_and_why_is_said(tfilefs, opened, tmp_path):
    for each in (opened, opened["Events"], opened["tracker/layer0/hits"]):
        with pytest.raises(tfilefs.MountError, match="nothing is mounted by tfilefs.open; tfilefs.mount does"):
            each.path
    for write in (lambda: opened.__setitem__("t", {"x": [1]}), lambda: opened.mkdir("d"), lambda: opened["Events"].extend({"x": [1]})):
        with pytest.raises(tfilefs.MountError, match="only read by tfilefs.open"):
            write()
    with pytest.raises(tfilefs.MountError, match="only read"):
        tfilefs.open(tmp_path / "x.root", "rw")


def test_nobody_else_can_use_it(opened):
    daemon = opened._server._daemon
    assert os.stat(daemon.directory).st_mode & 0o777 == 0o700 and os.stat(daemon.socket).st_mode & 0o777 == 0o600
    process = daemon_at(daemon.directory)
    with open(f"/proc/{process}/cmdline", "rb") as arguments, open(f"/proc/{process}/environ", "rb") as environment:
        assert daemon.token.encode() not in arguments.read() + environment.read()


def test_threads_and_forks_share_it(opened, energy):
    events = opened["Events"]
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        for found in threads.map(lambda copy: events["energy"].numpy(copy=copy), [None, True] * 8):
            assert np.array_equal(found, energy)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(events.numpy("energy"), energy) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert np.array_equal(events.numpy("energy"), energy)


def test_a_fork_reads_what_a_thread_is_reading(opened, energy):
    events = opened["Events"]
    events["run"].numpy()  # all is imported, and the schema is known
    process = daemon_at(opened._server._daemon.directory)
    mounted.stop_threads(process)
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        reading = thread.submit(events["energy"].numpy)
        mounted.wait_until(reading.running)
        time.sleep(0.5)
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            os._exit(0 if np.array_equal(events["energy"].numpy(), energy) else 1)
        os.kill(process, signal.SIGCONT)
        assert np.array_equal(reading.result(), energy)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_directories_chains_and_objects(tfilefs, sample, tmp_path):
    for number in range(2):
        shutil.copy(sample, tmp_path / f"run{number}.root")
    with tfilefs.open(tmp_path) as f:
        assert list(f) == ["run0.root", "run1.root"] and f["run0.root/tracker/layer0/hits"].values().sum() > 0
    with tfilefs.open([tmp_path / "run0.root", tmp_path / "run1.root"], chain=True) as f:
        assert len(f["Events"]) == 200_000 and len(f["Events"]["energy"].numpy()) == 200_000
    with tfilefs.open(sample) as f, tfilefs.create(tmp_path / "out.root") as out:
        out["hits"] = f["tracker/layer0/hits"]
    with uproot.open(sample) as theirs, uproot.open(tmp_path / "out.root") as file:
        assert np.array_equal(file["hits"].values(), theirs["tracker/layer0/hits"].values())


def test_errors_are_those_of_a_mount(tfilefs, opened, tmp_path):
    with pytest.raises(FileNotFoundError, match="none.root"):
        tfilefs.open(tmp_path / "none.root")
    for nothing in ("", [tmp_path / "none.root", ""]):
        for call in (tfilefs.open, tfilefs.mount):
            with pytest.raises(FileNotFoundError, match="''"):
                call(nothing)
    (tmp_path / "text.root").write_text("text")
    with pytest.raises(tfilefs.MountError, match="text.root"):
        tfilefs.open(tmp_path / "text.root")
    with pytest.raises(tfilefs.MountError, match="memory"):
        tfilefs.open(tmp_path / "text.root", memory="lots")
    with pytest.raises(KeyError, match="Events"):
        opened["Event"]


@pytest.fixture
def without_fuse(program, tmp_path):
    """A program that cannot mount, as where there is no /dev/fuse."""
    path = tmp_path / "tfilefs"
    path.write_text(f"#!/bin/sh\n[ \"$1\" = serve ] || {{ echo 'tfilefs: cannot mount: no /dev/fuse' >&2; exit 1; }}\nexec '{program}' \"$@\"\n")
    path.chmod(0o755)
    return str(path)


def test_mount_falls_back_where_it_is_asked_to(tfilefs, sample, without_fuse, energy, monkeypatch, tmp_path):
    monkeypatch.setenv("TFILEFS", without_fuse)
    with pytest.raises(tfilefs.MountError, match="no /dev/fuse"):
        tfilefs.mount(sample)
    with tfilefs.mount(sample, fallback=True) as f:
        assert isinstance(f, tfilefs.Opened) and np.array_equal(f["Events"].numpy("energy"), energy)
    with pytest.raises(tfilefs.MountError, match="no /dev/fuse"):
        tfilefs.mount(tmp_path / "new.root", "rw", fallback=True)
    found = tfilefs.concatenate(sample, ["energy"], library="np", fallback=True)
    assert np.array_equal(found["energy"], energy)


@pytest.mark.parametrize("how", ("kill", "exit", "forget"))
def test_a_process_that_ends_leaves_nothing(program, sample, tmp_path, how):
    code = ("import sys, tfilefs\nf = tfilefs.open(sys.argv[1], share=False)\nprint(f._server._daemon.directory, flush=True)\n"
            "if sys.argv[2] == 'forget':\n    f = f['Events']\n    del f\n"
            "if sys.argv[2] == 'kill':\n    __import__('time').sleep(600)\n")
    process = subprocess.Popen([sys.executable, "-c", code, sample, how], stdout=subprocess.PIPE, text=True,
                               env=dict(os.environ, TMPDIR=str(tmp_path), PYTHONPATH=SOURCE, TFILEFS=program))
    directory = process.stdout.readline().strip()
    if how == "kill":
        assert os.listdir(tmp_path) != []
        process.send_signal(signal.SIGKILL)
    process.wait(30)
    assert directory.startswith(str(tmp_path))
    assert_gone(f"{tmp_path}/*")


def test_its_lines_of_the_page(tfilefs, sample, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.symlink(sample, "run.root")
    with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as page:
        section = page.read().split("## Without a mount")[1].split("\n## ")[0]
    for block in re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL):
        exec(block, {})
