# SPDX-License-Identifier: Apache-2.0
"""Pieces of columns in every order, with commits, other writers and other names in between: small cases of the random
operations in test_write_model.py."""

import contextlib
import errno
import io
import os
import shutil
import subprocess
import time

import numpy as np
import pytest
import uproot

import column_streams
import mounted

FILE = "out.root"


class Place:
    def __init__(self, directory, *options):
        self.source = str(directory)
        self._options = ("rw", *(options or ("commit=86400",)))
        self.mount = mounted.Mounted(self.source, self._options)
        self.top = os.path.join(self.mount.path, FILE)
        self.path = os.path.join(self.source, FILE)

    def append(self, path, data, sync=True):
        full = os.path.join(self.top, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "ab", buffering=0) as file:
            assert file.write(data.tobytes()) == data.nbytes
            if sync:
                os.fsync(file.fileno())

    def read(self, path, dtype="<i8"):
        return np.fromfile(os.path.join(self.top, path), dtype).tolist()

    def commit(self, path="Events"):
        """Commits in another way than `tfilefs commit`, whose status also reports incomplete tables."""
        mounted.fsync(os.path.join(self.top, path))

    def status(self, path="Events"):
        return subprocess.run([mounted.program(), "commit", os.path.join(self.top, path)], capture_output=True).returncode

    def tree(self, name="Events"):
        with uproot.open(self.path) as file:
            return {branch.name: branch.array(library="ak").to_list() for branch in file[name].branches}

    def kill(self):
        self.mount.process.kill()
        self.mount.close()
        self.mount = mounted.Mounted(self.source, self._options)
        self.top = os.path.join(self.mount.path, FILE)

    def umount(self):
        status = subprocess.run([mounted.program(), "umount", self.mount.path], capture_output=True).returncode
        self.mount.close()
        return status


@pytest.fixture
def place(tmp_path):
    places = []

    def make(*options):
        places.append(Place(tmp_path, *options))
        return places[-1]

    yield make
    for one in places:
        one.mount.close()


def i8(*values):
    return np.array(values, "<i8")


def f4(*values):
    return np.array(values, "<f4")


def test_values_wait_for_their_offsets(place):
    """A commit in between loses none of them."""
    p = place()
    p.append("Events/v/offsets.i8", i8(0, 2))
    p.append("Events/v/values.f4", f4(1, 2))
    p.commit()
    p.append("Events/v/values.f4", f4(3, 4, 5))
    p.commit()
    assert p.status() == 1, "values without offsets are not whole"
    assert p.read("Events/v/values.f4", "<f4") == [1, 2, 3, 4, 5]
    p.append("Events/v/offsets.i8", i8(5))
    assert p.status() == 0
    assert p.tree() == {"v": [[1, 2], [3, 4, 5]]}
    assert p.umount() == 0


def test_entries_wait_for_their_values(place):
    """The entries are not empty lists."""
    p = place()
    p.append("Events/v/offsets.i8", i8(0, 2))
    p.append("Events/v/values.f4", f4(1, 2))
    p.commit()
    p.append("Events/v/offsets.i8", i8(5))
    p.commit()
    assert p.tree() == {"v": [[1, 2]]}
    assert p.status() == 1, "an entry lacks its values"
    p.append("Events/v/values.f4", f4(3, 4, 5))
    assert p.status() == 0
    assert p.tree() == {"v": [[1, 2], [3, 4, 5]]}


@pytest.mark.parametrize("killed", (False, True))
def test_a_part_of_an_entry_waits_for_the_rest(place, killed):
    p = place()
    p.append("Events/v/offsets.i8", i8(0, 2))
    p.append("Events/v/values.f4", f4(1, 2))
    p.commit()
    p.append("Events/v/offsets.i8", i8(5))
    p.append("Events/v/values.f4", f4(3, 4))
    p.commit()
    if killed:
        p.kill()
    assert p.status() == 1 and p.tree() == {"v": [[1, 2]]}
    p.append("Events/v/values.f4", f4(5))
    assert p.status() == 0 and p.tree() == {"v": [[1, 2], [3, 4, 5]]}


def test_a_new_list_with_values_beyond_its_offsets_is_not_whole(place):
    p = place()
    p.append("Events/v/offsets.i8", i8(0))
    p.append("Events/v/values.f4", f4(1, 2))
    assert p.status() == 1
    p.append("Events/v/offsets.i8", i8(2))
    assert p.status() == 0 and p.tree() == {"v": [[1, 2]]}


def test_offsets_of_a_new_list_without_values_are_not_whole(place):
    p = place()
    p.append("Events/v/offsets.i8", i8(0, 2, 3))
    p.append("Events/v/values.f4", f4(1))
    with contextlib.suppress(OSError):
        p.commit()
    assert p.status() == 1 and not os.path.exists(p.path)
    p.append("Events/v/values.f4", f4(2, 3))
    assert p.status() == 0 and p.tree() == {"v": [[1, 2], [3]]}


@pytest.mark.parametrize("killed", (False, True))
@pytest.mark.parametrize("order", ("offsets", "values"))
def test_lists_that_were_all_empty_grow(place, killed, order):
    p = place()
    p.append("Events/x.i8", i8(1, 2))
    p.append("Events/v/offsets.i8", i8(0, 0, 0))
    p.append("Events/v/values.f4", f4())
    assert p.status() == 0 and p.tree() == {"x": [1, 2], "v": [[], []]}
    pieces = [("Events/v/offsets.i8", i8(0, 2)), ("Events/v/values.f4", f4(1, 2)), ("Events/x.i8", i8(3, 4))]
    for path, data in pieces if order == "offsets" else pieces[::-1]:
        p.append(path, data)
        p.commit()
    if killed:
        p.kill()
    assert p.status() == 0
    assert p.tree() == {"x": [1, 2, 3, 4], "v": [[], [], [], [1, 2]]}
    assert p.umount() == 0


@pytest.mark.parametrize("first", ("Events/v/values.f4", "Events/v/values/values.f4", "Events/v/chars.u1"))
def test_values_come_before_offsets(place, first):
    """A commit in between does not turn the list's directory into a table."""
    p = place()
    data = np.array([97, 98], "u1") if first.endswith("u1") else f4(1, 2)
    p.append(first, data)
    with contextlib.suppress(OSError):
        p.commit()
        p.commit("")
    if first == "Events/v/values/values.f4":
        p.append("Events/v/values/offsets.i8", i8(0, 2))
        p.commit()
    p.append("Events/v/offsets.i8", i8(0, 1) if first == "Events/v/values/values.f4" else i8(0, 2))
    assert p.status() == 0
    expected = ["ab"] if first.endswith("u1") else [[[1, 2]]] if "values/values" in first else [[1, 2]]
    assert p.tree() == {"v": expected}


def test_offsets_of_nested_lists_come_in_any_order(place):
    p = place()
    p.append("Events/v/offsets.i8", i8(0, 1))
    p.append("Events/v/values/offsets.i8", i8(0, 1))
    p.append("Events/v/values/values.f4", f4(1))
    assert p.status() == 0
    for path, data in (("values/values.f4", f4(2, 3)), ("offsets.i8", i8(3)), ("values/offsets.i8", i8(2, 3))):
        p.append("Events/v/" + path, data)
        if path != "values/offsets.i8":
            p.commit()
            assert p.status() == 1 and p.tree() == {"v": [[[1]]]}
    assert p.status() == 0 and p.tree() == {"v": [[[1]], [[2], [3]]]}


def test_a_renamed_table_grows(place):
    p = place()
    p.append("Events/x.i8", i8(1, 2))
    assert p.status() == 0
    os.rename(os.path.join(p.top, "Events"), os.path.join(p.top, "Other"))
    p.append("Other/x.i8", i8(3))
    p.commit("Other")
    assert p.tree("Other") == {"x": [1, 2, 3]}


@pytest.mark.parametrize("how", ("fsync", "commit"))
def test_a_renamed_table_gets_a_column(place, how):
    p = place()
    p.append("Events/x.i8", i8(1, 2))
    assert p.status() == 0
    os.rename(os.path.join(p.top, "Events"), os.path.join(p.top, "Other"))
    p.append("Other/y.f4", f4(3, 4))
    assert p.status("Other") == 0 if how == "commit" else p.commit("Other") is None
    assert p.tree("Other") == {"x": [1, 2], "y": [3, 4]}


def test_a_table_with_pending_entries_is_renamed(place):
    p = place()
    p.append("Events/x.i8", i8(1, 2))
    assert p.status() == 0
    p.append("Events/x.i8", i8(3))
    os.rename(os.path.join(p.top, "Events"), os.path.join(p.top, "Other"))
    assert p.read("Other/x.i8") == [1, 2, 3]
    p.append("Other/x.i8", i8(4))
    assert p.status("Other") == 0 and p.tree("Other") == {"x": [1, 2, 3, 4]}


def test_a_staged_list_is_removed(place):
    p = place()
    p.append("Events/x.i8", i8())
    p.append("Events/v/offsets.i8", i8(0))
    shutil.rmtree(os.path.join(p.top, "Events", "v"))
    assert p.umount() == 0


def write_tree(path, name, *values):
    with uproot.update(path) as file:
        file.mktree(name, {"z": "i8"}).extend({"z": i8(*values)})


def write_ntuple(path, name, *values):
    with uproot.update(path) as file:
        file[name] = {"z": i8(*values)}


@pytest.mark.parametrize("write", (write_tree, write_ntuple))
def test_another_program_writes_between_commits(place, write):
    """If nothing is staged, it may; the mount continues from what it wrote."""
    p = place()
    p.append("Events/x.i8", i8(1, 2))
    assert p.status() == 0
    assert os.listdir(p.source) == [FILE]
    write(p.path, "foreign", 7, 8, 9)
    p.append("Events/x.i8", i8(3))
    assert p.read("Events/x.i8") == [1, 2, 3]
    assert p.status() == 0
    assert p.tree() == {"x": [1, 2, 3]}
    with uproot.open(p.path) as file:
        assert file["foreign"].arrays()["z"].to_list() == [7, 8, 9]
    p.append("Events/x.i8", i8(4))
    assert p.umount() == 0 and p.tree() == {"x": [1, 2, 3, 4]}
    with uproot.open(p.path) as file:
        assert file["foreign"].arrays()["z"].to_list() == [7, 8, 9]


@pytest.mark.parametrize("after", ("commit", "kill", "umount"))
@pytest.mark.parametrize("began", ("this mount", "a new mount"))
def test_another_program_writes_while_entries_are_staged(place, began, after):
    """Nothing of either is lost: the commit fails, or has both. Staged data can still be read."""
    p = place()
    p.append("Events/x.i8", i8(1, 2))
    assert p.status() == 0
    if began == "a new mount":
        p.kill()
    p.append("Events/x.i8", i8(3, 4))
    write_tree(p.path, "foreign", 7, 8, 9)
    if after == "kill":
        p.kill()
    status = p.umount() if after == "umount" else p.status()
    with uproot.open(p.path) as file:
        assert file["foreign"].arrays()["z"].to_list() == [7, 8, 9]
    found = p.tree()["x"]
    assert found == [1, 2, 3, 4] or (status != 0 and found == [1, 2] and os.path.exists(p.path + ".tfilefs-journal"))
    if after != "umount":
        assert p.read("Events/x.i8") == [1, 2, 3, 4]


@pytest.mark.parametrize("after", ("commit", "commit twice", "kill", "umount", "umount twice"))
@pytest.mark.parametrize("began", ("this mount", "a new mount"))
def test_another_program_adds_entries_while_entries_are_staged(place, began, after, appender):
    """Our entries have lost their place: nothing is committed, however often it is tried, and nothing is lost."""
    p, x = place(), column_streams.number("x", "i8", 1)
    p.append("Events/x.i8", x.files["x.i8"].items(0, 10))
    assert p.status() == 0
    if began == "a new mount":
        p.kill()
    p.append("Events/x.i8", x.files["x.i8"].items(10, 16))
    appender.append(p.path, "Events", [x], 10, 15)
    if after == "kill":
        p.kill()
    if after == "umount twice":
        assert p.umount() == 1
        p.mount = mounted.Mounted(p.source, ("rw",))
    if after.startswith("umount"):
        assert p.umount() == 1
    else:
        assert p.status() == 1 and (after != "commit twice" or p.status() == 1)
        assert len(p.read("Events/x.i8")) >= 15
    assert p.tree()["x"] == x.files["x.i8"].items(0, 15).tolist()
    assert os.path.exists(p.path + ".tfilefs-journal")


@pytest.mark.parametrize("act", ("rename the file", "remove the file", "remove the directory", "remove the table", "rename the table", "write"))
@pytest.mark.parametrize("committed", (False, True), ids=("new", "committed"))
def test_a_second_mount_leaves_the_file_alone_while_something_is_staged(place, act, committed):
    p = place()
    p.append("Other/y.i8", i8(1))
    assert p.status("Other") == 0
    if committed:
        p.append("Events/x.i8", i8(1, 2))
        assert p.status() == 0
    p.append("Events/x.i8", i8(3, 4))
    with mounted.Mounted(p.source, ("rw",)) as other:
        top = os.path.join(other.path, FILE)
        name = "Events" if committed else "Other"
        with pytest.raises(OSError):
            {
                "rename the file": lambda: os.rename(top, os.path.join(other.path, "moved.root")),
                "remove the file": lambda: shutil.rmtree(top),
                "remove the directory": lambda: os.rmdir(top),
                "remove the table": lambda: shutil.rmtree(os.path.join(top, name)),
                "rename the table": lambda: os.rename(os.path.join(top, name), os.path.join(top, "Moved")),
                "write": lambda: os.mkdir(os.path.join(top, "Intruder")),
            }[act]()
    assert p.status() == 0
    assert p.tree() == {"x": [1, 2, 3, 4] if committed else [3, 4]}
    assert p.umount() == 0 and os.listdir(p.source) == [FILE]


@pytest.mark.parametrize("beside", (False, True))
def test_what_cannot_be_committed_is_cut_off(place, appender, beside):
    """After another program has added entries, truncate as docs/semantics/writing.md says; the mount then continues from the
    new end. `beside`: a new table is staged that is not whole."""
    p, x = place(), column_streams.number("x", "i8", 1)
    if beside:
        p.append("New/a.i8", i8(1))
        p.append("New/b.i8", i8(1, 2))
    p.append("Events/x.i8", x.files["x.i8"].items(0, 10))
    assert p.status() == 0
    p.append("Events/x.i8", x.files["x.i8"].items(10, 16))
    appender.append(p.path, "Events", [x], 10, 15)
    assert p.status() == 1
    os.truncate(os.path.join(p.top, "Events/x.i8"), 10 * 8)
    assert p.status() == 0 and (beside or os.listdir(p.source) == [FILE])
    p.append("Events/x.i8", x.files["x.i8"].items(15, 17))
    assert p.status() == 0 and p.tree()["x"] == x.files["x.i8"].items(0, 17).tolist()
    if beside:
        p.append("New/a.i8", i8(2))
    assert p.umount() == 0


def test_a_table_whose_rename_was_committed_grows_on_after_a_crash(place):
    """The journal has the table by its old name, and the file by its new one. Appended data wait, since an entry is
    incomplete."""
    p = place("commit=86400")
    p.append("Events/v/offsets.i8", i8(0, 2))
    p.append("Events/v/values.f4", f4(1, 2))
    assert p.status() == 0
    p.append("Events/v/values.f4", f4(3))
    os.rename(os.path.join(p.top, "Events"), os.path.join(p.top, "Renamed"))
    p.commit("")
    with uproot.open(p.path) as file:
        assert file.keys(cycle=False) == ["Renamed"]
    p.append("Renamed/v/values.f4", f4(4))
    p.kill()
    p.append("Renamed/v/offsets.i8", i8(4))
    assert p.status("Renamed") == 0, p.mount.errors()
    assert p.tree("Renamed") == {"v": [[1, 2], [3, 4]]} and p.umount() == 0


def test_no_cluster_is_cut_before_a_new_column_has_caught_up(place):
    """Its entries and those of the committed columns grow together, and exceed the size of a cluster."""
    p = place("commit=86400", "autoflush=16K")
    x, y = np.arange(30_000, dtype="<i8"), np.arange(30_000, dtype="<i4")
    p.append("Events/x.i8", x[:10_000])
    assert p.status() == 0
    p.append("Events/x.i8", x[10_000:20_000])
    p.append("Events/y.i4", y[:9_000])
    p.append("Events/x.i8", x[20_000:])
    p.commit()
    assert p.mount.errors() == "" and p.tree() == {"x": x[:10_000].tolist()}
    p.append("Events/y.i4", y[9_000:])
    assert p.status() == 0
    assert p.tree() == {"x": x.tolist(), "y": y.tolist()} and p.umount() == 0


def test_a_new_table_goes_beside_what_another_program_wrote(place):
    p = place()
    p.append("Events/x.i8", i8(1, 2))
    assert p.status() == 0
    p.append("Other/y.i8", i8(3))
    write_tree(p.path, "foreign", 7, 8, 9)
    assert p.status("Other") == 0 and p.tree("Other") == {"y": [3]}
    with uproot.open(p.path) as file:
        assert file["foreign"].arrays()["z"].to_list() == [7, 8, 9]
    assert p.tree() == {"x": [1, 2]} and p.umount() == 0


def test_a_mount_that_waits_does_not_spin(place):
    """With commit=0 and an incomplete table: a table that was examined is examined again only after a change."""
    p = place("commit=0")
    p.append("Events/x.i8", i8(1, 2))
    p.append("Events/y.i8", i8(1))
    with open(f"/proc/{p.mount.process.pid}/stat") as stat:
        before = sum(int(n) for n in stat.read().split()[13:15])
    time.sleep(1)
    with open(f"/proc/{p.mount.process.pid}/stat") as stat:
        assert sum(int(n) for n in stat.read().split()[13:15]) - before < 30, "hundredths of a second"


def test_offsets_that_do_not_begin_with_0_are_refused(place):
    p = place()
    with pytest.raises(OSError) as refused:
        p.append("Events/v/offsets.i8", i8(1, 2))
    assert refused.value.errno == errno.EINVAL
    p.append("Events/v/values.f4", f4(1, 2))
    assert p.status() == 1
    with open(os.path.join(p.top, "Events", ".pending.json")) as pending:
        assert "begins with 1, not 0" in pending.read()


@pytest.mark.parametrize("removed", ("whole", "with entries pending"))
def test_a_table_of_this_mount_is_removed_before_a_crash(place, removed):
    """The journal that is started then has no records about unknown tables, and is replayed."""
    p = place()
    p.append("Events/x.i8", i8(1))
    assert p.status() == 0
    if removed != "whole":
        p.append("Events/x.i8", i8(2))
    shutil.rmtree(os.path.join(p.top, "Events"))
    p.append("Other/y.i8", i8(4, 5))
    p.kill()
    assert p.read("Other/y.i8") == [4, 5], p.mount.errors()
    assert os.listdir(p.top) == ["Other"]
    assert p.umount() == 0 and p.tree("Other") == {"y": [4, 5]}


@pytest.mark.parametrize("killed", (False, True))
def test_a_column_takes_the_place_of_the_only_one(place, killed):
    p = place()
    p.append("Events/x.i8", i8(1))
    assert p.status() == 0
    os.unlink(os.path.join(p.top, "Events", "x.i8"))
    p.append("Events/y.i8", i8(1, 2, 3))
    if killed:
        p.kill()
    assert p.status() == 0
    assert p.tree() == {"y": [1, 2, 3]}


@pytest.mark.parametrize("killed", (False, True))
def test_nested_lists_that_were_all_empty_grow(place, killed):
    p = place()
    p.append("Events/v/offsets.i8", i8(0, 0, 0))
    p.append("Events/v/values/offsets.i8", i8(0))
    p.append("Events/v/values/values.f4", f4())
    assert p.status() == 0 and p.tree() == {"v": [[], []]}
    p.append("Events/v/offsets.i8", i8(1))
    if killed:
        p.kill()
    assert p.status() == 1
    p.append("Events/v/values/offsets.i8", i8(2))
    p.append("Events/v/values/values.f4", f4(1, 2))
    assert p.status() == 0 and p.tree() == {"v": [[], [], [[1, 2]]]}


@pytest.mark.parametrize("removed", (False, True))
@pytest.mark.parametrize("folder", ("", "folder/"))
def test_a_table_of_this_mount_is_renamed_before_a_crash(place, folder, removed):
    p = place()
    p.append(folder + "Events/x.i8", i8(1))
    assert p.status(folder) == 0
    os.rename(os.path.join(p.top, folder, "Events"), os.path.join(p.top, folder, "Other"))
    if removed:
        assert p.status(folder) == 0
        shutil.rmtree(os.path.join(p.top, folder, "Other"))
    p.append(folder + "Third/y.i8", i8(4, 5))
    if not removed:
        p.append(folder + "Other/x.i8", i8(2))
    p.kill()
    assert p.read(folder + "Third/y.i8") == [4, 5], p.mount.errors()
    assert removed or p.read(folder + "Other/x.i8") == [1, 2]
    assert p.umount() == 0
    assert removed or p.tree(folder + "Other") == {"x": [1, 2]}


@pytest.mark.parametrize("inner", ("values/values.f4", "chars.u1"))
@pytest.mark.parametrize("killed", (False, True))
def test_nested_lists_get_entries_that_hold_nothing(place, inner, killed):
    """Only the outermost offsets are appended to."""
    p, text = place(), inner == "chars.u1"
    p.append("Events/v/offsets.i8", i8(0, 1))
    p.append("Events/v/values/offsets.i8", i8(0, 2))
    p.append("Events/v/values/" + inner.rsplit("/", 1)[-1], np.array([97, 98], "u1") if text else f4(1, 2))
    assert p.status() == 0
    p.append("Events/v/offsets.i8", i8(1, 1))
    if killed:
        p.kill()
    assert p.status() == 0, p.mount.errors()
    assert p.tree() == {"v": [["ab"] if text else [[1, 2]], [], []]}


@pytest.mark.parametrize("others", (False, True))
def test_offsets_that_nobody_wrote_are_not_there_after_a_commit(place, others):
    """An appender that made the file, and appends all offsets later, including the first 0, finds the file
    unchanged."""
    p = place()
    p.append("Events/v/offsets.i8", i8())
    p.append("Events/v/values.f4", f4())
    if others:
        p.append("Events/x.i8", i8())
    p.commit()
    assert p.read("Events/v/offsets.i8") == []
    p.append("Events/v/offsets.i8", i8(0, 2))
    p.append("Events/v/values.f4", f4(1, 2))
    if others:
        p.append("Events/x.i8", i8(5))
    assert p.status() == 0
    assert p.tree()["v"] == [[1, 2]]


def test_clusters_of_a_list_of_lists_wait_for_its_first_offset(place):
    """While it is being written: entries of empty lists have only this offset to wait for."""
    p = place("commit=0", "autoflush=16K", "compression=none")
    os.makedirs(os.path.join(p.top, "Events/v/values"))
    count = 20_000
    with contextlib.ExitStack() as stack:
        x, outer, inner, values = (
            stack.enter_context(open(os.path.join(p.top, "Events", name), "ab", buffering=0))
            for name in ("x.i8", "v/offsets.i8", "v/values/offsets.i8", "v/values/values.f4")
        )
        outer.write(i8(0).tobytes())
        for _ in range(50):
            x.write(np.arange(count // 50).tobytes()), outer.write(bytes(8 * count // 50))
            time.sleep(0.01)
        assert p.mount.errors() == ""
        inner.write(i8(0).tobytes())
    assert p.status() == 0
    assert p.tree()["v"] == [[]] * count
    assert p.umount() == 0


def test_a_npy_file_is_committed_as_a_whole(place):
    """However long the write takes: a .npy file cannot be continued after the column that it becomes."""
    p = place("commit=0", "autoflush=16K", "compression=none")
    os.makedirs(os.path.join(p.top, "Events"))
    count, pieces = 200_000, 50
    npy = io.BytesIO()
    np.save(npy, np.arange(count, dtype="<f8"))
    with open(os.path.join(p.top, "Events/x.npy"), "wb", buffering=0) as x, open(os.path.join(p.top, "Events/y.i8"), "wb", buffering=0) as y:
        for number in range(pieces):
            begin, end = (len(npy.getvalue()) * at // pieces for at in (number, number + 1))
            x.write(npy.getvalue()[begin:end])
            y.write(np.arange(count * number // pieces, count * (number + 1) // pieces).tobytes())
            time.sleep(0.02)
        assert sorted(os.listdir(os.path.join(p.top, "Events"))) == ["x.npy", "y.i8"]
    assert p.status() == 0
    assert sorted(os.listdir(os.path.join(p.top, "Events"))) == ["x.f8", "y.i8"]
    assert p.tree() == {"x": list(range(count)), "y": list(range(count))}
    assert p.umount() == 0


@pytest.mark.parametrize("killed", (False, True))
def test_what_was_cut_off_to_the_committed_entries_stays_away(place, killed):
    p = place()
    p.append("Events/x.i8", i8(1, 2))
    p.append("Other/x.i8", i8(1))
    assert p.status("") == 0
    p.append("Events/x.i8", i8(3, 4))
    p.append("Other/y.i8", i8(1, 2))
    path = os.path.join(p.top, "Events/x.i8")
    os.truncate(path, 16)
    assert p.status("") == 1, "the other table lacks an entry: the journal stays"
    assert p.read("Events/x.i8") == [1, 2]
    if killed:
        p.commit("")  # fsync commits
        p.kill()
    else:
        assert p.umount() == 1
        p.mount = mounted.Mounted(p.source, ("rw", "commit=86400"))
        p.top = os.path.join(p.mount.path, FILE)
    assert p.read("Events/x.i8") == [1, 2]
    p.append("Events/x.i8", i8(5))
    assert p.status() == 0 and p.tree() == {"x": [1, 2, 5]}


def test_what_a_commit_wrote_before_it_was_killed_is_no_other_program(place):
    """Its baskets may directly follow the record of the root directory, in the bytes that identify the file's state."""
    p = place()
    for name in ("T", "W"):
        p.append(f"{name}/x.i8", np.arange(30))
        assert p.status(name) == 0
    shutil.rmtree(os.path.join(p.top, "T"))
    assert p.status("") == 0
    lines = subprocess.run([mounted.program(), "map", p.path], capture_output=True, text=True, check=True).stdout.splitlines()
    [freed] = [int(line.split("At:")[1].split()[0]) for line in lines if "TBasket" in line and line.endswith("title: T")]
    assert 200 < freed < 400, "the free space that the test is about"
    p.append("W/x.i8", np.arange(30, 40))
    p.kill()
    with open(p.path, "r+b") as file:
        file.seek(freed + 40)
        file.write(b"basket")
    p.append("W/x.i8", np.arange(40, 50))
    assert p.status("W") == 0, p.mount.errors()
    assert p.tree("W") == {"x": list(range(50))}
    assert p.umount() == 0


@pytest.mark.parametrize("anew", (False, True), ids=("gone", "made anew"))
def test_a_table_that_was_removed_after_a_crash_stays_away(place, anew):
    """The journal has the records that made its directories, and was read once since then."""
    p = place("commit=0")
    p.append("waits/v/values.f4", f4(1))  # keeps the journal
    p.append("Events/v/offsets.i8", i8(0, 1))
    p.append("Events/v/values.f4", f4(1))
    assert p.status() == 0
    p.kill()
    shutil.rmtree(os.path.join(p.top, "Events"))
    p.status("")
    if anew:
        p.append("Events/n.i8", i8(8, 9))
    p.kill()
    assert os.listdir(p.top) == (["Events", "waits"] if anew else ["waits"])
    if anew:
        assert p.status() == 0 and p.tree() == {"n": [8, 9]}
    shutil.rmtree(os.path.join(p.top, "waits"))
    assert p.umount() == 0
    assert not os.path.exists(p.path + ".tfilefs-journal")


def test_what_is_open_stays_readable_when_another_asks_for_an_old_file(place):
    """An open of a view in the state before a commit fails, since there is a newer state; a reader of the old state
    does not."""
    p = place()
    entries = np.arange(1 << 20)
    p.append("Events/a.i8", entries)
    p.commit()
    column = os.path.join(p.top, "Events/a.i8")
    with open(column, "rb", buffering=0) as held:
        assert held.read(8) == entries[:1].tobytes()
        looked_up = os.open(os.path.join(p.top, "Events.jsonl"), os.O_PATH)
        p.append("Events/a.i8", np.arange(5))
        p.commit()
        mounted.wait_until(lambda: mounted.outcome(lambda: os.fstat(looked_up)) == errno.ESTALE)  # the kernel asks again
        os.close(looked_up)
        assert os.pread(held.fileno(), 8, 8 * 1_000_000) == entries[1_000_000:1_000_001].tobytes()


def test_what_was_opened_before_a_commit_is_read_to_its_end(place):
    """The kernel asks for the size at the end."""
    p = place()
    p.append("Events/a.i8", i8(1, 2))
    p.commit()
    with open(os.path.join(p.top, "Events.jsonl"), "rb", buffering=0) as held:
        p.append("Events/a.i8", i8(3))
        p.commit()
        time.sleep(1.2)  # the kernel asks again
        assert os.fstat(held.fileno()).st_size == 16
        assert held.read(1000) == b'{"a":1}\n{"a":2}\n'
        assert held.read(1000) == b""


def test_the_file_itself_is_no_mixture_of_states(place):
    p = place()
    p.append("Events/a.i8", np.random.default_rng(1).integers(0, 1 << 62, 1 << 20))
    p.commit()
    with open(os.path.join(p.top, ".original"), "rb", buffering=0) as held:
        assert held.read(4) == b"root"
        p.append("Events/a.i8", i8(3))
        p.commit()
        with pytest.raises(OSError) as changed:
            os.pread(held.fileno(), 100, 7_000_000)
        assert changed.value.errno == errno.ESTALE


def foreign_tree(p, name):
    with uproot.update(p.path) as file:
        file.mktree(name, {"x": "i8"}).extend({"x": i8(7)})


def test_a_column_goes_on_beside_what_rests_on_nothing_of_the_file(place):
    """After another program has written the file, while only new objects were staged."""
    p = place()
    p.append("Events/x.i8", i8(1, 2))
    p.commit()
    p.append("New/a.i8", i8(1))
    os.mkdir(os.path.join(p.top, "folder"))
    foreign_tree(p, "Foreign")
    time.sleep(0.5)
    p.append("Events/x.i8", i8(3))
    assert p.umount() == 0
    with uproot.open(p.path) as file:
        assert [file[f"{name}"].num_entries for name in ("Events", "New", "Foreign")] == [3, 1, 1]


def test_what_goes_on_after_another_program_wrote_survives(place):
    p = place()
    p.append("Events/x.i8", i8(1, 2))
    p.commit()
    p.append("New/a.i8", i8(1))
    p.append("New/b.i8", i8(1, 2))
    foreign_tree(p, "Foreign")
    assert p.status("New") == 1
    p.append("Events/x.i8", i8(3))
    p.kill()
    assert p.read("Events/x.i8") == [1, 2, 3] and p.read("New/b.i8") == [1, 2]
    assert p.status("Events") == 0
    p.append("New/a.i8", i8(2))
    assert p.umount() == 0
    assert p.tree() == {"x": [1, 2, 3]} and p.tree("New") == {"a": [1, 2], "b": [1, 2]}


def test_what_another_program_wrote_under_the_same_head_stays(place):
    """As uproot does, into gaps of the file and within a second: the first bytes do not show the change."""
    p = place()
    p.append("Events/x.i8", i8(1, 2))
    p.append("New/a.i8", i8(1))
    p.append("New/b.i8", i8(1, 2))  # incomplete: the journal stays
    p.commit("Events")
    with open(p.path, "rb") as file:
        before = file.read()
    name = before.rfind(b"\x05TTree\x06Events")  # in the list of keys, after the tree's own record
    with open(p.path, "r+b") as file:
        file.seek(name + len(b"\x05TTree\x06Event"))
        file.write(b"Z")
    p.append("New/a.i8", i8(2))
    assert p.umount() == 0
    with uproot.open(p.path) as file:
        assert sorted(file.keys(cycle=False)) == ["EventZ", "New"]


def test_a_column_of_a_table_that_another_program_removed_is_stale(place):
    p = place()
    p.append("Events/a.i8", np.arange(1 << 20))
    p.append("Stays/a.i8", i8(1))
    p.commit(".")
    with open(os.path.join(p.top, "Events/a.i8"), "rb", buffering=0) as held:
        assert held.read(8) == i8(0).tobytes()
        with uproot.update(p.path) as file:
            del file["Events"]
        time.sleep(1.2)
        with pytest.raises(OSError) as removed:
            os.pread(held.fileno(), 8, 8 << 19)
        assert removed.value.errno == errno.ESTALE


@pytest.mark.parametrize("others", (0, 6, 9))
def test_staged_items_are_not_read_at_other_places(place, others):
    """Another program has put a file with fewer entries in the place of the one behind which items are staged."""
    p = place()
    p.append("Events/a.i8", np.arange(10))
    p.commit()
    p.append("Events/a.i8", np.arange(10, 14))
    with uproot.recreate(p.path + ".new") as file:
        file["Events"] = {"a": np.arange(100, 100 + others)}
    os.replace(p.path + ".new", p.path)
    time.sleep(1.2)
    with open(os.path.join(p.top, "Events/a.i8"), "rb", buffering=0) as column:
        with pytest.raises(OSError) as refused:
            column.read(200)
        assert refused.value.errno == errno.ESTALE
        assert os.pread(column.fileno(), 200, 80) == np.arange(10, 14).tobytes(), "it can be copied elsewhere"
