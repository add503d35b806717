# SPDX-License-Identifier: Apache-2.0
"""TABLE/.where=EXPR/: the entries that an expression chooses, as a table."""

import errno
import json
import os
import shutil
import subprocess

import awkward
import numpy as np
import pyarrow.parquet
import pytest
import uproot

import mounted
import mounted_table

pytestmark = pytest.mark.fast


@pytest.fixture
def table(samples, shared_mount):
    return os.path.join(shared_mount(os.path.join(samples("numbers"), "numbers-101.root")).path, "t")


def nodes_of(table):
    return [name.rpartition(".")[0] or name for name in os.listdir(table)]


def uproot_lists(table, name):
    offsets = np.load(os.path.join(table, name, "offsets.npy"))
    return awkward.unflatten(np.load(os.path.join(table, name, "values.npy")), np.diff(offsets))


def same_entries(found, of, chosen):
    """Whether each node of the table has these entries of the other."""
    assert sorted(os.listdir(found)) == sorted(os.listdir(of))
    for node in nodes_of(of):
        values = mounted_table.read_node(of, node)
        assert mounted_table.same(mounted_table.read_node(found, node), [values[i] for i in chosen]), node


@pytest.mark.parametrize("cut, choose", [
    ("n>2", lambda n, s: n > 2),
    ("n%2==0 && s_I>0", lambda n, s: (n % 2 == 0) & (s > 0)),
    ("n<0", lambda n, s: n < 0),
    ("1", lambda n, s: n == n),
    ("Entry$>=7 && Entry$<11", lambda n, s: (np.arange(len(n)) >= 7) & (np.arange(len(n)) < 11)),
])
def test_entries(table, cut, choose):
    n, s = (np.load(os.path.join(table, name + ".npy")) for name in ("n", "s_I"))
    same_entries(os.path.join(table, ".where=" + cut), table, np.flatnonzero(choose(n, s)).tolist())


def test_random_reads(table):
    random = np.random.default_rng(1)
    for name in ("s_D.f8", "c_F/values.f4", "c_F/offsets.i8", "m_F.f4x2x3"):
        mounted_table.assert_random_reads(os.path.join(table, ".where=n%3==1", name), random, 50, 5000)


def test_any_iteration_counts(table):
    lists = mounted_table.read_node(table, "c_I")
    same_entries(os.path.join(table, ".where=c_I>1000"), table, [i for i, each in enumerate(lists) if any(x > 1000 for x in each)])


# Branch x has ten entries, none has none, and the others have six.
@pytest.mark.parametrize("cut, chosen", [("x%2==1", [1, 3, 5, 7, 9]), ("x>=5", [5, 6, 7, 8, 9]), ("x>6", [7, 8, 9]), ("1", range(10)),
                                         ("s>2", [2, 3, 4, 5]), ("Alt$(s,9)>4", [4, 5, 6, 7, 8, 9]), ("Sum$(v)>=0", range(10))])
def test_branches_that_are_shorter(samples, shared_mount, cut, chosen):
    table = os.path.join(shared_mount(os.path.join(samples("queries"), "uneven.root")).path, "t")
    found = os.path.join(table, ".where=" + cut)
    assert sorted(os.listdir(found)) == sorted(os.listdir(table))
    for node in nodes_of(table):
        values = mounted_table.read_node(table, node)
        kept = [values[i] for i in chosen if i < len(values)]
        assert mounted_table.same(mounted_table.read_node(found, node), kept), node
    again = os.path.join(found, ".where=s>4")
    assert np.load(os.path.join(again, "x.npy")).tolist() == [i for i in (4, 5) if i in chosen]


def test_names_in_quotes(samples, shared_mount):
    source = os.path.join(samples("storage"), "names.root")
    table = os.path.join(shared_mount(source).path, "t")
    for name in ("`sl%2Fash`", "`%252F`", "`a.b`", "`.dot`", "a.b"):
        assert np.load(os.path.join(table, f".where={name}>2", "x.npy")).tolist() == [3, 4]
    wrong = subprocess.run([mounted.program(), "draw", source + ":t", "`sl/esh`"], capture_output=True, text=True, timeout=60)
    assert wrong.stderr.startswith("tfilefs: there is no `sl/esh`; did you mean `sl/ash`?\n")


def test_schema_and_views(table):
    chosen = os.path.join(table, ".where=n>2")
    with open(os.path.join(chosen, ".schema.json")) as file:
        schema = json.load(file)
    count = int((np.load(os.path.join(table, "n.npy")) > 2).sum())
    assert schema["where"] == ["n>2"] and schema["entries"] == count
    assert pyarrow.parquet.read_table(chosen + ".parquet").num_rows == count
    assert len(mounted_table.read_exactly(chosen + ".jsonl").splitlines()) == count
    assert json.loads(mounted_table.read_exactly(os.path.join(chosen, "s_D.stats.json")))["values"] == count
    assert len(np.load(os.path.join(chosen, "s_D.npy"))) == count


def test_within_each_other(table):
    n = np.load(os.path.join(table, "n.npy"))
    within = os.path.join(table, ".where=n>1", ".where=n<4")
    assert np.load(os.path.join(within, "n.npy")).tolist() == n[(n > 1) & (n < 4)].tolist()
    with open(os.path.join(within, ".schema.json")) as file:
        assert json.load(file)["where"] == ["n>1", "n<4"]


def test_slashes_are_escaped(table):
    s = np.load(os.path.join(table, "s_I.npy")).astype("f8")
    assert np.load(os.path.join(table, ".where=s_I%2F2>100", "s_I.npy")).tolist() == s[s / 2 > 100].tolist()


def test_what_is_wrong_is_said(samples, mount):
    m = mount(os.path.join(samples("numbers"), "numbers-101.root"))
    for wrong, said in (("m>(2", "expected ')'"), ("nn>2", "there is no nn; did you mean n? (character 1 of nn>2)")):
        with pytest.raises(OSError) as error:
            os.stat(os.path.join(m.path, "t", ".where=" + wrong))
        assert error.value.errno == errno.EINVAL
        with open(os.path.join(m.path, ".tfilefs/errors")) as errors:
            assert said in errors.read()


def test_not_listed_and_not_copied(table, tmp_path):
    os.stat(os.path.join(table, ".where=n>2"))
    assert not [name for name in os.listdir(table) if name.startswith(".where")]
    shutil.copytree(os.path.join(table, ".where=n>2"), tmp_path / "copy")
    n = np.load(os.path.join(table, "n.npy"))
    assert np.fromfile(tmp_path / "copy/n.i4", "i4").tolist() == n[n > 2].tolist()


def test_a_copy_is_a_new_table(table, tmp_path, mount):
    out = str(tmp_path / "skim.root")
    m = mount(out, "writable")
    os.mkdir(os.path.join(m.path, "t"))
    chosen = os.path.join(table, ".where=n>2")
    for name in ("n.i4", "s_D.f8"):
        shutil.copy(os.path.join(chosen, name), os.path.join(m.path, "t", name))
    shutil.copytree(os.path.join(chosen, "c_F"), os.path.join(m.path, "t", "c_F"))
    mounted.fsync(m.path)
    with uproot.open(out) as file:
        arrays = file["t"].arrays(["n", "s_D", "c_F"])
    n = np.load(os.path.join(table, "n.npy"))
    assert arrays["n"].tolist() == n[n > 2].tolist()
    assert np.array_equal(arrays["s_D"].to_numpy(), np.load(os.path.join(table, "s_D.npy"))[n > 2], equal_nan=True)
    assert awkward.num(arrays["c_F"]).tolist() == awkward.num(uproot_lists(table, "c_F"))[n > 2].tolist()


def repack(*arguments):
    return subprocess.run([mounted.program(), "repack", *map(str, arguments)], capture_output=True, text=True)


def test_it_is_repacked(samples, mount, tmp_path):
    """By its path in a mount or behind a file: the stored table is read, and chosen from."""
    source = os.path.join(samples("numbers"), "numbers-101.root")
    (tmp_path / "runs").mkdir()
    shutil.copy(source, tmp_path / "runs" / "a.root")
    n = uproot.open(source)["t/n"].array(library="np")
    of_file, of_mirror, of_chain = mount(source).path, mount(tmp_path / "runs").path, mount(source, "chain").path
    for number, path in enumerate((f"{source}/t", f"{of_file}/t", f"{of_mirror}/a.root/t", f"{of_chain}/t")):
        for end, chosen in (("/.where=n%2F2>1", n[n / 2 > 1]), ("/.where=n>2/", n[n > 2]), ("", n)):
            out = tmp_path / "out.root"
            done = repack("--force", path + end, out)
            assert done.returncode == 0, (path, end, done.stderr)
            assert np.array_equal(uproot.open(out)["t/n"].array(library="np"), chosen), (path, end)
    for arguments, told in (([f"{source}/t/.where=n>1/.where=n>2"], "takes one expression"), (["--where", "n>1", f"{source}/t/.where=n>2"], "--where"),
                            ([f"{mount(source, 'where=n>1').path}/t"], "the mount has where"), ([f"{source}/T"], "no table of that name, did you mean t?"),
                            ([f"{source}/t/.where=nothing>1"], "nothing")):
        done = repack(*arguments, tmp_path / "none.root")
        assert done.returncode in (1, 2) and told in done.stderr and not (tmp_path / "none.root").exists(), (arguments, done)


def test_of_a_chain(samples, mount):
    directory = samples("numbers")
    m = mount(directory)
    chain = os.path.join(m.path, ".chain=numbers-1*.root", "t")
    n = np.load(os.path.join(chain, "n.npy"))
    same_entries(os.path.join(chain, ".where=n>3"), chain, np.flatnonzero(n > 3).tolist())
    assert pyarrow.parquet.read_table(os.path.join(chain, ".where=n>3.parquet")).num_rows == (n > 3).sum()


def test_a_changed_file_is_stale(samples, tmp_path, mount):
    path = tmp_path / "changing.root"
    shutil.copy(os.path.join(samples("numbers"), "numbers-101.root"), path)
    m = mount(str(path))
    chosen = os.path.join(m.path, "t", ".where=n>2", "n.i4")
    before = mounted_table.read_exactly(chosen)
    with open(chosen, "rb", buffering=0) as file:
        with uproot.recreate(path) as other:
            other["t"] = {"n": np.arange(10, dtype="i4")}
        try:
            assert file.read(1 << 20) == before
        except OSError as error:
            assert error.errno == errno.ESTALE
    column = os.path.join(m.path, "t", ".where=n>2", "n.i4")
    mounted.wait_until(lambda: np.array_equal(mounted.outcome(lambda: np.fromfile(column, "i4")), np.arange(3, 10)))


def test_many_expressions_are_forgotten_but_those_in_use(samples, mount):
    table = os.path.join(mount(os.path.join(samples("numbers"), "numbers-101.root")).path, "t")
    first = os.path.join(table, ".where=n>2")
    lists, numbers = (mounted_table.read_node(first, name) for name in ("c_I", "n"))
    directory = os.open(first, os.O_RDONLY)
    column = os.open("n.i4", os.O_RDONLY, dir_fd=directory)
    inside = os.stat("c_I", dir_fd=directory).st_ino
    for least in range(300):
        os.stat(os.path.join(table, f".where=n>={least}", "c_I", "values.i4"))
        os.stat(os.path.join(table, f".where=n>={least}.arrow" if least % 2 else f".where=n>={least}.parquet"))
    assert np.frombuffer(os.read(column, 1 << 20), "i4").tolist() == numbers
    with open(os.open("n.i4", os.O_RDONLY, dir_fd=directory), "rb") as again:
        assert np.frombuffer(again.read(), "i4").tolist() == numbers
    assert os.stat("c_I", dir_fd=directory).st_ino == inside
    assert mounted_table.same(mounted_table.read_node(first, "c_I"), lists)
    os.close(column)
    os.close(directory)
