# SPDX-License-Identifier: Apache-2.0
"""Compares a mounted table with the values that ROOT and uproot read from the same file, branch by branch, value by
value."""

import uproot

import mounted_table
import root_process


def text_to_bytes(value):
    """uproot returns strings as str, the mount and ROOT as bytes."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    if isinstance(value, list):
        return [text_to_bytes(item) for item in value]
    if isinstance(value, dict):
        return {key: text_to_bytes(item) for key, item in value.items()}
    return value


def read_with_uproot(file, tree, branches):
    with uproot.open(file) as opened:
        table = opened[tree]
        return {name: text_to_bytes(table[name].array().tolist()) for name in branches}


def assert_table_equals_oracles(table, file, tree, root_only=(), raw_allowed=(), tolerate=()):
    """Every branch that ROOT reads equals the mount's, and uproot's except for `root_only` (which uproot reads
    wrongly).

    Branches in `raw_allowed` may be undecoded. Returns the names of the compared branches."""
    oracle = root_process.read_with_root(file, tree, tolerate)
    assert oracle, f"ROOT reads no branch of {tree} in {file}"
    raw = mounted_table.raw_branches(table)
    assert set(raw) <= set(raw_allowed), f"not decoded: {raw}"
    second = read_with_uproot(file, tree, [name for name in oracle if name not in root_only])
    for name, values in oracle.items():
        if name in raw:
            continue
        mine = mounted_table.read_node(table, name)
        mounted_table.assert_same(mine, values, f"{tree}/{name} against ROOT")
        if name in second:
            mounted_table.assert_same(mine, second[name], f"{tree}/{name} against uproot")
    mounted_table.assert_schema_matches_files(table)
    return [name for name in oracle if name not in raw]
