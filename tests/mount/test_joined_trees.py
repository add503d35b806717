# SPDX-License-Identifier: Apache-2.0
"""Tables of several files as one: `tfilefs repack A B` and chains show the entries of A, then those of B, or say why not.
For pairs that differ in one thing: a leaf's title, type or dimensions, the layout of a class, the codec, the encoding of
a column."""

import itertools
import json
import os
import random
import re
import subprocess
import sys

import numpy as np
import pytest
import uproot

import mounted
import mounted_table
import root_process
from root_process import run_script

sys.path.insert(0, os.path.join(os.path.dirname(__file__), os.pardir, "oracle"))
CASES = ("double32 range", "double32 bits", "double32 without a range", "double32 of fewer bits", "float16 bits", "float16 range",
         "double32 arrays", "double32 lists", "shapes of as many numbers", "shapes that are one", "shapes in lists",
         "an array and a number", "types", "types of one size", "types of 8 bytes", "double and double32", "a list and an array",
         "other names", "another order", "nothing", "a text", "codec", "no codec", "members in another order",
         "members of another type", "one member less", "the same members")
# What differs in nothing that bytes rest on: these are joined as they are stored.
ALIKE = ("nothing", "a text", "codec", "no codec", "the same members")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    directory = tmp_path_factory.mktemp("joined")
    for side in "ab":
        run_script(os.path.join("oracle", "joined_trees.py"), [str(directory), side])
    assert sorted(os.listdir(directory)) == sorted(CASES)
    return directory


def repack(*arguments):
    return subprocess.run([mounted.program(), "repack", *map(str, arguments)], capture_output=True, text=True, errors="replace")


def flat(value):
    """Numbers and bytes alone: lists and arrays of fixed shape may become each other."""
    if isinstance(value, np.ndarray):
        return value.ravel().tolist()
    if isinstance(value, dict):
        return [(name, flat(item)) for name, item in sorted(value.items())]
    if isinstance(value, (list, tuple)):
        return list(itertools.chain.from_iterable(flat(item) for item in value))
    return [value]


def shown(table):
    """{node: the numbers of each entry}, and the names of nodes whose bytes are not decoded."""
    schema = json.load(open(os.path.join(table, ".schema.json")))
    raw = {column["path"].split("/")[0] for column in schema["columns"] if column["role"] == "raw"}
    nodes = {}
    for name in sorted(os.listdir(table)):
        node = re.sub(r"\.[a-z]\d(x\d+)*$", "", name)
        nodes[node] = [flat(value) for value in mounted_table.read_node(table, node)]
    return nodes, raw


def tables_of(directory):
    return sorted(name for name in os.listdir(directory) if os.path.isdir(os.path.join(directory, name)))


def same(a, b):
    return len(a) == len(b) and all(len(x) == len(y) and all(p == q or (p != p and q != q) for p, q in zip(x, y)) for x, y in zip(a, b))


def check_joined(pair, directory, form):
    """Whether what repack makes of a.root and b.root shows the one, then the other, or it says why not. Returns what it
    said."""
    done = repack("--force", "--format", form, "--verify", pair / "a.root", pair / "b.root", directory / "out.root")
    assert done.returncode in (0, 1), done.stderr
    told = [line.removeprefix("tfilefs: left out: ").removeprefix("tfilefs: renamed: ") for line in done.stderr.splitlines()]
    assert bool(told) == (done.returncode == 1) and not any(line.startswith("tfilefs: ") for line in told), done.stderr
    assert "not compared" not in done.stderr, done.stderr

    def is_told(what):
        return any(line.startswith(what) for line in told)

    with mounted.Mounted(pair) as m, mounted.Mounted(directory) as n:
        for table in tables_of(os.path.join(m.path, "a.root")):
            first, raw_first = shown(os.path.join(m.path, "a.root", table))
            second, raw_second = shown(os.path.join(m.path, "b.root", table))
            is_there = os.path.isdir(os.path.join(n.path, "out.root", table))
            assert is_there or is_told(f"{table}: none of its columns can be written"), done.stderr
            joined, raw_joined = shown(os.path.join(n.path, "out.root", table)) if is_there else ({}, set())
            for node in first:
                if node not in joined:
                    assert is_told(f"{table}: {node}") or not is_there, (table, node, done.stderr)
                elif node in raw_first | raw_second | raw_joined:
                    assert node in raw_first & raw_second & raw_joined or is_told(f"{table}: {node}/"), (node, done.stderr)
                elif not same(joined[node], first[node] + second.get(node, [])):
                    assert is_told(f"{table}: {node}/"), (table, node, done.stderr)
    return done.stdout


def check_chained(pair):
    """The same for a mount of both."""
    with mounted.Mounted(pair) as m, mounted.Mounted([str(pair / "[ab].root")], ["chain"]) as chain:
        differs = open(os.path.join(chain.path, ".chain.json")).read()
        for table in tables_of(os.path.join(m.path, "a.root")):
            first, raw_first = shown(os.path.join(m.path, "a.root", table))
            second, raw_second = shown(os.path.join(m.path, "b.root", table))
            joined, _ = shown(os.path.join(chain.path, table))
            for node in first:
                if node not in joined:
                    assert f'"{node}"' in differs, (table, node)
                elif node not in raw_first | raw_second and not same(joined[node], first[node] + second.get(node, [])):
                    assert f'"{node}/' in differs, (table, node)


@pytest.mark.parametrize("form", ["keep", "rntuple"])
@pytest.mark.parametrize("case", CASES)
def test_joined_tables_show_one_after_the_other(pairs, tmp_path, case, form):
    said = check_joined(pairs / case, tmp_path, form)
    if form == "keep":
        assert all(("as stored" in line) == (case in ALIKE) for line in said.splitlines() if "entries" in line), said


@pytest.mark.parametrize("case", CASES)
def test_chains_show_one_after_the_other(pairs, case):
    check_chained(pairs / case)


# Pairs at random: TFILEFS_JOINED_PAIRS=N for more of them, TFILEFS_JOINED_SEED=N for those of a run that failed.
@pytest.mark.timeout(0)
def test_pairs_that_differ_at_random(tmp_path):
    count = int(os.environ.get("TFILEFS_JOINED_PAIRS", 20))
    seed = os.environ.get("TFILEFS_JOINED_SEED", str(random.randrange(10**6)))
    print(f"TFILEFS_JOINED_SEED={seed}")
    for side in "ab":
        run_script(os.path.join("oracle", "joined_trees.py"), [str(tmp_path), side, seed, str(count)])
    out, wrong = tmp_path / "out", []
    out.mkdir()
    for number in range(count):
        pair = tmp_path / str(number)
        for what in ("keep", "rntuple", "chain"):
            try:
                check_chained(pair) if what == "chain" else check_joined(pair, out, what)
            except Exception as error:  # all of them are told
                leaves = [(pair / f"{side}.txt").read_text() for side in "ab"]
                wrong.append("\n".join((f"{number} {what}:", *leaves, str(error))))
    assert not wrong, "\n".join(wrong)


# ---- RNTuples

@pytest.mark.parametrize("first, second", [({"x": "f8"}, {"x": "f4"}), ({"x": "i4"}, {"x": "u4"}), ({"x": "f8"}, {"x": "f8", "y": "f8"}),
                                           ({"x": "f8", "y": "f8"}, {"y": "f8", "x": "f8"})])
def test_rntuples_whose_fields_differ(tmp_path, first, second):
    values = {}
    for number, (name, columns) in enumerate((("a", first), ("b", second))):
        tree = tmp_path / f"{name}-tree.root"
        with uproot.recreate(tree) as file:
            values[name] = {column: (np.arange(30) + 100 * number).astype(dtype) for column, dtype in columns.items()}
            file.mktree("T", columns).extend(values[name])
        assert repack("--format", "rntuple", tree, tmp_path / f"{name}.root").returncode == 0
    done = repack("--verify", tmp_path / "a.root", tmp_path / "b.root", tmp_path / "out.root")
    assert "by columns" in done.stdout and "not compared" not in done.stderr
    with uproot.open(tmp_path / "out.root") as file:
        for column in first:
            if column in second:
                assert file["T"].arrays([column])[column].tolist() == [*values["a"][column], *values["b"][column]], column


@pytest.mark.parametrize("encodings, way", [(("real32trunc:20", "real32trunc:24"), "by columns"),
                                            (("real32quant:16:0:1000", "real32quant:16:0:5000"), "by columns"),
                                            (("real32quant:16:0:5000",) * 2, "as stored")])
def test_rntuples_whose_columns_are_encoded_otherwise(tmp_path, encodings, way):
    with mounted.Mounted(tmp_path, ("rw", "format=rntuple")) as m:
        for name, encoding in zip("ab", encodings):
            table = os.path.join(m.path, f"{name}.root", "T")
            os.makedirs(table)
            with open(os.path.join(table, "x.f4"), "wb") as file:
                os.setxattr(file.fileno(), "user.tfilefs.encoding", encoding.encode())
                file.write((np.arange(30, dtype="<f4") * 30 + (name == "b")).tobytes())
    done = repack("--verify", tmp_path / "a.root", tmp_path / "b.root", tmp_path / "out.root")
    assert done.returncode == 0 and way in done.stdout, (done.stdout, done.stderr)
    with mounted.Mounted(tmp_path) as m:
        one, other, both = (np.fromfile(os.path.join(m.path, f"{name}.root", "T", "x.f4"), "<f4").tolist() for name in ("a", "b", "out"))
        assert both == one + other


def test_objects_of_a_later_file_whose_class_is_described_otherwise(pairs, tmp_path):
    """They would be read as the class of the first file."""
    for case, status in (("members in another order", 1), ("the same members", 0)):
        space = "S" + "".join(word[0] for word in case.split())
        code = f"""
import sys, ROOT
sys.path.insert(0, {os.path.dirname(mounted.__file__)!r} + "/oracle")
import joined_trees
side, path = sys.argv[1:]
joined_trees.write_classes(path, {case!r}, side)
file = ROOT.TFile(path, "UPDATE")
file.WriteTObject(getattr(ROOT, {space!r}).Outer(), "object of " + side)
file.Close()
"""
        for side in "ab":
            root_process.run_code(code, side, tmp_path / f"{side}.root", check=True)
        done = repack("--force", tmp_path / "a.root", tmp_path / "b.root", tmp_path / "out.root")
        assert done.returncode == status, done.stderr
        assert ("left out: object of b: of" in done.stderr) == bool(status)
        with uproot.open(tmp_path / "out.root") as file:
            assert "object of a" in file and ("object of b" in file) == (not status)
