# SPDX-License-Identifier: Apache-2.0
"""A TTree and an RNTuple of the same content give the same directory of files and the same views, except for
differences listed here with their reasons. Uses the samples, and those trees from a folder of real files
(TFILEFS_CORPUS) that ROOT's importer accepts."""

import csv
import json
import os
import re
import subprocess
import sys
import time

import numpy as np
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
REASONS = {
    "dots": "the importer makes underscores of dots in names",
    "brackets": "the importer keeps dimensions that are part of a branch's name",
    "collection": "the importer makes a collection of what one counter counts, and projects its fields to the branches",
    "counter": "a counter is imported as the cardinality of its collection, which is never negative",
    "matrix": "the importer makes arrays of one dimension of those of several",
    "counted matrix": "of counted arrays of arrays the importer takes as many numbers as there are arrays",
    "padding": "a leaf list that was filled from a struct with padding has it in the tree; the importer reads it back",
}
# Files whose trees contain padding.
PADDED = ("gohep-padding.root",)


def columns_of(table):
    """{path: bytes} of everything in a listing."""
    found = {}
    for directory, _, names in os.walk(table):
        for name in names:
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, table)] = file.read()
    return found


def without_type(path):
    return re.sub(r"\.[biuf][1248](x\d+)*$", "", path)


def typed(path):
    """Kind of number and shape."""
    kind, *shape = re.search(r"\.([biuf][1248](?:x\d+)*)$", path)[1].split("x")
    return kind, [int(size) for size in shape]


def numbers(path, content):
    kind = typed(path)[0]
    return np.frombuffer(content, "?" if kind == "b1" else "<" + kind)


def first_of_each_list(columns, path):
    """For a list of arrays: of each entry, as many numbers as it has arrays."""
    offsets = np.frombuffer(columns[os.path.dirname(path) + "/offsets.i8"], "<i8")
    arrays = numbers(path, columns[path]).reshape(-1, int(np.prod(typed(path)[1])))
    return b"".join(arrays[begin:end].ravel()[: end - begin].tobytes() for begin, end in zip(offsets, offsets[1:]))


class Differences:
    """Differences between the tables of a tree and of an RNTuple. `named` has those with a reason, by the name of the
    reason; `others` has the rest."""

    def __init__(self, padded=False):
        self.named, self.others = {name: 0 for name in REASONS}, []
        self.padded = padded
        self.explained = set()  # names of fields whose values differ for a known reason
        self.renamed = {}  # of columns, without their types

    def note(self, reason, path=None):
        self.named[reason] += 1
        if path:
            self.explained.add(path.split("/")[0] if "/" in path else without_type(path))

    def compare_columns(self, tree, ntuple):
        left = {without_type(path): path for path in ntuple}
        bare = {re.sub(r"(\[\d+\])+$", "", name): name for name in left}
        for path in tree:
            name = without_type(path)
            found = next((each for each in (name, name.replace(".", "_"), bare.get(name)) if each in left), None)
            if found is None:
                self.others.append(f"{path} is in the tree alone")
                continue
            if found != name:
                self.renamed[name] = found
                self.note("brackets" if "[" in found else "dots")
            there = left.pop(found)
            self.compare_column(tree, path, there, ntuple[there])
        for path in left.values():
            if re.match(r"_collection\d+/", path):
                self.note("collection")
            else:
                self.others.append(f"{path} is in the RNTuple alone")

    def compare_column(self, tree, path, there, imported):
        content = tree[path]
        (kind, shape), (kind_there, shape_there) = typed(path), typed(there)
        same = content == imported
        if same and (kind, shape) == (kind_there, shape_there):
            return
        if kind[0] == "i" and kind_there[0] == "u" and np.array_equal(numbers(path, content), numbers(there, imported)):
            self.note("counter")
        elif same and kind == kind_there and shape_there == [int(np.prod(shape))]:
            self.note("matrix", path)
        elif kind == kind_there and "/values." in path and shape and imported == first_of_each_list(tree, path):
            self.note("counted matrix", path)
        elif self.padded and path.startswith("pad/"):
            self.note("padding", path)
        else:
            self.others.append(f"{path} differs from {there}")

    def compare_entries(self, what, tree, ntuple):
        """Compares two lists of {name: value}, whose fields may be in another order."""
        if len(tree) != len(ntuple):
            return self.others.append(f"{what}: {len(tree)} and {len(ntuple)} entries")
        for entry, (a, b) in enumerate(zip(tree, ntuple)):
            mine = {name: value for name, value in b.items() if not re.match(r"_collection\d+(\.|$)", name)}
            wanted = {self.name_among(mine, name): value for name, value in a.items()}
            names = [name for name in sorted({*wanted, *mine}) if wanted.get(name, self) != mine.get(name, self)]
            if names := [name for name in names if name.split(".")[0] not in self.explained]:
                return self.others.append(f"{what}: entry {entry} differs in {names[:5]}")

    def name_among(self, names, name):
        """The name of a tree's field, which may contain dots. CSV also joins the names of members by dots."""
        field, _, member = name.rpartition(".")
        for renamed in (name, self.renamed.get(name), name.replace(".", "_"), field.replace(".", "_") + "." + member):
            if renamed in names:
                return renamed
        return name


def json_lines(table):
    with open(table + ".jsonl", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def csv_lines(table):
    try:
        with open(table + ".csv", newline="", encoding="utf-8", errors="surrogateescape") as lines:
            return list(csv.DictReader(lines))
    except FileNotFoundError:
        return []  # no column with one number or string per entry


def differences(tree, ntuple, padded=False):
    found = Differences(padded)
    found.compare_columns(columns_of(tree), columns_of(ntuple))
    found.compare_entries("jsonl", json_lines(tree), json_lines(ntuple))
    found.compare_entries("csv", csv_lines(tree), csv_lines(ntuple))
    return found


@pytest.mark.parametrize("sample, tables, named", [
    ("imported", ("t", "t"), {"dots": 2, "collection": 3, "counter": 1}),
    ("snapshot", ("t", "nt"), {}),
])
def test_samples(samples, shared_mount, sample, tables, named):
    file = os.path.join(samples("ntuple"), f"{sample}-zstd")
    tree, ntuple = shared_mount(file + "-tree.root").path, shared_mount(file + ".root").path
    found = differences(os.path.join(tree, tables[0]), os.path.join(ntuple, tables[1]))
    assert not found.others
    assert {name: count for name, count in found.named.items() if count} == named


CORPUS = os.environ.get("TFILEFS_CORPUS")
SECONDS = 60  # for importing


def imported_trees(folder, directory):
    """The output of import_trees.py, which is started again when a tree has crashed it."""
    ends = time.monotonic() + SECONDS
    log = os.path.join(directory, "imported")
    while (left := ends - time.monotonic()) > 0:
        command = [sys.executable, os.path.join(HERE, "import_trees.py"), folder, directory, str(left)]
        environment = dict(os.environ, PYTHONWARNINGS="ignore")
        try:
            ended = subprocess.run(command, cwd=directory, env=environment, capture_output=True, timeout=left + 10)
        except subprocess.TimeoutExpired:
            break
        if ended.returncode == 0:
            break
    with open(log, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS, reason="TFILEFS_CORPUS names no corpus of real files")
def test_imported_trees_of_real_files(tmp_path, shared_mount):
    folder = os.path.join(CORPUS, "files")
    trees = [line for line in imported_trees(folder, str(tmp_path)) if line["tree"]]
    taken = [line for line in trees if "to" in line]
    top, ntuples = shared_mount(folder).path, shared_mount(tmp_path).path
    problems, named = [], {name: 0 for name in REASONS}
    for line in taken:
        tree = os.path.join(top, os.path.relpath(line["file"], folder), line["tree"])
        ntuple = os.path.join(ntuples, os.path.basename(line["to"]), line["tree"])
        found = differences(tree, ntuple, padded=os.path.basename(line["file"]) in PADDED)
        problems += [f"{os.path.basename(line['file'])} {line['tree']}: {problem}" for problem in found.others]
        named = {name: named[name] + found.named[name] for name in REASONS}
    print(f"{len(taken)} of {len(trees)} trees are taken; differences: {named}")
    assert not problems, f"{len(problems)} in {len(taken)} trees:\n" + "\n".join(problems[:100])
    assert len(taken) > 20
