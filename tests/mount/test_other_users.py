# SPDX-License-Identifier: Apache-2.0
"""A mount that is open to other users shows each of them what that user could open in the source, by any path."""

import errno
import os
import shutil
import subprocess
import tempfile
import threading
import time

import pytest

import mounted
from other_user import OWNER, READER, Refused, read_file, run_as

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="allow_other, and files of other users, need root here")

COLUMN = "t/number.i4"


@pytest.fixture
def shared():
    """A directory that all users may enter."""
    directory = tempfile.mkdtemp(prefix="tfilefs-users-")
    os.chmod(directory, 0o755)
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def plain(samples):
    return os.path.join(samples("storage"), "plain.root")


def give(path, user, mode):
    os.chown(path, user, user, follow_symlinks=False)
    if not os.path.islink(path):
        os.chmod(path, mode)


def folder(shared, name, user, mode):
    path = os.path.join(shared, name)
    os.mkdir(path)
    give(path, user, mode)
    return path


def put(source, directory, name, user, mode):
    path = os.path.join(directory, name)
    shutil.copy(source, path)
    give(path, user, mode)
    return path


def refused(user, function, *arguments, **more):
    """The errno that a user gets."""
    with pytest.raises(Refused) as caught:
        run_as(user, function, *arguments, **more)
    return caught.value.errno


def assert_closed(user, top, **more):
    """Nothing of a ROOT file is shown, by any name or operation."""
    for name in (COLUMN, "t", ".original", ".map.txt", "t.arrow", "t/.schema.json", "h/object.bin", ".classes"):
        path = os.path.join(top, name)
        for function in (os.stat, read_file, os.listdir, os.listxattr):
            assert refused(user, function, path, **more) in (errno.EACCES, errno.EPERM), (name, function)
    assert refused(user, os.listdir, top, **more) == errno.EACCES


def test_link_into_a_closed_directory(shared, plain, mount):
    closed = folder(shared, "closed", OWNER, 0o700)
    put(plain, closed, "secret.root", OWNER, 0o644)
    own = folder(shared, "own", READER, 0o755)
    os.symlink("../closed/secret.root", os.path.join(own, "relative"))
    os.symlink(os.path.join(closed, "secret.root"), os.path.join(own, "absolute"))
    os.symlink("relative", os.path.join(own, "chain"))
    for link in os.listdir(own):
        give(os.path.join(own, link), READER, 0)
    m = mount(shared, "allow_other")
    for link in ("relative", "absolute", "chain"):
        top = os.path.join(m.path, "own", link)
        assert_closed(READER, top)
        # Not even while the kernel has cached what an allowed user read.
        assert len(run_as(OWNER, read_file, os.path.join(top, COLUMN))) == 2000
        assert read_file(os.path.join(top, COLUMN))
        assert_closed(READER, top)
        assert run_as(READER, os.readlink, top) == os.readlink(os.path.join(own, link))


def test_link_to_what_one_may_open_is_followed(shared, plain, mount):
    open_to_all = folder(shared, "open", OWNER, 0o755)
    put(plain, open_to_all, "public.root", OWNER, 0o644)
    put(plain, open_to_all, "group.root", OWNER, 0o640)
    for name in ("public", "group"):
        os.symlink(f"open/{name}.root", os.path.join(shared, name))
    m = mount(shared, "allow_other")
    assert run_as(READER, os.listdir, os.path.join(m.path, "public")) == os.listdir(os.path.join(m.path, "public"))
    assert len(run_as(READER, read_file, os.path.join(m.path, "public", COLUMN))) == 2000
    assert_closed(READER, os.path.join(m.path, "group"))
    assert len(run_as(READER, read_file, os.path.join(m.path, "group", COLUMN), groups=[5, OWNER])) == 2000


def write_to(path, flags):
    file = os.open(path, os.O_WRONLY | flags)
    try:
        return os.write(file, b"more")
    finally:
        os.close(file)


def test_a_file_may_be_written_that_cannot_be_read(shared, mount):
    path = put(__file__, shared, "log", OWNER, 0o622)
    size = os.stat(path).st_size
    shown = os.path.join(mount(shared, "rw,allow_other").path, "log")
    assert run_as(READER, write_to, shown, os.O_APPEND) == 4
    assert run_as(READER, write_to, shown, 0) == 4
    with open(path, "rb") as file:
        content = file.read()
    assert len(content) == size + 4 and content[:4] == content[-4:] == b"more"
    for flags in (os.O_RDONLY, os.O_RDWR):
        assert refused(READER, os.open, shown, flags) == errno.EACCES


def test_supplementary_groups_open_directories(shared, plain, mount):
    members = folder(shared, "members", OWNER, 0o750)
    os.chown(members, OWNER, 23500)
    put(plain, members, "a.root", OWNER, 0o644)
    put(__file__, members, "notes", OWNER, 0o644)
    os.symlink("members/a.root", os.path.join(shared, "link"))
    m = mount(shared, "allow_other")
    for path in ("members/a.root", "link"):
        assert_closed(READER, os.path.join(m.path, path))
        assert len(run_as(READER, read_file, os.path.join(m.path, path, COLUMN), groups=[23500])) == 2000
    assert refused(READER, read_file, os.path.join(m.path, "members/notes")) == errno.EACCES
    assert run_as(READER, read_file, os.path.join(m.path, "members/notes"), groups=[23500])


def test_access_control_lists_count(shared, plain, mount):
    """The mode does not show them, so the kernel alone would admit users that the list excludes."""
    listed = put(plain, shared, "listed.root", OWNER, 0o644)
    notes = put(__file__, shared, "notes", OWNER, 0o644)
    entries = [(0x01, 7, -1), (0x02, 0, READER), (0x04, 4, -1), (0x10, 4, -1), (0x20, 4, -1)]
    acl = (2).to_bytes(4, "little") + b"".join(
        tag.to_bytes(2, "little") + bits.to_bytes(2, "little") + (who & 0xffffffff).to_bytes(4, "little")
        for tag, bits, who in entries)
    for path in (listed, notes):
        os.setxattr(path, "system.posix_acl_access", acl)
    assert refused(READER, read_file, notes) == errno.EACCES
    m = mount(shared, "allow_other")
    assert refused(READER, read_file, os.path.join(m.path, "notes")) == errno.EACCES
    assert refused(READER, os.stat, os.path.join(m.path, "listed.root", COLUMN)) == errno.EACCES
    assert run_as(23003, read_file, os.path.join(m.path, "notes"))
    assert len(run_as(23003, read_file, os.path.join(m.path, "listed.root", COLUMN))) == 2000


def test_siblings(shared, samples, mount):
    """A user's own file that refers to another user's file does not show the content of that file."""
    storage = samples("storage")
    place = folder(shared, "place", READER, 0o755)
    put(os.path.join(storage, "other-file.root"), place, "other-file.root", READER, 0o644)
    put(os.path.join(storage, "other-file-side.root"), place, "other-file-side.root", OWNER, 0o600)
    m = mount(shared, "allow_other")
    table = os.path.join(m.path, "place/other-file.root/t")
    stored_there = ("vector/values.f8", "vector/offsets.i8", "vector/values.npy", ".schema.json", "vector.txt")
    run_as(OWNER, read_file, os.path.join(table, "number.i4"))
    for name in stored_there + ("../t.arrow", "../t.jsonl"):
        path = os.path.normpath(os.path.join(table, name))
        for _ in range(2):
            assert refused(READER, os.stat, path) == errno.EACCES, name
            assert refused(READER, read_file, path) == errno.EACCES, name
            assert read_file(path)
    assert len(run_as(READER, read_file, os.path.join(table, "number.i4"))) == 400
    assert "vector" in run_as(READER, os.listdir, table)
    os.chmod(os.path.join(shared, "place/other-file-side.root"), 0o644)
    assert run_as(READER, read_file, os.path.join(table, "vector/values.f8"))


def test_single_file(shared, plain, mount):
    """To mount a file makes its path accessible, but not what its mode protects."""
    closed = folder(shared, "closed", OWNER, 0o700)
    path = put(plain, closed, "a.root", OWNER, 0o640)
    m = mount(path, "allow_other")
    assert_closed(READER, m.path)
    os.chmod(path, 0o644)
    mounted.wait_until(lambda: mounted.outcome(lambda: run_as(READER, read_file, os.path.join(m.path, COLUMN))) != errno.EACCES)
    assert len(run_as(READER, read_file, os.path.join(m.path, COLUMN))) == 2000


def test_file_that_becomes_closed(shared, plain, mount):
    path = put(plain, shared, "a.root", OWNER, 0o644)
    m = mount(shared, "allow_other")
    column = os.path.join(m.path, "a.root", COLUMN)
    assert len(run_as(READER, read_file, column)) == 2000
    os.chmod(path, 0o600)
    mounted.wait_until(lambda: mounted.outcome(lambda: run_as(READER, read_file, column)) == errno.EACCES)
    assert refused(READER, read_file, column) == errno.EACCES


def test_links_swapped_while_they_are_looked_up(shared, plain, samples, mount):
    """Whatever is at the end of a chain of links at any moment, the reader gets the file that it may open, or none."""
    closed = folder(shared, "closed", OWNER, 0o700)
    put(plain, closed, "x.root", OWNER, 0o644)
    other = put(os.path.join(samples("storage"), "ntuples.root"), shared, "x.root", READER, 0o644)
    own = folder(shared, "own", READER, 0o755)
    os.symlink("../x.root", os.path.join(own, "first"))
    os.symlink("first", os.path.join(own, "second"))
    done = threading.Event()

    def swap():
        targets = ["../closed/x.root", "../x.root"]
        for i in range(1 << 30):
            if done.is_set():
                return
            os.symlink(targets[i % 2], os.path.join(own, "new"))
            os.replace(os.path.join(own, "new"), os.path.join(own, "first"))

    def try_often(top, end):
        seen = set()
        while time.monotonic() < end:
            for name in ("", COLUMN, "single"):
                try:
                    path = os.path.join(top, name)
                    seen.update(os.listdir(path) if os.path.isdir(path) else [read_file(path)[:0].decode() + name])
                except OSError:
                    pass
        return seen

    m = mount(shared, "allow_other")
    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        top = os.path.join(m.path, "own/second")
        seen = run_as(READER, try_often, top, time.monotonic() + 4)
    finally:
        done.set()
        swapper.join()
    assert other and not seen & {"t", "h", COLUMN}, seen
    assert "single" in seen, "the file that he may open was never seen: nothing was tried"


def test_directories_swapped_while_they_are_listed(shared, mount):
    """A user who may rename another user's closed directory cannot list it."""
    own = folder(shared, "own", READER, 0o755)
    os.mkdir(os.path.join(own, "a"))
    give(os.path.join(own, "a"), READER, 0o755)
    closed = folder(shared, "own/b", OWNER, 0o700)
    put(__file__, closed, "secret", OWNER, 0o644)
    done = threading.Event()

    def swap():
        while not done.is_set():
            for old, new in (("a", "c"), ("b", "a"), ("c", "b")):
                os.rename(os.path.join(own, old), os.path.join(own, new))

    def try_often(path, end):
        seen = set()
        while time.monotonic() < end:
            for name in ("a", "b"):
                try:
                    seen.update(os.listdir(os.path.join(path, name)))
                    seen.add(os.path.join(path, name, "secret") if os.stat(os.path.join(path, name, "secret")) else "")
                except OSError:
                    pass
        return seen

    m = mount(shared, "allow_other")
    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        seen = run_as(READER, try_often, os.path.join(m.path, "own"), time.monotonic() + 2)
    finally:
        done.set()
        swapper.join()
    assert not seen


def test_uid_and_gid_give_the_mount_away(shared, plain, mount):
    put(plain, shared, "a.root", 0, 0o600)
    m = mount(shared, "allow_other", f"uid={READER}")
    assert len(run_as(READER, read_file, os.path.join(m.path, "a.root", COLUMN))) == 2000
    assert_closed(OWNER, os.path.join(m.path, "a.root"))


CLOSED = ("errors", "metrics", "pending.json", "reads.json", "stats.json")


def test_what_others_read_is_told_to_who_mounted(shared, plain, mount):
    private = folder(shared, "private", OWNER, 0o700)
    put(plain, private, "whereabouts.root", OWNER, 0o600)
    m = mount(shared, "allow_other")
    run_as(OWNER, read_file, os.path.join(m.path, "private/whereabouts.root", COLUMN))
    assert b"whereabouts" in read_file(os.path.join(m.path, ".tfilefs/stats.json"))
    for user in (READER, OWNER):
        for name in CLOSED:
            path = os.path.join(m.path, ".tfilefs", name)
            assert refused(user, read_file, path) == errno.EACCES, name
            assert os.stat(path).st_mode & 0o777 == 0o400
        assert run_as(user, read_file, os.path.join(m.path, ".tfilefs/README"))


def test_control_files_of_a_mount_for_one_user_stay_readable(plain, mount):
    m = mount(plain)
    for name in CLOSED:
        assert os.stat(os.path.join(m.path, ".tfilefs", name)).st_mode & 0o777 == 0o444


def test_journal_of_somebody_else(shared, plain, mount):
    """A journal that another user put beside a file is not read as if the owner of the file had written it."""
    path = put(plain, shared, "a.root", OWNER, 0o644)
    writer = mounted.Mounted(shared, ("rw", "allow_other", "commit=600"))
    os.mkdir(os.path.join(writer.path, "a.root", "more"))
    with open(os.path.join(writer.path, "a.root/more/planted.f4"), "wb") as column:
        column.write(bytes(8))
        os.fsync(column.fileno())
    writer.process.kill()
    writer.process.wait()
    subprocess.run(["fusermount3", "-u", "-z", writer.path], check=True)
    os.rmdir(writer.path)
    journal = path + ".tfilefs-journal"
    os.chown(journal, READER, READER)
    with mounted.Mounted(shared, ("allow_other",)) as m:
        assert os.listdir(m.path) == ["a.root"]
        mounted.wait_until(lambda: "journal belongs to another user" in m.errors())
        assert "planted" not in m.errors()
    with mounted.Mounted(shared, ("rw", "allow_other")) as m:
        assert "more" not in os.listdir(os.path.join(m.path, "a.root"))
    os.chown(journal, OWNER, OWNER)
    with mounted.Mounted(shared, ("allow_other",)) as m:
        assert os.listdir(m.path) == ["a.root"]
        mounted.wait_until(lambda: "planted" in m.errors())


@pytest.mark.parametrize("mode, may", ((0o666, True), (0o664, True), (0o644, False)))
def test_who_may_write_a_root_file_appends_to_it(shared, plain, mount, mode, may):
    """Its group and others, too, as its mode says."""
    put(plain, shared, "a.root", 0, mode)
    os.chown(os.path.join(shared, "a.root"), 0, READER)
    column = os.path.join(mount(shared, "rw", "allow_other").path, "a.root", COLUMN)
    size = os.path.getsize(column)
    if may:
        run_as(READER, append_zeros, column)
    else:
        assert refused(READER, append_zeros, column) == errno.EACCES
    assert os.path.getsize(column) == size + (4 if may else 0)


def append_zeros(path):
    file = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.write(file, bytes(4))
    os.close(file)
