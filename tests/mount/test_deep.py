# SPDX-License-Identifier: Apache-2.0
"""Endlessly nested directories: made through a mount, and in a hand-made journal."""

import errno
import os
import shutil
import subprocess

import pytest

import journal_file
import mounted

LEVELS = 100_000  # more than the stack could hold, if it grew with each level


def descend(top, name, levels):
    """Makes directories each inside the previous one, as mkdir -p does; returns their number when one is refused."""
    at = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for level in range(levels):
            os.mkdir(name, dir_fd=at)
            below = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=at)
            os.close(at)
            at = below
    except OSError as error:
        assert error.errno == errno.ENAMETOOLONG
        return level
    finally:
        os.close(at)
    return levels


@pytest.fixture
def file(tmp_path, samples):
    shutil.copy(os.path.join(samples("storage"), "plain.root"), tmp_path / "a.root")
    return tmp_path / "a.root"


def test_made_directories_are_no_deeper_than_a_path(file):
    with mounted.Mounted(file, ("rw", "commit=600")) as m:
        made = descend(m.path, "d", 10_000)
        assert 1500 < made < 4096
        assert "d" in os.listdir(m.path)
        with open(os.path.join(m.path, ".tfilefs", "pending.json")) as pending:
            assert pending.read()
        subprocess.run(["rm", "-r", os.path.join(m.path, "d")], check=True)
        assert sorted(os.listdir(m.path)) == ["h", "t"]


def test_a_moved_directory_makes_nothing_deeper_than_a_path(file):
    with mounted.Mounted(file, ("rw", "commit=600")) as m:
        half = descend(m.path, "d", 1500)
        assert descend(m.path, "e", 1500) == half == 1500
        inner = os.path.join(m.path, *["d"] * 1000)
        with pytest.raises(OSError) as error:
            os.rename(os.path.join(m.path, "e"), os.path.join(inner, "e"))
        assert error.value.errno == errno.ENAMETOOLONG
        assert sorted(os.listdir(m.path)) == ["d", "e", "h", "t"]
        subprocess.run(["rm", "-r", os.path.join(m.path, "d"), os.path.join(m.path, "e")], check=True)


def test_what_was_made_deep_is_found_again(file):
    table = os.path.join(*["d"] * 300, "t")
    with mounted.Mounted(file, ("rw", "commit=600")) as m:
        descend(m.path, "d", 300)
        os.mkdir(os.path.join(m.path, table))
        with open(os.path.join(m.path, table, "x.i4"), "wb") as column:
            column.write(b"four")
        subprocess.run([mounted.program(), "commit", m.path], check=True)
        assert os.listdir(os.path.join(m.path, table)) == ["x.i4"]
    with mounted.Mounted(file) as m:
        with open(os.path.join(m.path, table, "x.i4"), "rb") as column:
            assert column.read() == b"four"
        assert m.errors() == ""
    check = subprocess.run([mounted.program(), "check", file], capture_output=True, text=True)
    assert (check.returncode, "no errors" in check.stdout) == (0, True), check.stdout[-300:]
    with mounted.Mounted(file, ("rw",)) as m:
        subprocess.run(["rm", "-r", os.path.join(m.path, "d")], check=True)
        assert sorted(os.listdir(m.path)) == ["h", "t"]


def test_a_name_is_no_longer_than_the_system_has_them(file):
    with mounted.Mounted(file, ("rw", "commit=600")) as m:
        os.mkdir(os.path.join(m.path, "d"))
        for change in (os.mkdir, lambda path: os.rename(os.path.join(m.path, "d"), path)):
            with pytest.raises(OSError) as error:
                change(os.path.join(m.path, "n" * 256))
            assert error.value.errno == errno.ENAMETOOLONG
        os.rmdir(os.path.join(m.path, "d"))


def nested_by_moves():
    """Each new directory gets the previous one moved into it: no path in these records is long."""
    yield journal_file.create(1, "a")
    for level in range(2, LEVELS):
        yield journal_file.create(level, "b")
        yield journal_file.rename(level - 1, "b/c")
        yield journal_file.rename(level, "a")


def nested_and_removed():
    yield from nested_by_moves()
    yield journal_file.REMOVE, LEVELS - 1, b""


HOSTILE = {
    "moved": nested_by_moves,
    "removed": nested_and_removed,
    "one long path": lambda: [journal_file.create(n, "/".join("a" * n)) for n in range(1, 2100)],
    "a long name": lambda: [journal_file.create(1, "n" * 256)],
}


def told(m, what):
    """Whether errors has a line with `what`. A mount examines journals in the background."""
    while not (lines := m.errors()):
        os.listdir(m.path)
    return what in lines


@pytest.mark.parametrize("records", HOSTILE)
def test_a_journal_that_nests_without_end_is_refused(file, records):
    journal = journal_file.write(file, HOSTILE[records]())
    before = os.stat(journal).st_size
    # Removed directories leave nothing, however deep they were.
    if records != "removed":
        for source in (file, file.parent):
            with mounted.Mounted(source) as m:
                assert os.listdir(m.path)
                assert told(m, "nested deeper")
        with pytest.raises(mounted.MountFailed, match="nested deeper"):
            mounted.Mounted(file, ("rw",))
        assert os.stat(journal).st_size == before
    else:
        with mounted.Mounted(file, ("rw",)) as m:
            assert sorted(os.listdir(m.path)) == ["h", "t"]
        assert not os.path.exists(journal)


def test_a_journal_of_somebody_else_is_not_read(file):
    if os.geteuid() != 0:
        pytest.skip("giving files away needs root")
    journal = journal_file.write(file, [journal_file.create(1, "planted")])
    os.chown(journal, 12345, 12345)
    with mounted.Mounted(file) as m:
        os.listdir(m.path)
        assert told(m, "belongs to another") and "planted" not in m.errors()
