# SPDX-License-Identifier: Apache-2.0
"""Journals lie beside the files of an rw mirror, which does not show them: nothing takes their names through the mount,
and nobody is kept from what is no journal."""

import errno
import io
import os
import shutil
import subprocess

import numpy as np
import pytest

import mounted
from staged_values import OPTIONS, VALUES, kill, make_file, run, stage, tables

NAMES = ("a.root.tfilefs-journal", "new.root.tfilefs-journal", "a.root.tfilefs-journal.tfilefs-tmp")


@pytest.fixture
def mirror(tmp_path):
    make_file(tmp_path / "src")
    with mounted.Mounted(tmp_path / "src", OPTIONS) as m:
        yield m, tmp_path / "src"


@pytest.mark.parametrize("name", NAMES)
def test_no_call_takes_the_name_of_a_journal(mirror, name):
    m, source = mirror
    stage(os.path.join(m.path, "a.root", "U"))
    plain, at = os.path.join(m.path, "plain"), os.path.join(m.path, name)
    with open(plain, "w") as file:
        file.write("p")
    os.mkdir(os.path.join(m.path, "directory"))
    for call in (lambda: open(at, "w"), lambda: os.mkdir(at), lambda: os.symlink("x", at), lambda: os.link(plain, at),
                 lambda: os.rename(plain, at), lambda: os.rename(os.path.join(m.path, "directory"), at),
                 lambda: os.rename(os.path.join(m.path, "a.root"), at)):
        with pytest.raises(OSError) as refused:
            call()
        assert refused.value.errno == errno.EPERM
    with pytest.raises(FileNotFoundError):
        os.stat(at)
    # Before a.root was to be renamed, it was committed.
    assert sorted(os.listdir(source)) == ["a.root", "directory", "plain"]
    assert tables(source / "a.root") == {"T": VALUES.tolist(), "U": VALUES.tolist()}


def test_a_backup_with_a_journal_in_it_replaces_none(tmp_path):
    source = make_file(tmp_path / "src").parent
    m = mounted.Mounted(source, OPTIONS)
    backup = tmp_path / "backup"
    backup.mkdir()
    (backup / "a.root.tfilefs-journal").write_text("an older journal")
    with open(os.path.join(m.path, "a.root", "T", "x.i4"), "ab") as file:
        file.write(VALUES.tobytes())
        file.flush()
        os.fsync(file.fileno())
    assert subprocess.run(["rsync", "-a", f"{backup}/", f"{m.path}/"], capture_output=True).returncode != 0
    kill(m)
    assert run("recover", source / "a.root").returncode == 0
    assert tables(source / "a.root")["T"] == 2 * VALUES.tolist()


@pytest.mark.parametrize("text", ["mine", "mine\n" * 100, "tfilefs is not it"])
def test_what_is_no_journal_stays(tmp_path, text):
    """It has the name of one, so it is not shown; its directory is not empty."""
    source = tmp_path / "src"
    other = source / "below" / "a.root.tfilefs-journal"
    other.parent.mkdir(parents=True)
    other.write_text(text)
    with mounted.Mounted(source, OPTIONS) as m:
        assert os.listdir(os.path.join(m.path, "below")) == []
        with pytest.raises(OSError) as refused:
            os.rmdir(os.path.join(m.path, "below"))
        assert refused.value.errno == errno.ENOTEMPTY
        with pytest.raises(OSError):
            os.mkdir(os.path.join(m.path, "below", "a.root"))
        assert "not a journal: begins with '" in m.errors()
    assert other.read_text() == text


def test_a_file_that_is_left_over_can_be_removed(mirror):
    """A repack that was killed while its file had a temporary name leaves it."""
    m, source = mirror
    (source / "d").mkdir()
    (source / "d" / ".o.root.0123456789abcdef.tfilefs-tmp").write_text("a part")
    shutil.rmtree(os.path.join(m.path, "d"))
    assert not (source / "d").exists()


def test_repack_writes_into_a_mount(mirror):
    m, source = mirror
    done = run("repack", source / "a.root", os.path.join(m.path, "o.root"))
    assert done.returncode == 0, done.stderr
    assert tables(source / "o.root") == tables(source / "a.root")
    assert sorted(os.listdir(source)) == ["a.root", "o.root"]


def test_recover_does_not_follow_a_link_beside_a_journal(tmp_path):
    path = make_file(tmp_path / "src")
    m = mounted.Mounted(tmp_path / "src", OPTIONS)
    stage(os.path.join(m.path, "a.root", "U"))
    mounted.fsync(os.path.join(m.path, "a.root", "U", "x.i4"))
    kill(m)
    os.rename(path, tmp_path / "moved.root")
    os.symlink("../moved.root", path)
    said = run("recover", path)
    assert said.returncode == 1 and "is a symbolic link, but a journal" in said.stderr
    os.rename(tmp_path / "moved.root", path)
    assert run("recover", path).returncode == 0
    assert tables(path) == {"T": VALUES.tolist(), "U": VALUES.tolist()}


@pytest.mark.parametrize("how", ("cut", "more", "negative"))
def test_a_npy_file_has_the_rows_of_its_header(mirror, how):
    m, _ = mirror
    buffer = io.BytesIO()
    np.save(buffer, np.arange(1000, dtype="f4"))
    whole = buffer.getvalue()
    wrong = {"cut": whole[:-400], "more": whole + bytes(400), "negative": whole.replace(b"(1000,)", b"(-100,)")}[how]
    path = os.path.join(m.path, "a.root", "N", "y.npy")
    os.makedirs(os.path.dirname(path))
    file = os.open(path, os.O_CREAT | os.O_WRONLY)
    os.write(file, wrong)
    with pytest.raises(OSError) as refused:
        os.close(file)
    assert refused.value.errno == errno.EINVAL
    with open(path, "wb") as file:
        file.write(whole)
    mounted.fsync(os.path.join(m.path, "a.root"))
    assert np.load(os.path.join(m.path, "a.root", "N", "y.npy")).tolist() == list(range(1000))
