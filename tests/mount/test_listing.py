# SPDX-License-Identifier: Apache-2.0
"""The view of ls, find, stat, cp and diff."""

import errno
import filecmp
import json
import os
import stat
import subprocess

import awkward as ak
import numpy as np
import pytest
import uproot

import mounted
import mounted_table


def read_calls(mount):
    with open(os.path.join(mount.path, ".tfilefs", "stats.json")) as file:
        return json.load(file)["cache"]["read_calls"]


def objects_decoded(mount):
    with open(os.path.join(mount.path, ".tfilefs", "stats.json")) as file:
        return json.load(file)["objects"]["chunks_decoded"]


def walk(top):
    """{path below top: stat} of everything listed."""
    found = {}
    for directory, directories, files in os.walk(top):
        for name in directories + files:
            path = os.path.join(directory, name)
            found[os.path.relpath(path, top)] = os.lstat(path)
    return found


@pytest.fixture
def numbers(samples, shared_mount):
    return shared_mount(os.path.join(samples("numbers"), "numbers-101.root")).path


def test_columns_of_a_table(numbers):
    table = os.path.join(numbers, "t")
    names = os.listdir(table)
    for name in ("n.i4", "s_O.b1", "s_B.i1", "s_b.u1", "s_S.i2", "s_s.u2", "s_I.i4", "s_i.u4", "s_L.i8", "s_l.u8",
                 "s_G.i8", "s_g.u8", "s_F.f4", "s_D.f8", "a_F.f4x3", "m_D.f8x2x3", "c_F", "k_F", "packed", "jagged"):
        assert name in names, name
    assert sorted(os.listdir(os.path.join(table, "c_F"))) == ["offsets.i8", "values.f4"]
    assert sorted(os.listdir(os.path.join(table, "k_F"))) == ["offsets.i8", "values.f4x2x2"]
    assert sorted(os.listdir(os.path.join(table, "packed"))) == ["a.i4", "b.f8", "c.i2x2", "d.f4", "e.b1"]


def test_the_members_and_sizes_of_an_object_come_from_one_decompression(tmp_path):
    path = str(tmp_path / "h.root")
    with uproot.recreate(path) as file:
        for i in range(5):
            file[f"h{i}"] = np.histogram(np.arange(100.0) % (i + 2), bins=50)
    with mounted.Mounted(path) as m:
        for i in range(5):
            assert os.stat(os.path.join(m.path, f"h{i}", "object.json")).st_size > 1000
            assert os.stat(os.path.join(m.path, f"h{i}", "values.f8")).st_size == 50 * 8
        assert objects_decoded(m) == 5


def test_sizes_are_exact(numbers):
    table = os.path.join(numbers, "t")
    assert os.stat(os.path.join(table, "s_D.f8")).st_size == 300 * 8
    assert os.stat(os.path.join(table, "m_F.f4x2x3")).st_size == 300 * 24
    assert os.stat(os.path.join(table, "c_F/offsets.i8")).st_size == 301 * 8
    for directory, _, files in os.walk(numbers):
        for name in files:
            mounted_table.read_exactly(os.path.join(directory, name))


def test_lengths_of_all_lists_cost_a_header_for_each_counter(tmp_path):
    """The lists of one counter have the same lengths, which the header of one basket gives; the headers of the others,
    which may contradict it, come together."""
    rng = np.random.default_rng(1)
    counts = {name: rng.integers(0, 5, 3000) for name in ("jets", "muons")}
    arrays = {f"{name}_{i}": ak.unflatten(rng.random(n.sum()).astype(["f4", "f8", "i1"][i % 3]), n)
              for name, n in counts.items() for i in range(20)}
    path = str(tmp_path / "lists.root")
    branches = {name: ak.zip({one: array for one, array in arrays.items() if one.startswith(name)}) for name in counts}
    branches["alone"] = ak.unflatten(rng.random(counts["jets"].sum()), counts["jets"])
    with uproot.recreate(path) as file:
        file.mktree("t", {name: array.type for name, array in branches.items()}).extend(branches)
    with mounted.Mounted(path) as m:
        table = os.path.join(m.path, "t")
        before = read_calls(m)
        sizes = {name: status.st_size for name, status in walk(table).items()}
        calls = read_calls(m) - before
        assert calls <= 4, f"{calls} reads: one for each counter, the first of them by itself, and one for all other lists"
        for name, size in sizes.items():
            path = os.path.join(table, name)
            if os.path.isfile(path):
                mounted_table.read_exactly(path)
        assert sum("values." in name and name.startswith("jets_") for name in sizes) == 20
        for name in sizes:
            if "values." in name and name.startswith("jets_"):
                assert sizes[name] == counts["jets"].sum() * int(name[-1])


def test_stat_of_columns_and_directories(numbers, samples):
    column = os.stat(os.path.join(numbers, "t/s_D.f8"))
    assert stat.S_ISREG(column.st_mode) and not column.st_mode & 0o222
    assert column.st_blocks >= 1 and column.st_blksize == 1 << 20
    table = os.stat(os.path.join(numbers, "t"))
    assert stat.S_ISDIR(table.st_mode) and not table.st_mode & 0o222
    source = os.stat(os.path.join(samples("numbers"), "numbers-101.root"))
    assert (column.st_uid, column.st_gid) == (source.st_uid, source.st_gid)
    assert abs(table.st_mtime - source.st_mtime) < 2 * 86400, "a key's date, which has no zone, is read as UTC"


def test_blocks_show_the_compression(samples, shared_mount):
    """du shows the compressed size; all columns together take most of the file, and no more than all of it."""
    m = shared_mount(samples("numbers"))
    for codec in (0, 101):
        table = os.path.join(m.path, f"numbers-{codec}.root", "t")
        blocks = sum(status.st_blocks for status in walk(table).values() if stat.S_ISREG(status.st_mode))
        files = sum(1 for status in walk(table).values() if stat.S_ISREG(status.st_mode))
        size = os.stat(os.path.join(samples("numbers"), f"numbers-{codec}.root")).st_size
        assert size * 0.3 < blocks * 512 < size + files * 1024, codec


def test_inodes_are_the_same_on_every_mount(samples):
    source = os.path.join(samples("storage"), "directories.root")

    def inodes():
        with mounted.Mounted(source) as m:
            return {path: status.st_ino for path, status in walk(m.path).items()}

    first = inodes()
    assert first == inodes() and len(set(first.values())) == len(first) > 10


def test_find_and_ls_agree_with_python(numbers):
    found = subprocess.run(["find", numbers, "-mindepth", "1", "-print0"], check=True, capture_output=True).stdout
    assert sorted(os.path.relpath(os.fsdecode(path), numbers) for path in found.split(b"\0") if path) == sorted(walk(numbers))
    assert subprocess.run(["ls", "-laR", numbers], check=True, capture_output=True).stdout.count(b"\n") > len(walk(numbers))


def test_copy_has_each_thing_once(numbers, tmp_path):
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", numbers, copy], check=True)
    listed = walk(numbers)
    assert set(walk(copy)) == set(listed)
    assert not any(os.path.basename(path).startswith(".") or path.endswith(".npy") for path in listed)
    for path, status in listed.items():
        if stat.S_ISREG(status.st_mode):
            assert filecmp.cmp(os.path.join(numbers, path), copy / path, shallow=False), path


def test_diff_of_two_mounts_is_empty(samples, mount):
    source = os.path.join(samples("storage"), "plain.root")
    first, second = mount(source), mount(source)
    assert subprocess.run(["diff", "-r", first.path, second.path], capture_output=True).stdout == b""


def test_tar_reads_sizes_that_hold(numbers):
    result = subprocess.run(["tar", "-C", numbers, "-cf", "/dev/null", "."], capture_output=True)
    assert result.returncode == 0 and b"shrank" not in result.stderr and b"padding" not in result.stderr


def test_column_by_other_names(numbers, samples, shared_mount):
    """A column is also found by its bare name and its branch name; listings show only one of them."""
    assert os.stat(os.path.join(numbers, "t/s_D")).st_ino == os.stat(os.path.join(numbers, "t/s_D.f8")).st_ino
    assert "s_D" not in os.listdir(os.path.join(numbers, "t"))
    assert os.stat(os.path.join(numbers, "t/m_D[2][3]" if os.path.exists(os.path.join(numbers, "t/m_D[2][3]"))
                                else "t/m_D")).st_size == 300 * 48
    event = shared_mount(samples("event")).path
    table = os.path.join(event, "event-99-101.root", "t")
    assert os.stat(os.path.join(table, "dotted.")).st_ino == os.stat(os.path.join(table, "dotted")).st_ino
    assert os.stat(os.path.join(table, "hits/values/hits.id")).st_size == os.stat(os.path.join(table, "hits/values/id.i4")).st_size


def test_what_is_not_there(numbers):
    for path in ("nothing", "t/nothing", "t/s_D.f4", "t/s_D.f8x2", "t/c_F/values.f8", "t;9", "t/.nothing", "t/n.i4/x"):
        with pytest.raises(OSError) as error:
            os.stat(os.path.join(numbers, path))
        assert error.value.errno in (errno.ENOENT, errno.ENOTDIR), path


def test_nothing_can_be_changed(numbers):
    table = os.path.join(numbers, "t")
    for change in (
        lambda: open(os.path.join(table, "s_D.f8"), "r+b"),
        lambda: open(os.path.join(table, "new.f8"), "wb"),
        lambda: os.mkdir(os.path.join(numbers, "new")),
        lambda: os.unlink(os.path.join(table, "s_D.f8")),
        lambda: os.rename(os.path.join(table, "s_D.f8"), os.path.join(table, "s_E.f8")),
        lambda: os.truncate(os.path.join(table, "s_D.f8"), 0),
        lambda: os.chmod(os.path.join(table, "s_D.f8"), 0o666),
    ):
        with pytest.raises(OSError) as error:
            change()
        assert error.value.errno in (errno.EROFS, errno.EACCES, errno.EPERM), error.value


def test_extended_attributes(numbers):
    column = os.path.join(numbers, "t/m_D.f8x2x3")
    listed = os.listxattr(column)
    values = {name: os.getxattr(column, name).decode() for name in listed}
    for name in ("branch", "dtype", "shape", "length", "title", "compression"):
        assert f"user.tfilefs.{name}" in values, values
    assert values["user.tfilefs.branch"] == "m_D"
    assert values["user.tfilefs.dtype"] == "<f8"
    assert [int(n) for n in values["user.tfilefs.shape"].strip("()[]").replace("x", ",").split(",") if n] == [2, 3]
    assert values["user.tfilefs.length"] == "300"
    assert values["user.tfilefs.compression"] == "zlib:1"
    with pytest.raises(OSError) as error:
        os.getxattr(column, "user.tfilefs.nothing")
    assert error.value.errno == errno.ENODATA


def test_statfs(numbers):
    status = os.statvfs(numbers)
    assert status.f_namemax == 255 and status.f_flag & os.ST_RDONLY


def test_large_directory_is_listed_once_each(mount, tmp_path):
    """More names than fit into one readdir reply: none is missing, none occurs twice, and look-ups succeed."""
    import uproot

    path = tmp_path / "many.root"
    names = [f"key{i:05d}_{'x' * (i % 30)}" for i in range(4000)]
    with uproot.recreate(path) as file:
        for name in names:
            file[name] = "text"
    m = mount(path)
    listed = os.listdir(m.path)
    assert sorted(listed) == sorted(names)
    assert os.stat(os.path.join(m.path, names[1234], "object.bin")).st_size > 0


def test_wide_tree(mount, tmp_path):
    import uproot

    path = tmp_path / "wide.root"
    with uproot.recreate(path) as file:
        file.mktree("t", {f"branch_{i}": "f4" for i in range(1000)})
        file["t"].extend({f"branch_{i}": np.full(10, i, "f4") for i in range(1000)})
    m = mount(path)
    assert len(os.listdir(os.path.join(m.path, "t"))) == 1000
    assert mounted_table.read_array(os.path.join(m.path, "t/branch_777.f4")).tolist() == [777.0] * 10
