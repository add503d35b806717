# SPDX-License-Identifier: Apache-2.0
"""Names that change in a file that is written to, before, between and during commits: written data stay under their
current name, and no committed data are lost with a name."""

import errno
import os
import shutil
import threading
import time

import numpy as np
import pytest
import uproot

from test_append_order import f4, i8, place  # noqa: F401 (a fixture)


def refused(call, *arguments):
    with pytest.raises(OSError) as error:
        call(*arguments)
    return error.value.errno


def fill(p, table="Events"):
    p.append(table + "/x.i8", i8(0, 1))
    p.append(table + "/v/offsets.i8", i8(0, 1, 3))
    p.append(table + "/v/values.f4", f4(1, 2, 3))
    p.append(table + "/r/a.i8", i8(5, 6))
    p.append(table + "/r/b.f4", f4(7, 8))
    assert p.status("") == 0


CONTENT = {"x": [0, 1], "v": [[1], [2, 3]], "r": [{"a": 5, "b": 7}, {"a": 6, "b": 8}]}


@pytest.mark.parametrize("name", ("v", "r"))
@pytest.mark.parametrize("appended", (False, True))
def test_a_part_of_a_committed_table_keeps_its_name(place, name, appended):
    """The directory of a list or record: its branch would be lost with the name."""
    p = place()
    fill(p)
    expected = dict(CONTENT)
    if appended:
        p.append("Events/v/offsets.i8", i8(3))
        p.append("Events/r/a.i8", i8(9))
    for to in ("Events/other", "other"):
        assert refused(os.rename, os.path.join(p.top, "Events", name), os.path.join(p.top, to)) == errno.EXDEV
    if appended:
        p.append("Events/r/b.f4", f4(9))
        p.append("Events/x.i8", i8(2))
        expected = {"x": [0, 1, 2], "v": [*CONTENT["v"], []], "r": [*CONTENT["r"], {"a": 9, "b": 9}]}
    assert p.status() == 0 and p.tree() == expected
    assert p.umount() == 0


def test_what_is_staged_behind_a_committed_column_keeps_its_name(place):
    p = place()
    fill(p)
    p.append("Events/x.i8", i8(2))
    for to in ("Events/y.i8", "other.i8"):
        assert refused(os.rename, os.path.join(p.top, "Events/x.i8"), os.path.join(p.top, to)) == errno.EXDEV
    assert p.read("Events/x.i8") == [0, 1, 2]


@pytest.mark.parametrize("staged", (False, True))
@pytest.mark.parametrize("above", ("", "directory/"))
def test_a_table_under_the_name_of_one_that_moved_is_another(place, staged, above):
    p = place()
    fill(p, above + "Events")
    expected = [0, 1]
    if staged:
        p.append(above + "Events/x.i8", i8(2))
        expected.append(2)
    os.stat(os.path.join(p.top, above, "Events/x.i8"))
    os.rename(os.path.join(p.top, above, "Events"), os.path.join(p.top, above, "Moved"))
    os.mkdir(os.path.join(p.top, above, "Events"))
    assert os.listdir(os.path.join(p.top, above, "Events")) == []
    p.append(above + "Events/x.i8", i8(10, 11, 12, 13))
    assert p.read(above + "Moved/x.i8") == expected
    assert p.read(above + "Events/x.i8") == [10, 11, 12, 13]
    p.commit("")
    assert p.tree(above + "Events") == {"x": [10, 11, 12, 13]}
    assert p.tree(above + "Moved")["x"] == [0, 1]


def test_a_file_under_the_name_of_one_that_moved_is_another(place):
    """To the kernel, a ROOT file is a directory, and so is a file that replaces it."""
    p = place()
    fill(p)
    other = os.path.join(p.mount.path, "other.root")
    for values in (i8(10, 11), i8(20)):
        shutil.rmtree(other, ignore_errors=True)
        os.rename(p.top, other)
        p.append("Events/x.i8", values)
        assert p.read("Events/x.i8") == values.tolist()
    assert np.fromfile(os.path.join(other, "Events/x.i8"), "<i8").tolist() == [10, 11]
    assert p.status("") == 0 and p.tree() == {"x": [20]}


def test_what_is_made_anew_is_no_dead_directory(place):
    """Although the removed file is still open."""
    p = place()
    fill(p)
    with open(os.path.join(p.top, "Events/x.i8"), "rb") as still:
        shutil.rmtree(os.path.join(p.top, "Events"))
        p.append("Events/x.i8", i8(10, 11, 12))
        assert p.status("") == 0 and p.tree() == {"x": [10, 11, 12]}
        shutil.rmtree(p.top)
        p.append("Events/x.i8", i8(20))
        assert p.status("") == 0 and p.tree() == {"x": [20]}
        assert still.fileno() >= 0


@pytest.mark.parametrize("killed", (False, True))
@pytest.mark.parametrize("part", ("v/values.f4", "v/offsets.i8", "r/a.i8"))
def test_a_part_of_a_branch_goes_with_the_rest(place, part, killed):
    """Until then, its table is not committed, and this is reported."""
    p = place()
    fill(p)
    os.unlink(os.path.join(p.top, "Events", part))
    if killed:
        p.commit("..")
        p.kill()
    assert p.status() == 1 and p.tree() == CONTENT
    with open(os.path.join(p.top, "Events/.pending.json")) as pending:
        assert part + ": removed" in pending.read()
    shutil.rmtree(os.path.join(p.top, "Events", part[0]))
    assert p.status() == 0
    assert p.tree() == {name: value for name, value in CONTENT.items() if name != part[0]}
    assert p.umount() == 0


@pytest.mark.parametrize("killed", (False, True))
@pytest.mark.parametrize("above", ("", "directory/"))
@pytest.mark.parametrize(
    "moves",
    ("AT BA TB", "BT AB TA", "AT BA CB TC", "AD", "BD AB CA", "-A BA", "-A -B CA", "-B AB CA", "AT BA TB CT"),
)
def test_names_go_from_one_table_to_another(place, moves, above, killed):
    """In one commit. AT means: A is renamed to T; -A means: A is removed."""
    p = place()
    expected = {}
    for count, name in enumerate("ABC", 1):
        expected[name] = list(range(count))
        p.append(f"{above}{name}/x.i8", i8(*expected[name]))
    assert p.status("") == 0
    at = lambda name: os.path.join(p.top, above, name)
    for source, to in moves.split():
        if source == "-":
            shutil.rmtree(at(to))
            del expected[to]
            continue
        os.rename(at(source), at(to))
        expected[to] = expected.pop(source)
    if above:
        os.rename(at(""), os.path.join(p.top, "other"))
        above = "other/"
    for name, values in expected.items():
        values.append(9)
        p.append(f"{above}{name}/x.i8", i8(9))
    if killed:
        p.kill()
    assert p.status("") == 0
    for name, values in expected.items():
        assert p.read(f"{above}{name}/x.i8") == values
        assert p.tree(above + name) == {"x": values}
    assert sorted(os.listdir(os.path.join(p.top, above))) == sorted(expected)
    assert p.umount() == 0


@pytest.mark.parametrize("taker", ("T", "new", "empty"))
@pytest.mark.parametrize("above", ("", "dir/"))
def test_a_committed_table_that_was_renamed_is_not_replaced(place, taker, above):
    """Its new name is only staged, and nothing is staged in it."""
    p = place()
    p.append(above + "T/x.i8", i8(0, 1))
    p.append(above + "V/x.i8", i8(7))
    assert p.status("") == 0
    at = lambda name: os.path.join(p.top, above, name)
    os.rename(at("V"), at("U"))
    if taker != "T":
        os.mkdir(at(taker))
    if taker == "new":
        p.append(above + "new/x.i8", i8(3, 4))
    assert refused(os.rename, at(taker), at("U")) in (errno.EPERM, errno.ENOTEMPTY)
    assert refused(os.rmdir, at("U")) == errno.ENOTEMPTY
    assert p.read(above + "U/x.i8") == [7]
    p.commit("")
    assert p.tree(above + "U") == {"x": [7]} and p.tree(above + "T") == {"x": [0, 1]}


@pytest.mark.parametrize("moved", (False, True))
def test_a_table_that_takes_the_place_of_a_removed_one_is_written(place, moved):
    """In a mount that wrote the removed table and still has the file open, since something else waits in it."""
    p = place()
    p.append("A/x.i8", i8(0))
    p.append("B/x.i8", i8(1))
    p.append("Waits/x.i8", i8(1, 2))
    p.append("Waits/y.i8", i8(1))
    p.commit("")
    p.append("A/x.i8", i8(2))
    p.append("B/x.i8", i8(3))
    p.commit("")
    shutil.rmtree(os.path.join(p.top, "A"))
    if moved:
        os.rename(os.path.join(p.top, "B"), os.path.join(p.top, "A"))
    p.append("A/x.i8", i8(7, 8, 9))
    p.commit("")
    expected = [1, 3, 7, 8, 9] if moved else [7, 8, 9]
    assert p.read("A/x.i8") == expected and p.tree("A") == {"x": expected}


def test_what_is_below_a_directory_that_moves_is_committed_with_it(place):
    """And the old name is free afterwards."""
    p = place()
    p.append("d/A/x.i8", i8(0))
    assert p.status("") == 0
    os.rename(os.path.join(p.top, "d"), os.path.join(p.top, "e"))
    p.append("e/A/x.i8", i8(1))
    p.append("e/below/B/x.i8", i8(2))
    assert p.status("") == 0
    p.append("d/A/x.i8", i8(3))
    assert p.status("") == 0
    p.append("e/A/x.i8", i8(4))
    assert p.status("") == 0
    assert [p.tree(name)["x"] for name in ("e/A", "e/below/B", "d/A")] == [[0, 1, 4], [2], [3]]


def test_a_removed_column_has_no_other_names(place):
    p = place()
    fill(p)
    os.unlink(os.path.join(p.top, "Events/x.i8"))
    assert not os.path.exists(os.path.join(p.top, "Events/x"))
    p.append("Events/x/offsets.i8", i8(0, 2, 2))
    p.append("Events/x/values.f4", f4(1, 2))
    assert p.status() == 0 and p.tree()["x"] == [[1, 2], []]


def test_a_file_that_another_mount_made_is_there(place):
    """Although this mount was not allowed to make it."""
    p, q = place(), place()
    p.append("Events/x.i8", i8(0, 1))
    with pytest.raises(OSError):
        os.mkdir(q.top)
    assert os.listdir(q.mount.path) == []
    assert p.status() == 0
    q.append("Events/x.i8", i8(2))
    assert q.read("Events/x.i8") == [0, 1, 2]
    assert q.status() == 0 and q.tree() == {"x": [0, 1, 2]}


@pytest.mark.parametrize("whole", (False, True))
def test_a_directory_that_moves_takes_what_is_staged_below_it(place, whole):
    """Data below it are committed first; data that cannot be committed keep the directory's name."""
    p = place()
    above = os.path.join(p.mount.path, "run")
    os.makedirs(os.path.join(above, "out.root/Events"))
    for name, values in (("x", i8(0, 1)), ("y", i8(0, 1) if whole else i8(0))):
        values.tofile(os.path.join(above, "out.root/Events", name + ".i8"))
    other = os.path.join(p.mount.path, "other")
    if not whole:
        assert refused(os.rename, above, other) == errno.EBUSY
        assert np.fromfile(os.path.join(above, "out.root/Events/x.i8"), "<i8").tolist() == [0, 1]
        return
    os.rename(above, other)
    os.makedirs(os.path.join(above, "out.root/Events"))
    i8(10).tofile(os.path.join(above, "out.root/Events/x.i8"))
    assert np.fromfile(os.path.join(other, "out.root/Events/x.i8"), "<i8").tolist() == [0, 1]
    assert np.fromfile(os.path.join(above, "out.root/Events/x.i8"), "<i8").tolist() == [10]
    assert p.umount() == 0


class Committing:
    """A slow commit of a table `Events` with one column, `x.i8`; the body of the `with` statement runs at the same
    time."""

    def __init__(self, place):
        self.place = place
        self.values = np.random.default_rng(3).integers(0, 1 << 40, 1_000_000)
        place.append("Events/x.i8", self.values)
        self.thread = threading.Thread(target=place.status, args=("..",))

    def __enter__(self):
        self.thread.start()
        while '"committing": true' not in open(os.path.join(self.place.top, "Events/.pending.json")).read():
            assert self.thread.is_alive()
        return self

    def __exit__(self, *_):
        self.thread.join()


SLOW = ("commit=86400", "compression=lzma:5")


@pytest.mark.parametrize("above", ("", "directory/"))
@pytest.mark.parametrize("how", ("renamed", "replaced"))
def test_clusters_are_committed_under_a_name_that_is_not_quiet(place, above, how):
    """For a table that is still being written, with a name that another key has in the file."""
    p = place("commit=1", "autoflush=16K", "compression=none")
    before, after = above + "Events", above + "Moved"
    for name in ("x.i8", "y.i8"):
        p.append(f"{before}/{name}", i8(0, 1))
    assert p.status("") == 0
    first = [0, 1]
    if how == "renamed":
        os.rename(os.path.join(p.top, before), os.path.join(p.top, after))
    else:
        after, first = before, []
        shutil.rmtree(os.path.join(p.top, before))
        os.mkdir(os.path.join(p.top, after))
    rest = np.arange(2, 20_000)
    paths = [os.path.join(p.top, after, name) for name in ("x.i8", "y.i8")]
    with open(paths[0], "ab", buffering=0) as x, open(paths[1], "ab", buffering=0) as y:
        for part in np.array_split(rest, 150):  # 1.5 s without a quiet moment
            x.write(part.tobytes()), y.write(part.tobytes())
            time.sleep(0.01)
        assert p.mount.errors() == ""
        with uproot.open(p.path) as file:
            assert file[after].num_entries > len(first), "clusters while it is written"
    assert p.status("") == 0
    whole = first + rest.tolist()
    assert p.tree(after) == {"x": whole, "y": whole}
    assert p.umount() == 0


@pytest.mark.parametrize("to", ("Events/y.i8", "Other/y.i8"))
def test_a_column_that_is_being_committed_keeps_its_name(place, to):
    """mv gets an error, and copies the column instead."""
    p = place(*SLOW)
    p.append("Other/z.i8", i8(1))
    with Committing(p) as commit:
        assert refused(os.rename, os.path.join(p.top, "Events/x.i8"), os.path.join(p.top, to)) == errno.EXDEV
    assert p.status("") == 0
    assert p.tree()["x"] == commit.values.tolist()


def test_a_column_that_is_being_committed_is_not_replaced(place):
    p = place(*SLOW)
    p.append("Other/new.i8", i8(1))
    with open(os.path.join(p.top, "Other/new.i8"), "ab"), Committing(p) as commit:
        there = os.path.join(p.top, "Events/x.i8")
        assert refused(os.rename, os.path.join(p.top, "Other/new.i8"), there) == errno.EPERM
    assert p.read("Other/new.i8") == [1]
    assert p.tree()["x"] == commit.values.tolist()


@pytest.mark.parametrize("name", ("a%2Fb", "x%41", "x;1"))
def test_a_name_that_no_key_can_be_shown_by_is_refused(place, name):
    """Where it is made: it would delay everything staged beside it."""
    p = place()
    p.append("Events/x.i8", i8(1))
    full = os.path.join(p.top, name)
    assert refused(os.mkdir, full) == errno.EINVAL
    assert refused(os.rename, os.path.join(p.top, "Events"), full) == errno.EINVAL
    assert refused(os.open, full + ".arrow", os.O_CREAT | os.O_WRONLY) == errno.EINVAL
    assert name in p.mount.errors()
    assert p.status("") == 0 and p.umount() == 0


def test_a_branch_may_have_a_slash_in_its_name(place):
    """Real trees have such branches. So a directory with such a name cannot be refused before it is known to be outside
    of tables."""
    p = place()
    os.makedirs(os.path.join(p.top, "Events/a%2Fb"))
    p.append("Events/a%2Fb/offsets.i8", i8(0, 1))
    p.append("Events/a%2Fb/values.i8", i8(7))
    assert p.status("") == 0
    assert p.read("Events/a%2Fb/values.i8") == [7] and p.tree() == {"a/b": [[7]]}
    assert p.umount() == 0
