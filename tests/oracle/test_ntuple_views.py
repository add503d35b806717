# SPDX-License-Identifier: Apache-2.0
"""The views of RNTuples written by ROOT have the values that the writing program set: those of every type, of variants
with alternatives of the same type, of options in options, and of classes without members."""

import json
import math
import os
import re

import awkward
import duckdb
import numpy as np
import polars
import pyarrow.ipc
import pyarrow.parquet
import pytest

import mounted_table
from oracle.known_tables import known_fields, number_of

# These have no columns, or only those of their lists.
HOLLOW = ("empty", "empties", "vector_empty", "vector_empties", "optional_empty")


@pytest.fixture(scope="module")
def known(samples):
    return {field.field: field.values for field in known_fields(samples("ntuple"), "types.json")}


@pytest.fixture(scope="module")
def table(samples, shared_mount):
    return os.path.join(shared_mount(os.path.join(samples("ntuple"), "types-none.root")).path, "nt")


def is_hollow(value):
    return isinstance(value, dict) and "alternative" not in value and all(map(is_hollow, value.values()))


class Comparison:
    """Compares a view's values with known ones. Members are compared in their order, since they may have other names
    (docs/semantics/layout.md, "RNTuples")."""

    def __init__(self, variant, finite_alone=False, hollow=True):
        self.variant = variant  # from a variant's representation: the name or number of the alternative, and its value
        self.finite_alone = finite_alone  # nan can only be null
        self.hollow = hollow  # members of classes without members are present
        self.alternatives = {}  # by name

    def same(self, shown, known):
        if isinstance(known, dict) and "alternative" in known:
            name, value = self.variant(shown)
            if name is not None and self.alternatives.setdefault(name, known["alternative"]) != known["alternative"]:
                return False
            return self.same(value, known["value"])
        if isinstance(known, dict):
            members = [value for value in known.values() if self.hollow or not is_hollow(value)]
            return isinstance(shown, dict) and len(shown) == len(members) and all(map(self.same, shown.values(), members))
        if isinstance(known, list):
            return isinstance(shown, list) and len(shown) == len(known) and all(map(self.same, shown, known))
        known = number_of(known)
        if isinstance(known, float):
            if not math.isfinite(known) and self.finite_alone:
                return shown is None
            both_nan = math.isnan(known) and shown is not None and math.isnan(shown)
            return both_nan or (isinstance(shown, (int, float)) and math.isclose(shown, known, rel_tol=1e-6, abs_tol=1e-40))
        return type(shown) is type(known) and shown == known

    def different(self, shown, known):
        self.alternatives = {}
        if len(shown) != len(known):
            return f"{len(shown)} entries"
        for entry, (a, b) in enumerate(zip(shown, known)):
            if not self.same(a, b):
                return f"[{entry}] {a!r:.150}, not {b!r:.150}"
        return None


def differences(comparison, shown, known, without=()):
    problems = [f"{name} is not there" for name in known if name not in shown and name not in without]
    for name, values in shown.items():
        if problem := comparison.different(values, known[name]):
            problems.append(f"{name}: {problem}")
    return problems


def test_json_lines(table, known):
    with open(table + ".jsonl", encoding="utf-8") as lines:
        entries = [json.loads(line) for line in lines]
    shown = {name: [entry[name] for entry in entries] for name in entries[0]}

    def only_member(value):
        assert isinstance(value, dict) and len(value) == 1
        return next(iter(value.items()))

    assert not differences(Comparison(only_member, finite_alone=True), shown, known)


def values_of(array):
    """The values in Python; for one of several classes, its index among those with columns, and the value."""
    kind = array.type
    if pyarrow.types.is_struct(kind):
        valid = np.asarray(array.is_valid())
        fields = [array.field(i).filter(pyarrow.array(valid)) for i in range(kind.num_fields)]
        names = [kind.field(i).name for i in range(kind.num_fields)]
        if names[:2] == ["tags", "index"]:
            held = [values_of(field) for field in fields[2:]]
            rows = iter(zip(fields[0].to_pylist(), fields[1].to_pylist()))
            made = [(tag, held[tag - 1][place]) if tag else None for tag, place in rows]
        else:
            made = [dict(zip(names, row)) for row in zip(*map(values_of, fields))]
        rest = iter(made)
        return [next(rest) if there else None for there in valid]
    if pyarrow.types.is_fixed_size_list(kind):
        items = values_of(array.flatten())
        return [items[i * kind.list_size : (i + 1) * kind.list_size] for i in range(len(array))]
    if pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind):
        items, ends = values_of(array.values), array.offsets.to_pylist()
        return [items[a:b] if there else None for a, b, there in zip(ends, ends[1:], array.is_valid().to_pylist())]
    if pyarrow.types.is_large_binary(kind) or pyarrow.types.is_binary(kind):
        return [value if value is None else value.decode() for value in array.to_pylist()]
    return array.to_pylist()


@pytest.mark.parametrize("view", ("arrow", "parquet"))
def test_arrow_and_parquet(table, known, view):
    if view == "arrow":
        read = pyarrow.ipc.open_file(f"{table}.{view}").read_all()
    else:
        read = pyarrow.parquet.read_table(f"{table}.{view}")
    read.validate(full=True)
    shown = {}
    for name in read.column_names:
        if name in known and name != "variant_empty":  # whose first alternatives have no columns
            shown[name] = [value for chunk in read[name].chunks for value in values_of(chunk)]
    # Options directly inside an alternative stay lists.
    def as_list(value):
        if value is None or value["alternative"] != 3:
            return value
        return {"alternative": 3, "value": [value["value"]] if value["value"] is not None else []}

    wanted = dict(known)
    for name in ("variant_class", "optional_variant_class"):
        wanted[name] = list(map(as_list, known[name]))
    comparison = Comparison(lambda value: value, hollow=False)
    assert not differences(comparison, shown, wanted, without=(*HOLLOW, "variant_empty"))


def test_other_readers_take_the_table(table):
    entries = mounted_table.schema_of(table)["entries"]
    assert len(polars.read_parquet(table + ".parquet")) == entries
    assert len(polars.read_ipc(table + ".arrow")) == entries
    assert len(duckdb.sql(f"SELECT * FROM '{table}.parquet'").fetchall()) == entries


def test_awkward_array(table, known):
    view = json.loads(mounted_table.read_exactly(os.path.join(table, ".awkward.json")))
    files = {key: np.load(os.path.join(table, name + ".npy")).reshape(-1) for key, name in view["files"].items()}
    array = awkward.from_buffers(view["form"], view["length"], files)
    # Awkward Array has no options of unions.
    is_nothing = lambda value: value is None or value["value"] is None
    lists = {"optional_variant": lambda value: [] if value is None else [value],
             "optional_variant_class": lambda value: [] if is_nothing(value) else [value],
             "vector_optional_variant": lambda value: [[] if item is None else [item] for item in value]}
    without = (*HOLLOW, "variant2")  # nor unions directly inside unions
    wanted = {name: [lists.get(name, lambda value: value)(value) for value in values] for name, values in known.items()}
    shown = {name: awkward.to_list(array[name]) for name in array.fields if name in known and name not in without}
    # [None] is a variant without a value. In the written data, it is the same as a missing variant, or as a variant
    # with an empty option.
    shown["optional_variant_class"] = [[] if value == [None] else value for value in shown["optional_variant_class"]]
    assert not differences(Comparison(lambda value: (None, value), hollow=False), shown, wanted, without=without)
    inner = [value["value"]["alternative"] for value in known["variant2"] if value["alternative"] == 2]
    assert [value["tags"] for value in awkward.to_list(array["variant2"]) if isinstance(value, dict)] == inner


def test_text_of_variants(table, known):
    """The name, and then the value in parentheses, as inside a list."""
    patterns = {1: r"std::int32_t\((-?\d+)\)", 2: r'std::string\("(.*)"\)', 3: r"std::vector<float>\(\[(.*)\]\)"}
    with open(os.path.join(table, "variant.txt"), encoding="utf-8") as lines:
        for line, value in zip(lines.read().split("\n"), known["variant"]):
            held = re.fullmatch(patterns[value["alternative"]], line)
            assert held, (line, value)
            if value["alternative"] == 1:
                assert int(held[1]) == value["value"]
            if value["alternative"] == 3:
                assert len(held[1].split()) == len(value["value"])
    with open(os.path.join(table, "variant_same.txt"), encoding="utf-8") as lines:
        shown = [re.fullmatch(r"std::int32_t(~\w+)?\((-?\d+)\)", line.rstrip("\n")) for line in lines]
    assert [(2 if held[1] else 1, int(held[2])) for held in shown] == [(value["alternative"], value["value"]) for value in known["variant_same"]]


def test_numbers_in_a_table_of_numbers(table, known):
    """For a variant, CSV has the place of its value."""
    import csv

    with open(table + ".csv", newline="", encoding="utf-8") as file:
        entries = list(csv.DictReader(file))
    assert [int(entry["variant_same.tags"]) for entry in entries] == [value["alternative"] for value in known["variant_same"]]
    assert [int(entry["int32"]) for entry in entries] == known["int32"]
    assert not any(name.startswith("empt") for name in entries[0])
