# SPDX-License-Identifier: Apache-2.0
"""Records that are in no list, with strings and lists in them, become objects of a class in a tree, split into a branch
for each member. ROOT reads these without a dictionary, and so does uproot."""

import contextlib
import os
import shutil
import subprocess

import numpy as np
import pyarrow
import pyarrow.feather
import pytest
import uproot

import mounted
import root_process
from test_writing_records import (NUMBERS, append, append_itself, numbers_of, put, put_texts, random_lists, read_by_root, same, take_step,
                                  texts_of, write_anew)


LISTS = {name: NUMBERS[name] for name in ("b", "i1", "u2", "i8", "x")}


def put_list(random, directory, entries, dtype):
    offsets = random_lists(random, entries)
    put(directory, "offsets.i8", offsets)
    put(directory, f"values.{dtype}", numbers_of(random, dtype, offsets[-1]))


def make_records(directory, entries, seed):
    """`all` has numbers, arrays and texts, `lists` lists of each kind, `one` and `text` have one member."""
    random = np.random.default_rng(seed)
    for name, dtype in NUMBERS.items():
        put(directory, f"all/{name}.{dtype}", numbers_of(random, dtype, entries))
    for name, dtype in LISTS.items():
        put_list(random, directory / f"lists/of_{name}", entries, dtype)
    put(directory, "all/pos.f4x3", numbers_of(random, "f4", 3 * entries))
    put(directory, "all/grid.i2x2x3", numbers_of(random, "i2", 6 * entries))
    put_texts(directory, "all/name", [b"x" * length for length in random.integers(0, 400, entries)])
    put_texts(directory, "all/tag", [b"t%d" % number for number in random.integers(0, 400, entries)])
    outer = random_lists(random, entries)
    put(directory, "lists/words/offsets.i8", outer)
    put_texts(directory, "lists/words/values", [b"w%d" % n * (n % 90) for n in random.integers(0, 300, outer[-1])])
    put(directory, "lists/nested/offsets.i8", outer)
    put_list(random, directory / "lists/nested/values", outer[-1], "f4")
    put(directory, "one/only.f8", numbers_of(random, "f8", entries))
    put_texts(directory, "text/only", [b"q%d" % number for number in range(entries)])
    put(directory, "run.i4", np.arange(entries, dtype="<i4") + 1000 * seed)


def lists_of(directory, items):
    offsets = np.fromfile(directory / "offsets.i8", "<i8")
    return [items[a:b] for a, b in zip(offsets, offsets[1:])]


def values_of(directory, dtype, name="values"):
    return np.fromfile(directory / f"{name}.{dtype}", "?" if dtype == "b1" else "<" + dtype).tolist()


def expected_values(directory):
    """Of each member, by ROOT's name."""
    found = {f"all.{name}": values_of(directory / "all", dtype, name) for name, dtype in NUMBERS.items()}
    found |= {f"lists.of_{name}": lists_of(directory / f"lists/of_{name}", values_of(directory / f"lists/of_{name}", dtype))
              for name, dtype in LISTS.items()}
    found["all.pos[3]"] = np.fromfile(directory / "all/pos.f4x3", "<f4").reshape(-1, 3).tolist()
    found["all.grid[2][3]"] = np.fromfile(directory / "all/grid.i2x2x3", "<i2").reshape(-1, 2, 3).tolist()
    found |= {f"all.{name}": texts_of(directory / "all" / name) for name in ("name", "tag")}
    found["lists.words"] = lists_of(directory / "lists/words", texts_of(directory / "lists/words/values"))
    inner = lists_of(directory / "lists/nested/values", values_of(directory / "lists/nested/values", "f4"))
    found["lists.nested"] = lists_of(directory / "lists/nested", inner)
    return found | {"one.only": values_of(directory / "one", "f8", "only"), "text.only": texts_of(directory / "text/only")}


def is_printed(value, text):
    """Scan prints every number as one of type double."""
    return text == value if isinstance(value, str) else float(text) == float(value)


def check_members(file, directory, by_root=None):
    """`by_root`: the columns that ROOT reads; None: all. uproot reads all."""
    wanted = expected_values(directory)
    by_root = [name for name in wanted if by_root is None or name in by_root]
    read = read_by_root(file, by_root, "oracle/members_reader.py")
    with uproot.open(file) as opened:
        tree = opened["Events"]
        for name, values in wanted.items():
            assert tree[name.split(".")[0] + "./" + name].array().tolist() == values, name
            if name not in read:
                continue
            found = read[name]
            flat = [np.ravel(value).tolist() for value in values] if name == "all.grid[2][3]" else values
            assert found["frame"] == found["reader"] == flat, name
            if not isinstance(values[0], list) and name not in ("all.i1", "all.u1"):  # Scan prints characters
                assert len(found["scan"]) == len(values) and all(map(is_printed, values, found["scan"])), name
            elif name not in ("lists.nested", "all.i1", "all.u1"):
                assert len(found["scan"]) == sum(max(1, len(value)) for value in flat), name


def test_records_with_texts_and_lists_are_made_and_grow(tmp_path):
    """Made, appended to, given columns and another record, and robbed of one, in several mounts."""
    for name, entries, seed in (("first", 300, 1), ("more", 90, 2)):
        make_records(tmp_path / name, entries, seed)
    out, expected = tmp_path / "out", tmp_path / "expected"
    out.mkdir()
    changes = (
        lambda table: shutil.copytree(tmp_path / "first", table),
        lambda table: append(table, tmp_path / "more"),
        lambda table: put(table, "late.i8", np.arange(390, dtype="<i8")),
        lambda table: shutil.copytree(expected / "all", os.path.join(table, "again")),
        lambda table: shutil.rmtree(os.path.join(table, "again")),
        lambda table: shutil.copytree(expected / "text", os.path.join(table, "again")),
        lambda table: shutil.rmtree(os.path.join(table, "again")),
        lambda table: append(table, tmp_path / "more_again"),
    )
    make_records(tmp_path / "more_again", 50, 3)
    put(tmp_path / "more_again", "late.i8", np.arange(50, dtype="<i8"))
    for change in changes:
        take_step(change, out, expected)
    check_members(out / "new.root", expected)
    with uproot.open(out / "new.root") as file:
        assert len([name for name in file.file.streamers if name.startswith("Record_")]) == 4, "one for each class"
    checked = subprocess.run([mounted.program(), "check", str(out / "new.root")], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_an_rntuple_with_such_records_becomes_a_tree_and_back(tmp_path):
    make_records(tmp_path / "columns", 1500, 4)
    (tmp_path / "out").mkdir()
    write_anew(tmp_path / "columns", tmp_path / "out", ((("--format", "ttree", "--cluster", "30K"), "rntuple.root", "ttree.root"),
                                                        (("--format", "rntuple"), "ttree.root", "again.root"),
                                                        (("--compression", "lz4"), "ttree.root", "lz4.root")))
    with uproot.open(tmp_path / "out/ttree.root") as file:
        assert file["Events"]["all./all.name"].num_baskets > 3
    check_members(tmp_path / "out/ttree.root", tmp_path / "columns", ("all.name", "all.pos[3]", "lists.words"))


@pytest.mark.parametrize("dot", ("", "."))
def test_entries_are_appended_to_objects_of_root(tmp_path, dot):
    """Of a class with a dictionary, whose branch has a dot at the end of its name, or not; then it is removed."""
    (tmp_path / "out").mkdir()
    file = tmp_path / "out/root.root"
    root_process.run_script("oracle/members_writer.py", [str(file), "thing" + dot])
    shown = append_itself(tmp_path)
    assert sorted(os.listdir(shown / "thing")) == ["n.i4", "name", "pos.f4x3", "words", "y.f8", "ys"]
    prefix = "thing." if dot else ""
    wanted = {"n": [0, 1, 2, 3, 4], "y": [0.0, 0.5, 1.0, 1.5, 2.0], "name": [f"name {i}" for i in range(5)],
              "pos[3]": [[i + 0.5, i + 1.5, i + 2.5] for i in range(5)], "ys": [[i * 0.25] * i for i in range(5)],
              "words": [[f"w{i}"] * (i % 3) for i in range(5)]}
    columns = [prefix + name for name in wanted if dot or name != "pos[3]"]  # of which RDataFrame takes the class for its type
    read = read_by_root(file, columns, "oracle/members_reader.py")
    with uproot.open(file) as opened:
        for name, values in wanted.items():
            assert opened[f"Events/thing{dot}/{prefix}{name}"].array().tolist() == 2 * values, name
            if prefix + name in read:
                assert read[prefix + name]["frame"] == read[prefix + name]["reader"] == 2 * values, name
    with mounted.Mounted(tmp_path / "out", ("rw",)) as m:
        table = os.path.join(m.path, "root.root", "Events")
        shutil.rmtree(os.path.join(table, "thing"))
        mounted.fsync(table)
        assert not os.path.exists(os.path.join(table, "thing")), m.errors()
    with uproot.open(file) as opened:
        assert opened["Events"].keys() == ["run"]


@pytest.mark.parametrize("first", ("a.b.f4", "a"))
def test_a_column_and_a_member_do_not_share_a_name(tmp_path, first):
    """Nor with what is committed: in ROOT one of them would not be found."""
    def put_one(table, name):
        if name == "a":
            put(table, "a/b.i4", np.arange(2, dtype="<i4"))
            put_texts(table, "a/s", [b"x", b"y"])
        else:
            put(table, name, np.arange(2, dtype="<f4"))

    with mounted.Mounted(tmp_path, ("rw",)) as m:
        table = os.path.join(m.path, "out.root", "Events")
        put(table, "run.f4", np.arange(2, dtype="<f4"))
        put_one(table, first)
        mounted.fsync(table)
        with contextlib.suppress(OSError):
            put_one(table, ({"a", "a.b.f4"} - {first}).pop())
        with contextlib.suppress(OSError):
            mounted.fsync(table)
    with uproot.open(tmp_path / "out.root") as file:
        assert [name.rstrip(".") for name in file["Events"].keys(recursive=False)] == ["run", first.removesuffix(".f4")]


def test_an_arrow_file_has_such_records(tmp_path):
    rows = [{"name": "a", "x": 1.5, "tags": ["p", "q"]}, {"name": "", "x": 2.5, "tags": []}]
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        os.mkdir(os.path.join(m.path, "out.root"))
        pyarrow.feather.write_feather(pyarrow.table({"thing": rows}), os.path.join(m.path, "out.root", "Events.arrow"))
        mounted.fsync(os.path.join(m.path, "out.root"))
        assert m.errors() == ""
    with uproot.open(tmp_path / "out.root") as file:
        read = {name: file["Events"][f"thing./thing.{name}"].array().tolist() for name in rows[0]}
        assert read == {name: [row[name] for row in rows] for name in rows[0]}


def test_hadd_joins_them(tmp_path):
    """By baskets, and entry by entry (`-O`), without a dictionary."""
    make_records(tmp_path / "columns", 200, 5)
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        os.mkdir(os.path.join(m.path, "in.root"))
        shutil.copytree(tmp_path / "columns", os.path.join(m.path, "in.root", "Events"))
        mounted.fsync(m.path)
    expected = tmp_path / "expected"
    shutil.copytree(tmp_path / "columns", expected)
    append(expected, tmp_path / "columns")
    for name in ("fast", "slow"):
        root_process.run_script("oracle/merge_files.py", [name, str(tmp_path / f"{name}.root"), str(tmp_path / "in.root"),
                                                          str(tmp_path / "in.root")])
        with mounted.Mounted(tmp_path) as m:
            assert same(expected, os.path.join(m.path, f"{name}.root", "Events")) == (True, "")
