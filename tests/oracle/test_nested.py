# SPDX-License-Identifier: Apache-2.0
"""TClonesArrays inside objects of their own class, at several split levels, compared with ROOT."""

import os

import pytest

import mounted_table
from mounted_table import Raw
from oracle.literals import compare, read_literal

FILES = [f"nested-{split}-{codec}" for split in (0, 1, 99) for codec in (101, 505)]


def without_raw(mine, theirs, seen):
    """Both values without the arrays that are bytes in the mount, which are added to `seen`. Only nonempty arrays are
    bytes."""
    if isinstance(mine, Raw):
        assert (mine != b"") == (theirs != []) and (mine == b"" or b"TClonesArray" in mine or b"Quark" in mine)
        if mine:
            seen.append(mine)
        return None, None
    if isinstance(mine, dict):
        assert set(theirs) <= set(mine)
        pairs = {name: without_raw(mine[name], theirs[name], seen) for name in theirs}
        return {name: a for name, (a, _) in pairs.items()}, {name: b for name, (_, b) in pairs.items()}
    if isinstance(mine, list):
        assert len(mine) == len(theirs)
        pairs = [without_raw(a, b, seen) for a, b in zip(mine, theirs)]
        return [a for a, _ in pairs], [b for _, b in pairs]
    return mine, theirs


def depth(value):
    """The number of objects inside each other."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, dict) + max(map(depth, inner), default=0)


@pytest.mark.parametrize("name", FILES)
def test_against_root(samples, shared_mount, name):
    directory = samples("nested")
    table = os.path.join(shared_mount(directory).path, name + ".root", "t")
    oracle = read_literal(os.path.join(directory, name + ".txt"))
    assert set(oracle) == {"quarks", "slots", "late", "linked", "evens", "quark"}
    for branch, values in oracle.items():
        mine = mounted_table.read_node(table, branch)
        assert len(mine) == len(values) > 0
        assert depth(values) > 2, branch
        seen = []
        for entry, (a, b) in enumerate(zip(mine, values)):
            compare(*without_raw(a, b, seen), f"[{entry}]/{branch}")
        assert bool(seen) == (branch == "late" and name.endswith("-505")), "only what is deeper than the first entries"
    mounted_table.assert_schema_matches_files(table)
