# SPDX-License-Identifier: Apache-2.0
"""Lists of records become split collections of a class in a tree, which ROOT reads without a dictionary, and uproot."""

import errno
import json
import os
import shutil
import subprocess
import tempfile

import numpy as np
import pyarrow
import pyarrow.feather
import uproot

import mounted
import root_process

NUMBERS = {"b": "b1", "i1": "i1", "u1": "u1", "i2": "i2", "u2": "u2", "i4": "i4", "u4": "u4", "i8": "i8", "u8": "u8",
           "x": "f4", "y": "f8"}


def random_lists(random, entries, most=4):
    return np.concatenate(([0], np.cumsum(random.integers(0, most, entries)))).astype("<i8")


def put(directory, path, values):
    full = os.path.join(directory, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    values.tofile(full)


def numbers_of(random, dtype, count):
    if dtype == "b1":
        return random.integers(0, 2, count).astype("u1")
    if dtype[0] == "f":
        return random.standard_normal(count).astype("<" + dtype)
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, count, dtype=dtype, endpoint=True)


def make_numbers(directory, entries, seed):
    random = np.random.default_rng(seed)
    offsets = random_lists(random, entries)
    put(directory, "hits/offsets.i8", offsets)
    for name, dtype in NUMBERS.items():
        put(directory, f"hits/values/{name}.{dtype}", numbers_of(random, dtype, offsets[-1]))
    put(directory, "hits/values/pos.i2x3", numbers_of(random, "i2", 3 * offsets[-1]))
    put(directory, "one/offsets.i8", random_lists(random, entries))
    put(directory, "one/values/only.f8", numbers_of(random, "f8", np.fromfile(directory / "one/offsets.i8", "<i8")[-1]))
    put(directory, "run.i4", np.arange(entries, dtype="<i4") + 1000 * seed)


def make_map(directory, entries, seed):
    random = np.random.default_rng(seed)
    offsets = random_lists(random, entries)
    put(directory, "map/offsets.i8", offsets)
    put(directory, "map/values/key.i4", numbers_of(random, "i4", offsets[-1]))
    put(directory, "map/values/value.f8", numbers_of(random, "f8", offsets[-1]))


MAPS = {"int": "i4", "long": "i8", "float": "f4", "double": "f8", "string": None}


def put_texts(directory, path, texts):
    put(directory, path + "/offsets.i8", np.concatenate(([0], np.cumsum([len(text) for text in texts]))).astype("<i8"))
    put(directory, path + "/chars.u1", np.frombuffer(b"".join(texts), "u1"))


def make_string_maps(directory, entries, seed):
    """One of each kind; the keys of an entry are in any order."""
    random = np.random.default_rng(seed)
    for kind, dtype in MAPS.items():
        offsets = random_lists(random, entries, 9)
        put(directory, f"to_{kind}/offsets.i8", offsets)
        numbers = [number for count in np.diff(offsets) for number in random.permutation(count)]
        put_texts(directory, f"to_{kind}/values/key", [b"k%d" % n + b"long" * (11 * n % 80) for n in numbers])
        if dtype is None:
            put_texts(directory, f"to_{kind}/values/value", [b"x" * random.integers(0, 300) for _ in numbers])
        else:
            put(directory, f"to_{kind}/values/value.{dtype}", random.integers(-9, 9, offsets[-1]).astype("<" + dtype))


def texts_of(directory):
    offsets, chars = np.fromfile(directory / "offsets.i8", "<i8"), (directory / "chars.u1").read_bytes()
    return [chars[a:b].decode() for a, b in zip(offsets, offsets[1:])]


def maps_of(directory, kind):
    place = directory / f"to_{kind}"
    offsets, keys, dtype = np.fromfile(place / "offsets.i8", "<i8"), texts_of(place / "values/key"), MAPS[kind]
    values = np.fromfile(place / f"values/value.{dtype}", "<" + dtype).tolist() if dtype else texts_of(place / "values/value")
    return [list(zip(keys[a:b], values[a:b])) for a, b in zip(offsets, offsets[1:])]


def append(table, more):
    for above, _, files in os.walk(more):
        for name in files:
            path = os.path.join(above, name)
            into = os.path.join(table, os.path.relpath(path, more))
            content = np.fromfile(path, "u1")
            if name == "offsets.i8":
                content = np.fromfile(path, "<i8")[1:] + np.fromfile(into, "<i8")[-1]
            with open(into, "ab") as file:
                file.write(content.tobytes())


def same(one, other):
    result = subprocess.run(["diff", "-r", one, other], capture_output=True, text=True)
    return result.returncode == 0, result.stdout


def lists(directory, name):
    offsets = np.fromfile(directory / "hits/offsets.i8", "<i8")
    dtype = NUMBERS[name]
    values = np.fromfile(directory / f"hits/values/{name}.{dtype}", "?" if dtype == "b1" else "<" + dtype)
    return [values[a:b].tolist() for a, b in zip(offsets, offsets[1:])]


def read_by_root(file, columns, script="oracle/records_reader.py"):
    """Of each column the lists as RDataFrame and TTreeReader read them, and the number of rows that Scan prints."""
    with tempfile.TemporaryDirectory() as directory:
        answer = os.path.join(directory, "answer.json")
        root_process.run_script(script, [str(file), "Events", ",".join(columns), answer])
        with open(answer) as found:
            return json.load(found)


def check_numbers(file, directory):
    read = read_by_root(file, ["hits." + name for name in NUMBERS])
    for name in NUMBERS:
        wanted, found = lists(directory, name), read["hits." + name]
        assert found["frame"] == found["reader"] == wanted, name
        assert found["rows"] == sum(max(1, len(one)) for one in wanted)
    with uproot.open(file) as opened:
        tree = opened["Events"]
        for name in NUMBERS:
            assert tree[f"hits/hits.{name}"].array().tolist() == lists(directory, name), name
        offsets = np.fromfile(directory / "hits/offsets.i8", "<i8")
        positions = np.fromfile(directory / "hits/values/pos.i2x3", "<i2").reshape(-1, 3)
        assert tree["hits/hits.pos[3]"].array().tolist() == [positions[a:b].tolist()
                                                             for a, b in zip(offsets, offsets[1:])]


def take_step(change, directory, expected):
    """Makes the change to the table of new.root, in a mount of its own, and to what is expected: it then shows that, there
    and in a further mount."""
    with mounted.Mounted(directory, ("rw",)) as m:
        os.makedirs(os.path.join(m.path, "new.root"), exist_ok=True)
        table = os.path.join(m.path, "new.root", "Events")
        change(table)
        change(expected)
        mounted.fsync(table)
        assert same(expected, table) == (True, ""), m.errors()
    with mounted.Mounted(directory) as m:
        assert same(expected, os.path.join(m.path, "new.root", "Events")) == (True, "")


def write_anew(columns, directory, ways):
    """Makes the columns an RNTuple, rntuple.root. `ways`: (options of repack, source, target); all targets show the same."""
    with mounted.Mounted(directory, ("rw", "format=rntuple")) as m:
        os.mkdir(os.path.join(m.path, "rntuple.root"))
        shutil.copytree(columns, os.path.join(m.path, "rntuple.root", "Events"))
        mounted.fsync(m.path)
    for options, source, target in ways:
        repacked = subprocess.run([mounted.program(), "repack", "--verify", *options, str(directory / source),
                                   str(directory / target)], capture_output=True, text=True)
        assert repacked.returncode == 0, repacked.stderr
        with mounted.Mounted(directory) as m:
            assert same(columns, os.path.join(m.path, target, "Events")) == (True, "")


TO_TREE_AND_BACK = ((("--format", "ttree"), "rntuple.root", "ttree.root"),
                    (("--format", "rntuple"), "ttree.root", "again.root"))


def append_itself(tmp_path):
    """Appends the table of out/root.root to itself; returns the columns that it then has."""
    with mounted.Mounted(tmp_path / "out", ("rw",)) as m:
        table = os.path.join(m.path, "root.root", "Events")
        expected, more = tmp_path / "expected", tmp_path / "more"
        shutil.copytree(table, expected, ignore=shutil.ignore_patterns(".*"))
        shutil.copytree(expected, more)
        append(expected, more)
        append(table, more)
        mounted.fsync(table)
        assert same(expected, table) == (True, ""), m.errors()
    return expected


def test_lists_of_records_of_numbers_are_made_and_grow(tmp_path):
    """Made, appended to, given columns and a second list of records, and robbed of one, in several mounts."""
    for name, entries, seed in (("first", 300, 1), ("more", 90, 2)):
        make_numbers(tmp_path / name, entries, seed)
    (tmp_path / "out").mkdir()
    expected = tmp_path / "expected"
    changes = (
        lambda table: shutil.copytree(tmp_path / "first", table),
        lambda table: append(table, tmp_path / "more"),
        lambda table: put(table, "late.i8", np.arange(390, dtype="<i8")),
        lambda table: shutil.copytree(expected / "hits", os.path.join(table, "again")),
        lambda table: shutil.rmtree(os.path.join(table, "one")),
        lambda table: append(table, tmp_path / "more_again"),
    )
    make_numbers(tmp_path / "more_again", 50, 3)
    shutil.rmtree(tmp_path / "more_again/one")
    shutil.copytree(tmp_path / "more_again/hits", tmp_path / "more_again/again")
    put(tmp_path / "more_again", "late.i8", np.arange(50, dtype="<i8"))
    for change in changes:
        take_step(change, tmp_path / "out", expected)
    check_numbers(tmp_path / "out/new.root", expected)
    with uproot.open(tmp_path / "out/new.root") as file:
        names = [name for name in file.file.streamers if name.startswith("Record_")]
        assert len(names) == 2, "one for each class"


def test_an_rntuple_with_such_lists_becomes_a_tree_and_back(tmp_path):
    make_numbers(tmp_path / "columns", 400, 4)
    make_map(tmp_path / "columns", 400, 5)
    (tmp_path / "out").mkdir()
    write_anew(tmp_path / "columns", tmp_path / "out", TO_TREE_AND_BACK)
    check_numbers(tmp_path / "out/ttree.root", tmp_path / "columns")


def test_entries_are_appended_to_lists_of_records_of_root(tmp_path):
    """Of a class with a dictionary; its members are numbers and arrays."""
    (tmp_path / "out").mkdir()
    root_process.run_script("oracle/records_writer.py", [str(tmp_path / "out/root.root")])
    append_itself(tmp_path)
    found = read_by_root(tmp_path / "out/root.root", ["hits.x"])["hits.x"]
    assert found["frame"] == found["reader"] and found["frame"][:4] == found["frame"][4:]
    assert found["frame"][3] == [3.0, 3.5, 4.0]


def test_an_arrow_file_has_such_lists(tmp_path):
    rows = [[{"x": 1.5, "n": 1}, {"x": 2.5, "n": 2}], [], [{"x": 3.5, "n": 3}]]
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        os.mkdir(os.path.join(m.path, "out.root"))
        pyarrow.feather.write_feather(pyarrow.table({"hits": rows}), os.path.join(m.path, "out.root", "Events.arrow"), compression="lz4")
        mounted.fsync(os.path.join(m.path, "out.root"))
        assert m.errors() == ""
    with uproot.open(tmp_path / "out.root") as file:
        assert file["Events"]["hits/hits.x"].array().tolist() == [[1.5, 2.5], [], [3.5]]
        assert file["Events"]["hits/hits.n"].array().tolist() == [[1, 2], [], [3]]


def check_string_maps(file, directory):
    read = read_by_root(file, ["to_" + kind for kind in MAPS], "oracle/maps_reader.py")
    with uproot.open(file) as opened:
        for kind in MAPS:
            wanted, found = maps_of(directory, kind), read["to_" + kind]
            assert found["class"] == f"map<string,{kind}>"
            assert found["frame"] == found["reader"] == found["loop"] == [dict(one) for one in wanted], kind
            assert found["second"] in (None, [[value for _, value in sorted(one)] for one in wanted])
            parts = [opened[f"Events/to_{kind}/to_{kind}.{part}"].array().tolist() for part in ("first", "second")]
            assert [list(zip(*one)) for one in zip(*parts)] == wanted, kind


def test_maps_of_strings_are_made_and_grow(tmp_path):
    """As those of ROOT, which has dictionaries for their classes."""
    make_string_maps(tmp_path / "first", 700, 6)
    make_string_maps(tmp_path / "more", 80, 7)
    (tmp_path / "out").mkdir()
    expected = tmp_path / "expected"
    changes = (
        lambda table: shutil.copytree(tmp_path / "first", table),
        lambda table: append(table, tmp_path / "more"),
        lambda table: put(table, "late.i8", np.arange(780, dtype="<i8")),
        lambda table: shutil.copytree(expected / "to_int", os.path.join(table, "again")),
        lambda table: shutil.rmtree(os.path.join(table, "to_float")),
    )
    for change in changes:
        take_step(change, tmp_path / "out", expected)
        if change is changes[3]:
            check_string_maps(tmp_path / "out/new.root", expected)


def test_an_rntuple_with_maps_of_strings_becomes_a_tree_and_back(tmp_path):
    make_string_maps(tmp_path / "columns", 300, 8)
    (tmp_path / "out").mkdir()
    write_anew(tmp_path / "columns", tmp_path / "out", TO_TREE_AND_BACK)
    check_string_maps(tmp_path / "out/ttree.root", tmp_path / "columns")


def test_a_key_that_is_there_twice_keeps_a_map_from_being_committed(tmp_path):
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        table = os.path.join(m.path, "new.root", "Events")
        os.makedirs(table)
        put(table, "m/offsets.i8", np.array([0, 1, 3], "<i8"))
        put_texts(table, "m/values/key", [b"a", b"b", b"b"])
        put(table, "m/values/value.f8", np.array([1, 2, 3], "<f8"))
        committed = subprocess.run([mounted.program(), "commit", table], capture_output=True, text=True)
        assert committed.returncode != 0
        assert "m, entry 1: duplicate key in a map" in committed.stderr + m.errors()
        shutil.rmtree(os.path.join(table, "m"))
        assert subprocess.run([mounted.program(), "commit", table], capture_output=True).returncode == 0


def refused(table, path):
    try:
        put(table, path, np.array([0, 1, 3], "<i8"))
        assert False, path
    except OSError as error:
        assert error.errno == errno.EOPNOTSUPP


def test_other_maps_with_strings_are_refused(tmp_path):
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        table = os.path.join(m.path, "new.root", "Events")
        os.makedirs(table)
        put(table, "m/offsets.i8", np.array([0, 1, 3], "<i8"))
        put_texts(table, "m/values/key", [b"a", b"b", b"c"])
        for path in ("m/values/value.i2", "m/values/value/values.f4"):
            refused(table, path)
        assert "maps with strings or lists cannot be written, except of strings to i4, i8, f4, f8 or strings" in m.errors()


def test_maps_of_numbers_to_strings_are_refused(tmp_path):
    for name in ("key.i4", "key.i8", "key.f4", "key.f8"):
        with mounted.Mounted(tmp_path, ("rw",)) as m:
            table = os.path.join(m.path, name + ".root", "Events")
            os.makedirs(table)
            put(table, "m/offsets.i8", np.array([0, 1, 3], "<i8"))
            put(table, "m/values/" + name, np.zeros(3, "<" + name[-2:]))
            refused(table, "m/values/value/offsets.i8")
            assert "ROOT has no dictionary for other maps with strings" in m.errors()


def test_root_has_dictionaries_for_the_maps_that_are_written_alone():
    """Without one, ROOT 6.40 reads such a map as empty, or ends in a crash."""
    written = [f"map<string,{kind}>" for kind in MAPS]
    others = [f"map<{kind},string>" for kind in ("short", "int", "unsigned int", "long", "Long64_t", "float", "double")]
    others += ["map<string,short>", "map<string,unsigned int>", "map<string,Long64_t>", "map<string,bool>"]
    said = root_process.run_script("oracle/map_dictionaries.py", written + others)
    assert said.split("dictionaries:\n")[1].splitlines() == written


def test_repack_names_a_record_that_a_tree_does_not_take(tmp_path):
    with mounted.Mounted(tmp_path, ("rw", "format=rntuple")) as m:
        table = os.path.join(m.path, "in.root", "Events")
        os.makedirs(table)
        put(table, "x.f4", np.arange(3, dtype="<f4"))
        put(table, "r/inner/a.f4", np.arange(3, dtype="<f4"))
        mounted.fsync(table)
    repacked = subprocess.run([mounted.program(), "repack", "--format", "ttree", str(tmp_path / "in.root"),
                               str(tmp_path / "out.root")], capture_output=True, text=True)
    assert repacked.returncode == 1 and "r/inner: records in records cannot be written" in repacked.stderr
