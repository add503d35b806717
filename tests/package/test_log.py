# SPDX-License-Identifier: Apache-2.0
"""What a daemon writes to the system's log, to a file, and to standard error."""

import json
import os
import re
import shlex
import socket
import subprocess
import sys
import tempfile

import numpy as np
import pytest
import uproot

import mounted
import other_dev

DEVICES = (*other_dev.USUAL, "fuse")


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """A file with a tree whose one basket cannot be decompressed."""
    path = str(tmp_path_factory.mktemp("damaged") / "damaged.root")
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        file.mktree("t", {"x": "i4"}).extend({"x": np.arange(10000, dtype="i4")})
    with uproot.open(path) as file:
        key = file["t"]["x"].basket_key(0)
        begin = int(key.fSeekKey + key.fKeylen) + 100
    with open(path, "r+b") as file:
        file.seek(begin)
        file.write(b"\xff" * 200)
    return path


class Receiver:
    """A socket bound as /dev/log is."""

    def __init__(self, directory):
        self.path = os.path.join(directory, "log")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.path)
        os.chmod(self.path, 0o666)
        self._socket.settimeout(1)

    def lines(self):
        found = []
        try:
            while True:
                found.append(self._socket.recv(8192).decode())
        except TimeoutError:
            return found


READ = "import os, sys\nf = os.open(sys.argv[1], os.O_RDONLY)\nfailed = 0\nfor _ in range(int(sys.argv[2])):\n" \
       "    try: os.pread(f, 4, 0)\n    except OSError: failed += 1\nprint(failed)"


def reads(path, times):
    return shlex.join([sys.executable, "-c", READ, path, str(times)])


def test_a_burst_in_the_log_of_the_system_is_told_once_and_counted(program, damaged, tmp_path):
    receiver = Receiver(tmp_path)
    mnt = tmp_path / "mnt"
    mnt.mkdir()
    done = other_dev.run(tmp_path, DEVICES, f"{program} {damaged} {mnt} 2>&1\n{reads(f'{mnt}/t/x.i4', 10000)}\n{program} umount {mnt}\n",
                         log=receiver.path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "10000"
    lines = receiver.lines()
    about = [line for line in lines if "/t/x" in line]
    once = [line for line in about if " times more]" not in line]
    assert len(once) == 1, lines
    assert re.match(r"<27>\w{3} [ \d]\d \d\d:\d\d:\d\d tfilefs\[\d+\]: /t/x", once[0])
    more = sum(int(times) for line in about for times in re.findall(r"\[(\d+) times more\]", line))
    assert 9999 <= more <= 10009, "all reads but the first, and a few of the kernel's own"
    assert len([line for line in about if " times more]" in line]) == 1, "a burst is one line"
    assert "<30>" in lines[0] and f"mounted {damaged} on {mnt}, read-only" in lines[0]
    assert f"ended {damaged} on {mnt}" in lines[-1]


@pytest.mark.parametrize("level, wanted", (("error", False), ("warn", False), ("info", True), ("debug", True)))
def test_a_file_gets_what_its_level_wants(program, tmp_path, level, wanted):
    log = tmp_path / "log"
    m = mounted.Mounted(str(tmp_path / "new.root"), ("rw", f"log={level}", f"logfile={log}"))
    os.mkdir(os.path.join(m.path, "t"))
    np.arange(1000, dtype="i4").tofile(os.path.join(m.path, "t", "x.i4"))
    assert subprocess.run([program, "commit", m.path], capture_output=True).returncode == 0
    np.arange(999, dtype="i4").tofile(os.path.join(m.path, "t", "y.i4"))  # too short to be whole
    assert m.close() == 0
    text = log.read_text()
    for line in text.splitlines():
        assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (error|info|warn|debug): ", line), line
    assert ("committed t (1000 entries)" in text) == wanted
    assert ("info: mounted " in text and "read-write" in text and "info: ended " in text) == wanted
    assert "error: /t/y.i4: not committed: " in text or "error: /t: not committed: " in text, text
    options = re.findall(r" debug: options (.*)", text)
    assert [json.loads(each)["format"] for each in options] == ["tree"] * (level == "debug")


def test_a_log_that_was_moved_away_is_begun_anew(damaged, tmp_path):
    log = tmp_path / "log"
    m = mounted.Mounted(damaged, ("log=info", f"logfile={log}"))
    mounted.wait_until(lambda: log.exists() and "mounted" in log.read_text())
    os.rename(log, tmp_path / "log.1")
    with pytest.raises(OSError):
        open(os.path.join(m.path, "t", "x.i4"), "rb").read()
    assert m.close() == 0
    assert "mounted" in (tmp_path / "log.1").read_text()
    assert "error: /t/x" in log.read_text()


def objects(text):
    """Of a log in JSON."""
    found = [json.loads(line) for line in text.splitlines()]
    for each in found:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", each["time"]), each
        assert {"time", "level", "mount", "source", "message"} <= set(each) <= {"time", "level", "mount", "source", "message", "path",
                                                                               "errno", "times_more"}
    return found


@pytest.mark.parametrize("option, levels", (("log=json", {"info", "error"}), ("log=json:error", {"error"}),
                                            ("log=json:debug", {"debug", "info", "error"})))
def test_a_file_gets_objects_of_json(damaged, tmp_path, option, levels):
    log = tmp_path / "log"
    m = mounted.Mounted(damaged, (option, f"logfile={log}"))
    for _ in range(3):
        with pytest.raises(OSError):
            open(os.path.join(m.path, "t", "x.i4"), "rb").read()
    assert m.close() == 0 and m.messages() == ""
    found = objects(log.read_text())
    assert {each["level"] for each in found} == levels
    assert all((each["mount"], each["source"]) == (m.path, damaged) for each in found)
    first, *_, last = [each for each in found if each["level"] == "error"]
    assert first["path"].startswith("/t/x") and "times_more" not in first and not first["message"].startswith("/t/x")
    assert last["times_more"] >= 1 and last["message"] == first["message"]
    assert any(each["message"].startswith("mounted ") for each in found) == ("info" in levels)


def test_in_the_foreground_all_lines_are_objects(program, damaged, tmp_path):
    m = mounted.Mounted(damaged, ("log=json",))
    with pytest.raises(OSError):
        open(os.path.join(m.path, "t", "x.i4"), "rb").read()
    assert m.close() == 0
    [error, *_] = objects(m.messages())
    assert error["path"].startswith("/t/x") and error["level"] == "error"
    done = subprocess.run([program, "-f", "-o", "log=json", tmp_path / "none.root", tmp_path / "mnt"], capture_output=True, text=True)
    [failure] = objects(done.stderr)
    assert done.returncode == 1 and "none.root" in failure["message"] and failure["mount"] == str(tmp_path / "mnt")


def test_lines_for_the_system_stay_objects_when_they_are_cut(program, damaged, tmp_path):
    """Of a source whose name is long."""
    receiver = Receiver(tmp_path)
    mnt = tmp_path / "mnt"
    mnt.mkdir()
    done = other_dev.run(tmp_path, DEVICES, f"{program} -o log=json:debug,fsname={'x' * 500} {damaged} {mnt} 2>&1\n"
                         f"{reads(f'{mnt}/t/x.i4', 2)}\n{program} umount {mnt}\n", log=receiver.path)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = receiver.lines()
    assert all(len(line) <= 2048 for line in lines)
    found = objects("".join(re.sub(r"^<\d+>.{15} tfilefs\[\d+\]: ", "", line) + "\n" for line in lines))
    assert {"debug", "info", "error"} == {each["level"] for each in found}


def test_the_journal_is_told_the_priority(damaged):
    """It takes the priority from the beginning of a line; another reader of standard error does not."""
    for is_journal in (True, False):
        with tempfile.TemporaryFile() as journal:
            status = os.fstat(journal.fileno())
            stream = f"{status.st_dev}:{status.st_ino + (not is_journal)}"
            mnt = tempfile.mkdtemp()
            daemon = subprocess.Popen([mounted.program(), "-f", "-o", "log=json:info", damaged, mnt], stderr=journal,
                                      env=dict(os.environ, JOURNAL_STREAM=stream))
            mounted.wait_until(lambda: mounted.is_mount_point(mnt))
            subprocess.run(["fusermount3", "-u", mnt], check=True)
            assert daemon.wait(20) == 0
            os.rmdir(mnt)
            journal.seek(0)
            lines = journal.read().decode().splitlines()
            assert len(lines) == 2 and all(line.startswith("<6>{" if is_journal else "{") for line in lines), lines


def test_in_the_foreground_errors_go_to_standard_error(damaged):
    m = mounted.Mounted(damaged)
    with pytest.raises(OSError):
        open(os.path.join(m.path, "t", "x.i4"), "rb").read()
    assert m.close() == 0
    said = m.messages()
    assert "tfilefs: /t/x" in said and "mounted" not in said


def test_a_log_that_nobody_reads_holds_nothing_up(program, damaged, tmp_path):
    """Standard error is a pipe that is full."""
    mnt = tmp_path / "mnt"
    mnt.mkdir()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b"x" * 65536)
    except BlockingIOError:
        pass
    os.set_blocking(writing, True)
    daemon = subprocess.Popen([program, "-f", damaged, mnt], stderr=writing)
    while not mounted.is_mount_point(mnt):
        assert daemon.poll() is None
    with pytest.raises(OSError):
        open(mnt / "t" / "x.i4", "rb").read()
    assert subprocess.run([program, "umount", mnt], timeout=20).returncode == 0
    assert daemon.wait(20) == 0
    os.close(reading)
    os.close(writing)
