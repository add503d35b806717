# SPDX-License-Identifier: Apache-2.0
"""Chains: many files as one table, compared with the same files one by one."""

import errno
import json
import os
import re
import shutil
import subprocess
import time

import numpy as np
import pytest
import uproot

import column_streams
import columnar
import remote_files
import http_server
import mounted
import mounted_table
import test_awkward
import xrootd_server

def kind_of(values):
    if isinstance(values, np.ndarray):
        return (values.dtype, values.shape[1:]) if values.ndim > 1 else values.dtype
    return values.type.content


def put(path, **trees):
    """A file with these trees: each is {branch: values}."""
    with uproot.recreate(path) as file:
        for name, branches in trees.items():
            tree = file.mktree(name.replace("__", "/"), {branch: kind_of(values) for branch, values in branches.items()})
            tree.extend(branches)


def write(path, first, entries, **branches):
    """A file with a tree `t` of entries first, first + 1, ...: `branches` are functions of their numbers."""
    put(path, t={name: values(np.arange(first, first + entries)) for name, values in branches.items()})


def plain(path, first, entries):
    import awkward

    write(path, first, entries, i=lambda n: n.astype("i4"), x=lambda n: n / 7, m=lambda n: np.stack([n, n + 1], 1).astype("f4"),
          j=lambda n: awkward.unflatten(np.arange((n % 4).sum()).astype("f4") + first, n % 4),
          s=lambda n: awkward.Array([f"entry {k} " * (k % 3) for k in n] + [""])[:-1])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    directory = tmp_path_factory.mktemp("chain")
    paths, first = [], 0
    for number, entries in enumerate((1000, 1, 2500, 0, 300)):
        paths.append(str(directory / f"run{number}.root"))
        plain(paths[-1], first, entries)
        first += entries
    return paths


@pytest.fixture(scope="module")
def chained(files, shared_mount):
    return shared_mount(tuple(files), "chain").path


def table_values(table):
    return mounted_table.read_node(table)


def singles(shared_mount, paths, table="t"):
    return [os.path.join(shared_mount(path).path, table) for path in paths]


def assert_is_concatenation(chain, tables):
    """Each column of a chain has the values of the tables, one after the other."""
    for name in sorted(os.listdir(chain)):
        mounted_table.assert_same(mounted_table.read_node(chain, name),
                                  [value for table in tables for value in mounted_table.read_node(table, name)], name)


def test_columns_run_over_all_files(chained, files, shared_mount):
    assert sorted(os.listdir(chained)) == ["t"]
    chain = os.path.join(chained, "t")
    tables = singles(shared_mount, files)
    assert sorted(os.listdir(chain)) == sorted(os.listdir(tables[0]))
    assert_is_concatenation(chain, tables)
    mounted_table.assert_schema_matches_files(chain)


def test_sizes_before_reading(files, mount):
    m = mount(tuple(files), "chain")
    sizes = {name: os.stat(os.path.join(m.path, "t", name)).st_size
             for name in ("i.i4", "m.f4x2", "j/offsets.i8", "j/values.f4", "s/chars.u1")}
    for name, size in sizes.items():
        assert len(mounted_table.read_exactly(os.path.join(m.path, "t", name))) == size


def test_random_reads(chained):
    random = np.random.default_rng(1)
    for name in ("i.i4", "x.f8", "m.f4x2", "j/offsets.i8", "j/values.f4", "s/chars.u1"):
        mounted_table.assert_random_reads(os.path.join(chained, "t", name), random, 50, 9000)


def test_origins(chained, files):
    table = os.path.join(chained, "t")
    entries = [1000, 1, 2500, 0, 300]
    number = np.fromfile(os.path.join(table, ".file.u4"), "<u4")
    entry = np.fromfile(os.path.join(table, ".entry.i8"), "<i8")
    assert number.tolist() == [i for i, n in enumerate(entries) for _ in range(n)]
    assert entry.tolist() == [k for n in entries for k in range(n)]
    assert np.load(os.path.join(table, ".entry.i8.npy"), mmap_mode="r").tolist() == entry.tolist()
    assert ".file.u4" not in os.listdir(table)


def test_files_are_beside(chained, files, shared_mount):
    names = sorted(os.listdir(os.path.join(chained, ".files")))
    assert names == [f"{i:06d}-run{i}.root" for i in range(len(files))]
    one = os.path.join(chained, ".files", names[2], "t", "i.i4")
    assert mounted_table.read_exactly(one) == mounted_table.read_exactly(os.path.join(shared_mount(files[2]).path, "t", "i.i4"))
    about = json.loads(mounted_table.read_exactly(os.path.join(chained, ".chain.json")))
    assert [file["number"] for file in about["files"]] == [0, 1, 2, 3, 4]
    assert [file["size"] for file in about["files"]] == [os.path.getsize(path) for path in files]
    assert [file["uuid"] for file in about["files"]] == [str(uproot.open(path).file.uuid) for path in files]
    (table,) = about["tables"]
    assert table["path"] == "t" and table["entries"] == 3801 and table["differences"] == []
    assert table["first_entries"] == [0, 1000, 1001, 3501, 3501, 3801]
    assert sorted(os.listdir(chained)) == ["t"]


def test_views(chained, files, shared_mount):
    import pyarrow.feather
    import pyarrow.parquet

    table = os.path.join(chained, "t")
    parts = [pyarrow.feather.read_table(t + ".arrow") for t in singles(shared_mount, files)]
    whole = pyarrow.concat_tables(parts)
    assert pyarrow.feather.read_table(table + ".arrow").to_pydict() == whole.to_pydict()
    assert pyarrow.parquet.read_table(table + ".parquet").to_pydict() == whole.to_pydict()
    lines = b"".join(mounted_table.read_exactly(t + ".jsonl") for t in singles(shared_mount, files))
    assert mounted_table.read_exactly(table + ".jsonl") == lines
    csv = [mounted_table.read_exactly(t + ".csv") for t in singles(shared_mount, files)]
    assert mounted_table.read_exactly(table + ".csv") == csv[0] + b"".join(text.split(b"\n", 1)[1] for text in csv[1:])
    text = b"".join(mounted_table.read_exactly(os.path.join(t, "j.txt")) for t in singles(shared_mount, files))
    assert mounted_table.read_exactly(os.path.join(table, "j.txt")) == text
    assert not test_awkward.compare(table)


def test_attributes(chained, files):
    column = os.path.join(chained, "t", "j", "values.f4")
    assert os.getxattr(column, "user.tfilefs.dtype") == b"<f4"
    assert int(os.getxattr(column, "user.tfilefs.length")) == os.stat(column).st_size // 4
    assert os.getxattr(os.path.join(chained, "t"), "user.tfilefs.files") == b"5"
    assert os.stat(os.path.join(chained, "t", "i")).st_size == 3801 * 4  # a name without its type
    blocks = os.stat(os.path.join(chained, "t", "x.f8")).st_blocks
    assert 0 < blocks * 512 < 3801 * 8 + 512


def test_equals_uproot(chained, files):
    both = uproot.concatenate([f"{path}:t" for path in files if "run3" not in path], ["i", "x", "m"], library="np")
    for name, column in (("i", "i.i4"), ("x", "x.f8")):
        assert np.fromfile(os.path.join(chained, "t", column), both[name].dtype).tolist() == both[name].tolist()


@pytest.mark.parametrize("sample", columnar.SAMPLES)
def test_every_kind_of_node(samples, mount, shared_mount, sample):
    """A file behind itself, and once more: every column twice and three times."""
    kind, name = sample.split("/")
    path = os.path.join(samples(kind), name + ".root")
    single = shared_mount(path).path
    m = mount((path, path, path), "chain")
    for table in columnar.tables_in(m.path):
        one = os.path.join(single, os.path.relpath(table, m.path))
        assert_is_concatenation(table, [one] * 3)
        assert not test_awkward.compare(table)


def becomes(column, wanted):
    """A change is seen within a second; a column that is stat'ed before it and opened behind it has two sizes."""
    deadline = time.monotonic() + 5
    while True:
        try:
            found = values(column)
        except (AssertionError, OSError):
            found = None
        if found == wanted:
            return
        assert time.monotonic() < deadline, found
        time.sleep(0.02)


def test_trees_and_ntuples_together(tmp_path, mount, shared_mount):
    import awkward

    columns = {"x": np.array([1.5, 2, 3]), "l": awkward.Array([[1, 2], [], [3]]), "s": awkward.Array(["a", "bc", ""])}
    paths = [str(tmp_path / name) for name in ("tree.root", "ntuple.root", "again.root")]
    for path in (paths[0], paths[2]):
        put(path, t=columns)
    with uproot.recreate(paths[1]) as file:
        file.mkrntuple("t", columns)
    tables = singles(shared_mount, paths)
    for order in ((0, 1, 2), (1, 0), (1, 1)):
        with mounted.Mounted([paths[i] for i in order], ["chain"]) as m:
            chain = os.path.join(m.path, "t")
            assert set(os.listdir(chain)) == {"x.f8", "l", "s"} | ({"nl.i4"} if set(order) <= {0, 2} else set())
            assert_is_concatenation(chain, [tables[i] for i in order])
            assert not test_awkward.compare(chain)


# ---- schemas that differ


def values(column):
    """One object an entry."""
    return mounted_table.read_node(os.path.dirname(column), os.path.basename(column))


def two(tmp_path, first, second):
    """Two files of three entries; each is {branch: values}."""
    paths = []
    for number, branches in enumerate((first, second)):
        paths.append(str(tmp_path / f"f{number}.root"))
        put(paths[-1], t={**branches, "same": np.array([1, 2, 3], "i4") + 3 * number})
    return paths


LISTS = [[1.5], [], [2.5, 3.5]]
CASES = {
    "i4 and f8": (np.array([1, -2, 3], "i4"), np.array([200.5, 0, -1]), "x.f8", [1, -2, 3, 200.5, 0, -1]),
    "f8 and i4": (np.array([200.5, 0, -1]), np.array([1, -2, 3], "i4"), "x.f8", [200.5, 0, -1, 1, -2, 3]),
    "u1 and i2": (np.array([1, 2, 255], "u1"), np.array([-1, 2, 3], "i2"), "x.i2", [1, 2, 255, -1, 2, 3]),
    "f4 and f8": (np.array([0.5, 1, 2], "f4"), np.array([0.1, 1, 2]), "x.f8", [0.5, 1, 2, 0.1, 1, 2]),
    "i8 and f8": (np.array([1, 2, 3], "i8"), np.array([1.0, 2, 3]), None, None),
    "number and list": (np.array([1.0, 2, 3]), LISTS, None, None),
    "array and list": (np.array([[1.0, 2], [3, 4], [5, 6]], "f8"), LISTS, "x", [[1, 2], [3, 4], [5, 6], [1.5], [], [2.5, 3.5]]),
    "array and array": (np.array([[1, 2], [3, 4], [5, 6]], "f8"), np.array([[1], [2], [3]], "f8"), "x", [[1, 2], [3, 4], [5, 6], [1], [2], [3]]),
    "string and number": (["a", "bc", ""], np.array([1.0, 2, 3]), None, None),
}


@pytest.mark.parametrize("case", CASES)
def test_differing_types(case, tmp_path, mount):
    import awkward

    first, second, column, wanted = CASES[case]
    first, second = (awkward.Array(v) if isinstance(v, list) else v for v in (first, second))
    paths = two(tmp_path, {"x": first}, {"x": second})
    m = mount(paths, "chain")
    table = os.path.join(m.path, "t")
    assert values(os.path.join(table, "same.i4")) == [1, 2, 3, 4, 5, 6]
    assert [name for name in os.listdir(table) if name.startswith("x")] == ([column] if column else [])
    if column:
        assert values(os.path.join(table, column)) == wanted
    about = json.loads(mounted_table.read_exactly(os.path.join(m.path, ".chain.json")))
    (difference,) = [d for d in about["tables"][0]["differences"] if d["node"] == "x"]
    assert sorted(found["files"] for found in difference["found"]) == [[0], [1]]
    schema = mounted_table.schema_of(table)
    assert [file["name"] for file in schema["files"]] == paths
    assert all("x" in file["differs"] for file in schema["files"]) or column
    with pytest.raises(mounted.MountFailed) as refused:
        mount(paths, "chain=strict")
    assert paths[1] in refused.value.message and "x: " in refused.value.message


def test_differing_types_in_every_order(tmp_path):
    """The one that differs is first, last or in the middle."""
    import awkward

    for number, (first, second, column, wanted) in enumerate(CASES.values()):
        given = (wanted[:3], wanted[3:]) if column else [v if isinstance(v, list) else v.tolist() for v in (first, second)]
        parts = [[value.encode() if isinstance(value, str) else value for value in part] for part in given]
        (tmp_path / str(number)).mkdir()
        paths = two(tmp_path / str(number), *({"x": awkward.Array(v) if isinstance(v, list) else v} for v in (first, second)))
        for order in ((1, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)):
            with mounted.Mounted([paths[i] for i in order], ["chain" if column else "chain=union"]) as m:
                table = os.path.join(m.path, "t")
                assert values(os.path.join(table, "same.i4")) == [value + 3 * i for i in order for value in (1, 2, 3)]
                if column:
                    assert values(os.path.join(table, column)) == [value for i in order for value in parts[i]], order
                    continue
                for name, of in (("x", order[0]), ("x~2", 1 - order[0])):
                    own = [[value] if i == of else [] for i in order for value in parts[i]]
                    assert values(os.path.join(table, name)) == own, (order, name)


def test_missing_branches(tmp_path, mount):
    paths = two(tmp_path, {"x": np.array([1.0, 2, 3])}, {"y": np.array([7, 8, 9], "i4")})
    m = mount(paths, "chain")
    assert os.listdir(os.path.join(m.path, "t")) == ["same.i4"]
    m = mount(paths, "chain=union")
    table = os.path.join(m.path, "t")
    assert mounted_table.nullable_nodes(table)
    assert values(os.path.join(table, "x")) == [[1], [2], [3], [], [], []]
    assert values(os.path.join(table, "y")) == [[], [], [], [7], [8], [9]]
    import pyarrow.feather

    assert pyarrow.feather.read_table(table + ".arrow").to_pydict() == {
        "x": [1, 2, 3, None, None, None], "same": [1, 2, 3, 4, 5, 6], "y": [None, None, None, 7, 8, 9]}
    assert not test_awkward.compare(table)
    with pytest.raises(mounted.MountFailed):
        mount(paths, "chain=strict")


def test_union_of_what_cannot_be_one(tmp_path, mount):
    import awkward

    paths = two(tmp_path, {"x": np.array([1.0, 2, 3])}, {"x": awkward.Array(LISTS)})
    table = os.path.join(mount(paths, "chain=union").path, "t")
    assert values(os.path.join(table, "x")) == [[1], [2], [3], [], [], []]
    assert values(os.path.join(table, "x~2")) == [[], [], [], [[1.5]], [[]], [[2.5, 3.5]]]


def test_missing_table(tmp_path, mount):
    paths = two(tmp_path, {}, {})
    paths.insert(1, str(tmp_path / "nothing.root"))
    with uproot.recreate(paths[1]) as file:
        file["text"] = "no tree"
    m = mount(paths, "chain")
    assert values(os.path.join(m.path, "t", "same.i4")) == [1, 2, 3, 4, 5, 6]
    about = json.loads(mounted_table.read_exactly(os.path.join(m.path, ".chain.json")))
    assert about["tables"][0]["without"] == [1]
    with pytest.raises(mounted.MountFailed) as refused:
        mount(paths, "chain=strict")
    assert "nothing.root" in refused.value.message


def chain_json(m):
    return json.loads(mounted_table.read_exactly(os.path.join(m.path, ".chain.json")))


def test_a_mistyped_table(tmp_path, mount):
    """No file has it: refused. One of the files has none: its entries are missing, which is said."""
    first, second = two(tmp_path, {}, {})
    put(tmp_path / "other.root", u={"same": np.array([9], "i4")})
    for sources in ([f"{first}:T"], [f"{first}:t", f"{second}:T"], [f"{tmp_path}/f*.root:T"]):
        with pytest.raises(mounted.MountFailed) as refused:
            mount(sources, "chain")
        assert refused.value.status == 1 and "no table T" in refused.value.message, refused.value.message
        assert len(refused.value.message.splitlines()) == 1
    m = mount([f"{tmp_path}/*.root:t"], "chain")
    assert values(os.path.join(m.path, "t", "same.i4")) == [1, 2, 3, 4, 5, 6]
    assert re.search(r"/t: 1 of 3 files have no entries for it.*other.root \(no such table\)", m.errors())
    assert mounted_table.schema_of(os.path.join(m.path, "t"))["files"][2]["differs"] == {"": "no such table"}


def test_tables_that_are_not_in_all_files(tmp_path, mount):
    first, second = two(tmp_path, {}, {})
    put(tmp_path / "f2.root", t={"same": np.array([7], "i4")}, u={"x": np.array([1], "i4")})
    m = mount([first, second, tmp_path / "f2.root"], "chain")
    assert os.listdir(m.path) == ["t"]
    assert chain_json(m)["left_out"] == [{"path": "u", "without": [0, 1]}]
    assert "/u: left out: 2 of 3 files do not have it" in m.errors()


def test_tables_without_columns(tmp_path, mount):
    """They are shown, as in a mount of one file; those that have nothing in common, too."""
    import ROOT

    paths = [str(tmp_path / f"f{number}.root") for number in range(2)]
    for number, path in enumerate(paths):
        put(path, t={"same": np.array([number], "i4")}, apart={f"x{number}": np.array([number], "i4")})
        file = ROOT.TFile(path, "UPDATE")
        ROOT.TTree("empty", "no branches").Write()
        file.Close()
    for option in ("chain", "chain=union"):
        with mounted.Mounted(paths, [option]) as m:
            assert sorted(os.listdir(m.path)) == ["apart", "empty", "t"]
            assert os.listdir(os.path.join(m.path, "empty")) == []
            assert [table["without"] for table in chain_json(m)["tables"] if table["path"] == "empty"] == [[0, 1]]
            assert mounted_table.schema_of(os.path.join(m.path, "empty"))["columns"] == []
            apart = os.path.join(m.path, "apart")
            assert os.listdir(apart) == ([] if option == "chain" else ["x0", "x1"])
            assert np.fromfile(os.path.join(apart, ".file.u4"), "<u4").tolist() == [0, 1]
    with mounted.Mounted([f"{path}:t" for path in paths], ["chain=strict"]) as m:
        assert values(os.path.join(m.path, "t", "same.i4")) == [0, 1]
    with mounted.Mounted([f"{path}:empty" for path in paths], ["chain=strict"]) as m:
        assert os.listdir(m.path) == ["empty"]
    with mounted.Mounted(paths[0], [f"friend=f={paths[1]}:t"]) as m:
        assert np.fromfile(os.path.join(m.path, "t", "f.same.i4"), "<i4").tolist() == [1]


def test_cycles(tmp_path, mount):
    path = str(tmp_path / "f.root")
    put(path, t={"same": np.array([1, 2], "i4")})
    with uproot.update(path) as file:
        file.mktree("t", {"same": "i4"}).extend({"same": np.array([3], "i4")})
    for name, wanted in (("t", [3]), ("t;1", [1, 2]), ("t;2", [3]), ("/t", [3]), ("/t;1", [1, 2])):
        for behind in (":", "?#"):
            with mounted.Mounted([f"{path}{behind}{name}", path], ["chain"]) as m:
                assert os.listdir(m.path) == ["t"]
                assert values(os.path.join(m.path, "t", "same.i4")) == [*wanted, 3], name
    with pytest.raises(mounted.MountFailed):
        mount([f"{path}:t;3"], "chain")


# ---- files


def test_a_file_that_cannot_be_opened(tmp_path, mount):
    paths = two(tmp_path, {}, {})
    bad = tmp_path / "bad.root"
    bad.write_bytes(b"rotten" * 100)
    paths.insert(1, str(bad))
    with pytest.raises(mounted.MountFailed) as refused:
        mount(paths, "chain")
    assert str(bad) in refused.value.message
    m = mount(paths, "chain,missing=skip")
    assert values(os.path.join(m.path, "t", "same.i4")) == [1, 2, 3, 4, 5, 6]
    about = json.loads(mounted_table.read_exactly(os.path.join(m.path, ".chain.json")))
    assert "left_out" in about["files"][1]


def test_a_file_that_is_lost_later(tmp_path, mount):
    paths = []
    for number in range(3):
        paths.append(str(tmp_path / f"f{number}.root"))
        plain(paths[-1], 100_000 * number, 100_000)
    m = mount(paths, "chain,prefetch=off")
    column = os.path.join(m.path, "t", "x.f8")
    os.stat(column)
    with open(column, "rb", buffering=0) as file:
        with open(paths[1], "r+b") as damaged:
            damaged.truncate(1000)
        assert os.pread(file.fileno(), 4096, 0)
        with pytest.raises(OSError) as lost:
            os.pread(file.fileno(), 4096, 150_000 * 8)
        assert lost.value.errno in (errno.EIO, errno.ESTALE)
        os.pread(file.fileno(), 4096, 250_000 * 8)


def test_errors_name_the_file(tmp_path, mount):
    paths = []
    for number in range(3):
        paths.append(str(tmp_path / f"f{number}.root"))
        plain(paths[-1], 1024 * number, 1024)  # pages of the kernel do not cross files
    with uproot.open(paths[1]) as file:
        branch = file["t"]["x"]
        seek, size = (int(branch.member(name)[0]) for name in ("fBasketSeek", "fBasketBytes"))
    with open(paths[1], "r+b") as damaged:
        damaged.seek(seek + size - 100)
        damaged.write(bytes(100))
    m = mount(paths, "chain")
    name = sorted(os.listdir(os.path.join(m.path, ".files")))[1]
    assert name.endswith("f1.root")
    with open(os.path.join(m.path, "t", "x.f8"), "rb", buffering=0) as file:
        assert len(os.pread(file.fileno(), 8192, 0)) == 8192
        with pytest.raises(OSError) as lost:
            os.pread(file.fileno(), 8, 8192 + 4096)
        assert lost.value.errno == errno.EIO
        assert len(os.pread(file.fileno(), 8192, 2 * 8192)) == 8192
    assert re.search(rf"t/x.f8: .* \(at byte \d+ of \.files/{re.escape(name)}\)", m.errors())


def test_a_changed_file_is_stale(tmp_path, mount):
    paths = two(tmp_path, {}, {})
    m = mount(paths, "chain")
    column = os.path.join(m.path, "t", "same.i4")
    assert values(column) == [1, 2, 3, 4, 5, 6]
    put(tmp_path / "new.root", t={"same": np.array([70, 80], "i4")})
    os.rename(tmp_path / "new.root", paths[1])
    becomes(column, [1, 2, 3, 70, 80])


def test_new_files_of_a_directory_join_at_the_end(tmp_path, mount):
    paths = two(tmp_path, {}, {})
    (tmp_path / "notes.txt").write_text("no ROOT file")
    m = mount(tmp_path, "chain")
    column = os.path.join(m.path, "t", "same.i4")
    assert values(column) == [1, 2, 3, 4, 5, 6]
    with open(column, "rb", buffering=0) as before:
        shutil.copy(paths[0], tmp_path / "a.root.new")
        os.rename(tmp_path / "a.root.new", tmp_path / "a.root")  # before the others by name
        becomes(column, [1, 2, 3, 4, 5, 6, 1, 2, 3])
        assert np.frombuffer(before.read(), "<i4").tolist() == [1, 2, 3, 4, 5, 6]


def test_what_cannot_join_takes_nothing_away(tmp_path, mount):
    """A file that is written just now, and one without the chain's table. The first joins when it is whole."""
    paths = two(tmp_path, {}, {})
    m = mount(tmp_path, "chain")
    column = os.path.join(m.path, "t", "same.i4")
    assert values(column) == [1, 2, 3, 4, 5, 6]
    whole = open(paths[0], "rb").read()
    (tmp_path / "half.root").write_bytes(whole[:100])
    put(tmp_path / "other.root", u={"same": np.array([9], "i4")})
    deadline = time.monotonic() + 60
    while m.errors().count("not added to the chain") < 2 and time.monotonic() < deadline:
        assert values(column) == [1, 2, 3, 4, 5, 6]
        assert os.listdir(m.path) == ["t"]
    assert "half.root: not added to the chain" in m.errors()
    assert "other.root: not added to the chain: it has no table t" in m.errors()
    (tmp_path / "half.root").write_bytes(whole)
    becomes(column, [1, 2, 3, 4, 5, 6, 1, 2, 3])


def test_a_growing_file(tmp_path, mount, appender):
    """A job fills one of the files: each opening shows what was saved by then, and the files behind it stay right."""
    numbers = column_streams.Numbers(1, "i4")
    x = column_streams.Column("x", [], ("x.i4", numbers))
    paths = [str(tmp_path / f"f{number}.root") for number in range(3)]
    for number, path in enumerate(paths):
        appender.append(path, "t", [x], 100 * number, 100 * number + 50)
    entries = lambda ends: [value for number, end in enumerate(ends) for value in numbers.items(100 * number, end).tolist()]
    m = mount(paths, "chain")
    column = os.path.join(m.path, "t", "x.i4")
    assert values(column) == entries([50, 150, 250])
    with open(column, "rb", buffering=0) as before:
        appender.append(paths[1], "t", [x], 150, 170)
        becomes(column, entries([50, 170, 250]))
        assert os.pread(before.fileno(), 200, 0) == np.array(entries([50]), "<i4").tobytes()
    appender.append(paths[1], "t", [x], 170, 199)
    becomes(column, entries([50, 199, 250]))


def test_names(tmp_path, mount):
    directory = tmp_path / "data"
    directory.mkdir()
    first, second = two(directory, {}, {})
    put(directory / "other:t.root", u={"same": np.array([9], "i4")})
    odd = str(directory / "other:t.root")
    strange = str(directory / "a b#c\n?.root")
    shutil.copy(second, strange)
    marked = str(directory / "a?#t.root")
    for name in ("a?#t.root", "@at.root", "[x].root", "a #b.root"):
        shutil.copy(second, directory / name)
    quoted = tmp_path / "quoted.txt"
    quoted.write_text("data/a #b.root  # a comment\ndata/a #b.root\n")
    listed = tmp_path / "all.txt"
    listed.write_text("# two files\ndata/f0.root\n\n  data/f1.root:t  \n")
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "outer.txt").write_text("@../all.txt\n")
    both, three = [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6, 9]
    for sources, table, wanted in (
        ([f"{directory}/f*.root"], "t", both),
        ([f"{directory}/f{{1,0}}.root"], "t", both),
        ([f"{tmp_path}/**/f?.root"], "t", both),
        ([f"{tmp_path}/d*/**/f?.root:t"], "t", both),
        ([f"@{listed}"], "t", both),
        ([f"@{tmp_path}/lists/outer.txt"], "t", both),
        ([f"{first}:t", f"{second}:t"], "t", both),
        ([f"{first}?#t", f"{second}/t"], "t", both),
        ([f"{first}:t", f"{second}:t", f"{odd}:u"], "t", three),
        ([odd], "u", [9]),
        ([first, first], "t", [1, 2, 3, 1, 2, 3]),
        ([strange, first], "t", both[3:] + both[:3]),
        ([f"{strange}:t", f"{first}?#t"], "t", both[3:] + both[:3]),
        ([marked, first], "t", both[3:] + both[:3]),
        ([f"{marked}?#t", f"{marked}:t"], "t", both[3:] * 2),
        ([f"{marked}/t", f"@{quoted}"], "t", both[3:] * 3),
        ([f"{directory}/@at.root", f"{directory}/[x].root"], "t", both[3:] * 2),
    ):
        with mounted.Mounted(sources, ["chain"]) as m:
            assert os.listdir(m.path) == [table], sources
            assert values(os.path.join(m.path, table, "same.i4")) == wanted, sources
    for sources in ([f"{directory}/none*.root"], [str(tmp_path / "missing.root")], [f"{first}:nothing"],
                    ["@/dev/zero"]):
        with pytest.raises(mounted.MountFailed) as refused:
            mount(sources, "chain")
        assert refused.value.status == 1


def test_tables_in_directories(tmp_path, mount):
    paths = []
    for number in range(2):
        paths.append(str(tmp_path / f"f{number}.root"))
        put(paths[-1], deep__er__t={"x": np.array([number], "i4")}, u={"y": np.array([number], "i4")})
    m = mount(paths, "chain")
    assert sorted(os.listdir(m.path)) == ["deep", "u"]
    assert os.listdir(os.path.join(m.path, "deep", "er")) == ["t"]
    assert values(os.path.join(m.path, "deep", "er", "t", "x.i4")) == [0, 1]
    assert json.loads(mounted_table.read_exactly(os.path.join(m.path, "u.jsonl")).splitlines()[1]) == {"y": 1}


def test_wrong_use(program, tmp_path):
    for arguments in (["a", "b", str(tmp_path)], ["-o", "chain=some", "a", str(tmp_path)], ["-o", "missing=skip", "a", str(tmp_path)]):
        assert subprocess.run([program, *arguments], capture_output=True).returncode == 2


def test_chains_of_directories(tmp_path, mount):
    (tmp_path / "2018").mkdir()
    paths = two(tmp_path / "2018", {}, {})
    (tmp_path / "2018" / "notes.txt").write_text("no ROOT file")
    m = mount(tmp_path)
    directory = os.path.join(m.path, "2018")
    assert values(os.path.join(directory, ".chain", "t", "same.i4")) == [1, 2, 3, 4, 5, 6]
    assert values(os.path.join(directory, ".chain=f[1-9].root", "t", "same.i4")) == [4, 5, 6]
    assert values(os.path.join(directory, ".chain={f0,x}.root", "t", "same.i4")) == [1, 2, 3]
    assert sorted(os.listdir(directory)) == ["f0.root", "f1.root", "notes.txt"]
    assert not os.path.exists(os.path.join(directory, ".chain=none*", "t"))
    assert not os.path.exists(os.path.join(directory, "f0.root", ".chain"))
    shutil.copy(paths[0], tmp_path / "2018" / "later.root")
    becomes(os.path.join(directory, ".chain", "t", "same.i4"), [1, 2, 3, 4, 5, 6, 1, 2, 3])


def files_memory(m):
    """Bytes that open files take."""
    with open(os.path.join(m.path, ".tfilefs", "stats.json")) as stats:
        return json.load(stats)["metadata"]["files"]


def written_at(path):
    """Of which file, and when: the time of reading it is another matter."""
    stat = os.stat(path)
    return stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns


def test_index(files, tmp_path, mount):
    index = str(tmp_path / "index")
    with mounted.Mounted(files, [f"chain,index={index}"]) as m:
        lengths = os.stat(os.path.join(m.path, "t", "j", "values.f4")).st_size
        os.stat(os.path.join(m.path, "t", "s", "chars.u1"))
        wanted = mounted_table.read_exactly(os.path.join(m.path, "t", "s", "chars.u1"))
    assert os.path.getsize(index) > 0
    before = written_at(index)
    with mounted.Mounted(files, [f"chain,index={index}"]) as m:
        pass
    assert written_at(index) == before, "it was written although nothing was learned"
    with mounted.Mounted(files, [f"chain,index={index}"]) as m:
        assert files_memory(m) == 0, "a file was opened"
        assert os.stat(os.path.join(m.path, "t", "j", "values.f4")).st_size == lengths
        assert files_memory(m) == 0, "a file was opened for a size that is known"
        assert mounted_table.read_exactly(os.path.join(m.path, "t", "s", "chars.u1")) == wanted
    damaged = bytearray(open(index, "rb").read())
    damaged[len(damaged) // 2] ^= 1
    open(index, "wb").write(damaged)
    with mounted.Mounted(files, [f"chain,index={index}"]) as m:
        assert "index" in m.errors()
        assert os.stat(os.path.join(m.path, "t", "j", "values.f4")).st_size == lengths


def test_a_changed_file_is_read_in_spite_of_the_index(tmp_path, mount):
    paths = two(tmp_path, {}, {})
    index = str(tmp_path / "index")
    with mounted.Mounted(paths, [f"chain,index={index}"]) as m:
        assert values(os.path.join(m.path, "t", "same.i4")) == [1, 2, 3, 4, 5, 6]
    put(paths[0], t={"same": np.array([70, 80], "i4")})
    with mounted.Mounted(paths, [f"chain,index={index}"]) as m:
        assert values(os.path.join(m.path, "t", "same.i4")) == [70, 80, 4, 5, 6]


def test_datasets(tmp_path, mount):
    import gzip

    first, second = two(tmp_path, {}, {})
    with uproot.open(first) as file:
        uuid = str(file.file.uuid)
    spec = {"samples": {"signal": {"trees": ["t"], "files": ["f0.root", "f1.root"], "metadata": {"xsec": 1.5, "kind": "mc"}},
                        "data": {"trees": ["t"], "files": [second], "metadata": {}}}}
    coffea = {"signal": {"files": {first: {"object_path": "t", "steps": [[0, 3]], "num_entries": 3, "uuid": uuid}, second: "t"},
                         "metadata": {"xsec": 1.5, "kind": "mc"}},
              "data": {"files": {second: {"object_path": "t", "num_entries": 4, "uuid": uuid}}}}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    with gzip.open(tmp_path / "coffea.json.gz", "wt") as file:
        json.dump(coffea, file)
    for name in ("spec.json", "coffea.json.gz"):
        m = mount([f"@{tmp_path / name}"], "chain")
        assert sorted(os.listdir(m.path)) == ["data", "signal"]
        signal = os.path.join(m.path, "signal")
        assert values(os.path.join(signal, "t", "same.i4")) == [1, 2, 3, 4, 5, 6]
        assert values(os.path.join(m.path, "data", "t", "same.i4")) == [4, 5, 6]
        assert os.getxattr(signal, "user.tfilefs.meta.xsec") == b"1.5" and os.getxattr(signal, "user.tfilefs.meta.kind") == b"mc"
        assert json.loads(mounted_table.read_exactly(os.path.join(signal, ".dataset.json"))) == {"xsec": 1.5, "kind": "mc"}
        if name.startswith("coffea"):
            assert "3 entries, not 4" in m.errors() and "UUID" in m.errors()
    for _ in range(2):  # what an index says of a file is compared with the dataset as well
        with mounted.Mounted([f"@{tmp_path / 'coffea.json.gz'}"], [f"chain,index={tmp_path / 'index'}"]) as m:
            assert "3 entries, not 4" in m.errors() and "UUID" in m.errors()
    assert os.path.exists(tmp_path / "index-data")


@pytest.mark.parametrize("text, said", [("{", "line 1"), ("[1]", "samples"), ('{"samples": {"a": {"files": "f"}}}', "samples/a/files"),
                                        ('{"a":\n {"files": {"f.root": {"steps": []}}}}', "a/files/f.root/object_path"),
                                        ('{"a": {"files": {"f.root": {"object_path": "t", "num_entries": -1}}}}', "f.root/num_entries"),
                                        ('{"a": {"files": {"f.root": {"object_path": "t", "num_entries": 9223372036854775808}}}}', "num_entries"),
                                        ('{"a": {"files": []}}', "a/files"),
                                        ('{"samples": {"a": {"trees": ["x", "y"], "files": ["f"]}}}', "samples/a/trees"),
                                        ('{"a": {"files": ["f.root"], "metadata": 3}}', "a/metadata"), ("", "line 1"), ('{"samples": {}}', "samples"),
                                        ('{"a": {"files": ["f.root"], "metadata": {"x": ' + "[" * 200_000 + "]" * 200_000 + "}}}", "deep")],
                         ids=lambda value: value[:60])
def test_broken_datasets(text, said, tmp_path, mount):
    (tmp_path / "d.json").write_text(text)
    with pytest.raises(mounted.MountFailed) as refused:
        mount([f"@{tmp_path / 'd.json'}"], "chain")
    assert said in refused.value.message and "d.json" in refused.value.message


def test_more_files_than_descriptors(tmp_path, mount):
    import awkward

    first = tmp_path / "f0000.root"
    put(first, t={"same": np.arange(3, dtype="i4"), "pt": awkward.values_astype(awkward.Array([[0.5], [], [1.5, 2.5]]), "f4")})
    for number in range(1, 2000):
        os.link(first, tmp_path / f"f{number:04d}.root")
    m = mount([tmp_path], "chain", prefix=["prlimit", "--nofile=1024:1024"])
    table = os.path.join(m.path, "t")
    read = lambda dtype, *names: np.frombuffer(mounted_table.read_exactly(os.path.join(table, *names)), dtype).tolist()
    assert read("<i4", "same.i4") == [0, 1, 2] * 2000
    assert read("<u4", ".file.u4") == [i for i in range(2000) for _ in range(3)]
    assert read("<f4", "pt", "values.f4") == [0.5, 1.5, 2.5] * 2000
    assert len(os.listdir(f"/proc/{m.process.pid}/fd")) < 1024


@pytest.mark.parametrize("seed", range(3))
def test_files_cut_at_random_places(seed, tmp_path, mount):
    """A chain of pieces of a file is the file."""
    import awkward
    import pyarrow.feather
    import pyarrow.parquet

    random = np.random.default_rng(seed)
    entries = int(random.integers(50, 5000))
    cuts = [0, *sorted(int(c) for c in random.integers(0, entries + 1, random.integers(1, 9))), entries]
    numbers = random.normal(size=entries)
    lengths = random.integers(0, 5, entries)
    lists = awkward.unflatten(random.integers(-9, 9, lengths.sum()).astype("i2"), lengths)
    texts = awkward.Array(["x" * int(n) for n in random.integers(0, 30, entries)])
    shape = random.normal(size=(entries, 2, 3)).astype("f4")
    columns = {"n": numbers, "l": lists, "s": texts, "m": shape}
    put(tmp_path / "whole.root", t=columns)
    pieces = []
    for number, (begin, end) in enumerate(zip(cuts, cuts[1:])):
        pieces.append(str(tmp_path / f"piece{number:03d}.root"))
        put(pieces[-1], t={name: column[begin:end] for name, column in columns.items()})
    chain, whole = mount(pieces, "chain").path, mount(tmp_path / "whole.root").path
    assert subprocess.run(["diff", "-r", os.path.join(chain, "t"), os.path.join(whole, "t")]).returncode == 0
    assert pyarrow.feather.read_table(os.path.join(chain, "t.arrow")).equals(pyarrow.feather.read_table(os.path.join(whole, "t.arrow")))
    assert pyarrow.parquet.read_table(os.path.join(chain, "t.parquet")).equals(pyarrow.parquet.read_table(os.path.join(whole, "t.parquet")))
    for view in ("t.csv", "t.jsonl", "t/l.txt", "t/n.npy"):
        assert mounted_table.read_exactly(os.path.join(chain, view)) == mounted_table.read_exactly(os.path.join(whole, view)), view
    assert not test_awkward.compare(os.path.join(chain, "t"))


def test_remote_files(files, tmp_path, mount, shared_mount):
    for path in files:
        shutil.copy(path, tmp_path)
        os.utime(tmp_path / os.path.basename(path), (1_700_000_000, 1_700_000_000))
    with http_server.Nginx(tmp_path, settings="location /listed/ { alias %s/; autoindex on; autoindex_format json; }" % tmp_path) as server:
        names = [os.path.basename(path) for path in files]
        tables = singles(shared_mount, files)
        for sources in ([server.url(name) for name in names], [server.url(names[0]), *files[1:]], [server.url("listed/")],
                        [server.url("listed/run*.root") + ":t"]):
            with mounted.Mounted(sources, ["chain"]) as m:
                assert_is_concatenation(os.path.join(m.path, "t"), tables)
        with mounted.Mounted(server.url("listed/")) as m:
            assert_is_concatenation(os.path.join(m.path, ".chain=run[0-4].root", "t"), tables)
        for name in names:
            os.makedirs(tmp_path / "tree" / "deep", exist_ok=True)
            os.rename(tmp_path / name, tmp_path / "tree" / ("" if name == names[0] else "deep") / name)
        for source in ("listed/**/run*.root:t", "listed/t*/**"):
            with mounted.Mounted(server.url(source), ["chain"]) as m:
                told = json.loads(mounted_table.read_exactly(os.path.join(m.path, ".chain.json")))
                assert [os.path.basename(file["name"]) for file in told["files"]] == [*names[1:], names[0]]


def remote_values(column, timeout=5):
    told = remote_files.read(column, timeout)
    return told if isinstance(told, str) else np.frombuffer(told, "<i4").tolist()


def remote_chain(servers, tmp_path):
    """Three files of 100,000 entries, of which the second is at another server; and their values."""
    numbers = [np.random.default_rng(number).integers(0, 1 << 30, 100_000).astype("i4") for number in range(3)]
    urls = []
    for number, server in zip(range(3), (servers[0], servers[1], servers[0])):
        put(tmp_path / f"f{number}.root", t={"x": numbers[number]})
        urls.append(server.put(tmp_path / f"f{number}.root"))
    return urls, numbers


@pytest.mark.parametrize("kind", [http_server.Directory, xrootd_server.XrootdServer])
def test_a_server_that_ends_while_its_file_is_read(kind, tmp_path):
    """Its entries cannot be read, those of the others can; when it is there again, all can."""
    with kind() as first, kind() as second:
        urls, numbers = remote_chain((first, second), tmp_path)
        with mounted.Mounted(urls, ["chain,prefetch=off,timeout=2,recheck=0"]) as m:
            column = os.path.join(m.path, "t", "x.i4")
            os.stat(column)
            with open(column, "rb", buffering=0) as file:
                part = lambda number: remote_files.becomes(True, lambda: read_part(file, numbers, number), 15)
                assert part(0) is True
                second.stop()
                begun = time.monotonic()
                assert read_part(file, numbers, 1) in (errno.EIO, errno.ETIMEDOUT)
                assert time.monotonic() - begun < 2 + remote_files.SLOW
                assert read_part(file, numbers, 2) is True
                second.start()
                assert part(1) is True


def read_part(file, numbers, number):
    """Whether what lies in the middle of a file's entries is right; or the errno."""
    try:
        return os.pread(file.fileno(), 4096, 400_000 * number + 200_000) == numbers[number][50_000:51_024].tobytes()
    except OSError as error:
        return error.errno


@pytest.mark.parametrize("kind", [http_server.Directory, xrootd_server.XrootdServer])
def test_a_remote_file_that_is_replaced(kind, tmp_path):
    with kind() as server:
        urls, numbers = remote_chain((server, server), tmp_path)
        index = tmp_path / "index"
        with mounted.Mounted(urls, [f"chain,prefetch=off,recheck=0,index={index}"]) as m:
            column = os.path.join(m.path, "t", "x.i4")
            with open(column, "rb", buffering=0) as before:
                assert read_part(before, numbers, 1) is True
                put(tmp_path / "f1.root", t={"x": np.array([70, 80], "i4")})
                server.put(tmp_path / "f1.root")
                wanted = [*numbers[0], 70, 80, *numbers[2]]
                assert remote_files.becomes(wanted, lambda: remote_values(column), 10) == wanted
                assert read_part(before, numbers, 2) is True
                os.posix_fadvise(before.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)  # the kernel may have its old pages
                with pytest.raises(OSError) as changed:
                    os.pread(before.fileno(), 4096, 400_000 + 100_000)
                assert changed.value.errno == errno.ESTALE
        # A later mount opens no file, and asks of each whether it is the same.
        with mounted.Mounted(urls, [f"chain,index={index}"]) as m:
            column = os.path.join(m.path, "t", "x.i4")
            assert os.path.getsize(column) == 800_008 and files_memory(m) == 0
            assert remote_values(column) == wanted
        put(tmp_path / "f0.root", t={"x": np.array([7], "i4")})
        server.put(tmp_path / "f0.root")
        with mounted.Mounted(urls, [f"chain,index={index}"]) as m:
            assert remote_values(os.path.join(m.path, "t", "x.i4")) == [7, 70, 80, *numbers[2]]


def test_remote_files_are_asked_for_little(tmp_path, mount):
    """What opening, listing and reading a column asks of the server does not grow with what else the files have."""
    put(tmp_path / "f00.root", t={f"x{number}": np.arange(3, dtype="i4") for number in range(50)})
    for number in range(1, 20):
        os.link(tmp_path / "f00.root", tmp_path / f"f{number:02d}.root")
    os.utime(tmp_path / "f00.root", (1_700_000_000, 1_700_000_000))
    with http_server.Nginx(tmp_path) as server:
        with mounted.Mounted([server.url(f"f{number:02d}.root") for number in range(20)], ["chain"]) as m:
            assert len(os.listdir(os.path.join(m.path, "t"))) == 50
            assert np.fromfile(os.path.join(m.path, "t", "x7.i4"), "<i4").tolist() == [0, 1, 2] * 20
        assert len(server.requests()) <= 20 * 5


# ---- branches as ROOT made them long ago


def test_lists_that_a_branch_of_their_own_counts(samples, shared_mount):
    """TBranchClones: as in the files one by one, and as ROOT reads them. The counts are the offsets, and no items."""
    directory = samples("old_branches")
    paths = [os.path.join(directory, name) for name in ("without.root", "later.root")]
    table = os.path.join(shared_mount(tuple(paths), "chain").path, "T")
    assert_is_concatenation(table, singles(shared_mount, paths, "T"))
    lists = os.path.join(table, "event", "lines")
    with open(os.path.join(directory, "read.json")) as file:
        read = json.load(file)
    assert np.diff(np.fromfile(os.path.join(lists, "offsets.i8"), "<i8")).tolist() == [len(lines) for lines in read]
    assert "lines_.i4" not in os.listdir(os.path.join(lists, "values"))
    for at, name in enumerate(("fX1.f8", "fY1.f8", "fX2.f8", "fLineWidth.i2")):
        values = mounted_table.read_exactly(os.path.join(lists, "values", name))
        assert np.frombuffer(values, "<" + name[-2:]).tolist() == [line[at] for lines in read for line in lines], name
