# SPDX-License-Identifier: Apache-2.0
"""A file that several programs make or replace under one name: one is whole, and the others say why they failed."""

import contextlib
import errno
import os
import shutil
import signal
import subprocess

import numpy as np
import pytest
import uproot

import mounted
from staged_values import OPTIONS, VALUES, kill, run, stage, tables

@pytest.fixture
def large(tmp_path):
    """A file that takes a moment to be written anew."""
    path = tmp_path / "in.root"
    with uproot.recreate(path, compression=None) as file:
        tree = file.mktree("T", {"x": "i4"})
        for i in range(8):
            tree.extend({"x": np.random.default_rng(i).integers(0, 1000, 60_000).astype("i4")})
    return path


def is_writing(process, directory):
    """Whether it has a file there open for writing."""
    with contextlib.suppress(OSError):
        for number in os.listdir(f"/proc/{process.pid}/fd"):
            with contextlib.suppress(OSError):
                link = os.readlink(f"/proc/{process.pid}/fd/{number}")
                flags = open(f"/proc/{process.pid}/fdinfo/{number}").read().split("flags:")[1].split()[0]
                if link.startswith(f"{directory}/") and int(flags, 8) & os.O_ACCMODE == os.O_RDWR:
                    return True
    return False


class Stopped:
    """A repack that is stopped while it writes."""

    def __init__(self, source, out, *options):
        command = [mounted.program(), "repack", "--compression", "lzma:9", "-j", "1", *options, str(source), str(out)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        while not is_writing(self.process, out.parent):
            assert self.process.poll() is None, self.process.stdout.read()
        mounted.stop_threads(self.process.pid)

    def end(self):
        self.process.send_signal(signal.SIGCONT)
        said = self.process.communicate(timeout=120)[0]
        return self.process.returncode, said

    def kill(self):
        self.process.kill()
        self.process.wait()


MEANWHILE = "another program has created or replaced this file in the meantime"


def whole(path):
    assert run("check", path).returncode == 0
    return path.read_bytes()


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_of_two_that_make_a_file_one_succeeds(large, force):
    out = large.parent / "out" / "o.root"
    out.parent.mkdir()
    first = Stopped(large, out, *force)
    assert os.listdir(out.parent) == []
    assert run("repack", *force, large, out).returncode == 0
    made = whole(out)
    status, said = first.end()
    assert status == 1 and MEANWHILE in said
    assert whole(out) == made and os.listdir(out.parent) == ["o.root"]


def test_of_two_that_replace_a_file_one_succeeds(large):
    out = large.parent / "out" / "o.root"
    out.parent.mkdir()
    assert run("repack", "--compression", "none", large, out).returncode == 0
    former = whole(out)
    first = Stopped(large, out, "--force")
    second = run("repack", "--force", large, out)
    assert second.returncode == 1 and "another process is writing this file" in second.stderr
    with mounted.Mounted(out.parent, OPTIONS) as m:
        with pytest.raises(OSError) as refused:
            os.makedirs(os.path.join(m.path, "o.root", "U"))
        assert refused.value.errno == errno.EBUSY
    assert whole(out) == former
    assert first.end()[0] == 0
    assert whole(out) != former and os.listdir(out.parent) == ["o.root"]
    # Whoever is killed leaves the former one, and nothing beside it.
    now = whole(out)
    Stopped(large, out, "--force").kill()
    assert whole(out) == now and os.listdir(out.parent) == ["o.root"]


def test_what_is_replaced_by_another_program_stays(large):
    out = large.parent / "out" / "o.root"
    out.parent.mkdir()
    out.write_bytes(large.read_bytes())
    first = Stopped(large, out, "--force")
    shutil.copy(large, large.parent / "other.root")
    os.rename(large.parent / "other.root", out)
    status, said = first.end()
    assert status == 1 and MEANWHILE in said
    whole(out)
    assert os.listdir(out.parent) == ["o.root"]


def test_of_files_of_a_size_all_are_made_or_none(large):
    out = large.parent / "out" / "o.root"
    out.parent.mkdir()
    first = Stopped(large, out, "--split", "300K")
    (out.parent / "o-0001.root").write_text("another's")
    status, said = first.end()
    assert status == 1 and (MEANWHILE in said or "already exists" in said)
    assert os.listdir(out.parent) == ["o-0001.root"] and (out.parent / "o-0001.root").read_text() == "another's"


def test_what_a_mount_writes_is_not_replaced(large):
    out = large.parent / "out" / "o.root"
    out.parent.mkdir()
    with mounted.Mounted(out.parent, OPTIONS) as m:
        for existing in (False, True):
            stage(os.path.join(m.path, "o.root", f"U{existing}"))
            said = run("repack", "--force", large, out)
            assert said.returncode == 1 and f"{out}: process {m.process.pid} is writing this file" in said.stderr
            mounted.fsync(os.path.join(m.path, "o.root"))
    assert sorted(tables(out)) == ["UFalse", "UTrue"]
    m = mounted.Mounted(out.parent, OPTIONS)
    stage(os.path.join(m.path, "o.root", "V"))
    mounted.fsync(os.path.join(m.path, "o.root", "V", "x.i4"))
    kill(m)
    said = run("repack", "--force", large, out)
    assert said.returncode == 1 and "`tfilefs recover`" in said.stderr
    assert run("recover", out).returncode == 0
    assert sorted(tables(out)) == ["UFalse", "UTrue", "V"]


def test_a_mount_that_makes_the_file_first_keeps_it(large):
    out = large.parent / "out" / "o.root"
    out.parent.mkdir()
    with mounted.Mounted(out.parent, OPTIONS) as m:
        first = Stopped(large, out, "--force")
        stage(os.path.join(m.path, "o.root", "U"))
        mounted.fsync(os.path.join(m.path, "o.root"))
        made = whole(out)
        status, said = first.end()
        assert status == 1 and MEANWHILE in said
        assert whole(out) == made
        with open(os.path.join(m.path, "o.root", "U", "x.i4"), "ab") as file:
            file.write(VALUES.tobytes())
    assert tables(out) == {"U": 2 * VALUES.tolist()}


def test_a_mount_that_comes_second_adds_to_the_file(large):
    out = large.parent / "out" / "o.root"
    out.parent.mkdir()
    with mounted.Mounted(out.parent, OPTIONS) as m:
        first = Stopped(large, out)
        stage(os.path.join(m.path, "o.root", "U"))
        assert first.end()[0] == 0
        whole(out)
        mounted.fsync(os.path.join(m.path, "o.root"))
    there = tables(out)
    assert there["U"] == VALUES.tolist() and len(there["T"]) == 480_000
