# SPDX-License-Identifier: Apache-2.0
"""Data that can never be committed are refused when they are made or closed. Data that cannot be committed yet, or that
contradict other columns, are reported at once; removing them solves everything."""

import errno
import json
import os
import shutil
import subprocess
import time

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest
import uproot

import mounted

FILE = "out.root"


@pytest.fixture
def writing(tmp_path):
    with mounted.Mounted(tmp_path, ("rw", "commit=86400")) as m:
        os.mkdir(os.path.join(m.path, FILE))
        yield m


def put(m, path, values):
    full = os.path.join(m.path, FILE, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as file:
        file.write(values.tobytes())


def append(m, path, values):
    with open(os.path.join(m.path, FILE, path), "ab") as file:
        file.write(values.tobytes())


def i8(*values):
    return np.array(values, "<i8")


def f4(*values):
    return np.array(values, "<f4")


def pending(m):
    """Reasons by path, after the kernel has reported the close of all files."""
    while "open for writing" in (text := open(os.path.join(m.path, FILE, ".pending.json")).read()):
        time.sleep(0.001)
    told = json.loads(text)
    return {one["path"]: one["reasons"] for one in told["tables"] + told["others"]}


def run(command, path):
    return subprocess.run([mounted.program(), command, path], capture_output=True, text=True)


def commit(m, path=""):
    return run("commit", os.path.join(m.path, FILE, path))


def trees(tmp_path):
    with uproot.open(tmp_path / FILE) as file:
        return {key: {b.name: b.array(library="ak").to_list() for b in file[key].branches}
                for key in file.keys(cycle=False) if file.classnames(cycle=False)[key] == "TTree"}


# ---- offsets


@pytest.mark.parametrize("offsets, told", (
    (i8(1, 2, 3), "begins with 1, not 0"),
    (i8(-1, 0), "begins with -1, not 0"),
    (i8(0, 2, 1), "offsets decrease: item 2 is 1, after 2"),
    (i8(*range(20_000), 7), "offsets decrease: item 20000 is 7, after 19999"),
))
def test_offsets_that_can_never_be_right(tmp_path, writing, offsets, told):
    with pytest.raises(OSError) as refused:
        put(writing, "Events/v/offsets.i8", offsets)
    assert refused.value.errno == errno.EINVAL and told in writing.errors()
    assert pending(writing)["Events"][0] == "v/offsets.i8: " + told
    assert not os.path.exists(tmp_path / FILE)
    put(writing, "Events/v/offsets.i8", i8(0, 2, 3))
    put(writing, "Events/v/values.f4", f4(1, 2, 3))
    assert commit(writing).returncode == 0
    assert trees(tmp_path) == {"Events": {"v": [[1, 2], [3]]}}


def test_offsets_are_looked_at_wherever_they_change(writing):
    """Appended after the part that was checked; and overwritten, or cut off."""
    put(writing, "Events/v/offsets.i8", i8(0, 2, 5))
    append(writing, "Events/v/offsets.i8", i8(7, 9))
    with pytest.raises(OSError):
        append(writing, "Events/v/offsets.i8", i8(8))
    path = os.path.join(writing.path, FILE, "Events/v/offsets.i8")
    os.truncate(path, 40)
    append(writing, "Events/v/offsets.i8", i8(9))
    with pytest.raises(OSError) as refused, open(path, "r+b") as file:
        file.seek(16)
        file.write(i8(1).tobytes())
    assert refused.value.errno == errno.EINVAL and "item 2 is 1, after 2" in writing.errors()
    with open(path, "r+b") as file:
        file.seek(16)
        file.write(i8(6).tobytes())


def test_a_committed_list_whose_files_were_all_made_anew_says_how_to_go_on(tmp_path, writing):
    """As when tar unpacks a second time over it: nothing of it is missing."""
    put(writing, "Events/v/offsets.i8", i8(0, 2))
    put(writing, "Events/v/values.f4", f4(1, 2))
    assert commit(writing).returncode == 0
    for name, values in (("offsets.i8", i8(0, 1)), ("values.f4", f4(3))):
        os.unlink(os.path.join(writing.path, FILE, "Events/v", name))
        put(writing, "Events/v/" + name, values)
    assert all("rm -r v, then" in reason for reason in pending(writing)["Events"])
    assert commit(writing).returncode == 1
    shutil.rmtree(os.path.join(writing.path, FILE, "Events/v"))
    put(writing, "Events/v/offsets.i8", i8(0, 1))
    put(writing, "Events/v/values.f4", f4(4))
    assert commit(writing).returncode == 0
    assert trees(tmp_path) == {"Events": {"v": [[4]]}}


def test_offsets_behind_committed_ones(tmp_path, writing):
    put(writing, "Events/v/offsets.i8", i8(0, 2))
    put(writing, "Events/v/values.f4", f4(1, 2))
    assert commit(writing).returncode == 0
    append(writing, "Events/v/offsets.i8", i8(1))
    assert pending(writing)["Events"][0] == "v/offsets.i8: offsets decrease: 1 after the committed 2"
    assert "offsets decrease" in commit(writing).stderr
    os.truncate(os.path.join(writing.path, FILE, "Events/v/offsets.i8"), 16)
    append(writing, "Events/v/offsets.i8", i8(3))
    append(writing, "Events/v/values.f4", f4(7))
    assert commit(writing).returncode == 0
    assert trees(tmp_path) == {"Events": {"v": [[1, 2], [7]]}}


@pytest.mark.parametrize("first", ("values", "offsets"))
def test_values_beyond_the_offsets_wait_and_say_so_at_once(tmp_path, writing, first):
    pieces = [("Events/v/offsets.i8", i8(0, 2)), ("Events/v/values.f4", f4(1, 2, 3, 4))]
    for path, values in pieces if first == "offsets" else pieces[::-1]:
        put(writing, path, values)
    told = {"Events": ["v/values.f4: 4 items, v/offsets.i8 expects 2"]}
    assert pending(writing) == told
    again = commit(writing)
    assert again.returncode == 1 and told["Events"][0] in again.stderr
    append(writing, "Events/v/offsets.i8", i8(4))
    assert pending(writing) == {"Events": []}
    assert commit(writing).returncode == 0
    assert trees(tmp_path) == {"Events": {"v": [[1, 2], [3, 4]]}}


# ---- one table and the others


def test_a_bad_table_holds_up_no_other(tmp_path, writing):
    """Its errors are reported for it alone, and only its own files return an error."""
    for name in ("a", "bad", "folder/z"):
        put(writing, name + "/nv.i4", np.array([1, 1], "<i4"))
        put(writing, name + "/v/offsets.i8", i8(0, 1, 2))
        put(writing, name + "/v/values.f4", f4(1, 2))
    put(writing, "bad/nv.i4", np.array([1, 7], "<i4"))
    said = commit(writing)
    assert said.returncode == 1
    assert trees(tmp_path) == {name: {"nv": [1, 1], "v": [[1], [2]]} for name in ("a", "folder/z")}
    assert list(pending(writing)) == ["bad"] and len(pending(writing)["bad"]) == 1
    assert len([line for line in said.stderr.splitlines() if "not committed" in line]) == 1
    append(writing, "a/nv.i4", np.array([0], "<i4"))
    append(writing, "a/v/offsets.i8", i8(2))
    assert commit(writing, "a").returncode == 0, "the bad one is not looked at"
    shutil.rmtree(os.path.join(writing.path, FILE, "bad"))
    assert commit(writing).returncode == 0 and pending(writing) == {}
    assert trees(tmp_path)["a"] == {"nv": [1, 1, 0], "v": [[1], [2], []]}
    assert os.listdir(tmp_path) == [FILE]


@pytest.mark.parametrize("path, committed", (
    ("one", {"one"}), ("one/v", {"one"}), ("folder", {"folder/two", "folder/deep/three"}), ("folder/deep", {"folder/deep/three"}),
    ("", {"one", "one_more", "folder/two", "folder/deep/three"}),
))
def test_what_lies_below_a_path_is_committed(tmp_path, writing, path, committed):
    for name in ("one", "one_more", "folder/two", "folder/deep/three"):
        put(writing, name + "/x.f4", f4(1, 2))
    put(writing, "one/v/offsets.i8", i8(0, 1, 2))
    put(writing, "one/v/values.f4", f4(1, 2))
    said = commit(writing, path)
    assert (said.returncode, said.stderr) == (0, "")
    assert set(trees(tmp_path)) == committed


def test_commit_says_what_it_did_not_below_the_path(tmp_path, writing):
    for name in ("one", "one_more", "folder/two"):
        put(writing, name + "/x.f4", f4(1, 2))
        put(writing, name + "/y.f4", f4(1))
    put(writing, "folder/good/x.f4", f4(1))
    said = commit(writing, "one")
    assert said.returncode == 1 and "/out.root/one: y: 1 entries of 2" in said.stderr
    assert "one_more" not in said.stderr and "folder" not in said.stderr
    said = commit(writing, "folder")
    assert said.returncode == 1 and "folder/two" in said.stderr and "one" not in said.stderr
    assert set(trees(tmp_path)) == {"folder/good"}


# ---- what must not stay


def left_after_umount(m, tmp_path):
    said = run("umount", m.path)
    return said.returncode, said.stderr, sorted(os.listdir(tmp_path))


def test_an_empty_directory_in_a_table_keeps_no_journal(tmp_path):
    m = mounted.Mounted(tmp_path, ("rw", "commit=86400"))
    put(m, "Events/x.f4", f4(1, 2))
    os.makedirs(os.path.join(m.path, FILE, "Events", "empty"))
    assert commit(m).returncode == 0
    os.makedirs(os.path.join(m.path, FILE, "Events", "later"))
    assert left_after_umount(m, tmp_path) == (0, "", [FILE])
    m.close()
    assert trees(tmp_path) == {"Events": {"x": [1, 2]}}


def test_recovery_leaves_no_empty_directory_behind(tmp_path):
    m = mounted.Mounted(tmp_path, ("rw", "commit=86400"))
    put(m, "Events/x.f4", f4(1, 2))
    assert commit(m).returncode == 0
    os.makedirs(os.path.join(m.path, FILE, "Events", "empty"))
    directory = os.open(os.path.join(m.path, FILE), os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)
    m.process.kill()
    m.close()
    assert sorted(os.listdir(tmp_path)) == [FILE, FILE + ".tfilefs-journal"]
    assert run("recover", tmp_path / FILE).returncode == 0
    assert os.listdir(tmp_path) == [FILE]


@pytest.mark.parametrize("committed", (False, True))
def test_a_stray_file_is_named_at_once(tmp_path, writing, committed):
    put(writing, "Events/x.f4", f4(1, 2))
    if committed:
        assert commit(writing).returncode == 0
    put(writing, "Events/notes.txt", i8(1))
    [reason] = pending(writing)["Events"]
    assert reason.startswith("notes.txt: expected a name NAME.TYPE") and "notes.txt" in writing.errors()
    os.unlink(os.path.join(writing.path, FILE, "Events", "notes.txt"))
    assert commit(writing).returncode == 0
    assert trees(tmp_path) == {"Events": {"x": [1, 2]}}


def test_a_numpy_file_of_what_is_no_column_is_refused(writing):
    put(writing, "Events/x.f4", f4(1, 2))
    for values in (np.array(["a", "b"]), np.zeros(2, ">f4")):
        path = os.path.join(writing.path, FILE, "Events", "y.npy")
        with pytest.raises(OSError) as refused, open(path, "wb") as file:
            np.save(file, values)
        assert refused.value.errno == errno.EINVAL
        assert "y.npy" in pending(writing)["Events"][0] and "y.npy" in writing.errors()
        os.unlink(path)
    assert commit(writing).returncode == 0


def write_parquet(path):
    pyarrow.parquet.write_table(pyarrow.table({"x": [1, 2]}), path)


def write_csv(path):
    pyarrow.csv.write_csv(pyarrow.table({"x": [1, 2]}), path)


def write_npz(path):
    np.savez(path, x=np.arange(2))


@pytest.mark.parametrize("write, name, instead", (
    (write_parquet, "T.parquet", "write T.arrow (Arrow IPC), or its columns as T/COLUMN.f4 or T/COLUMN.npy"),
    (write_csv, "new/T.csv", "write T.arrow"), (write_npz, "T.npz", "write T.arrow"),
    (write_csv, "Events/y.csv", "write a file such as y.f4, y.i8 or y.npy"), (write_csv, "T.CSV", "write T.arrow"),
))
def test_a_table_of_another_format_is_refused(tmp_path, writing, write, name, instead):
    """When it is made: pyarrow says nothing of errors at close(2)."""
    put(writing, "Events/x.f4", f4(1, 2))
    path = os.path.join(writing.path, FILE, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with pytest.raises(OSError) as refused:
        write(path)
    assert refused.value.errno == errno.EOPNOTSUPP
    [line] = writing.errors().splitlines()
    assert f"/{FILE}/{name}: " in line and instead in line
    # Under another name it waits there until it gets one that is taken.
    put(writing, "Events/y", f4(3, 4))
    with pytest.raises(OSError) as refused:
        os.rename(os.path.join(writing.path, FILE, "Events", "y"), path)
    assert refused.value.errno == errno.EOPNOTSUPP
    os.rename(os.path.join(writing.path, FILE, "Events", "y"), os.path.join(writing.path, FILE, "Events", "y.f4"))
    assert commit(writing).returncode == 0
    assert trees(tmp_path) == {"Events": {"x": [1, 2], "y": [3, 4]}}


def test_a_name_that_is_written_and_then_renamed_is_not_refused(tmp_path, writing):
    put(writing, "Events/x.f4", f4(1, 2))
    for name in ("y.csv.part", ".y.csv", "csv"):
        put(writing, "Events/" + name, f4(3, 4))
        os.rename(os.path.join(writing.path, FILE, "Events", name), os.path.join(writing.path, FILE, "Events", "y.f4"))
    assert commit(writing).returncode == 0
    assert trees(tmp_path) == {"Events": {"x": [1, 2], "y": [3, 4]}}


NO_COLUMN = "not a column of a table: its directory is a directory of the file"


@pytest.mark.parametrize("path, reason", (
    ("notes.txt", NO_COLUMN), ("x.f4", NO_COLUMN), ("new/notes.txt", NO_COLUMN),
    ("new/object.json", "not an object: there is no object.bin next to it"),
    ("new/object.streamerinfo", "not an object: there is no object.bin next to it"),
    ("new/object.bin", "object.bin without a class"),
    ("new.arrow", "not a complete Arrow IPC file"),
))
def test_what_nothing_takes_is_told_once(writing, path, reason):
    put(writing, path, np.array([120], "u1"))
    for _ in range(2):
        assert commit(writing).returncode == 1
    shown = os.path.dirname(path) if path.endswith("object.bin") else path
    [line] = writing.errors().splitlines()
    assert f"/{FILE}/{shown}: not committed: {reason}" in line


@pytest.mark.parametrize("path", ("new/.notes.txt.Xy12", "new/list/values.f4"))
def test_what_something_may_still_take_is_not_told(writing, path):
    put(writing, path, f4(1))
    assert commit(writing).returncode == 1 and writing.errors() == ""


@pytest.mark.parametrize("committed", (False, True))
@pytest.mark.parametrize("marker", (False, True))
def test_all_columns_are_removed(tmp_path, committed, marker):
    m = mounted.Mounted(tmp_path, ("rw", "commit=86400"))
    put(m, "Events/x.f4", f4(1, 2))
    if marker:
        put(m, "Events/.table", i8())
    put(m, "Events/v/offsets.i8", i8(0, 1, 1))
    put(m, "Events/v/values.f4", f4(1))
    if committed:
        assert commit(m).returncode == 0
    table = os.path.join(m.path, FILE, "Events")
    os.unlink(os.path.join(table, "x.f4"))
    shutil.rmtree(os.path.join(table, "v"))
    assert left_after_umount(m, tmp_path) == (0, "", [FILE])
    m.close()


# ---- what is not written


def copy(source, target):
    return subprocess.run(["cp", "-r", source, target], capture_output=True, text=True)


LIST_OF_RECORDS = {"offsets.i8": i8(0, 1, 2), "values/a.f4": f4(1, 2), "values/b/x.f4": f4(1, 2), "values/b/y.f4": f4(1, 2)}


@pytest.mark.parametrize("order", ("offsets first", "offsets last", "table last"))
def test_a_list_of_records_says_so_once(tmp_path, writing, order):
    """Any copying program gets an errno, in any order; the sentence is reported once; the rest is committed."""
    paths = list(LIST_OF_RECORDS) if order == "offsets first" else list(LIST_OF_RECORDS)[::-1]
    refused = []

    def try_to(what, *arguments):
        try:
            what(*arguments)
        except OSError as error:
            refused.append(error.errno)

    if order != "table last":
        put(writing, "Events/x.f4", f4(1, 2))
    for path in paths:
        try_to(put, writing, "Events/tracks/" + path, LIST_OF_RECORDS[path])
    if order == "table last":
        try_to(put, writing, "Events/x.f4", f4(1, 2))
    assert refused and set(refused) == {errno.EOPNOTSUPP}
    lines = [line for line in writing.errors().splitlines() if "cannot be written" in line]
    assert len(lines) == 1 and "rm -r tracks" in lines[0], writing.errors()
    shutil.rmtree(os.path.join(writing.path, FILE, "Events", "tracks"))
    assert commit(writing).returncode == 0 and pending(writing) == {}
    assert trees(tmp_path) == {"Events": {"x": [1, 2]}}


def test_a_directory_for_a_record_inside_a_record_is_not_made(writing):
    put(writing, "Events/x.f4", f4(1, 2))
    for path in ("rec", "rec/inner", "list", "list/values"):
        os.mkdir(os.path.join(writing.path, FILE, "Events", path))
    for path in ("rec/inner/more", "list/values/member"):
        with pytest.raises(OSError) as refused:
            os.mkdir(os.path.join(writing.path, FILE, "Events", path))
        assert refused.value.errno == errno.EOPNOTSUPP
        assert "cannot be written" in writing.errors()


def test_a_temporary_name_gets_no_name_that_is_not_written(writing):
    """Such as those that rsync makes."""
    put(writing, "Events/x.f4", f4(1, 2))
    put(writing, "Events/tracks/offsets.i8", i8(0, 1, 2))
    put(writing, "Events/tracks/.raw.u1.Kx2q9Z", f4(1, 2))
    values = os.path.join(writing.path, FILE, "Events", "tracks")
    with pytest.raises(OSError) as refused:
        os.rename(os.path.join(values, ".raw.u1.Kx2q9Z"), os.path.join(values, "raw.u1"))
    assert refused.value.errno == errno.EOPNOTSUPP


@pytest.mark.parametrize("counter", ("nv", "n", "count", "v_size"))
def test_a_list_of_arrays_is_counted_by_any_column(tmp_path, writing, counter):
    """In any order; other columns of integers are not counters."""
    items = np.arange(18, dtype="<f4").reshape(3, 2, 3)
    put(writing, "Events/v/values.f4x2x3", items)
    put(writing, "Events/other.i4", np.array([2, 2, 1], "<i4"))
    put(writing, "Events/v/offsets.i8", i8(0, 2, 2, 3))
    assert "a list of arrays needs an integer column" in str(pending(writing)["Events"])
    put(writing, f"Events/{counter}.u2", np.array([2, 0, 1], "<u2"))
    assert commit(writing).returncode == 0 and writing.errors() == ""
    assert trees(tmp_path)["Events"]["v"] == [items[:2].tolist(), [], items[2:].tolist()]
    names = sorted(os.listdir(os.path.join(writing.path, FILE, "Events")))
    assert names == sorted([f"{counter}.u2", "other.i4", "v"])
    more = items[:1] + 100
    for path, values in (("v/values.f4x2x3", more), ("v/offsets.i8", i8(4)), ("other.i4", np.array([3], "<i4")),
                         (f"{counter}.u2", np.array([1], "<u2"))):
        append(writing, "Events/" + path, values)
    assert commit(writing).returncode == 0
    assert trees(tmp_path)["Events"]["v"][3:] == [more.tolist()]


def test_a_size_that_no_disk_has_is_refused(writing):
    """A commit of it would never end."""
    space = os.statvfs(writing.path)
    put(writing, "Events/x.i8", i8(1))
    path = os.path.join(writing.path, FILE, "Events/x.i8")
    for beyond in (space.f_blocks * space.f_frsize + 1, 1 << 50, 1 << 62):
        with open(path, "r+b", buffering=0) as file:
            with pytest.raises(OSError) as error:
                file.truncate(beyond)
            assert error.value.errno == errno.EFBIG
            with pytest.raises(OSError) as error:
                os.pwrite(file.fileno(), b"12345678", beyond)
            assert error.value.errno == errno.EFBIG
    assert os.path.getsize(path) == 8
