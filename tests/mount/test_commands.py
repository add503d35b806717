# SPDX-License-Identifier: Apache-2.0
"""The output of every command: lost output is a failure, and files are never written through links to other places."""

import os
import subprocess

import pytest
import uproot

import mounted


@pytest.fixture
def plain(samples):
    return os.path.join(samples("storage"), "plain.root")


def to_a_full_disk(program, *arguments):
    with open("/dev/full", "wb") as full:
        return subprocess.run([program, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)


@pytest.mark.parametrize("command, status", (("ls", 1), ("ls -l", 1), ("ls -R", 1), ("ls --json", 1), ("map", 1),
                                             ("recover", 1), ("check", 8)))
def test_output_that_cannot_be_written(program, plain, command, status):
    done = to_a_full_disk(program, *command.split(), plain)
    [line] = done.stderr.splitlines()
    assert done.returncode == status and line.startswith("tfilefs: cannot write the output")


@pytest.mark.parametrize("arguments", ("--help", "--version", "ls --help", "check --help"))
def test_help_that_cannot_be_written(program, arguments):
    done = to_a_full_disk(program, *arguments.split())
    assert done.returncode != 0 and done.stderr.startswith("tfilefs: cannot write the output")


def test_statistics_that_cannot_be_written(program, plain, mount):
    m = mount(plain)
    for arguments in (["stats", m.path], ["stats", "-w", "0.1", m.path]):
        done = to_a_full_disk(program, *arguments)
        assert done.returncode == 1 and "cannot write the output" in done.stderr, arguments


@pytest.mark.parametrize("seconds", ("nan", "inf", "0.01", "-1", "1x", "50ms", "1e9"))
def test_an_interval_that_is_none(program, plain, mount, seconds):
    done = subprocess.run([program, "stats", "-w", seconds, mount(plain).path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "0.1" in done.stderr


def test_the_number_of_headers_that_cannot_be_written(program, plain, tmp_path):
    done = to_a_full_disk(program, "classes", plain, tmp_path / "headers")
    assert done.returncode == 1 and "cannot write the output" in done.stderr


@pytest.mark.parametrize("command", ("ls -R", "map"))
def test_a_reader_that_has_enough_ends_it_silently(program, plain, command):
    read, write = os.pipe()
    os.close(read)
    with open(write, "wb") as nobody:
        done = subprocess.run([program, *command.split(), plain], stdout=nobody, stderr=subprocess.PIPE, timeout=60)
    assert (done.returncode, done.stderr) == (-13, b"")


def test_help_names_the_exit_codes_of_check(program):
    for arguments in (["--help"], ["check", "--help"]):
        text = subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout
        text = " ".join(text[text.index("Exit codes") :].split())
        for code in ("0 no errors", "4 errors", "8 ", "16 wrong usage", "sum"):
            assert code in text, (arguments, code)


@pytest.fixture
def described(samples):
    return os.path.join(samples("event"), "event-99-101.root")


def headers(program, source, directory):
    return subprocess.run([program, "classes", source, directory], capture_output=True, text=True, timeout=60)


def test_headers_replace_plain_files(program, described, tmp_path):
    assert headers(program, described, tmp_path / "a").returncode == 0
    [name, *_] = sorted(os.listdir(tmp_path / "a"))
    text = (tmp_path / "a" / name).read_bytes()
    (tmp_path / "a" / name).write_bytes(text + b"more" * 1000)
    assert headers(program, described, tmp_path / "a").returncode == 0
    assert (tmp_path / "a" / name).read_bytes() == text


@pytest.mark.parametrize("where", ("file", "nowhere"))
def test_headers_go_through_no_link(program, described, tmp_path, where):
    assert headers(program, described, tmp_path / "a").returncode == 0
    name = sorted(os.listdir(tmp_path / "a"))[-1]
    target = tmp_path / "target"
    if where == "file":
        target.write_text("another's")
    (tmp_path / "b").mkdir()
    os.symlink(target, tmp_path / "b" / name)
    done = headers(program, described, tmp_path / "b")
    assert done.returncode == 1 and name in done.stderr and "symbolic link" in done.stderr
    assert target.read_text() == "another's" if where == "file" else not target.exists()


def test_headers_wait_for_no_fifo(program, described, tmp_path):
    assert headers(program, described, tmp_path / "a").returncode == 0
    name = sorted(os.listdir(tmp_path / "a"))[0]
    (tmp_path / "b").mkdir()
    os.mkfifo(tmp_path / "b" / name)
    done = headers(program, described, tmp_path / "b")
    assert done.returncode == 1 and name in done.stderr


def test_the_directory_of_headers_may_be_a_link(program, described, tmp_path):
    (tmp_path / "real").mkdir()
    os.symlink("real", tmp_path / "link")
    assert headers(program, described, tmp_path / "link").returncode == 0
    assert os.listdir(tmp_path / "real")


@pytest.mark.parametrize("arguments", (["", "MNT"], ["PLAIN", ""], ["umount", ""], ["stats", ""], ["commit", ""], ["recover", ""]))
def test_a_name_that_is_empty(program, plain, tmp_path, arguments):
    arguments = [{"PLAIN": plain, "MNT": str(tmp_path)}.get(each, each) for each in arguments]
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and done.stderr.startswith("tfilefs: ") and "filesystem error" not in done.stderr


def test_commands_in_a_directory_that_is_gone(program, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    command = 'cd "$1" && rmdir "$1" && "$0" umount here'
    done = subprocess.run(["sh", "-c", command, program, gone], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "filesystem error" not in done.stderr and "here: " in done.stderr


def test_a_commit_of_a_column_is_one_of_its_table(program, tmp_path):
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    os.makedirs(os.path.join(m.path, "a.root", "T"))
    for name in ("x.f4", "y.f4"):
        with open(os.path.join(m.path, "a.root", "T", name), "wb") as file:
            file.write(bytes(4000))
    done = subprocess.run([program, "commit", os.path.join(m.path, "a.root", "T", "y.f4")], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    with uproot.open(tmp_path / "a.root") as file:
        assert file["T"].num_entries == 1000
    assert m.close() == 0
