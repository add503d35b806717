# SPDX-License-Identifier: Apache-2.0
"""A condition on a column of a Parquet view gives the same whether or not its row groups have minima and maxima. With
them, groups that cannot fulfil it are not read."""

import contextlib
import json
import math
import os

import awkward
import duckdb
import numpy as np
import polars
import pyarrow.compute as pc
import pyarrow.dataset
import pyarrow.parquet
import pytest
import uproot

import mounted
import mounted_table

CLUSTER, CLUSTERS = 270_000, 3  # each is a row group
ENTRIES = CLUSTER * CLUSTERS
INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")


def integers(random, dtype, group):
    """Values of a group: of a small range anywhere, also around the middle and the ends of the type."""
    ends = np.iinfo(dtype)
    places = [ends.min, ends.max - 40, (ends.min + ends.max) // 2 - 20, 0, ends.min + (group + 1) * (ends.max // 5)]
    return (random.choice(places) + random.integers(0, 40, CLUSTER).astype(object)).astype(dtype)


def floats(random, dtype, group):
    """Of some groups all are a zero of either sign, or some are NaN or infinite."""
    made = (random.normal(size=CLUSTER) + 3 * group).astype(dtype)
    some = random.integers(0, CLUSTER, 20)
    kind = random.integers(0, 5)
    if kind == 0:
        made[some] = np.nan
    elif kind == 1:
        made[some] = random.choice([np.inf, -np.inf], len(some))
    elif kind == 2:
        made[:] = random.choice([0.0, -0.0], CLUSTER)
    elif kind == 3:
        made = np.abs(made)
        made[some] = random.choice([0.0, -0.0])
    return made


def optional(values, are_there):
    """Only the values that are there are stored: uproot writes those behind a mask as well, where no entry finds them."""
    index = np.where(are_there, np.cumsum(are_there) - 1, -1)
    return awkward.Array(awkward.contents.IndexedOptionArray(awkward.index.Index64(index), awkward.contents.NumpyArray(values[are_there])))


def part(random, group):
    """The columns of a row group; `first` and `last` surround them in the view, and `number` is that of the entry."""
    number = np.arange(group * CLUSTER, (group + 1) * CLUSTER)
    made = {"first": (number % 7).astype("i4"), "number": number, "sorted": number / 8}
    for dtype in INTEGERS:
        made[dtype] = integers(random, dtype, group)
    for dtype in ("f4", "f8"):
        made[dtype] = floats(random, dtype, group)
    made["flag"] = random.random(CLUSTER) < random.choice([0, 0.5, 1])
    made["maybe"] = optional(np.round(floats(random, "f8", group), 3), random.random(CLUSTER) < random.choice([0, 0.5, 1]))
    return made


@pytest.fixture(scope="module", params=("ttree", "rntuple"))
def made(request, tmp_path_factory):
    """A file, and its columns, those that it has."""
    path = str(tmp_path_factory.mktemp("conditions") / f"{request.param}.root")
    random = np.random.default_rng(int(os.environ.get("TFILEFS_TEST_SEED", "3")))
    parts = [part(random, group) for group in range(CLUSTERS)]
    with uproot.recreate(path, compression=uproot.LZ4(1)) as out:
        if request.param == "ttree":
            parts = [{name: values for name, values in each.items() if name != "maybe"} for each in parts]
            out.mktree("t", {name: values.dtype for name, values in parts[0].items()})
        else:
            out.mkrntuple("t", parts[0])
        for each in parts if request.param == "ttree" else parts[1:]:
            out["t"].extend(each)
    return path, {name: awkward.concatenate([each[name] for each in parts]) for name in parts[0]}


def mounts_with(mount, path, columns):
    """Of a file: one whose view has no minima and maxima, and one where it has those of some columns."""
    mounts = mount(path), mount(path)
    for name in columns:
        json.loads(mounted_table.read_exactly(os.path.join(mounts[1].path, "t", name + ".stats.json")))
    return mounts


@pytest.fixture(scope="module")
def all_known(made):
    """The mounts where no column of the view, and where each has them."""
    path, columns = made
    with contextlib.ExitStack() as stack:
        yield mounts_with(lambda source: stack.enter_context(mounted.Mounted(source)), path, columns)


def view_of(m):
    return os.path.join(m.path, "t.parquet")


def has_ranges(path, name):
    """By row group."""
    footer = pyarrow.parquet.read_metadata(path)
    leaf = footer.schema.names.index(name)
    found = [footer.row_group(group).column(leaf).statistics for group in range(footer.num_row_groups)]
    return [each is not None and each.has_min_max for each in found]


# ---- the same answers

COMPARISONS = ("<", "<=", "=", "!=", ">=", ">")


def conditions(random, columns, count):
    """Each as (column, comparison, value): values that are there, those beside them, and special ones."""
    names = [name for name in columns if name not in ("first", "number")]
    for _ in range(count):
        name = str(random.choice(names))
        values = columns[name]
        value = None
        while value is None or (isinstance(value, float) and math.isnan(value)):
            value = values[int(random.integers(0, ENTRIES))]
            value = None if value is None else value.item() if hasattr(value, "item") else value
        if isinstance(value, bool):
            yield name, str(random.choice(["=", "!="])), value
            continue
        if isinstance(value, float):
            value = float(random.choice([value, 0.0, -0.0, value + 1, math.inf, -math.inf]))
        else:
            value = min(max(value + int(random.integers(-1, 2)), np.iinfo(name).min), np.iinfo(name).max)
        yield name, str(random.choice(COMPARISONS)), value


def sql_literal(value):
    if isinstance(value, float):
        return f"'{value}'::double"
    return str(value)


def by_duckdb(path, condition):
    name, comparison, value = condition
    where = f'"{name}" {comparison} {sql_literal(value)}'
    return duckdb.sql(f"select count(*), sum(number)::bigint from '{path}' where {where}").fetchall()[0]


def compared(column, comparison, value):
    return {"<": column.__lt__, "<=": column.__le__, "=": column.__eq__, "!=": column.__ne__, ">=": column.__ge__, ">": column.__gt__}[comparison](value)


def by_polars(path, condition):
    name, comparison, value = condition
    literal = polars.lit(value, dtype=polars.UInt64) if name == "u8" else polars.lit(value)
    found = polars.scan_parquet(path).filter(compared(polars.col(name), comparison, literal)).select("number").collect()["number"]
    return len(found), found.sum()


def by_pyarrow(path, condition):
    name, comparison, value = condition
    scalar = pyarrow.scalar(value, pyarrow.uint64()) if name == "u8" else pyarrow.scalar(value)
    found = pyarrow.dataset.dataset(path).to_table(columns=["number"], filter=compared(pc.field(name), comparison, scalar))["number"]
    return len(found), pc.sum(found).as_py() or 0


READERS = {"DuckDB": by_duckdb, "polars": by_polars, "pyarrow": by_pyarrow}


@pytest.mark.parametrize("reader", READERS)
def test_answers_are_the_same(made, all_known, reader):
    _, columns = made
    without, having = all_known
    assert has_ranges(view_of(having), "sorted") == [True] * CLUSTERS
    assert has_ranges(view_of(without), "sorted") == [False] * CLUSTERS
    random = np.random.default_rng(11)
    for condition in conditions(random, columns, int(os.environ.get("TFILEFS_TEST_ROUNDS", "40"))):
        assert READERS[reader](view_of(having), condition) == READERS[reader](view_of(without), condition), condition


NULLS = {
    "is null": (lambda column: column.is_null(), lambda column: column.is_null()),
    "is not null": (lambda column: column.is_not_null(), lambda column: column.is_valid()),
}


@pytest.mark.parametrize("question", NULLS)
def test_nulls_are_the_same(made, all_known, question):
    _, columns = made
    if "maybe" not in columns:
        pytest.skip("uproot writes no branches that may be null")
    of_polars, of_pyarrow = NULLS[question]
    found = []
    for m in all_known:
        view = view_of(m)
        found.append(duckdb.sql(f"select count(*) from '{view}' where maybe {question}").fetchall()[0][0])
        found.append(polars.scan_parquet(view).filter(of_polars(polars.col("maybe"))).select(polars.len()).collect().item())
        found.append(pyarrow.dataset.dataset(view).count_rows(filter=of_pyarrow(pc.field("maybe"))))
    nulls = int(awkward.sum(awkward.is_none(columns["maybe"])))
    assert set(found) == {nulls if question == "is null" else ENTRIES - nulls}


@pytest.mark.parametrize("name", ("sorted", "f8", "u8", "i1", "flag", "maybe"))
def test_least_and_greatest_are_the_same(made, all_known, name):
    """DuckDB may answer from the footer alone."""
    _, columns = made
    if name not in columns:
        pytest.skip("uproot writes no branches that may be null")
    answers = [duckdb.sql(f"select min({name}), max({name}), count({name}) from '{view_of(m)}'").fetchall()[0] for m in all_known]
    assert all(of_one == of_other or of_one != of_one and of_other != of_other for of_one, of_other in zip(answers[0], answers[1]))


# ---- groups that are not read

LEAST = (ENTRIES - CLUSTER) / 8  # of the last row group


def asked(m, branch):
    """Bytes of a branch that the kernel has asked for."""
    with open(os.path.join(m.path, ".tfilefs/stats.json"), encoding="utf-8") as stats:
        tables = json.load(stats)["tables"]
    return sum(each["bytes_asked"] for table in tables for each in table["branches"] if each["branch"] == branch)


@pytest.mark.parametrize("reader", ("DuckDB", "pyarrow"))
def test_of_a_sorted_column_one_group_is_read(made, mount, reader):
    """polars maps the file and asks the kernel for all groups before it looks which it needs. No other column that is asked for lies beside it in another group, so read-ahead does not reach it there."""
    path, columns = made
    chunk = CLUSTER * 8
    for m, is_skipping in zip(mounts_with(mount, path, ["sorted"]), (False, True)):
        before = asked(m, "sorted")
        assert READERS[reader](view_of(m), ("sorted", ">=", LEAST)) == (CLUSTER, np.sum(columns["number"][-CLUSTER:]))
        read = asked(m, "sorted") - before
        assert (chunk <= read < 2 * chunk) if is_skipping else read >= CLUSTERS * chunk


def test_pyarrow_names_the_groups(made, mount):
    path, _ = made
    condition = (pc.field("sorted") >= CLUSTER / 8) & (pc.field("sorted") < CLUSTER / 8 + 10)
    chosen = []
    for m in mounts_with(mount, path, ["sorted"]):
        fragment = next(pyarrow.dataset.dataset(view_of(m)).get_fragments())
        chosen.append([group.id for group in fragment.subset(condition).row_groups])
    assert chosen == [[0, 1, 2], [1]]
