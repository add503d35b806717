# SPDX-License-Identifier: Apache-2.0
"""A mirrored directory: ROOT files are directories, everything else is passed through, and changes show at the next
open."""

import errno
import os
import shutil
import subprocess

import numpy as np
import pytest
import uproot

import mounted
import mounted_table


@pytest.fixture
def source(samples, tmp_path):
    storage = samples("storage")
    shutil.copy(os.path.join(storage, "plain.root"), tmp_path / "plain.root")
    (tmp_path / "sub").mkdir()
    shutil.copy(os.path.join(storage, "ntuples.root"), tmp_path / "sub" / "ntuples.root")
    shutil.copy(os.path.join(storage, "plain.root"), tmp_path / "without_suffix")
    (tmp_path / "notes.txt").write_bytes(b"some notes\n" * 5000)
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "garbage.root").write_bytes(b"rotten" * 100)
    (tmp_path / "percent%41").write_bytes(b"not escaped")
    os.symlink("notes.txt", tmp_path / "link_to_notes")
    os.symlink("sub/ntuples.root", tmp_path / "link_to_root")
    os.symlink("/etc/hostname", tmp_path / "link_outside")
    os.symlink("nowhere", tmp_path / "dangling")
    return tmp_path


@pytest.mark.fast
def test_listing(source, mount):
    m = mount(source)
    assert sorted(os.listdir(m.path)) == sorted(os.listdir(source))
    for directory in ("plain.root", "sub", "sub/ntuples.root", "without_suffix", "link_to_root"):
        assert os.path.isdir(os.path.join(m.path, directory)), directory
    assert sorted(os.listdir(os.path.join(m.path, "link_to_root"))) == ["single", "twice"]


@pytest.mark.fast
def test_other_files_pass_through(source, mount):
    m = mount(source)
    for name in ("notes.txt", "empty", "garbage.root", "percent%41"):
        assert mounted_table.read_exactly(os.path.join(m.path, name)) == (source / name).read_bytes(), name
        mine, theirs = os.stat(os.path.join(m.path, name)), os.stat(source / name)
        assert mine.st_mtime == theirs.st_mtime and mine.st_uid == theirs.st_uid


def test_links(source, mount):
    m = mount(source)
    assert os.readlink(os.path.join(m.path, "link_to_notes")) == "notes.txt"
    assert os.readlink(os.path.join(m.path, "link_outside")) == "/etc/hostname"
    assert os.path.islink(os.path.join(m.path, "dangling"))
    assert not os.path.islink(os.path.join(m.path, "link_to_root"))


def test_new_and_removed_files_are_seen(source, mount):
    m = mount(source)
    assert not os.path.exists(os.path.join(m.path, "later.root"))
    shutil.copy(source / "plain.root", source / "later.root")
    mounted.wait_until(lambda: os.path.exists(os.path.join(m.path, "later.root")), 5)
    assert os.path.isdir(os.path.join(m.path, "later.root", "t"))
    os.unlink(source / "later.root")
    mounted.wait_until(lambda: not os.path.exists(os.path.join(m.path, "later.root")))
    assert not os.path.exists(os.path.join(m.path, "later.root"))


def test_files_made_in_the_mount_are_seen_to_change(mount, tmp_path):
    """Another program changes them in the mirrored directory, at once."""
    m = mount(tmp_path, "rw")
    for name in ("written", "removed"):
        os.close(os.open(os.path.join(m.path, name), os.O_CREAT | os.O_WRONLY))
    (tmp_path / "written").write_bytes(b"more")
    os.chmod(tmp_path / "written", 0o600)
    os.unlink(tmp_path / "removed")
    status = os.stat(os.path.join(m.path, "written"))
    assert (status.st_size, status.st_mode & 0o777) == (4, 0o600)
    assert not os.path.exists(os.path.join(m.path, "removed"))
    descriptor = os.open(os.path.join(m.path, "open"), os.O_CREAT | os.O_RDWR)
    try:
        (tmp_path / "open").write_bytes(b"more")
        assert os.read(descriptor, 10) == b"more" and os.fstat(descriptor).st_size == 4
    finally:
        os.close(descriptor)


def write(path, start):
    with uproot.recreate(path) as file:
        file.mktree("t", {"x": "f8"})
        for i in range(20):
            file["t"].extend({"x": np.random.default_rng(i + start).random(20000)})


def x_of(path):
    with uproot.open(path) as file:
        return file["t/x"].array(library="np").tobytes()


@pytest.mark.fast
@pytest.mark.parametrize("whole_directory", (True, False))
def test_replaced_file(mount, tmp_path, whole_directory):
    """The next open shows the new state; an older handle gets ESTALE, not a mixture."""
    path = tmp_path / "data.root"
    write(path, 0)
    before = x_of(path)
    m = mount(tmp_path if whole_directory else path)
    column = os.path.join(m.path, "data.root" if whole_directory else "", "t/x.f8")
    old = os.open(column, os.O_RDONLY)
    try:
        assert os.pread(old, 4096, 0) == before[:4096]
        write(tmp_path / "new.tmp", 1000)
        after = x_of(tmp_path / "new.tmp")
        os.replace(tmp_path / "new.tmp", path)
        assert mounted_table.read_exactly(column) == after
        with pytest.raises(OSError) as error:
            for offset in range(0, len(before), 1 << 16):
                os.pread(old, 1 << 16, offset)
        assert error.value.errno == errno.ESTALE
    finally:
        os.close(old)
    assert mounted_table.read_exactly(column) == after


def test_file_that_grows_new_keys(mount, tmp_path):
    path = tmp_path / "job.root"
    with uproot.recreate(path) as file:
        file["first"] = "1"
    m = mount(tmp_path)
    assert os.listdir(os.path.join(m.path, "job.root")) == ["first"]
    with uproot.update(path) as file:
        file["second"] = "2"
    mounted.wait_until(lambda: sorted(os.listdir(os.path.join(m.path, "job.root"))) == ["first", "second"], 5)


def test_root_file_becomes_plain_and_back(mount, tmp_path, samples):
    good = os.path.join(samples("storage"), "plain.root")
    path = tmp_path / "f.root"
    shutil.copy(good, path)
    m = mount(tmp_path)
    inside = os.path.join(m.path, "f.root")
    assert os.path.isdir(inside)
    (tmp_path / "x").write_bytes(b"plain bytes")
    os.replace(tmp_path / "x", path)
    mounted.wait_until(lambda: not os.path.isdir(inside), 5)
    assert mounted_table.read_exactly(inside) == b"plain bytes"


def test_source_inside_the_mirror_is_not_left(source, mount):
    """.. from the top of a mount leads out of it, as in every file system, and never into the source."""
    m = mount(source)
    assert os.path.samefile(os.path.join(m.path, ".."), os.path.dirname(m.path))
    assert not os.path.exists(os.path.join(m.path, "..%2F"))


def test_inodes_of_a_mirror_are_stable(source):
    import mounted

    def inodes():
        with mounted.Mounted(source) as m:
            return {
                os.path.relpath(os.path.join(directory, name), m.path): os.lstat(os.path.join(directory, name)).st_ino
                for directory, directories, files in os.walk(m.path)
                for name in directories + files
            }

    first = inodes()
    assert first == inodes()
    assert len(set(first.values())) == len(first)


def test_names_cannot_speak_to_a_terminal(source, mount, program):
    """In printed output; the mount itself has the original names."""
    hostile = ["\x1b]0;x", "\u009b31m", "\u202etoor.txt", "\u2066a", "\u200fb", "\u061cc", "d\u2028e"]
    for name in hostile:
        (source / (name + ".root")).write_bytes(b"root" + b"rotten" * 100)
    m = mount(source)
    assert {name + ".root" for name in hostile} <= set(os.listdir(m.path))
    for name in hostile:
        os.stat(os.path.join(m.path, name + ".root"))
    listed = [subprocess.run([program, "ls", *options, source], capture_output=True, text=True, check=False).stdout
              for options in ((), ("-l",), ("--json",))]
    for said in (*listed, m.errors()):
        assert ".root" in said
        for name in hostile:
            mark = max(name, key=lambda c: c in "\x1b\u009b\u202e\u2066\u200f\u061c\u2028")
            assert mark not in said.replace("\n", ""), (name, said)
    assert "\\xe2\\x80\\xaetoor" in listed[0] and "\\xc2\\x9b31m" in m.errors()
