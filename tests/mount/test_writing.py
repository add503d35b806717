# SPDX-License-Identifier: Apache-2.0
"""Columns copied into a mount become a tree, which ROOT and uproot read value by value."""

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import numpy as np
import pytest
import uproot

import mounted
import root_process


@pytest.fixture
def columns():
    random = np.random.default_rng(20)
    counts = random.integers(0, 5, 5000)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype("<i8")
    words = [b"w" * int(n) for n in random.integers(0, 300, 5000)]
    return {
        "px.f4": random.normal(size=5000).astype("<f4"),
        "id.i8": np.arange(5000, dtype="<i8"),
        "flag.b1": random.integers(0, 2, 5000).astype("u1"),
        "pos.f8x3": random.normal(size=(5000, 3)),
        "nMuon.i4": counts.astype("<i4"),
        "Muon_pt/offsets.i8": offsets,
        "Muon_pt/values.f4": random.normal(size=int(offsets[-1])).astype("<f4"),
        "hits/offsets.i8": offsets,
        "hits/values.i2": random.integers(-99, 99, int(offsets[-1])).astype("<i2"),
        "name/offsets.i8": np.concatenate([[0], np.cumsum([len(w) for w in words])]).astype("<i8"),
        "name/chars.u1": np.frombuffer(b"".join(words), "u1"),
    }


def put(table, columns):
    for path, values in columns.items():
        os.makedirs(os.path.dirname(os.path.join(table, path)), exist_ok=True)
        with open(os.path.join(table, path), "wb") as file:
            file.write(values.tobytes())


def check_table(file, table, columns):
    """uproot and ROOT read what was written."""
    split = lambda path: np.split(columns[path + "/values." + kind(columns, path)], columns[path + "/offsets.i8"][1:-1])
    with uproot.open(file) as f:
        tree = f[table]
        arrays = {name: tree[name].array(library="np") for name in tree.keys()}
    from_root = root_process.read_with_root(file, table)
    for path, values in columns.items():
        name = path.split("/")[0].split(".")[0]
        if path.endswith("/offsets.i8"):
            continue
        if path.endswith("/chars.u1"):
            offsets = columns[name + "/offsets.i8"]
            expected = [values[a:b].tobytes() for a, b in zip(offsets, offsets[1:])]
            assert [text.encode() for text in arrays[name]] == expected
            assert list(from_root[name]) == expected
        elif "/" in path:
            for got in (arrays[name], from_root[name]):
                assert len(got) == len(columns[name + "/offsets.i8"]) - 1
                for a, b in zip(got, split(name)):
                    assert np.array_equal(np.asarray(a), b), name
        else:
            for got in (arrays[name], from_root[name]):
                assert np.array_equal(np.asarray(list(got)).reshape(values.shape), values.astype(np.asarray(list(got)).dtype)), name


def kind(columns, path):
    return next(p.rsplit(".", 1)[1] for p in columns if p.startswith(path + "/values."))


@pytest.mark.fast
@pytest.mark.sanitized
def test_a_new_file(tmp_path, mount, columns):
    m = mount(tmp_path, "rw")
    table = os.path.join(m.path, "out.root", "Events")
    os.makedirs(table)
    put(table, columns)
    assert open(os.path.join(table, "px.f4"), "rb").read() == columns["px.f4"].tobytes()
    assert not os.path.exists(tmp_path / "out.root")
    mounted.fsync(table)
    assert m.errors() == ""
    check_table(tmp_path / "out.root", "Events", columns)
    for path, values in columns.items():
        assert open(os.path.join(table, path), "rb").read() == values.tobytes(), path
    assert not os.path.exists(tmp_path / "out.root.tfilefs-journal")


def test_status_of_a_new_file_follows_what_is_written(tmp_path, mount):
    path = os.path.join(mount(tmp_path, "rw").path, "out.root", "t", "x.f4")
    os.makedirs(os.path.dirname(path))
    with open(path, "xb", buffering=0) as first:
        assert os.fstat(first.fileno()).st_size == 0
        with open(path, "ab", buffering=0) as second:
            second.write(bytes(8))
        assert os.fstat(first.fileno()).st_size == 8 == os.stat(path).st_size
        os.chmod(path, 0o600)
        assert os.stat(path).st_mode & 0o777 == 0o600
        os.truncate(path, 4)
        assert os.fstat(first.fileno()).st_size == 4


@pytest.mark.fast
def test_unmounting_commits(tmp_path, mount, columns):
    with_mount = mounted.Mounted(tmp_path, ("rw",))
    table = os.path.join(with_mount.path, "out.root", "Events")
    os.makedirs(table)
    put(table, columns)
    assert with_mount.close() == 0
    check_table(tmp_path / "out.root", "Events", columns)


def halves(columns, entries):
    """The first `entries` of each column, and the rest: for lists, with offsets that continue."""
    first, rest = {}, {}
    for path, values in columns.items():
        name = path.split("/")[0]
        offsets = columns.get(name + "/offsets.i8")
        if path.endswith("/offsets.i8"):
            first[path], rest[path] = values[: entries + 1], values[entries + 1 :]
        else:
            at = entries if offsets is None else int(offsets[entries])
            first[path], rest[path] = values[:at], values[at:]
    return first, rest


def append(table, columns):
    for path, values in columns.items():
        with open(os.path.join(table, path), "ab") as file:
            file.write(values.tobytes())


@pytest.mark.fast
@pytest.mark.parametrize("again", ("same mount", "new mount"))
def test_entries_are_appended(tmp_path, columns, again):
    first, rest = halves(columns, 3000)
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        table = os.path.join(m.path, "out.root", "Events")
        os.makedirs(table)
        put(table, first)
        mounted.fsync(table)
        if again == "same mount":
            append(table, rest)
            assert open(os.path.join(table, "px.f4"), "rb").read() == columns["px.f4"].tobytes()
    if again == "new mount":
        with mounted.Mounted(tmp_path, ("rw",)) as m:
            append(os.path.join(m.path, "out.root", "Events"), rest)
    check_table(tmp_path / "out.root", "Events", columns)
    assert sorted(os.listdir(tmp_path)) == ["out.root"]


@pytest.mark.fast
def test_a_new_column_joins(tmp_path, columns):
    late = ("id.i8", "hits/offsets.i8", "hits/values.i2")
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        table = os.path.join(m.path, "out.root", "Events")
        os.makedirs(table)
        put(table, {path: values for path, values in columns.items() if path not in late})
        mounted.fsync(table)
        put(table, {path: columns[path] for path in late})
        mounted.fsync(table)
        assert m.errors() == ""
    check_table(tmp_path / "out.root", "Events", columns)
    with uproot.open(tmp_path / "out.root") as file:
        assert file.keys() == ["Events;2"] or file.keys() == ["Events;1"], "no old cycle of what this mount made"


def test_a_new_column_beside_another_writers(tmp_path, samples):
    made = next(name for name in sorted(os.listdir(samples("event"))) if name.endswith(".root"))
    shutil.copy(os.path.join(samples("event"), made), tmp_path / "event.root")
    before = (tmp_path / "event.root").read_bytes()
    with uproot.open(tmp_path / "event.root") as file:
        name = next(key for key, kind in file.classnames().items() if kind == "TTree").split(";")[0]
        entries = file[name].num_entries
    added = np.arange(entries, dtype="<f8")
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        put(os.path.join(m.path, "event.root", name), {"added.f8": added})
        mounted.fsync(os.path.join(m.path, "event.root", name))
        assert m.errors() == ""
    with uproot.open(tmp_path / "event.root") as file:
        assert np.array_equal(file[name]["added"].array(library="np"), added)
        assert len([key for key in file.keys(recursive=False) if key.startswith(name + ";")]) == 2, "the old cycle stays"
    after = (tmp_path / "event.root").read_bytes()
    assert after[1000 : len(before) // 2] == before[1000 : len(before) // 2]


def test_names_of_views_are_not_taken(tmp_path, columns):
    """Neither in a table nor before it is one, by any call that makes a name."""
    names = (".pending.json", ".schema.json", ".awkward.json", ".option.npy", ".header.json", ".map.txt", ".original")
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        for table in (os.path.join(m.path, "a.root", "New"), os.path.join(m.path, "b.root", "Events")):
            os.makedirs(table)
            put(table, {"id.i8": columns["id.i8"], "px.f4": columns["px.f4"]})
            if table.endswith("Events"):
                mounted.fsync(table)
            append(table, {"other.f4": columns["px.f4"]})
            for name in names:
                for make in (lambda path: os.mknod(path, 0o644), os.mkdir,
                             lambda path: os.rename(os.path.join(table, "other.f4"), path)):
                    with pytest.raises(OSError) as error:
                        make(os.path.join(table, name))
                    assert error.value.errno in (errno.EPERM, errno.EEXIST), name
            assert '"tables"' in open(os.path.join(table, ".pending.json")).read()
            assert "is reserved for a view" in m.errors()
    check_table(tmp_path / "a.root", "New", {"id.i8": columns["id.i8"], "other.f4": columns["px.f4"]})
    assert sorted(os.listdir(tmp_path)) == ["a.root", "b.root"]


@pytest.mark.fast
def test_columns_go(tmp_path, columns):
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        table = os.path.join(m.path, "out.root", "Events")
        os.makedirs(table)
        put(table, columns)
        mounted.fsync(table)
        os.unlink(os.path.join(table, "id.i8"))
        shutil.rmtree(os.path.join(table, "hits"))
        assert "id.i8" not in os.listdir(table) and "hits" not in os.listdir(table)
        with pytest.raises(PermissionError):
            os.truncate(os.path.join(table, "px.f4"), 100)
        with open(os.path.join(table, "px.f4"), "r+b", buffering=0) as file, pytest.raises(PermissionError):
            file.write(b"over")
    left = {path: values for path, values in columns.items() if path != "id.i8" and not path.startswith("hits")}
    check_table(tmp_path / "out.root", "Events", left)
    with uproot.open(tmp_path / "out.root") as file:
        assert "id" not in file["Events"].keys() and "hits" not in file["Events"].keys()


@pytest.mark.fast
def test_a_table_is_copied_removed_and_moved(tmp_path, columns):
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        table = os.path.join(m.path, "a.root", "Events")
        os.makedirs(table)
        put(table, columns)
        mounted.fsync(table)
        subprocess.run(["cp", "-r", os.path.join(m.path, "a.root"), os.path.join(m.path, "b.root")], check=True)
        mounted.fsync(m.path)
        assert m.errors() == ""
        subprocess.run(["diff", "-r", os.path.join(m.path, "a.root"), os.path.join(m.path, "b.root")], check=True)
        os.rename(os.path.join(m.path, "b.root", "Events"), os.path.join(m.path, "b.root", "Moved"))
        assert os.listdir(os.path.join(m.path, "b.root")) == ["Moved"]
        assert open(os.path.join(m.path, "b.root", "Moved", "px.f4"), "rb").read() == columns["px.f4"].tobytes()
        mounted.fsync(m.path)
        assert os.listdir(os.path.join(m.path, "b.root")) == ["Moved"]
        shutil.rmtree(os.path.join(m.path, "a.root"))
        assert os.listdir(m.path) == ["b.root"]
        os.makedirs(os.path.join(m.path, "a.root", "Again"))
        put(os.path.join(m.path, "a.root", "Again"), columns)
    check_table(tmp_path / "b.root", "Moved", columns)
    check_table(tmp_path / "a.root", "Again", columns)
    assert sorted(os.listdir(tmp_path)) == ["a.root", "b.root"]


@pytest.mark.parametrize("options", (("rw",), ("rw", "commit=1")), ids=("default", "commit=1"))
def test_rsync_and_tar(tmp_path, columns, options):
    with mounted.Mounted(tmp_path, options) as m:
        table = os.path.join(m.path, "a.root", "sub", "Events")
        os.makedirs(table)
        put(table, columns)
        mounted.fsync(table)
        copy = ["rsync", "-a", "--itemize-changes", os.path.join(m.path, "a.root") + "/", os.path.join(m.path, "b.root")]
        os.mkdir(os.path.join(m.path, "b.root"))
        first = subprocess.run(copy, capture_output=True, text=True)
        assert first.returncode == 0, first.stderr
        mounted.fsync(m.path)
        subprocess.run(["diff", "-r", os.path.join(m.path, "a.root"), os.path.join(m.path, "b.root")], check=True)
        os.mkdir(os.path.join(m.path, "c.root"))
        subprocess.run(f"tar -C '{m.path}/a.root' -c . | tar -C '{m.path}/c.root' -x", shell=True, check=True)
        mounted.fsync(m.path)
        subprocess.run(["diff", "-r", os.path.join(m.path, "a.root"), os.path.join(m.path, "c.root")], check=True)
        assert m.errors() == ""
        second = subprocess.run(copy, capture_output=True, text=True)
        assert second.returncode == 0, second.stderr
        assert [line for line in second.stdout.splitlines() if line.startswith(">f")] == [], "a second rsync copies nothing"
    check_table(tmp_path / "b.root", "sub/Events", columns)
    check_table(tmp_path / "c.root", "sub/Events", columns)


@pytest.mark.fast
@pytest.mark.sanitized
def test_what_a_killed_mount_had_promised(tmp_path, columns):
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    table = os.path.join(m.path, "out.root", "Events")
    os.makedirs(table)
    for path, values in columns.items():
        os.makedirs(os.path.dirname(os.path.join(table, path)), exist_ok=True)
        with open(os.path.join(table, path), "wb") as file:
            file.write(values.tobytes())
            file.flush()
            os.fsync(file.fileno())
    kill(m)
    assert os.path.exists(tmp_path / "out.root.tfilefs-journal") and not os.path.exists(tmp_path / "out.root")
    with mounted.Mounted(tmp_path, ("rw", "commit=600")) as again:
        table = os.path.join(again.path, "out.root", "Events")
        for path, values in columns.items():
            assert open(os.path.join(table, path), "rb").read() == values.tobytes(), path
    check_table(tmp_path / "out.root", "Events", columns)
    assert sorted(os.listdir(tmp_path)) == ["out.root"]


def kill(m):
    m.process.kill()
    m.close()


def append_synced(path, data):
    with open(path, "ab", buffering=0) as file:
        file.write(data)
        os.fsync(file.fileno())


def test_a_mount_that_ends_at_once_finishes_what_was_left(tmp_path):
    """Journals are still being replayed when it is unmounted."""
    files = [f"f{i}.root" for i in range(25)]
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    for file in files:
        os.makedirs(os.path.join(m.path, file, "Events"))
        for name in ("x.i4", "y.i4"):
            append_synced(os.path.join(m.path, file, "Events", name), np.arange(2000, dtype="i4").tobytes())
    kill(m)
    assert sorted(os.listdir(tmp_path)) == sorted(file + ".tfilefs-journal" for file in files)
    with mounted.Mounted(tmp_path, ("rw", "commit=600")):
        pass
    assert sorted(os.listdir(tmp_path)) == sorted(files)
    for file in files:
        with uproot.open(tmp_path / file) as opened:
            assert opened["Events"].num_entries == 2000


def test_what_cannot_be_committed_harms_nobody(tmp_path, columns):
    """The mount ends as usual, and keeps the data in the journal."""
    offsets = columns["hits/offsets.i8"].copy()
    offsets[2000] = offsets[1999] - 1
    with mounted.Mounted(tmp_path, ("rw", "commit=600")) as m:
        for name in ("Good", "Bad"):
            os.makedirs(os.path.join(m.path, f"{name}.root", "Events"))
            put(os.path.join(m.path, f"{name}.root", "Events"), columns)
        with pytest.raises(OSError) as refused:
            put(os.path.join(m.path, "Bad.root", "Events"), {"hits/offsets.i8": offsets})
        assert refused.value.errno == errno.EINVAL
        mounted.fsync(m.path)
        assert "offsets decrease" in m.errors()
    assert sorted(os.listdir(tmp_path)) == ["Bad.root", "Bad.root.tfilefs-journal", "Good.root"]
    with uproot.open(tmp_path / "Bad.root") as file:
        assert file.keys() == []
    check_table(tmp_path / "Good.root", "Events", columns)


@pytest.mark.parametrize("what", ("file", "directory"))
def test_a_mount_that_does_not_write_tells_of_a_journal(tmp_path, columns, what):
    """It shows the committed data, changes nothing, and says what is left and how to recover it."""
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    for file in ("out.root", "new.root"):
        table = os.path.join(m.path, file, "Events")
        os.makedirs(table)
        if file == "out.root":
            put(table, {"id.i8": columns["id.i8"]})
            mounted.fsync(table)
        append_synced(os.path.join(table, "px.f4"), columns["px.f4"].tobytes())
    kill(m)
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    assert len(before) == 3
    with mounted.Mounted(tmp_path / "out.root" if what == "file" else tmp_path) as reader:
        top = reader.path if what == "file" else os.path.join(reader.path, "out.root")
        if what == "directory":
            assert os.listdir(reader.path) == ["out.root"]
        assert os.listdir(os.path.join(top, "Events")) == ["id.i8"]
        expected = [""] if what == "file" else ["out.root", "new.root"]
        mounted.wait_until(lambda: reader.errors().count("tfilefs recover") >= len(expected))
        lines = reader.errors().splitlines()
        for file in expected:
            assert any(f" /{file}: not committed" in line and "Events/px.f4" in line for line in lines), lines
        assert len(lines) == len(expected)
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before
    subprocess.run([mounted.program(), "recover", tmp_path / "out.root"], check=True)
    check_table(tmp_path / "out.root", "Events", {name: columns[name] for name in ("id.i8", "px.f4")})
    with mounted.Mounted(tmp_path / "out.root") as reader:
        assert os.path.exists(os.path.join(reader.path, "Events", "px.f4"))
        time.sleep(0.1)
        assert reader.errors() == ""


def test_a_mount_that_does_not_write_tells_of_each_journal_once(tmp_path, columns):
    """Not while its writer is active; for another journal, again."""
    with mounted.Mounted(tmp_path) as reader:

        def told():
            os.listdir(reader.path)
            return reader.errors().splitlines()

        for number, name in enumerate(("px.f4", "hits/values.i2"), start=1):
            writer = mounted.Mounted(tmp_path, ("rw", "commit=600"))
            path = os.path.join(writer.path, "out.root", "Events", name)
            os.makedirs(os.path.dirname(path))
            append_synced(path, columns[name].tobytes())
            assert [len(told()) for _ in range(5)] == [number - 1] * 5
            kill(writer)
            mounted.wait_until(lambda: len(told()) >= number)
            for _ in range(5):
                lines = told()
                assert len(lines) == number and name in lines[-1]
            os.unlink(tmp_path / "out.root.tfilefs-journal")


@pytest.mark.sanitized
def test_a_journal_that_stays_does_not_grow(tmp_path, columns):
    """An incomplete table keeps it, while others are committed and its own bytes are overwritten."""
    journal = tmp_path / "out.root.tfilefs-journal"
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    root = os.path.join(m.path, "out.root")
    unfinished = os.path.join(root, "deep", "Unfinished")
    os.makedirs(unfinished)
    os.makedirs(os.path.join(unfinished, "hits"))
    for name in ("hits/offsets.i8", "hits/values.i2"):
        append_synced(os.path.join(unfinished, name), columns[name].tobytes())
    append_synced(os.path.join(unfinished, "px.f4"), columns["px.f4"][:100].tobytes())
    os.setxattr(os.path.join(unfinished, "px.f4"), "user.tfilefs.title", b"a title")
    large = np.arange(200_000, dtype="f4")
    sizes = []
    for i in range(8):
        table = os.path.join(root, "folder", f"t{i}")
        os.makedirs(table)
        append_synced(os.path.join(table, "x.f4"), (large + i).tobytes())
        mounted.fsync(table)
        with open(os.path.join(unfinished, "px.f4"), "r+b", buffering=0) as file:
            file.write(columns["px.f4"][i : i + 50].tobytes())
            os.fsync(file.fileno())
        sizes.append(journal.stat().st_size)
    assert max(sizes) < 4 * large.nbytes and any(a > b for a, b in zip(sizes, sizes[1:])), sizes
    # From then on, committed data are found by their path.
    os.rename(os.path.join(root, "folder"), os.path.join(root, "renamed"))
    for name in ("t0", "t1"):
        shutil.rmtree(os.path.join(root, "renamed", name))
    descriptor = os.open(os.path.join(unfinished, "px.f4"), os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
    kill(m)
    with mounted.Mounted(tmp_path, ("rw", "commit=600")) as again:
        root = os.path.join(again.path, "out.root")
        unfinished = os.path.join(root, "deep", "Unfinished")
        expected = columns["px.f4"][:100].copy()
        for i in range(8):
            expected[:50] = columns["px.f4"][i : i + 50]
        assert open(os.path.join(unfinished, "px.f4"), "rb").read() == expected.tobytes()
        assert os.getxattr(os.path.join(unfinished, "px.f4"), "user.tfilefs.title") == b"a title"
        assert os.listdir(os.path.join(root)) == ["deep", "renamed"]
        assert sorted(os.listdir(os.path.join(root, "renamed"))) == [f"t{i}" for i in range(2, 8)]
        append_synced(os.path.join(unfinished, "px.f4"), columns["px.f4"][100:].tobytes())
        mounted.fsync(root)
        assert again.errors() == ""
    with uproot.open(tmp_path / "out.root") as file:
        assert file["deep/Unfinished"].num_entries == 5000
        for i in range(2, 8):
            assert np.array_equal(file[f"renamed/t{i}/x"].array(library="np"), large + np.float32(i))
    assert sorted(os.listdir(tmp_path)) == ["out.root"]


def test_what_is_below_a_renamed_directory_survives(tmp_path, columns):
    """And so do removals and commits while something else stays in the journal."""
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    root = os.path.join(m.path, "out.root")
    for name in ("a", "b"):
        os.makedirs(os.path.join(root, "above", name))
        put(os.path.join(root, "above", name), {"id.i8": columns["id.i8"]})
    mounted.fsync(root)
    assert m.close() == 0
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    root = os.path.join(m.path, "out.root")
    os.makedirs(os.path.join(root, "stays"))
    append_synced(os.path.join(root, "stays", "px.f4"), b"123")
    shutil.rmtree(os.path.join(root, "above", "a"))
    mounted.fsync(root)
    os.rename(os.path.join(root, "above"), os.path.join(root, "below"))
    append_synced(os.path.join(root, "below", "b", "px.f4"), columns["px.f4"].tobytes())
    kill(m)
    with mounted.Mounted(tmp_path, ("rw", "commit=600")) as again:
        root = os.path.join(again.path, "out.root")
        assert again.errors() == "" and sorted(os.listdir(root)) == ["below", "stays"]
        assert os.listdir(os.path.join(root, "below")) == ["b"]
        shutil.rmtree(os.path.join(root, "stays"))
        mounted.fsync(root)
        assert again.errors() == ""
    check_table(tmp_path / "out.root", "below/b", {name: columns[name] for name in ("id.i8", "px.f4")})


@pytest.mark.sanitized
def test_parts_of_entries_behind_committed_ones_survive(tmp_path, columns):
    """To the byte, including items of a list whose offset is still missing."""
    columns = {name: columns[name] for name in ("id.i8", "hits/offsets.i8", "hits/values.i2")}
    more = {"id.i8": np.array([-7], "<i8"), "hits/values.i2": np.array([1, 2, 3], "<i2"),
            "hits/offsets.i8": columns["hits/offsets.i8"][-1:] + 3}
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    table = os.path.join(m.path, "out.root", "Events")
    os.makedirs(table)
    put(table, columns)
    mounted.fsync(table)
    append_synced(os.path.join(table, "hits/values.i2"), more["hits/values.i2"].tobytes())
    kill(m)
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    table = os.path.join(m.path, "out.root", "Events")
    append_synced(os.path.join(table, "id.i8"), more["id.i8"].tobytes()[:3])
    said = subprocess.run([mounted.program(), "umount", m.path], capture_output=True, text=True)
    assert said.returncode == 1 and "id.i8: ends in the middle of an item" in said.stderr
    m.close()
    everything = {name: np.concatenate([columns[name], more[name]]) for name in columns}
    with mounted.Mounted(tmp_path, ("rw", "commit=600")) as m:
        table = os.path.join(m.path, "out.root", "Events")
        assert os.path.getsize(os.path.join(table, "id.i8")) == columns["id.i8"].nbytes + 3
        append_synced(os.path.join(table, "id.i8"), more["id.i8"].tobytes()[3:])
        append_synced(os.path.join(table, "hits/offsets.i8"), more["hits/offsets.i8"].tobytes())
        for name, values in everything.items():
            assert open(os.path.join(table, name), "rb").read() == values.tobytes(), name
    check_table(tmp_path / "out.root", "Events", everything)
    assert sorted(os.listdir(tmp_path)) == ["out.root"]


def test_a_rename_of_what_is_committed_survives(tmp_path, columns):
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        os.makedirs(os.path.join(m.path, "out.root", "sub", "Events"))
        put(os.path.join(m.path, "out.root", "sub", "Events"), columns)
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    os.rename(os.path.join(m.path, "out.root", "sub", "Events"), os.path.join(m.path, "out.root", "sub", "Moved"))
    kill(m)
    with mounted.Mounted(tmp_path, ("rw", "commit=600")) as m:
        assert os.listdir(os.path.join(m.path, "out.root", "sub")) == ["Moved"]
        assert m.errors() == ""
    with uproot.open(tmp_path / "out.root") as file:
        assert file.keys(cycle=False) == ["sub", "sub/Moved"]
    check_table(tmp_path / "out.root", "sub/Moved", columns)


def test_a_removal_of_what_was_renamed_survives(tmp_path, columns):
    """Of committed tables and directories, while something else keeps the journal; the old name may be used again."""
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    root = os.path.join(m.path, "out.root")
    for name in ("a", "b", "deep/c", "stays"):
        os.makedirs(os.path.join(root, name))
        put(os.path.join(root, name), {"id.i8": columns["id.i8"]})
    mounted.fsync(root)
    assert m.close() == 0
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    root = os.path.join(m.path, "out.root")
    for name in ("a", "b", "deep"):
        os.rename(os.path.join(root, name), os.path.join(root, "of_" + name))
    os.rename(os.path.join(root, "of_deep", "c"), os.path.join(root, "of_deep", "d"))
    for name in ("of_a", "of_deep"):
        shutil.rmtree(os.path.join(root, name))
    os.rename(os.path.join(root, "of_b"), os.path.join(root, "a"))
    shutil.rmtree(os.path.join(root, "a"))
    os.makedirs(os.path.join(root, "b"))
    append_synced(os.path.join(root, "b", "px.f4"), columns["px.f4"].tobytes())
    append_synced(os.path.join(root, "stays", "part.f4"), b"123")
    kill(m)
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    root = os.path.join(m.path, "out.root")
    assert m.errors() == "" and sorted(os.listdir(root)) == ["b", "stays"]
    assert os.listdir(os.path.join(root, "b")) == ["px.f4"]
    os.unlink(os.path.join(root, "stays", "part.f4"))
    mounted.fsync(root)
    assert m.errors() == ""
    assert m.close() == 0
    with uproot.open(tmp_path / "out.root") as file:
        assert sorted(file.keys(cycle=False)) == ["b", "stays"]
    check_table(tmp_path / "out.root", "b", {"px.f4": columns["px.f4"]})
    assert sorted(os.listdir(tmp_path)) == ["out.root"]


def test_a_directory_goes_with_the_tables_in_it(tmp_path, columns):
    with mounted.Mounted(tmp_path, ("rw", "commit=600")) as m:
        root = os.path.join(m.path, "out.root")
        for name in ("deep/er/c", "deep/d", "stays"):
            os.makedirs(os.path.join(root, name))
            put(os.path.join(root, name), {"id.i8": columns["id.i8"]})
        mounted.fsync(root)
        shutil.rmtree(os.path.join(root, "deep"))
        mounted.fsync(root)
        assert os.listdir(root) == ["stays"] and m.errors() == ""
    with uproot.open(tmp_path / "out.root") as file:
        assert file.keys(cycle=False) == ["stays"]


def test_a_table_that_is_removed_while_it_is_committed_goes(tmp_path):
    """The commit ends first."""
    values = np.random.default_rng(3).integers(0, 1 << 40, 3_000_000)
    with mounted.Mounted(tmp_path, ("rw", "commit=600", "compression=lzma:5")) as m:
        root = os.path.join(m.path, "out.root")
        for name, count in (("Gone", len(values)), ("Stays", 1)):
            os.makedirs(os.path.join(root, name))
            put(os.path.join(root, name), {"x.i8": values[:count]})
        # Through another directory: the kernel does not allow changes in a directory during its fsync.
        waits = threading.Thread(target=mounted.fsync, args=(m.path,))
        waits.start()
        while '"committing": true' not in open(os.path.join(root, ".pending.json")).read():
            assert waits.is_alive()
        shutil.rmtree(os.path.join(root, "Gone"))
        assert os.listdir(root) == ["Stays"]
        waits.join()
        assert os.listdir(root) == ["Stays"]
    with uproot.open(tmp_path / "out.root") as file:
        assert file.keys(cycle=False) == ["Stays"]


@pytest.mark.sanitized
def test_what_follows_an_early_cluster_survives(tmp_path):
    """Clusters are in the file while their columns are still open; data written after them are kept as well."""
    m = mounted.Mounted(tmp_path, ("rw", "commit=1", "autoflush=100K", "compression=zlib:1"))
    table = os.path.join(m.path, "out.root", "Events")
    os.makedirs(table)
    columns = {"x.f4": [], "y.i8": []}
    random = np.random.default_rng(8)
    files = {name: open(os.path.join(table, name), "wb", buffering=0) for name in columns}

    def step(entries=5000):
        for name, file in files.items():
            columns[name].append(random.integers(0, 1 << 30, entries).astype("<" + name[-2:]))
            file.write(columns[name][-1].tobytes())

    deadline = time.monotonic() + 60
    while not os.path.exists(tmp_path / "out.root") and time.monotonic() < deadline:
        step()
        time.sleep(0.05)
    step(777)
    for file in files.values():
        os.fsync(file.fileno())
    kill(m)
    for file in files.values():
        with pytest.raises(OSError):
            file.write(b"x")
        with contextlib.suppress(OSError):
            file.close()
    with uproot.open(tmp_path / "out.root") as file:
        committed = file["Events"].num_entries
    everything = {name: np.concatenate(parts) for name, parts in columns.items()}
    assert 0 < committed < len(everything["x.f4"])
    with mounted.Mounted(tmp_path, ("rw", "commit=600")) as m:
        for name, values in everything.items():
            assert open(os.path.join(m.path, "out.root", "Events", name), "rb").read() == values.tobytes(), name
    check_table(tmp_path / "out.root", "Events", everything)


@pytest.mark.fast
def test_one_writer(tmp_path, columns):
    with mounted.Mounted(tmp_path, ("rw", "commit=600")) as first, mounted.Mounted(tmp_path, ("rw", "commit=600")) as second:
        os.makedirs(os.path.join(first.path, "out.root", "Events"))
        put(os.path.join(first.path, "out.root", "Events"), columns)
        with pytest.raises(OSError) as refused:
            os.makedirs(os.path.join(second.path, "out.root", "Events"))
        assert refused.value.errno == errno.EBUSY
        assert str(first.process.pid) in second.errors()
    check_table(tmp_path / "out.root", "Events", columns)


def test_columns_that_grow_together(tmp_path):
    """Clusters are committed while the columns are still open; later data follow."""
    random = np.random.default_rng(7)
    with mounted.Mounted(tmp_path, ("rw", "commit=1", "autoflush=100K", "compression=zlib:1")) as m:
        table = os.path.join(m.path, "out.root", "Events")
        os.makedirs(os.path.join(table, "hits"))
        names = ("x.f4", "hits/offsets.i8", "hits/values.i4")
        written = {name: [] for name in names}
        with open(os.path.join(table, names[0]), "wb", buffering=0) as x, \
             open(os.path.join(table, names[1]), "wb", buffering=0) as offsets, \
             open(os.path.join(table, names[2]), "wb", buffering=0) as values:
            last = 0
            offsets.write(np.zeros(1, "<i8").tobytes())
            for step in range(40):
                counts = random.integers(0, 4, 5000)
                ends = last + np.cumsum(counts)
                last = int(ends[-1])
                for file, name, array in ((x, names[0], random.normal(size=5000).astype("<f4")),
                                          (offsets, names[1], ends.astype("<i8")),
                                          (values, names[2], random.integers(0, 1 << 30, int(counts.sum())).astype("<i4"))):
                    file.write(array.tobytes())
                    written[name].append(array)
                time.sleep(0.05)
            mounted.wait_until(lambda: os.path.exists(tmp_path / "out.root"))
            with uproot.open(tmp_path / "out.root") as file:
                early = file["Events"]["x"].array(library="np")
                assert 0 < len(early) < 200000
                assert np.array_equal(early, np.concatenate(written["x.f4"])[: len(early)])
            with open(os.path.join(table, names[0]), "rb") as file:
                assert file.read() == np.concatenate(written["x.f4"]).tobytes()
        mounted.fsync(table)
        assert m.errors() == ""
    everything = {name: np.concatenate(parts) for name, parts in written.items()}
    everything["hits/offsets.i8"] = np.concatenate([[0], everything["hits/offsets.i8"]]).astype("<i8")
    check_table(tmp_path / "out.root", "Events", everything)
    assert sorted(os.listdir(tmp_path)) == ["out.root"]


def test_readers_see_what_is_written_past_them(tmp_path):
    """A writer that opens a column only to write bypasses the kernel's page cache, which others read and map at the
    same time."""
    random = np.random.default_rng(11)
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        os.makedirs(os.path.join(m.path, "out.root", "Events"))
        path = os.path.join(m.path, "out.root", "Events", "x.u1")
        expected = bytearray(random.bytes(300_000))
        with open(path, "wb", buffering=0) as file:
            file.write(expected)
        mapped = np.memmap(path, "u1", mode="r+")
        with open(path, "rb", buffering=0) as reader:
            for step in range(60):
                begin = int(random.integers(0, len(expected) - 1))
                data = random.bytes(int(random.integers(1, min(70_000, len(expected) - begin) + 1)))
                if step % 3 == 0:
                    mapped[begin:begin + len(data)] = np.frombuffer(data, "u1")
                else:
                    writer = os.open(path, os.O_RDWR if step % 3 == 1 else os.O_WRONLY)
                    assert os.pwrite(writer, data, begin) == len(data)
                    os.close(writer)
                expected[begin:begin + len(data)] = data
                assert bytes(mapped) == expected, step
                assert os.pread(reader.fileno(), 1 << 20, 0) == expected, step
            with open(path, "ab", buffering=0) as one, open(path, "ab", buffering=0) as other:
                for step in range(20):
                    data = random.bytes(5000)
                    (one if step % 2 else other).write(data)
                    expected += data
                    assert os.pread(reader.fileno(), 1 << 20, 0) == expected, step
        del mapped
        mounted.fsync(os.path.dirname(path))
        assert m.errors() == ""
    with uproot.open(tmp_path / "out.root") as file:
        assert file["Events"]["x"].array(library="np").tobytes() == expected


@pytest.mark.parametrize("how", ["umount", "SIGTERM", "tfilefs umount"])
def test_what_is_not_whole_when_the_mount_ends_is_kept(tmp_path, columns, how):
    """Without an fsync."""
    files = {"Events/px.f4": columns["px.f4"], "Events/py.f4": columns["px.f4"][:100], "other/.id.i8.Kx2q9Z": columns["id.i8"]}
    m = mounted.Mounted(tmp_path, ("rw",))
    for folder in ("Events", "other"):
        os.makedirs(os.path.join(m.path, "out.root", folder))
    put(os.path.join(m.path, "out.root"), files)
    if how == "tfilefs umount":
        assert subprocess.run([mounted.program(), "umount", m.path], capture_output=True).returncode == 1
    elif how == "SIGTERM":
        m.process.send_signal(signal.SIGTERM)
        m.process.wait(60)
    assert m.close() == 0
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        for path, values in files.items():
            with open(os.path.join(m.path, "out.root", path), "rb") as file:
                assert file.read() == values.tobytes(), path


def test_a_directory_that_stayed_empty_is_no_table(tmp_path, columns):
    """Its columns wait, with a reason, until it is made again."""
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        os.makedirs(os.path.join(m.path, "out.root", "Events"))
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        table = os.path.join(m.path, "out.root", "Events")
        put(table, {"px.f4": columns["px.f4"]})
        told = subprocess.run([mounted.program(), "commit", table], capture_output=True, text=True)
        assert told.returncode != 0 and "px.f4: not a column of a table: its directory is a directory of the file" in told.stderr
        os.remove(os.path.join(table, "px.f4"))
        os.rmdir(table)
        os.mkdir(table)
        put(table, columns)
        mounted.fsync(table)
        assert m.errors().count("\n") == m.errors().count("px.f4: not committed: not a column of a table") == 1  # the first one
    check_table(tmp_path / "out.root", "Events", columns)


def test_a_directory_with_a_file_in_it_may_become_a_table(tmp_path, columns):
    """A file that rsync had begun when the mount ended gets its final name in the next mount."""
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        for folder in ("Events", "empty/below", "deep/one"):
            os.makedirs(os.path.join(m.path, "out.root", folder))
        put(os.path.join(m.path, "out.root"), {"Events/.px.f4.Kx2q9Z": columns["px.f4"], "deep/one/.id.i8.x": columns["id.i8"]})
    with uproot.open(tmp_path / "out.root") as file:
        assert sorted(file.keys(cycle=False)) == ["empty", "empty/below"]
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        for folder, old, new in (("Events", ".px.f4.Kx2q9Z", "px.f4"), ("deep/one", ".id.i8.x", "id.i8")):
            table = os.path.join(m.path, "out.root", folder)
            os.rename(os.path.join(table, old), os.path.join(table, new))
            mounted.fsync(table)
        assert m.errors() == ""
    check_table(tmp_path / "out.root", "Events", {"px.f4": columns["px.f4"]})
    check_table(tmp_path / "out.root", "deep/one", {"id.i8": columns["id.i8"]})


@pytest.mark.fast
def test_numpy_files_are_taken(tmp_path):
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        table = os.path.join(m.path, "out.root", "Events")
        os.makedirs(table)
        np.save(os.path.join(table, "x.npy"), np.arange(100, dtype="<f4"))
        np.save(os.path.join(table, "p.npy"), np.arange(600, dtype="<i2").reshape(100, 2, 3))
        mounted.fsync(table)
        assert m.errors() == ""
        assert sorted(os.listdir(table)) == ["p.i2x2x3", "x.f4"]
    with uproot.open(tmp_path / "out.root") as file:
        assert np.array_equal(file["Events"]["p"].array(library="np"), np.arange(600).reshape(100, 2, 3))
        assert np.array_equal(file["Events"]["x"].array(library="np"), np.arange(100))


@pytest.mark.parametrize("columns, offender", (
    ({"hits/offsets.i8": 1, "hits/values/name/offsets.i8": 1}, "hits/values/name/offsets.i8"),
    ({"v/tags.i1": 1, "v/index.i8": 1}, "v/index.i8"),
))
def test_types_that_are_not_written(tmp_path, columns, offender):
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        table = os.path.join(m.path, "out.root", "Events")
        os.makedirs(table)
        put(table, {"x.f4": np.zeros(3, "f4")})
        with pytest.raises(OSError) as refused:
            put(table, {path: np.zeros(1, "i8") for path in columns})
        assert refused.value.errno == errno.EOPNOTSUPP
        assert offender.split("/")[0] in m.errors()


def test_space_and_bits_are_those_of_a_directory(tmp_path, columns):
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        real, shown = os.statvfs(tmp_path), os.statvfs(m.path)
        assert shown.f_blocks == real.f_blocks and 0.9 * real.f_bavail < shown.f_bavail * shown.f_frsize / real.f_frsize
        file = os.path.join(m.path, "out.root")
        subprocess.run(["sh", "-c", f"umask 077; mkdir '{file}' '{file}/Events'"], check=True)
        assert os.stat(file).st_mode & 0o777 == 0o700
        put(os.path.join(file, "Events"), {"id.i8": columns["id.i8"]})
        mounted.fsync(file)
        assert os.stat(tmp_path / "out.root").st_mode & 0o777 == 0o600
        os.chmod(file, 0o750)
        os.utime(file, (10, 1_000_000_000))
        assert os.stat(tmp_path / "out.root").st_mode & 0o777 == 0o640
        assert os.stat(tmp_path / "out.root").st_mtime == 1_000_000_000
        assert os.stat(file).st_mode & 0o777 == 0o750


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make files for others")
def test_what_others_make_is_theirs(columns):
    source = tempfile.mkdtemp(prefix="tfilefs-theirs-")
    os.chmod(source, 0o777)
    who = ["setpriv", "--reuid=12345", "--regid=12346", "--clear-groups", "sh", "-ec"]
    try:
        m = mounted.Mounted(source, ("rw", "allow_other", "commit=600"))
        made = "echo text > a.txt; mkdir b; ln -s a.txt c; mkdir -p out.root/Events; printf 12345678 > out.root/Events/id.i8"
        subprocess.run([*who, made], cwd=m.path, check=True)
        assert os.stat(os.path.join(source, "out.root.tfilefs-journal")).st_uid == 12345
        kill(m)
        with mounted.Mounted(source, ("rw", "allow_other", "commit=600")) as m:
            subprocess.run([*who, "printf abcdefgh > out.root/Events/id.i8"], cwd=m.path, check=True)
        for name in ("a.txt", "b", "c", "out.root"):
            status = os.lstat(os.path.join(source, name))
            assert (status.st_uid, status.st_gid) == (12345, 12346), name
        with uproot.open(os.path.join(source, "out.root")) as file:
            assert file["Events"]["id"].array(library="np").tobytes() == b"abcdefgh"
    finally:
        shutil.rmtree(source)
