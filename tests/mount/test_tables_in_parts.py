# SPDX-License-Identifier: Apache-2.0
"""Any order of files, of commits and of mounts gives the same table, or the same refusal when a file is made; and what a
table is stored as stays, whatever it is named."""

import errno
import itertools
import os
import shutil
import subprocess

import numpy as np
import pytest
import uproot

import mounted

FILE = "out.root"


def i8(*values):
    return np.array(values, "<i8").tobytes()


def f4(*values):
    return np.array(values, "<f4").tobytes()


# Columns of two entries, and what they are.
DEEP = {"f/offsets.i8": i8(0, 2, 3), "f/values/offsets.i8": i8(0, 1, 3, 3), "f/values/values/offsets.i8": i8(0, 2, 3, 5),
        "f/values/values/chars.u1": b"abcde"}
MAP = {"f/offsets.i8": i8(0, 2, 3), "f/values/value.f8": np.array([1, 2, 3], "<f8").tobytes(),
       "f/values/key/offsets.i8": i8(0, 1, 2, 4), "f/values/key/chars.u1": b"abcd"}
RECORD = {"f/x.f4": f4(1, 2), "f/values/offsets.i8": i8(0, 2, 3), "f/values/values.f4": f4(4, 5, 6)}
RECORDS = {"f/offsets.i8": i8(0, 2, 3), "f/values/x.f4": f4(1, 2, 3), "f/values/values.f4": f4(7, 8, 9)}
SHAPES = {
    "lists in lists": (DEEP, [[["ab"], ["c", "de"]], [[]]]),
    "map": (MAP, [{"a": 1, "b": 2}, {"cd": 3}]),
    "record": (RECORD, [{"x": 1, "values": [4, 5]}, {"x": 2, "values": [6]}]),
    "list of records": (RECORDS, [[{"x": 1, "values": 7}, {"x": 2, "values": 8}], [{"x": 3, "values": 9}]]),
}


def put(top, path, data):
    os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
    with open(os.path.join(top, path), "wb") as file:
        file.write(data)


def content(top):
    found = {}
    for directory, _, names in os.walk(top):
        for name in names:
            with open(os.path.join(directory, name), "rb") as file:
                found[os.path.relpath(os.path.join(directory, name), top)] = file.read()
    return found


def command(name, path):
    done = subprocess.run([mounted.program(), name, path], capture_output=True, text=True)
    return done.returncode, done.stderr


def mount(directory, form, *more):
    return mounted.Mounted(directory, ("rw", "commit=86400", "format=" + form, *more))


def entries(directory, form, table, shape):
    """As uproot reads them, of a tree what it can read alone."""
    with uproot.open(os.path.join(directory, FILE)) as file:
        read = file[table]
        if form == "tree" and shape != "lists in lists":
            return None
        found = read["f"].array().tolist()
        return [dict((item["key"], item["value"]) for item in entry) for entry in found] if shape == "map" else found


@pytest.mark.parametrize("form", ("tree", "rntuple"))
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("between", ("nothing", "commits and mounts"))
def test_any_order_of_files_gives_the_same_table(tmp_path, form, shape, between):
    """Each order has a table; all of them get their next files together. Another column keeps them from being whole."""
    files, wanted = SHAPES[shape]
    orders = list(itertools.permutations(files))
    m = mount(tmp_path, form)
    try:
        for number in range(len(orders)):
            put(os.path.join(m.path, FILE), f"t{number}/n.f4", f4(1, 2, 3))
        for step in range(len(files)):
            if step > 0 and between != "nothing":
                assert command("commit", m.path)[0] == 1
                assert command("umount", m.path)[0] == 1
                m.close()
                m = mount(tmp_path, form)
            for number, order in enumerate(orders):
                put(os.path.join(m.path, FILE), f"t{number}/{order[step]}", files[order[step]])
        for number in range(len(orders)):
            os.truncate(os.path.join(m.path, FILE, f"t{number}/n.f4"), 8)
        assert command("commit", m.path) == (0, "") and m.errors() == ""
        for number in range(len(orders)):
            assert content(os.path.join(m.path, FILE, f"t{number}")) == {**files, "n.f4": f4(1, 2)}, orders[number]
            assert entries(tmp_path, form, f"t{number}", shape) in (None, wanted), orders[number]
    finally:
        m.close()
    assert os.listdir(tmp_path) == [FILE]


@pytest.mark.parametrize("form", ("tree", "rntuple"))
@pytest.mark.parametrize("how", ("-r", "-a"))
def test_a_copied_mount_is_the_same(tmp_path, form, how):
    for place in ("one", "two"):
        os.mkdir(tmp_path / place)
    with mount(tmp_path / "one", form) as m:
        for shape, (files, _) in SHAPES.items():
            for path, data in files.items():
                put(os.path.join(m.path, FILE), f"{shape}/{path}", data)
    with mounted.Mounted(tmp_path / "one") as source, mount(tmp_path / "two", form) as m:
        done = subprocess.run(["cp", how, os.path.join(source.path, FILE), m.path], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr + m.errors()
        assert command("commit", m.path) == (0, "")
        assert content(os.path.join(m.path, FILE)) == content(os.path.join(source.path, FILE))


# ---- members of what is committed

HITS = {"hits/offsets.i8": i8(0, 2, 3), "hits/values/x.f4": f4(1, 2, 3)}
VALUES = {"hits/offsets.i8": i8(0, 2, 3), "hits/values/value.f8": np.array([1, 2, 3], "<f8").tobytes()}
LIST = {"hits/offsets.i8": i8(0, 2, 3), "hits/values.f4": f4(1, 2, 3)}
PAIR = {"hits/x.f4": f4(1, 2), "hits/y.f4": f4(1, 2)}
LATE = [
    (HITS, "hits/values/y.f4"), (HITS, "hits/values/y.npy"), (HITS, "hits/values/y.i2x3"), (HITS, "hits/values/name/chars.u1"),
    (HITS, "hits/chars.u1"), (VALUES, "hits/values/key/offsets.i8"), (VALUES, "hits/values/key.i4"),
    (LIST, "hits/chars.u1"), (PAIR, "hits/z.f4"), (PAIR, "hits/offsets.i8"),
    (PAIR, "hits/values/values.f4"),
]


@pytest.mark.parametrize("form", ("tree", "rntuple"))
@pytest.mark.parametrize("how", ("commit", "umount", "kill"))
def test_a_late_member_is_refused_when_it_is_made(tmp_path, form, how):
    m = mount(tmp_path, form)
    try:
        for number, (files, _) in enumerate(LATE):
            for path, data in {"n.f4": f4(1, 2), **files}.items():
                put(os.path.join(m.path, FILE), f"t{number}/{path}", data)
        put(m.path, FILE + "/other/a.f4", f4(1, 2))
        put(m.path, FILE + "/other/b.f4", f4(1))  # so that there is a journal to the end
        assert command("commit", m.path)[0] == 1
        if how == "kill":
            mounted.fsync(os.path.join(m.path, FILE, "other/b.f4"))
            m.process.kill()
        if how != "commit":
            m.close()
            m = mount(tmp_path, form)
        for number, (files, late) in enumerate(LATE):
            table = os.path.join(m.path, FILE, f"t{number}")
            with pytest.raises(OSError) as refused:
                put(table, late, f4(4, 5, 6))
            assert refused.value.errno == errno.EOPNOTSUPP, late
            assert "hits is committed without it" in m.errors() and "rm -r hits" in m.errors()
            temporary = os.path.join(table, os.path.dirname(next(iter(files))), ".part.Kx2q9Z")
            with open(temporary, "wb"):
                pass
            if os.path.isdir(os.path.dirname(os.path.join(table, late))):
                with pytest.raises(OSError) as refused:
                    os.rename(temporary, os.path.join(table, late))
                assert refused.value.errno == errno.EOPNOTSUPP, late
            os.unlink(temporary)
        shutil.rmtree(os.path.join(m.path, FILE, "other"))
        assert command("commit", m.path) == (0, ""), "nothing of it stays staged"
        for number, (files, _) in enumerate(LATE):
            assert content(os.path.join(m.path, FILE, f"t{number}")) == {"n.f4": f4(1, 2), **files}
    finally:
        m.close()
    assert os.listdir(tmp_path) == [FILE]


def is_committing(m):
    with open(os.path.join(m.path, FILE, ".pending.json")) as file:
        return '"committing": true' in file.read()


@pytest.mark.parametrize("how", ("made", "renamed"))
def test_a_member_that_comes_during_the_commit_is_refused_after_it(tmp_path, how):
    values = np.random.default_rng(1).random(1_000_000).astype("<f4")  # which take zlib:9 a moment
    with mount(tmp_path, "tree", "compression=zlib:9") as m:
        table = os.path.join(m.path, FILE, "t")
        put(table, ".table", b"")
        put(table, "hits/offsets.i8", i8(0, len(values)))
        put(table, "hits/values/x.f4", values.tobytes())
        late, temporary = os.path.join(table, "hits/values/y.f4"), os.path.join(table, ".part.Kx2q9Z")
        commit = subprocess.Popen([mounted.program(), "commit", table], stderr=subprocess.DEVNULL)
        while commit.poll() is None and not is_committing(m):
            pass
        with pytest.raises(OSError) as refused:
            if how == "renamed":
                with open(temporary, "wb"):
                    pass
                os.rename(temporary, late)
            else:
                open(late, "wb").close()
        assert refused.value.errno == errno.EOPNOTSUPP
        assert commit.wait(60) in ((0,) if how == "made" else (0, 1))  # 1 if it saw the temporary file, which it names
        if how == "renamed":
            os.unlink(temporary)
        assert command("commit", m.path) == (0, "")


@pytest.mark.parametrize("form", ("tree", "rntuple"))
def test_what_a_late_member_came_to_is_written_anew(tmp_path, form):
    with mount(tmp_path, form) as m:
        table = os.path.join(m.path, FILE, "t")
        for path, data in HITS.items():
            put(table, path, data)
        assert command("commit", table) == (0, "")
        shutil.rmtree(os.path.join(table, "hits"))
        anew = {**HITS, "hits/values/y.f4": f4(4, 5, 6)}
        for path, data in anew.items():
            put(table, path, data)
        assert command("commit", table) == (0, "")
        assert content(table) == anew
        put(table, "y/offsets.i8", i8(0, 2, 3))
        put(table, "y/values.f4", f4(4, 5, 6))
        assert command("commit", table) == (0, "")


@pytest.mark.parametrize("form", ("tree", "rntuple"))
def test_files_that_are_made_first_are_waited_for(tmp_path, form):
    """As docs/semantics/writing.md says: no commit comes between members whose files are there."""
    with mounted.Mounted(tmp_path, ("rw", "commit=0", "format=" + form)) as m:
        table = os.path.join(m.path, FILE, "t")
        files = {**HITS, "hits/values/y.f4": f4(4, 5, 6)}
        for path in [".table", *sorted(files, reverse=True)]:
            put(table, path, b"")
        for path, data in files.items():
            put(table, path, data)
            if path != list(files)[-1]:
                assert command("commit", table)[0] == 1
        assert command("commit", table) == (0, "") and m.errors() == ""
        assert content(table) == files


# ---- what a table is stored as


def put_variant(table, name):
    os.makedirs(os.path.join(table, name))
    os.setxattr(os.path.join(table, name), "user.tfilefs.class", b"std::variant<std::int32_t,float>")
    put(table, name + "/tags.i1", np.array([1, 2], "i1").tobytes())
    put(table, name + "/index.i8", i8(0, 0))
    put(table, name + "/std::int32_t.i4", np.array([5], "<i4").tobytes())
    put(table, name + "/float.f4", f4(6))


@pytest.mark.parametrize("end", ("umount", "kill"))
@pytest.mark.parametrize("renamed", ("never", "staged", "committed", "committed twice"))
@pytest.mark.parametrize("folder", ("", "folder/"))
def test_an_rntuple_stays_one(tmp_path, end, renamed, folder):
    """Whatever name it had in the journal: as another table keeps that, it is replayed. The tree beside it stays a tree."""
    m = mount(tmp_path, "tree")
    try:
        top = os.path.join(m.path, FILE)
        put(top, folder + "t0/.rntuple", b"")
        put(top, folder + "t0/x.i4", np.array([1, 2], "<i4").tobytes())
        put(top, folder + "s0/x.i4", np.array([1, 2], "<i4").tobytes())
        if renamed.startswith("committed"):
            assert command("commit", m.path) == (0, "")
        put(top, folder + "other/a.f4", f4(1, 2))
        put(top, folder + "other/b.f4", f4(1))
        name = "0"
        for number in range({"never": 0, "committed twice": 2}.get(renamed, 1)):
            for kind in "ts":
                os.rename(os.path.join(top, folder + kind + name), os.path.join(top, folder + kind + str(number + 1)))
                put(top, f"{folder}{kind}{number + 1}/y{number}.f8", np.array([1, 2], "<f8").tobytes())
            name = str(number + 1)
            assert command("commit", os.path.join(top, folder + "t" + name)) == (0, "")
            assert command("commit", os.path.join(top, folder + "s" + name)) == (0, "")
        assert command("commit", m.path)[0] == 1
        if end == "kill":
            for column in "ab":
                mounted.fsync(os.path.join(top, folder + f"other/{column}.f4"))
            m.process.kill()
        m.close()
        m = mount(tmp_path, "tree")
        put_variant(os.path.join(top := os.path.join(m.path, FILE), folder + "t" + name), "v")
        with pytest.raises(OSError) as refused:
            put_variant(os.path.join(top, folder + "s" + name), "v")
        assert refused.value.errno == errno.EOPNOTSUPP
        shutil.rmtree(os.path.join(top, folder + "s" + name, "v"))
        shutil.rmtree(os.path.join(top, folder + "other"))
        assert command("commit", m.path) == (0, "")
    finally:
        m.close()
    with uproot.open(tmp_path / FILE) as file:
        assert file[folder + "t" + name]["v"].array().tolist() == [5, 6]
        assert file.classnames(cycle=False)[folder + "s" + name] == "TTree"
