# SPDX-License-Identifier: Apache-2.0
"""Chains of files whose trees differ: what ROOT, uproot and the mount give. docs/development/measurements.md has this table."""

import math
import os
import pickle

import pytest

import mounted_table
import root_process
from oracle import differing_files

READERS = ("RDataFrame", "TChain::Draw", "uproot.concatenate")

# What each of the READERS gives: right; wrong, without an error; NaN, for entries that have no value; error; crash. And the
# column of the mount under chain=common, or None where it is left out.
KNOWN = {
    "missing in the second": ("error", "NaN", "error", None),
    "missing in the first": ("error", "error", "error", None),
    "int, double": ("wrong", "right", "right", "x.f8"),
    "double, int": ("wrong", "right", "right", "x.f8"),
    "float, double": ("wrong", "right", "right", "x.f8"),
    "vector<float>, vector<double>": ("wrong", "wrong", "right", "x"),
    "number, array": ("wrong", "wrong", "right", None),
    "vector<float>, vector<vector<float>>": ("wrong", "wrong", "right", None),
    "counted array, vector": ("crash", "wrong", "right", "x"),
    "array of 2, array of 3": ("wrong", "wrong", "right", "x"),
    "no tree in the second": ("error", "right", "error", "x.f8"),
    "no branches in the second": ("right", "right", "right", "x.f8"),
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    directory = tmp_path_factory.mktemp("differing")
    answer = str(directory / "answer")
    root_process.run_script(os.path.join("oracle", "differing_files.py"), [str(directory), answer], tolerate=("",))
    with open(answer, "rb") as file:
        return str(directory), pickle.load(file)


def values_of(case):
    """One object an entry, of both files; nothing where a file does not have it."""
    return [file["x"][1] if file and "x" in file else [] for file in differing_files.CASES[case]]


def flat(values):
    return [item for value in values for item in flat(value)] if isinstance(values, list) else [values]


def rounded(values):
    return [rounded(value) for value in values] if isinstance(values, list) else round(values, 5)


def verdict(case, reader, outcome):
    kind, found = outcome
    if kind != "values":
        return kind
    first, second = values_of(case)
    known = flat(first + second) if reader == "TChain::Draw" else first + second
    if rounded(found) == rounded(known):
        return "right"
    return "NaN" if found[: len(first)] == first and all(map(math.isnan, flat(found[len(first) :]))) else "wrong"


def test_what_others_give(outcomes):
    found = {case: tuple(verdict(case, reader, readers[reader]) for reader in READERS) for case, readers in outcomes[1].items()}
    assert found == {case: known[:-1] for case, known in KNOWN.items()}


@pytest.mark.parametrize("case", differing_files.CASES)
def test_the_mount_is_right(case, outcomes, mount):
    files = differing_files.paths(outcomes[0], case)
    first, second = values_of(case)
    table = os.path.join(mount(files, "chain").path, "t")
    names = [name for name in os.listdir(table) if name.split(".")[0] == "x"]
    column = KNOWN[case][-1]
    assert names == ([column] if column else [])
    if names:
        assert rounded(mounted_table.read_node(table, names[0])) == rounded(first + second)
        return
    table = os.path.join(mount(files, "chain=union").path, "t")
    own = [[value] for value in first] + [[] for _ in range(differing_files.ENTRIES)]
    other = [[] for _ in range(differing_files.ENTRIES)] + [[value] for value in second]
    if first and second:
        assert rounded(mounted_table.read_node(table, "x")) == rounded(own)
        assert rounded(mounted_table.read_node(table, "x~2")) == rounded(other)
    else:
        assert rounded(mounted_table.read_node(table, "x")) == rounded(own if first else other)
