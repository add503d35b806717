# SPDX-License-Identifier: Apache-2.0
"""Plain files of a mirror with rw: programs in the mount, in another mount and beside them change the same files."""

import mmap
import os
import subprocess

import pytest

import mounted

LINES = 200


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


# ---- files that begin like ROOT files, and are none

TEXT = b"root = true\n[*]\nindent_size = 2\n"


def cut_root_file():
    """What is left of a download: a header, and not enough of the rest to find a key in."""
    return b"root" + bytes((0, 0, 0xF4, 0x5C, 0, 0, 0, 100, 0, 0, 0xFF, 0xFF)) + bytes(40)


@pytest.mark.parametrize("content", (TEXT, b"root", cut_root_file()), ids=("text", "four bytes", "cut"))
@pytest.mark.parametrize("seen", (False, True))
def test_what_only_begins_like_a_root_file_is_a_file(mount, tmp_path, content, seen):
    m = mount(tmp_path, "rw")
    at = lambda name: os.path.join(m.path, name)

    def make(name):
        with open(at(name), "wb") as file:
            file.write(content)
        if seen:
            assert os.path.isfile(at(name)) and open(at(name), "rb").read() == content

    make("a")
    with open(at("a"), "ab") as file:
        file.write(b"more")
    os.truncate(at("a"), len(content))
    os.unlink(at("a"))
    assert os.listdir(tmp_path) == [] == os.listdir(m.path) and not os.path.exists(at("a"))
    make("a")
    os.rename(at("a"), at("b"))
    make("c")
    os.rename(at("c"), at("b"))
    os.link(at("b"), at("d"))
    (tmp_path / "new").write_bytes(b"new")
    os.rename(at("new"), at("d"))
    os.rename(at("d"), at("e"))
    make("f")
    os.rename(at("f"), at("e"))
    assert sorted(os.listdir(tmp_path)) == sorted(os.listdir(m.path)) == ["b", "e"]
    os.mkdir(at("directory"))
    make("directory/g")
    os.rename(at("directory"), at("other"))
    with pytest.raises(NotADirectoryError):
        os.rmdir(at("other/g"))
    with pytest.raises(IsADirectoryError):
        os.rename(at("b"), at("other"))
    os.unlink(at("other/g"))
    os.rmdir(at("other"))
    # A name that was such a file's is free for anything.
    os.unlink(at("b"))
    os.mkdir(at("b"))
    os.unlink(at("e"))
    assert os.listdir(m.path) == ["b"]


def test_git_goes_back_and_forth(mount, tmp_path):
    m = mount(tmp_path, "rw")

    def git(*arguments):
        done = subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main", *arguments],
                              cwd=top, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    top = m.path
    git("init", "-q", "repository")
    top = os.path.join(m.path, "repository")
    for text in ("root = true\n", "root = false\n"):
        with open(os.path.join(top, ".editorconfig"), "w") as file:
            file.write(text)
        git("add", "-A")
        git("commit", "-qm", text)
    git("checkout", "-q", "HEAD~1")
    assert open(os.path.join(top, ".editorconfig")).read() == "root = true\n"
    assert git("status", "--short") == "" and ".editorconfig" not in os.listdir(m.path)


def test_what_becomes_a_root_file_is_one(mount, tmp_path, samples):
    """And what was one, and begins like one still, is none any more."""
    m = mount(tmp_path, "rw")
    path = os.path.join(m.path, "file")
    with open(os.path.join(samples("storage"), "plain.root"), "rb") as file:
        whole = file.read()
    (tmp_path / "file").write_bytes(TEXT)
    assert os.path.isfile(path)
    (tmp_path / "new").write_bytes(whole)
    os.rename(tmp_path / "new", tmp_path / "file")
    mounted.wait_until(lambda: os.path.isdir(path), 5)  # within a second, on a quiet machine
    assert "t" in os.listdir(path)
    with pytest.raises(OSError):
        os.rmdir(path)
    (tmp_path / "new").write_bytes(TEXT)
    os.rename(tmp_path / "new", tmp_path / "file")
    mounted.wait_until(lambda: os.path.isfile(path), 5)
    os.unlink(path)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("another", (False, True))
def test_what_was_moved_is_linked_and_followed_at_once(mount, tmp_path, another):
    """Also where another has its former name."""
    m = mount(tmp_path, "rw")
    at = lambda name: os.path.join(m.path, name)
    (tmp_path / "directory").mkdir()
    for place in ("beside", "directory/file"):
        (tmp_path / "first").write_text("first")
        os.symlink("first target", at("link"))
        assert open(at("first")).read() == "first" and os.readlink(at("link")) == "first target"
        os.rename(at("first"), at(place))
        os.rename(at("link"), at(place + " link"))
        if another:
            with open(at("first"), "w") as file:
                file.write("another")
            os.symlink("another target", at("link"))
        os.link(at(place), at(place + " linked"))
        assert (tmp_path / (place + " linked")).read_text() == "first"
        assert os.readlink(at(place + " link")) == "first target"
        if another:
            os.unlink(at("link"))


def test_a_file_in_the_place_of_one_that_was_moved_is_another(mount, tmp_path):
    m = mount(tmp_path, "rw")
    file, other = os.path.join(m.path, "file"), os.path.join(m.path, "other")
    for path, text in ((file, "first"), (other, "")):
        with open(path, "w") as to:
            to.write(text)
    os.rename(file, other)
    with open(file, "w") as to:
        to.write("second")
    assert not os.path.samefile(file, other)
    subprocess.run(["mv", other, file], check=True)
    assert open(file).read() == "first" and os.listdir(tmp_path) == ["file"]


LINKER = """
import os, sys, time
os.mkdir(sys.argv[1])
file, link = (os.path.join(sys.argv[1], name) for name in ("file", "link"))
end = time.monotonic() + 2
while time.monotonic() < end:
    os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    os.link(file, link)
    os.unlink(link)
    os.unlink(file)
"""


def test_what_is_made_while_others_remove_files_can_be_linked(mount, tmp_path):
    """The source may give a new file the number of one that another program is just removing."""
    m = mount(tmp_path, "rw")
    programs = [subprocess.Popen(["python3", "-c", LINKER, os.path.join(m.path, str(i))]) for i in range(4)]
    assert [program.wait(60) for program in programs] == [0] * 4


# The kernel may count a name that goes twice, until it is told the number again.
SHARER = """
import os, sys, time
file, link = sys.argv[1:]
end = time.monotonic() + 2
while time.monotonic() < end:
    try:
        os.link(file, link)
    except FileNotFoundError:
        os.stat(file)
        continue
    os.chmod(link, 0o644)
    os.rename(link, link + " moved")
    assert os.stat(file).st_size == 4 and open(link + " moved").read() == "text"
    os.unlink(link + " moved")
"""


def test_names_of_a_file_come_and_go_while_others_use_it(mount, tmp_path):
    """The kernel asks for the file, not for a name of it."""
    m = mount(tmp_path, "rw")
    (tmp_path / "file").write_text("text")
    file = os.path.join(m.path, "file")
    programs = [subprocess.Popen(["python3", "-c", SHARER, file, os.path.join(m.path, str(i))]) for i in range(4)]
    assert [program.wait(60) for program in programs] == [0] * 4
    assert os.stat(file).st_nlink == 1


MAKER = """
import os, sys, time
mount, source, name = sys.argv[1:]
os.mkdir(os.path.join(source, name))
end = time.monotonic() + 2
while time.monotonic() < end:
    made = os.path.join(name, "file")
    os.close(os.open(os.path.join(source if name.startswith("beside") else mount, made), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    os.link(os.path.join(mount, made), os.path.join(mount, made) + " linked")
    os.unlink(os.path.join(mount, made) + " linked")
    os.unlink(os.path.join(mount, made))
"""


def test_what_is_made_beside_the_mount_can_be_linked(mount, tmp_path):
    """Its number may be that of a file that is just being removed in the mount."""
    m = mount(tmp_path, "rw")
    programs = [subprocess.Popen(["python3", "-c", MAKER, m.path, tmp_path, name]) for name in ("a", "b", "c", "beside a", "beside b", "beside c")]
    assert [program.wait(60) for program in programs] == [0] * 6
