# SPDX-License-Identifier: Apache-2.0
"""Plain files of a mirror with rw: programs in the mount, in another mount and beside them change the same files."""

import mmap
import os
import subprocess
import time

import pytest

LINES = 200


def wait_until(seen):
    """A change beside the mount is seen within a second."""
    deadline = time.monotonic() + 5
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def appended(path, tag):
    """Begins a program that appends lines, each with one write(2); lets go of it with a line on its input."""
    script = f"""
import os
fd = os.open({path!r}, os.O_WRONLY | os.O_APPEND)
input()
for i in range({LINES}):
    os.write(fd, b"{tag}%06d\\n" % i)
"""
    return subprocess.Popen(["python3", "-c", script], stdin=subprocess.PIPE)


@pytest.mark.parametrize("where", (("mount", "mount"), ("mount", "other"), ("mount", "source")), ids="-".join)
def test_nothing_that_is_appended_is_lost(mount, tmp_path, where):
    (tmp_path / "log").touch()
    tops = {"mount": mount(tmp_path, "rw").path, "source": str(tmp_path)}
    if "other" in where:
        tops["other"] = mount(tmp_path, "rw").path
    programs = [appended(os.path.join(tops[place], "log"), tag) for place, tag in zip(where, "AB")]
    for program in programs:
        program.stdin.write(b"\n")
        program.stdin.flush()
    assert [program.wait(60) for program in programs] == [0, 0]
    lines = (tmp_path / "log").read_text().splitlines()
    assert sorted(lines) == sorted(f"{tag}{i:06}" for tag in "AB" for i in range(LINES))


@pytest.mark.parametrize("flags", (os.O_WRONLY, os.O_RDWR))
def test_an_append_goes_to_the_end_that_is_now(mount, tmp_path, flags):
    m = mount(tmp_path, "rw")
    path = os.path.join(m.path, "file")
    (tmp_path / "file").write_bytes(b"first ")
    fd = os.open(path, flags | os.O_APPEND)
    reader = os.open(path, os.O_RDONLY)
    assert os.read(reader, 100) == b"first "
    with open(tmp_path / "file", "ab") as beside:
        beside.write(b"beside ")
    os.write(fd, b"in the mount ")
    os.truncate(tmp_path / "file", 3)
    os.write(fd, b"st again")
    os.close(fd)
    assert (tmp_path / "file").read_bytes() == b"first again"
    assert os.pread(reader, 100, 0) == b"first again"
    os.close(reader)


def test_a_large_append_is_whole(mount, tmp_path):
    m = mount(tmp_path, "rw")
    data = os.urandom(5_000_001)
    for _ in range(2):
        with open(os.path.join(m.path, "file"), "ab", buffering=0) as file:
            assert file.write(data) == len(data)
    assert (tmp_path / "file").read_bytes() == 2 * data


@pytest.mark.parametrize("options", (("rw",), ()), ids=("rw", "ro"))
@pytest.mark.parametrize("flags", (os.O_RDONLY, os.O_RDWR))
@pytest.mark.parametrize("kept", ("size", "size and time"))
@pytest.mark.parametrize("mapped", (False, True))
def test_a_new_opening_shows_what_is_there_now(mount, tmp_path, options, flags, kept, mapped):
    if flags == os.O_RDWR and not options:
        pytest.skip("is not opened to write")
    m = mount(tmp_path, *options)
    source, path = tmp_path / "file", os.path.join(m.path, "file")

    def seen():
        fd = os.open(path, flags)
        try:
            if not mapped:
                return os.read(fd, 10_000)
            with mmap.mmap(fd, 0, access=mmap.ACCESS_READ) as memory:
                return memory[:]
        finally:
            os.close(fd)

    source.write_bytes(b"-" * 8192)
    before = os.stat(source)
    for number in range(20):
        data = b"%d" % (number % 10) * 8192
        with open(source, "r+b") as file:
            file.write(data)
        if kept == "size and time":
            os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert seen() == data


def test_an_open_file_shows_what_is_there_now(mount, tmp_path):
    """Whoever has written it; also if size and times are those of before."""
    one, other = mount(tmp_path, "rw"), mount(tmp_path, "rw")
    (tmp_path / "file").write_bytes(b"-" * 5000)
    before = os.stat(tmp_path / "file")
    readers = [os.open(os.path.join(m.path, "file"), os.O_RDWR) for m in (one, other)]
    writers = [os.open(path, os.O_RDWR) for path in (os.path.join(one.path, "file"), os.path.join(other.path, "file"), tmp_path / "file")]
    for number in range(30):
        data = b"%d" % (number % 10) * 5000
        os.pwrite(writers[number % 3], data, 0)
        os.utime(tmp_path / "file", ns=(before.st_atime_ns, before.st_mtime_ns))
        assert [os.pread(fd, 6000, 0) for fd in readers] == [data, data]
    for fd in readers + writers:
        os.close(fd)
