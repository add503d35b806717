# SPDX-License-Identifier: Apache-2.0
"""Sources that change, or cannot be opened for a moment, while they are used."""

import collections
import contextlib
import errno
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
import uproot

import mounted

SAVES = """
import sys, time, numpy as np, ROOT
f = ROOT.TFile(sys.argv[1], "RECREATE", "", 101)
t = ROOT.TTree("T", "")
x = np.zeros(1, "i8")
t.Branch("x", x, "x/L")
t.SetAutoSave(0)
end, entry = time.time() + float(sys.argv[2]), 0
while time.time() < end:
    for _ in range(200):
        x[0] = entry
        entry += 1
        t.Fill()
    t.AutoSave("SaveSelf")
f.Close()
"""


def test_a_file_that_root_saves_all_the_time_is_never_damaged(tmp_path, mount):
    """A reader that comes while keys are replaced gets the old state or the new one, or ESTALE on an older handle."""
    file = tmp_path / "a.root"
    job = subprocess.Popen([sys.executable, "-c", SAVES, file, "4"])
    m = mount(tmp_path)
    seen = collections.Counter()
    while job.poll() is None:
        try:
            column = os.open(os.path.join(m.path, "a.root", "T", "x.i8"), os.O_RDONLY)
        except OSError as error:
            seen[error.errno] += 1
            continue
        try:
            values = np.frombuffer(os.pread(column, 1 << 24, 0), "<i8")
            assert np.array_equal(values, np.arange(len(values)))
            seen["read"] += 1
        except OSError as error:
            seen[error.errno] += 1
        finally:
            os.close(column)
    # ENOENT: no tree yet; ENOTDIR: not a ROOT file yet.
    assert seen["read"] > 0 and set(seen) <= {"read", errno.ENOENT, errno.ENOTDIR, errno.ESTALE}, seen


def test_a_file_that_root_saves_is_not_told_to_be_damaged(tmp_path):
    """draw and repack read a file that is in the middle of a save."""
    file, out = tmp_path / "a.root", tmp_path / "out.root"
    job = subprocess.Popen([sys.executable, "-c", SAVES, file, "5"])
    said = collections.Counter()
    while job.poll() is None:
        for command in (["draw", "-q", f"{file}:T", "x", "x%2==0", "--json"], ["repack", "-q", "--force", "--where", "x%2==0", file, out]):
            done = subprocess.run([mounted.program(), *command], capture_output=True, timeout=60, check=False)
            said[done.stderr.decode(errors="replace") or command[0]] += 1
    job.wait()
    assert said["draw"] > 0
    told = ("another program is writing this file", "changed since it was opened", "no table T", "no files to read", "it is empty",
            "No such file")
    wrong = [each for each in said if each not in ("draw", "repack") and not any(words in each for words in told)]
    assert not wrong, wrong



@pytest.mark.parametrize("how", ("it grows", "it has a byte behind its end"))
@pytest.mark.parametrize("shown", ("alone", "in a mirror"))
def test_a_file_that_is_written_over(tmp_path, mount, how, shown):
    """From behind its head on: no job that fills a file does that, also if it grows."""
    for name, value in (("a", 1.0), ("b", 2.0)):
        with uproot.recreate(tmp_path / f"{name}.root", compression=None) as file:
            tree = file.mktree("T", {"x": "f8"})
            for _ in range(40):
                tree.extend({"x": np.full(20_000, value)})
    source, other = tmp_path / "a.root", (tmp_path / "b.root").read_bytes()
    size = source.stat().st_size
    if how != "it grows":
        os.truncate(source, size + 1)
    os.utime(source, (time.time() - 100,) * 2)
    m = mount(source if shown == "alone" else tmp_path)
    column = os.path.join(m.path, "" if shown == "alone" else "a.root", "T", "x.f8")
    with open(column, "rb", buffering=0) as held:
        assert set(np.frombuffer(os.pread(held.fileno(), 80_000, 0))) == {1.0}
        with open(source, "r+b", buffering=0) as file:
            os.pwrite(file.fileno(), other[3000:-60_000], 3000)
            if how == "it grows":
                os.pwrite(file.fileno(), b"grown", size)
        with pytest.raises(OSError) as failed:
            os.pread(held.fileno(), 2_000_000, 3_200_000)
        assert failed.value.errno == errno.ESTALE
    deadline = time.monotonic() + 10
    while (numbers := np.frombuffer(pathlib.Path(column).read_bytes()))[0] == 1.0 and time.monotonic() < deadline:
        pass
    assert len(numbers) == 800_000 and set(numbers) == {1.0, 2.0} and numbers[0] == 2.0
    assert np.count_nonzero(numbers == 1.0) < 20_000  # of what was not written over


def descriptors(m):
    return set(map(int, os.listdir(f"/proc/{m.process.pid}/fd")))


def test_a_root_file_is_one_though_no_descriptor_is_left(tmp_path, mount):
    """For a moment. It is not a plain file then, and a directory again afterwards."""
    with uproot.recreate(tmp_path / "a.root") as file:
        file["T"] = {"x": np.arange(3)}
    m = mount(tmp_path)
    soft, hard = resource.prlimit(m.process.pid, resource.RLIMIT_NOFILE)
    used, before = descriptors(m), None
    while used != before:  # those of its beginning have to go first
        time.sleep(0.2)
        used, before = descriptors(m), used
    free = next(number for number in range(len(used) + 1) if number not in used)
    resource.prlimit(m.process.pid, resource.RLIMIT_NOFILE, (free, hard))
    with pytest.raises(OSError) as failed:
        os.listdir(os.path.join(m.path, "a.root"))
    assert failed.value.errno == errno.EMFILE
    resource.prlimit(m.process.pid, resource.RLIMIT_NOFILE, (soft, hard))
    assert "T" in os.listdir(os.path.join(m.path, "a.root"))


def test_a_limit_of_file_size_is_an_error_of_write(tmp_path):
    """It does not end the daemon."""
    m = mounted.Mounted(tmp_path, ("rw",))
    try:
        resource.prlimit(m.process.pid, resource.RLIMIT_FSIZE, (100_000, 100_000))
        with open(os.path.join(m.path, "plain"), "wb", buffering=0) as file:
            with pytest.raises(OSError) as failed:
                for _ in range(3):
                    file.write(b"x" * 60_000)
        assert failed.value.errno == errno.EFBIG
        assert m.alive() and os.path.getsize(tmp_path / "plain") == 100_000
    finally:
        m.close()


def test_a_source_that_is_removed_is_among_the_errors(samples, tmp_path):
    source = shutil.copy(os.path.join(samples("storage"), "plain.root"), tmp_path)
    with mounted.Mounted(source) as m:
        assert os.listdir(m.path)
        os.remove(source)
        deadline = time.monotonic() + 10
        while m.errors() == "" and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                os.listdir(m.path)
        assert source in m.errors() and "No such file" in m.errors()
