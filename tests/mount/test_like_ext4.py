# SPDX-License-Identifier: Apache-2.0
"""Plain files and directories of a mirror mounted with rw,allow_other answer each call as the directory below would.

Each case is run twice, by the same users with the same calls: in the mount, and in a plain directory of the same file
system. docs/semantics/writing.md lists the differences with their reasons; so does the end of this file."""

import errno
import os
import shutil
import stat
import tempfile

import pytest

import mounted
from other_user import Refused, run_as

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="acting as other users needs root")

A, B = 23001, 23002  # users, and their own groups
TEAM = 23010         # a group of both
OTHER = 23011        # a group that neither user is in


class Case:
    """Makes calls below a directory, and notes the result of each."""

    def __init__(self, top):
        self.top, self.said = str(top), []

    def at(self, name):
        return os.path.join(self.top, name)

    def by(self, user, function, *names, **how):
        """Makes a call with paths of names; notes its value or errno."""
        groups = how.pop("groups", [TEAM])
        umask = how.pop("umask", 0o022)
        rest = how.pop("rest", ())
        try:
            if user == 0:
                old = os.umask(umask)
                try:
                    value = function(*map(self.at, names), *rest)
                finally:
                    os.umask(old)
            else:
                value = run_as(user, function, *map(self.at, names), *rest, groups=groups, umask=umask)
        except OSError as error:
            value = errno.errorcode.get(error.errno, error)
        self.said.append((user, function.__name__, *names, *rest, value))
        return value

    def look(self, *names):
        for name in names:
            try:
                status = os.lstat(self.at(name))
                files_own = () if stat.S_ISDIR(status.st_mode) else (status.st_nlink, status.st_size)
                value = (oct(status.st_mode), status.st_uid, status.st_gid, *files_own)
            except OSError as error:
                value = errno.errorcode[error.errno]
            self.said.append((name, value))

    def make(self, name, owner=A, group=None, mode=0o644, text=b"some text"):
        path = self.at(name)
        with open(path, "wb") as file:
            file.write(text)
        os.chown(path, owner, owner if group is None else group)
        os.chmod(path, mode)

    def folder(self, name, owner=A, group=None, mode=0o755):
        os.mkdir(self.at(name))
        os.chown(self.at(name), owner, owner if group is None else group)
        os.chmod(self.at(name), mode)


def create(path, flags, mode=0o666):
    os.close(os.open(path, flags, mode))


def write(path, text=b"more"):
    fd = os.open(path, os.O_WRONLY)
    try:
        return os.write(fd, text)
    finally:
        os.close(fd)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def chmod(c):
    for mode in (0, 0o1, 0o7, 0o644, 0o755, 0o1644, 0o2755, 0o4755, 0o6755, 0o7777, 0o400):
        c.make("file", mode=0o600)
        c.by(A, os.chmod, "file", rest=(mode,))
        c.look("file")
        os.unlink(c.at("file"))
    c.make("file")
    c.by(B, os.chmod, "file", rest=(0o777,))
    c.make("of_team", group=TEAM)
    c.by(A, os.chmod, "of_team", rest=(0o2775,))
    c.look("of_team")
    c.make("of_other", group=OTHER)
    c.by(A, os.chmod, "of_other", rest=(0o2775,))  # loses the bit, since the user is not in that group
    c.look("of_other")
    c.folder("dir")
    for mode in (0o1777, 0o2755, 0o700, 0):
        c.by(A, os.chmod, "dir", rest=(mode,))
        c.look("dir")
    os.symlink("file", c.at("link"))
    c.by(A, os.chmod, "link", rest=(0o640,))
    c.look("file", "link")
    c.by(A, os.chmod, "nothing", rest=(0o644,))
    c.by(A, os.chmod, "file/below", rest=(0o644,))
    c.by(A, os.chmod, "n" * 256, rest=(0o644,))


def chown(c):
    c.make("file", mode=0o6755)
    c.by(A, os.chown, "file", rest=(-1, TEAM))
    c.look("file")
    c.make("again", mode=0o6755)
    c.by(A, os.chown, "again", rest=(-1, OTHER))
    c.by(A, os.chown, "again", rest=(B, -1))
    c.by(B, os.chown, "again", rest=(-1, B))
    c.look("again")
    c.by(0, os.chown, "again", rest=(B, B))
    c.look("again")
    c.folder("dir", mode=0o2755)
    c.by(A, os.chown, "dir", rest=(-1, TEAM))
    c.look("dir")
    os.symlink("file", c.at("link"))
    c.by(0, os.lchown, "link", rest=(B, B))
    c.look("link", "file")
    c.by(A, os.chown, "nothing", rest=(-1, TEAM))


def mkdir(c):
    c.folder("of_a", mode=0o755)
    c.by(A, os.mkdir, "of_a/new", rest=(0o777,), umask=0o027)
    c.by(A, os.mkdir, "of_a/all", rest=(0o777,), umask=0)
    c.by(A, os.mkdir, "of_a/sticky", rest=(0o1777,), umask=0)
    c.by(A, os.mkdir, "of_a/new")
    c.by(B, os.mkdir, "of_a/not")
    c.by(A, os.mkdir, "of_a/no/where")
    c.make("of_a/file")
    c.by(A, os.mkdir, "of_a/file/below")
    c.by(A, os.mkdir, "of_a/" + "n" * 256)
    c.look("of_a/new", "of_a/all", "of_a/sticky", "of_a/not")
    c.folder("of_team", group=TEAM, mode=0o2775)
    c.by(B, os.mkdir, "of_team/theirs")
    c.by(B, os.mkdir, "of_team/not", groups=[])
    c.by(B, os.mkdir, "of_team/theirs/below")
    c.look("of_team/theirs", "of_team/theirs/below", "of_team/not")
    c.by(A, os.rmdir, "of_a/new")
    c.by(B, os.rmdir, "of_a/all")
    c.by(A, os.rmdir, "of_a/file")
    c.by(A, os.rmdir, "of_team")


def set_times(path, accessed, modified):
    os.utime(path, ns=(accessed, modified), follow_symlinks=False)
    status = os.lstat(path)
    return status.st_atime_ns, status.st_mtime_ns


def utime(c):
    c.make("file")
    c.make("open", mode=0o666)
    c.folder("of_a")
    os.symlink("file", c.at("link"))
    for number, name in enumerate(("file", "of_a", "link")):
        c.by(A, set_times, name, rest=(1_900_000_000_123_456_789, 1_950_000_000_000_000_000 + number))
    c.by(B, set_times, "file", rest=(1, 2))
    c.by(B, set_times, "open", rest=(1, 2))
    c.by(B, os.utime, "open")
    c.by(B, os.utime, "file")
    c.by(0, set_times, "file", rest=(1_000_000_000_000_000_001, 10**18 + 2))
    c.by(A, set_times, "nothing", rest=(1, 2))


def open_(c):
    made = os.O_CREAT | os.O_WRONLY
    c.folder("of_a")
    c.by(A, create, "of_a/plain", rest=(made, 0o666), umask=0o027)
    c.by(A, create, "of_a/all", rest=(made, 0o777), umask=0)
    c.by(A, create, "of_a/set_id", rest=(made, 0o6755), umask=0)
    c.by(A, create, "of_a/all", rest=(made | os.O_EXCL, 0o644))
    c.by(B, create, "of_a/not", rest=(made, 0o644))
    c.by(B, create, "of_a/all", rest=(made | os.O_TRUNC, 0o644), groups=[])
    c.look("of_a/plain", "of_a/all", "of_a/set_id", "of_a/not")
    c.folder("of_team", group=TEAM, mode=0o2775)
    c.by(B, create, "of_team/file", rest=(made, 0o664))
    c.by(B, create, "of_team/set_id", rest=(made, 0o2775), umask=0)
    c.look("of_team/file", "of_team/set_id")
    c.make("closed", mode=0)
    c.make("secret", mode=0o600)
    c.make("public", mode=0o666)
    for name in ("closed", "secret", "public"):
        for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):
            for user in (A, B):
                c.by(user, create, name, rest=(flags,))
    c.by(A, create, "of_a", rest=(os.O_WRONLY,))
    c.by(A, create, "of_a", rest=(os.O_RDONLY | os.O_DIRECTORY,))
    c.by(A, create, "public", rest=(os.O_RDONLY | os.O_DIRECTORY,))
    os.symlink("public", c.at("link"))
    os.symlink("round", c.at("round"))
    c.by(A, create, "link", rest=(os.O_RDONLY | os.O_NOFOLLOW,))
    c.by(A, create, "round", rest=(os.O_RDONLY,))
    c.by(A, create, "nothing", rest=(os.O_RDONLY,))
    c.by(A, create, "of_a/" + "n" * 256, rest=(made,))
    c.make("by_team", group=TEAM, mode=0o6775)
    c.by(B, create, "by_team", rest=(os.O_WRONLY | os.O_TRUNC,))
    c.look("by_team")


def made_closed(path):
    """The process that creates a file may use its descriptor, whatever the mode of the file."""
    fd = os.open(path, os.O_CREAT | os.O_RDWR, 0o000)
    try:
        os.write(fd, b"abcdef")
        os.ftruncate(fd, 3)
        status = os.fstat(fd)
        return os.pread(fd, 10, 0), oct(status.st_mode), status.st_size
    finally:
        os.close(fd)


def open_handles(c):
    c.folder("of_a", mode=0o777)
    c.by(A, made_closed, "of_a/closed")
    c.look("of_a/closed")


def appended(path):
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, b" behind")
        return os.fstat(fd).st_size
    finally:
        os.close(fd)


def write_(c):
    """A write by a user other than root clears the set-user-ID and set-group-ID bits."""
    for mode in (0o4777, 0o2777, 0o6777, 0o2767):
        for user in (A, B, 0):
            name = f"{mode:o}_by_{user}"
            c.make(name, group=TEAM, mode=mode)
            c.by(user, write, name)
            c.look(name)
    c.make("text", mode=0o666)
    c.by(B, appended, "text")
    c.by(A, read, "text")
    c.make("not", mode=0o644)
    c.by(B, write, "not")


def read_and_written(path):
    """Reads and writes through the kernel's page cache."""
    fd = os.open(path, os.O_RDWR)
    try:
        return os.pwrite(fd, b"more", 0), os.pread(fd, 20, 0)
    finally:
        os.close(fd)


def write_by_pages(c):
    for mode in (0o4777, 0o2777, 0o6777, 0o2767):
        for user in (A, B, 0):
            name = f"{mode:o}_by_{user}"
            c.make(name, group=TEAM, mode=mode)
            c.by(user, read_and_written, name)
            c.look(name)


def truncate(c):
    c.make("file", mode=0o644)
    for size in (3, 100, 0):
        c.by(A, os.truncate, "file", rest=(size,))
        c.look("file")
    c.by(B, os.truncate, "file", rest=(1,))
    c.by(A, os.truncate, "file", rest=(-1,))
    c.by(A, os.truncate, "nothing", rest=(1,))
    c.folder("dir")
    c.by(A, os.truncate, "dir", rest=(1,))
    for user in (A, B, 0):
        c.make(f"by_{user}", group=TEAM, mode=0o6775)
        c.by(user, os.truncate, f"by_{user}", rest=(4,))
        c.look(f"by_{user}")


def link(c):
    c.folder("of_a", mode=0o755)
    c.make("of_a/file", mode=0o644)
    c.by(A, os.link, "of_a/file", "of_a/second")
    c.look("of_a/file", "of_a/second")
    c.by(A, os.path.samefile, "of_a/file", "of_a/second")
    c.by(A, write, "of_a/second")
    c.by(A, read, "of_a/file")
    c.by(A, os.chmod, "of_a/file", rest=(0o600,))
    c.look("of_a/second")
    c.by(A, os.unlink, "of_a/file")
    c.look("of_a/file", "of_a/second")
    c.by(A, read, "of_a/second")
    c.by(A, os.link, "of_a/second", "of_a/second")
    c.by(A, os.link, "of_a/nothing", "of_a/new")
    c.by(A, os.link, "of_a", "of_a/dir")
    c.by(B, os.link, "of_a/second", "of_a/not")
    c.folder("of_b", owner=B)
    c.by(B, os.link, "of_a/second", "of_b/not_his")
    c.by(A, os.link, "of_a/second", "of_a/" + "n" * 256)


def rename(c):
    c.folder("of_a", mode=0o777)
    c.make("of_a/file")
    c.make("of_a/over", text=b"is replaced")
    c.by(A, os.rename, "of_a/file", "of_a/new")
    c.by(A, os.rename, "of_a/new", "of_a/over")
    c.look("of_a/file", "of_a/new", "of_a/over")
    c.by(A, read, "of_a/over")
    for name in ("empty", "full", "moved"):
        c.folder("of_a/" + name)
    c.make("of_a/full/file")
    c.by(A, os.rename, "of_a/moved", "of_a/full")
    c.by(A, os.rename, "of_a/full", "of_a/empty")
    c.look("of_a/full", "of_a/empty", "of_a/empty/file")
    c.by(A, os.rename, "of_a/over", "of_a/empty")
    c.by(A, os.rename, "of_a/empty", "of_a/over")
    c.by(A, os.rename, "of_a", "of_a/empty/below")
    c.by(A, os.rename, "of_a/nothing", "of_a/x")
    c.by(A, os.rename, "of_a/over", "of_a/" + "n" * 256)
    c.folder("sticky", mode=0o1777)
    c.make("sticky/of_a")
    c.make("sticky/of_b", owner=B)
    c.by(B, os.rename, "sticky/of_a", "sticky/x")
    c.by(B, os.rename, "sticky/of_b", "sticky/of_a")
    c.by(B, os.rename, "sticky/of_b", "sticky/y")
    c.look("sticky/of_a", "sticky/of_b", "sticky/y")
    c.folder("not", mode=0o755)
    c.by(B, os.rename, "sticky/y", "not/y")


def symlink(c):
    c.folder("of_a", mode=0o755)
    for name, target in (("relative", "file"), ("absolute", "/nowhere"), ("long", "x" * 1000), ("dots", "../of_a/file")):
        c.by(A, lambda path, text: os.symlink(text, path), "of_a/" + name, rest=(target,))
        c.by(A, os.readlink, "of_a/" + name)
        c.look("of_a/" + name)
    c.by(A, lambda path: os.symlink("file", path), "of_a/relative")
    c.by(B, lambda path: os.symlink("file", path), "of_a/not")
    c.by(A, lambda path: os.symlink("x" * 5000, path), "of_a/too_long")
    c.by(A, lambda path: os.symlink("", path), "of_a/empty")
    c.folder("of_team", group=TEAM, mode=0o2775)
    c.by(B, lambda path: os.symlink("file", path), "of_team/theirs")
    c.look("of_team/theirs")


def removed_while_open(path):
    fd = os.open(path, os.O_RDWR)
    try:
        os.unlink(path)
        os.pwrite(fd, b"still", 0)
        status = os.fstat(fd)
        return os.pread(fd, 20, 0), status.st_nlink, status.st_size
    finally:
        os.close(fd)


def moved_while_open(path):
    fd = os.open(path, os.O_RDWR)
    try:
        os.rename(path, path + ".moved")
        os.pwrite(fd, b"still", 0)
        os.ftruncate(fd, 7)
        status = os.fstat(fd)
        os.fchmod(fd, 0o640)
        return os.pread(fd, 20, 0), status.st_nlink, status.st_size, os.stat(path + ".moved").st_size
    finally:
        os.close(fd)


def unlink(c):
    c.folder("of_a", mode=0o755)
    c.make("of_a/file", mode=0)
    c.by(B, os.unlink, "of_a/file")
    c.by(A, os.unlink, "of_a/file")
    c.by(A, os.unlink, "of_a/file")
    c.folder("of_a/dir")
    c.by(A, os.unlink, "of_a/dir")
    c.by(A, os.unlink, "of_a/" + "n" * 256)
    os.symlink("dir", c.at("of_a/link"))
    c.by(A, os.unlink, "of_a/link")
    c.look("of_a/file", "of_a/dir", "of_a/link")
    c.folder("sticky", mode=0o1777)
    c.make("sticky/of_a")
    c.by(B, os.unlink, "sticky/of_a")
    c.by(A, os.unlink, "sticky/of_a")
    c.make("of_a/open")
    c.by(A, removed_while_open, "of_a/open")
    c.make("of_a/moved")
    c.by(A, moved_while_open, "of_a/moved")
    c.look("of_a/moved.moved")


@pytest.fixture
def places():
    """A plain directory, and another one that is mounted."""
    top = tempfile.mkdtemp(prefix="tfilefs-ext4-")
    os.chmod(top, 0o755)
    for name in ("plain", "source"):
        os.mkdir(os.path.join(top, name))
        os.chmod(os.path.join(top, name), 0o755)
    try:
        with mounted.Mounted(os.path.join(top, "source"), ("rw", "allow_other")) as m:
            yield os.path.join(top, "plain"), m.path
    finally:
        shutil.rmtree(top, ignore_errors=True)


@pytest.mark.parametrize("case", [chmod, chown, link, mkdir, open_, open_handles, rename, symlink, truncate, unlink,
                                  utime, write_, write_by_pages], ids=lambda case: case.__name__.strip("_"))
def test_as_the_directory_beneath(places, case):
    plain, mirror = Case(places[0]), Case(places[1])
    case(plain)
    case(mirror)
    different = [f"{a}\n  in the mount: {b[-1]}" for a, b in zip(plain.said, mirror.said) if a != b]
    assert not different, "\n".join(different)
    assert len(plain.said) == len(mirror.said)


def test_the_longest_path(places):
    """4,095 bytes below the top, as the kernel takes them, are all right in both."""
    said = []
    for top in places:
        directory = os.open(top, os.O_RDONLY)
        path = ""
        for _ in range(15):
            path = os.path.join(path, "n" * 255)
            os.mkdir(path, dir_fd=directory)
        for length in (4094, 4095, 4096):
            name = os.path.join(path, "x" * (length - len(path) - 1))
            try:
                os.mkdir(name, dir_fd=directory)
                os.rmdir(name, dir_fd=directory)
                said.append((length, "made"))
            except OSError as error:
                said.append((length, errno.errorcode[error.errno]))
        os.close(directory)
    assert said == 2 * [(4094, "made"), (4095, "made"), (4096, "ENAMETOOLONG")]


# ---- the differences, as listed in docs/semantics/writing.md


def test_special_files_are_not_made(places):
    for make in (lambda path: os.mkfifo(path), lambda path: os.mknod(path, stat.S_IFSOCK | 0o644)):
        with pytest.raises(PermissionError):
            make(os.path.join(places[1], "special"))


def test_directories_have_no_size_and_one_link(places):
    os.mkdir(os.path.join(places[1], "dir"))
    status = os.stat(os.path.join(places[1], "dir"))
    assert (status.st_size, status.st_nlink) == (0, 1)


def test_a_renamed_directory_has_another_number(places):
    """A file keeps its own."""
    os.mkdir(os.path.join(places[1], "one"))
    with open(os.path.join(places[1], "file"), "w"):
        pass
    numbers = [os.stat(os.path.join(places[1], name)).st_ino for name in ("one", "file")]
    os.rename(os.path.join(places[1], "one"), os.path.join(places[1], "two"))
    os.rename(os.path.join(places[1], "file"), os.path.join(places[1], "two", "file"))
    assert os.stat(os.path.join(places[1], "two")).st_ino != numbers[0]
    assert os.stat(os.path.join(places[1], "two", "file")).st_ino == numbers[1]


def test_a_root_file_gets_the_group_of_a_setgid_directory(places):
    """Like a plain file; and so does the journal beside it."""
    team = os.path.join(os.path.dirname(places[0]), "source", "team")
    os.mkdir(team)
    os.chown(team, A, TEAM)
    os.chmod(team, 0o2775)
    made = os.path.join(places[1], "team", "out.root")
    with pytest.raises(Refused):
        run_as(B, os.mkdir, made, groups=[])
    run_as(B, os.mkdir, made, groups=[TEAM])
    run_as(B, os.mkdir, os.path.join(made, "t"), groups=[TEAM])

    def fill(path):
        with open(path, "wb") as file:
            file.write(bytes(80))
            os.fsync(file.fileno())

    run_as(B, fill, os.path.join(made, "t", "x.f8"), groups=[TEAM])
    journal = os.stat(os.path.join(team, "out.root.tfilefs-journal"))
    assert (journal.st_uid, journal.st_gid) == (B, TEAM)
    fd = os.open(os.path.join(made, "t"), os.O_RDONLY)
    os.fsync(fd)  # commits
    os.close(fd)
    status = os.stat(os.path.join(team, "out.root"))
    assert (status.st_uid, status.st_gid) == (B, TEAM)
