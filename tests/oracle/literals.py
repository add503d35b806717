# SPDX-License-Identifier: Apache-2.0
"""Compares values that ROOT read, as Python literals, with those of a mount."""

import mounted_table
from mounted_table import Raw

# TObject's members, which ROOT changes on reading and the literals omit; base classes, which are directories if the
# object is not split.
BOOKKEEPING = {"TObject", "fUniqueID", "fBits"}
BASES = ("Part",)
SOME = "..."  # in ROOT's answer: there are further members


def read_literal(path):
    with open(path) as literal:
        return eval(literal.read(), {"nan": float("nan"), "inf": float("inf")})


def members_of(record):
    flat = {}
    for name, value in record.items():
        flat.update(members_of(value) if name in BASES else {name: value})
    return flat


def in_one_order(items, path):
    """Sorts collections without an order: each reader has the order of its own hash table."""
    if path.endswith("/map"):
        return sorted(items, key=lambda item: str(item["key"][1]["fString"]))
    return sorted(items, key=str) if path.rpartition("/")[2].startswith("hashed_") else items


def compare(mine, theirs, path):
    assert not isinstance(mine, Raw), f"{path} is not decoded"
    differ = f"{path}: {mine!r:.200} != {theirs!r:.200}"
    if isinstance(theirs, dict):
        assert isinstance(mine, dict), differ
        mine = members_of(mine)
        if SOME not in theirs and "TObject" not in theirs:
            assert mine.keys() - BOOKKEEPING == theirs.keys(), differ
        for name in theirs.keys() - {SOME}:
            if name == "TObject":
                assert mine[name]["fUniqueID"] == theirs[name]["fUniqueID"], path
            else:
                compare(mine[name], theirs[name], f"{path}/{name}")
    elif isinstance(theirs, tuple):
        assert mine and mine[0] == theirs[0], differ
        compare(mine[1], theirs[1], f"{path}/{theirs[0]}")
    elif isinstance(theirs, list):
        assert isinstance(mine, list) and len(mine) == len(theirs), differ
        for a, b in zip(in_one_order(mine, path), in_one_order(theirs, path)):
            compare(a, b, path)
    else:
        assert mounted_table.same(mine, theirs), f"{path}: mount {mine!r}, ROOT {theirs!r}"


def assert_equal(table, oracle):
    """`oracle`: the entries of each branch."""
    for branch, values in oracle.items():
        mine = mounted_table.read_node(table, branch)
        assert len(mine) == len(values) > 0, branch
        for entry, (a, b) in enumerate(zip(mine, values)):
            compare(a, b, f"[{entry}]/{branch}")
