# SPDX-License-Identifier: Apache-2.0
"""Columns that are computed: -o define=, aliases of trees, and -o where= for a whole mount."""

import errno
import json
import os
import subprocess

import numpy as np
import pyarrow.parquet
import pytest

import mounted
import mounted_table

pytestmark = pytest.mark.fast


@pytest.fixture
def source(samples):
    return os.path.join(samples("numbers"), "numbers-101.root")


@pytest.fixture
def plain(source, shared_mount):
    return os.path.join(shared_mount(source).path, "t")


def column(table, name):
    return np.load(os.path.join(table, name + ".npy"))


def lists(table, name):
    return mounted_table.read_node(table, name)


def test_numbers_and_lists(source, plain, mount):
    m = mount(source, "define=t:twice=n*2", "define=half=c_I/2", "define=more=twice+1")
    table = os.path.join(m.path, "t")
    n = column(plain, "n")
    assert column(table, "twice").tolist() == (2.0 * n).tolist()
    assert column(table, "more").tolist() == (2.0 * n + 1).tolist()
    assert mounted_table.same(lists(table, "half"), [[x / 2 for x in each] for each in lists(plain, "c_I")])
    assert {"twice.f8", "more.f8", "half"} <= set(os.listdir(table))
    mounted_table.assert_schema_matches_files(table)
    mounted_table.assert_random_reads(os.path.join(table, "half/values.f8"), np.random.default_rng(1), 50, 3000)
    mounted_table.assert_random_reads(os.path.join(table, "half/offsets.i8"), np.random.default_rng(2), 50, 3000)
    read = pyarrow.parquet.read_table(table + ".parquet", columns=["twice", "half"])
    assert read["twice"].to_pylist() == (2.0 * n).tolist()
    assert [len(each) for each in read["half"].to_pylist()] == [len(each) for each in lists(plain, "c_I")]
    assert column(os.path.join(table, ".where=more>5"), "twice").tolist() == (2.0 * n[2 * n + 1 > 5]).tolist()
    assert json.loads(mounted_table.read_exactly(os.path.join(table, "half.stats.json")))["values"] == n.sum()


def test_an_element_that_may_be_missing_is_a_list(source, plain, mount):
    table = os.path.join(mount(source, "define=second=c_I[1]", "define=first=a_I[0]").path, "t")
    assert lists(table, "second") == [each[1:2] for each in lists(plain, "c_I")]
    assert column(table, "first").tolist() == column(plain, "a_I")[:, 0].tolist()


def test_a_column_is_replaced(source, plain, mount):
    table = os.path.join(mount(source, "define=n=n+1").path, "t")
    assert column(table, "n").tolist() == (column(plain, "n") + 1.0).tolist()
    assert "n.i4" not in os.listdir(table) and "n.f8" in os.listdir(table)


def test_what_cannot_be_defined_is_left_out(source, mount):
    m = mount(source, "define=aa=bb+1", "define=bb=aa+1", "define=cc=nothing", "define=dd=n")
    assert [name for name in ("aa.f8", "bb.f8", "cc.f8", "dd.f8") if name in os.listdir(os.path.join(m.path, "t"))] == ["dd.f8"]
    with open(os.path.join(m.path, ".tfilefs/errors")) as file:
        errors = file.read()
    assert "/t/aa: " in errors and "is defined by itself" in errors and "/t/cc: in the definition of cc: there is no nothing" in errors


def test_of_a_chain(samples, mount):
    pattern = os.path.join(samples("numbers"), "numbers-1*.root")
    with mounted.Mounted(pattern, ("chain", "ro")) as m:
        n = column(os.path.join(m.path, "t"), "n")
    m = mount(pattern, "chain", "define=twice=n*2", "where=twice>6")
    table = os.path.join(m.path, "t")
    assert column(table, "twice").tolist() == (2.0 * n[n > 3]).tolist()
    assert pyarrow.parquet.read_table(table + ".parquet", columns=["n"])["n"].to_pylist() == n[n > 3].tolist()


def test_where_of_a_mount(source, plain, mount):
    n = column(plain, "n")
    m = mount(source, "where=n>1", "where=t:n<4")
    table = os.path.join(m.path, "t")
    assert column(table, "n").tolist() == n[(n > 1) & (n < 4)].tolist()
    assert json.loads(mounted_table.read_exactly(os.path.join(table, ".schema.json")))["where"] == ["n>1", "n<4"]
    assert pyarrow.parquet.read_table(table + ".parquet", columns=["n"]).num_rows == ((n > 1) & (n < 4)).sum()
    with mounted.Mounted(source, ("where=min(n,3)>2",)) as other:
        assert column(os.path.join(other.path, "t"), "n").tolist() == n[n > 2].tolist()


def test_an_expression_of_another_table_shows_no_entries(source, mount):
    m = mount(source, "where=nothing>1")
    with pytest.raises(OSError) as error:
        os.listdir(os.path.join(m.path, "t"))
    assert error.value.errno == errno.EINVAL
    assert "/t: where=nothing>1: there is no nothing" in m.errors()


@pytest.mark.parametrize("option, line", [
    ("where=n>", "option where=: expected a number, a name or a parenthesis\n  n>\n    ^\n"),
    ("define=t:a=sqrt(n", "option define=: expected ',' or ')'\n  sqrt(n\n        ^\n"),
])
def test_what_is_no_expression_is_not_mounted(source, tmp_path, option, line):
    done = subprocess.run([mounted.program(), "-o", option, source, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and done.stderr == "tfilefs: " + line


@pytest.mark.parametrize("options", [(), ("chain",)])
def test_tables_that_are_not_there_are_told(source, mount, options):
    m = mount(source, *options, "define=nowhere:a=n", "where=d/t:n>1", "where=t:n>2")
    mounted.wait_until(lambda: "no table" in m.errors(), 20)
    assert "option define=nowhere:a=n: there is no table nowhere" in m.errors()
    assert "option where=d/t:n>1: there is no table d/t" in m.errors()
    assert "where=t:n>2" not in m.errors()


def test_not_written(source, tmp_path):
    done = subprocess.run([mounted.program(), "-o", "writable,define=a=n", source, str(tmp_path)], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode != 0 and "only for mounts that are not written" in done.stderr


def test_of_a_branch_that_is_shorter(samples, mount):
    """Its entries end, so what is computed of it is a list."""
    m = mount(os.path.join(samples("queries"), "uneven.root"), "define=twice=2*s", "define=all=Alt$(s,-1)+x")
    table = os.path.join(m.path, "t")
    assert [list(each) for each in lists(table, "twice")] == [[2 * i + 1] for i in range(6)] + [[]] * 4
    assert np.load(os.path.join(table, "all.npy")).tolist() == [2 * i + 0.5 for i in range(6)] + [5, 6, 7, 8]


def test_aliases(samples, shared_mount):
    table = os.path.join(shared_mount(os.path.join(samples("queries"), "queries.root")).path, "t")
    twice = lists(table, "pt")
    assert "r.f8" not in os.listdir(table) and "twice" not in os.listdir(table)
    assert len(np.load(os.path.join(table, "r.npy"))) == 500
    assert os.path.getsize(os.path.join(table, "r.f8")) == 500 * 8
    assert os.path.isdir(os.path.join(table, "twice"))
    offsets = np.load(os.path.join(table, "twice/offsets.npy"))
    assert np.diff(offsets).tolist() == [len(each) for each in twice]


def test_an_alias_that_is_wrong_is_told(samples, mount):
    m = mount(os.path.join(samples("queries"), "queries.root"), "define=more=twice+1")
    table = os.path.join(m.path, "t")
    assert not os.path.exists(os.path.join(table, "broken.f8"))
    assert "/t/broken: in the definition of broken: there is no nothing" in m.errors()
    assert len(np.load(os.path.join(table, "r.npy"))) == 500 and os.path.isdir(os.path.join(table, "more"))


def test_aliases_of_other_characters(samples, mount):
    table = os.path.join(mount(os.path.join(samples("texts"), "texts.root"), "define=more=`al st`+`1st`+`b``k`+d.t").path, "t")
    x = np.arange(70.0)
    for name, values in (("al st", x + 1), ("d.t", 2 * x), ("b`k", 3 * x), ("1st", 4 * x), ("a%2Fb", 5 * x), ("plain", 6 * x)):
        assert (np.load(os.path.join(table, name + ".npy")) == values).all(), name
        assert os.path.getsize(os.path.join(table, name + ".f8")) == 70 * 8, name
    assert (np.load(os.path.join(table, "more.npy")) == 10 * x + 1).all()
    assert len(np.load(os.path.join(table, ".where=`al st`>60", "x.npy"))) == 10
