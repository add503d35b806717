# SPDX-License-Identifier: Apache-2.0
"""Friends: other tables whose entries belong to those of a table, compared with ROOT and with the friends' own files."""

import errno
import json
import os
import shutil
import struct
import subprocess

import numpy as np
import pytest

import columnar
import http_server
import mounted
import mounted_table
import test_awkward
import root_process
from test_chains import becomes, put, values, write


@pytest.fixture(scope="module")
def made(samples):
    return samples("friends")


@pytest.fixture(scope="module")
def expected(made):
    with open(os.path.join(made, "expected.json")) as file:
        return json.load(file)


@pytest.fixture(scope="module")
def table(made, shared_mount):
    return os.path.join(shared_mount(os.path.join(made, "main.root")).path, "t")


def friend(table, alias):
    return os.path.join(table, ".friends", alias)


def own(made, shared_mount, file, name):
    """The friend as its own file has it."""
    return os.path.join(shared_mount(os.path.join(made, file)).path, name)


def column(path):
    return np.asarray(mounted_table.read_array(path))


def optional(path):
    """Values, or None, of a column of a friend by key."""
    table, name = os.path.split(path)
    return mounted_table.read_node(table, name, nullable=mounted_table.nullable_nodes(table))


def flat(values):
    return [float(item) for value in values for item in (flat(value) if isinstance(value, (list, tuple)) else [value])]


# ---- friends that a tree names


def test_they_are_found_and_listed(table):
    assert sorted(os.listdir(os.path.join(table, ".friends"))) == ["computed", "inside", "keyed", "long", "other", "same", "short"]
    assert ".friends" not in os.listdir(table)
    schema = json.loads(mounted_table.read_exactly(os.path.join(table, ".schema.json")))
    assert {"alias": "same", "table": "same_size", "file": "beside.root"} in schema["friends"]
    with pytest.raises(FileNotFoundError):
        os.listdir(friend(table, "nobody"))


def test_by_position(table, made, expected, shared_mount):
    for alias, file, name in (("same", "beside.root", "same_size"), ("inside", "main.root", "inside")):
        of, alone = friend(table, alias), own(made, shared_mount, file, name)
        assert sorted(os.listdir(of)) == sorted(os.listdir(alone))
        for node in os.listdir(alone):
            mounted_table.assert_same(mounted_table.read_node(of, node), mounted_table.read_node(alone, node), node)
        mounted_table.assert_schema_matches_files(of)
    same = friend(table, "same")
    assert column(os.path.join(same, "y.f8")).tolist() == expected["same.y"]
    assert flat(values(os.path.join(same, "vector"))) == expected["same.vector"]
    assert flat(values(os.path.join(friend(table, "inside"), "three.f4x3"))) == expected["inside.three"]
    assert (column(os.path.join(table, "x.f4")) + column(os.path.join(same, "y.f8"))).tolist() == expected["x + same.y"]


def test_shorter_and_longer(table, made, expected, shared_mount):
    import pyarrow.feather

    short, long = friend(table, "short"), friend(table, "long")
    assert len(column(os.path.join(short, "y.f8"))) == 40
    alone = own(made, shared_mount, "beside.root", "long")
    for node in os.listdir(alone):
        mounted_table.assert_same(mounted_table.read_node(long, node), mounted_table.read_node(alone, node)[:300], node)
    mounted_table.assert_schema_matches_files(long)
    assert column(os.path.join(long, "y.f8")).tolist() == expected["long.y"]
    assert pyarrow.feather.read_table(short + ".arrow")["y"].to_pylist() == [n + 0.25 for n in range(40)] + [None] * 260


def test_a_stored_index(table, made, expected, shared_mount):
    keyed, alone = friend(table, "keyed"), own(made, shared_mount, "keyed.root", "keyed")
    match = column(os.path.join(keyed, ".match.i8")).tolist()
    assert match == expected["match"] and -1 in match
    assert ".match.i8" not in os.listdir(keyed)
    for node in os.listdir(alone):
        one = mounted_table.read_node(alone, node)
        name = node if os.path.isdir(os.path.join(alone, node)) else node.rsplit(".", 1)[0]
        mounted_table.assert_same(optional(os.path.join(keyed, name)), [one[n] if n >= 0 else None for n in match], node)
    mounted_table.assert_schema_matches_files(keyed)
    for name in ("y", "three", "vector", "nested"):
        found = [value for value in optional(os.path.join(keyed, name)) if value is not None]
        assert flat(found) == expected["keyed." + name], name


def test_a_stored_index_by_expressions(table, expected):
    computed = friend(table, "computed")
    match = column(os.path.join(computed, ".match.i8")).tolist()
    assert match == expected["computed"] and -1 in match and max(match) > 0
    assert [value for value in optional(os.path.join(computed, "y")) if value is not None] == expected["computed.y"]


def test_an_index_by_what_the_table_lacks(table, expected):
    """ROOT then goes by position."""
    assert column(os.path.join(friend(table, "other"), "y.f8")).tolist() == expected["other.y"]


@pytest.mark.parametrize("alias", ["keyed", "long", "same", "short"])
def test_views(table, alias):
    import duckdb
    import pyarrow.feather
    import pyarrow.parquet

    of = friend(table, alias)
    arrow = pyarrow.feather.read_table(of + ".arrow")
    assert arrow.num_rows == 300
    assert pyarrow.parquet.read_table(of + ".parquet").to_pydict() == arrow.to_pydict()
    lines = [json.loads(line) for line in mounted_table.read_exactly(of + ".jsonl").splitlines()]
    assert [line["y"] for line in lines] == arrow["y"].to_pylist()
    assert [line["vector"] for line in lines] == arrow["vector"].to_pylist()
    assert duckdb.sql(f"select count(y) from '{of}.parquet'").fetchall()[0][0] == sum(y is not None for y in arrow["y"].to_pylist())
    assert len(mounted_table.read_exactly(os.path.join(of, "text.txt")).splitlines()) == (40 if alias == "short" else 300)
    if alias != "short":
        assert not test_awkward.compare(of)


def test_columns_beside_the_tables_own(table):
    assert mounted_table.read_exactly(os.path.join(table, "same.y.f8")) == mounted_table.read_exactly(
        os.path.join(friend(table, "same"), "y.f8"))
    assert os.path.getsize(os.path.join(table, "same.y")) == 300 * 8
    assert np.load(os.path.join(table, "same.three.npy"), mmap_mode="r").shape == (300, 3)
    assert sorted(os.listdir(os.path.join(table, "keyed.vector"))) == ["offsets.i8", "values"]
    assert not any("." in name and name.split(".")[0] == "same" for name in os.listdir(table))
    for name in ("same.nothing", "same.", "nobody.y", "same..schema.json"):
        assert not os.path.exists(os.path.join(table, name)), name


# ---- their columns in expressions


@pytest.mark.parametrize("cut, chosen", [
    ("same.y>250 && x<280", lambda x, match: x > 249 if x < 280 else False),
    ("keyed.y>=0", lambda x, match: match >= 0),
    ("keyed.y>100 && `same`.y<200", lambda x, match: match >= 100 and x < 200),
    ("short.y>30", lambda x, match: 30 <= x < 40),
])
def test_entries_that_they_choose(table, expected, cut, chosen):
    match = expected["match"]
    wanted = [x for x in range(300) if chosen(x, match[x])]
    assert 0 < len(wanted) < 300
    found = os.path.join(table, ".where=" + cut)
    assert sorted(os.listdir(found)) == sorted(os.listdir(table))
    assert column(os.path.join(found, "x.f4")).tolist() == wanted


def test_what_is_drawn_and_defined_of_them(made, expected, mount):
    options = ["define=t:sum=x+same.y", "define=t:both=x*keyed.y", "define=t:more=2*sum"]
    table = os.path.join(mount(os.path.join(made, "main.root"), *options).path, "t")
    assert column(os.path.join(table, "sum.f8")).tolist() == expected["x + same.y"]
    assert column(os.path.join(table, "more.f8")).tolist() == [2 * value for value in expected["x + same.y"]]
    assert [len(each) for each in values(os.path.join(table, "both"))] == [int(n >= 0) for n in expected["match"]]
    drawn = column(os.path.join(table, ".draw=same.y;keyed.y>0;30;0:300", "values.f8"))
    assert drawn.sum() == sum(n >= 0 for n in expected["match"])


def test_where_of_a_mount_names_them(made, expected, mount):
    table = os.path.join(mount(os.path.join(made, "main.root"), "where=t:keyed.y>=0").path, "t")
    assert column(os.path.join(table, "x.f4")).tolist() == [x for x, n in enumerate(expected["match"]) if n >= 0]


# Of the table's own columns, of a friend by key, of one by position.
CHOICES = ["x<280", "keyed.y>=0", "same.y>100"]


def chosen_entries(expected, count):
    """Those that pass so many of CHOICES."""
    return [x for x, match in enumerate(expected["match"])
            if x < 280 and (count < 2 or match >= 0) and (count < 3 or x > 99)]


def test_several_choices_name_them(made, expected, table, mount):
    """Each is of the entries that those before it have left; the friends' columns go with them."""
    found, options = table, []
    for i, choice in enumerate(CHOICES, 1):
        found, options = os.path.join(found, ".where=" + choice), [*options, "where=t:" + choice]
        wanted = chosen_entries(expected, i)
        assert 50 < len(wanted) < 300
        assert column(os.path.join(found, "x.f4")).tolist() == wanted
        drawn = column(os.path.join(found, ".draw=x-same.y;keyed.y>=0;3;-1:1", "values.f8"))
        assert drawn.tolist() == [0, sum(expected["match"][x] >= 0 for x in wanted), 0]
        whole = os.path.join(mount(os.path.join(made, "main.root"), *options, f"define=t:mine{i}=same.y-x").path, "t")
        assert column(os.path.join(whole, "x.f4")).tolist() == wanted
        assert set(column(os.path.join(whole, f"mine{i}.f8"))) == {0.25}
        assert column(os.path.join(whole, ".where=same.y>200 && x<250", "x.f4")).tolist() == [x for x in wanted if 199 < x < 250]
        short = os.path.join(whole, ".where=x<38", ".where=short.y>10")  # the friend has 40 entries
        assert column(os.path.join(short, "x.f4")).tolist() == [x for x in wanted if 10 <= x < 38]


def test_several_choices_name_them_in_a_chain(made, mount):
    table = os.path.join(mount(os.path.join(made, "part*.root:t"), "chain").path, "t")
    by_key = column(os.path.join(table, ".where=keyed.y>=0", "y.f8"))
    both = column(os.path.join(table, ".where=keyed.y>=0", ".where=same_size.y>1000", "y.f8"))
    assert both.tolist() == [y for y in by_key if y > 1000] and 0 < both.size < by_key.size


def test_their_columns_without_the_alias(made, expected, table, mount):
    """Of several friends the first has it, and the table comes before all."""
    by_key = [x for x, match in enumerate(expected["match"]) if match >= 0]
    assert column(os.path.join(table, ".where=y>=0", "x.f4")).tolist() == by_key
    assert column(os.path.join(table, ".where=Length$(vector)>=0 && x<50", ".where=y>=0", "x.f4")).tolist() == [x for x in by_key if x < 50]
    m = mount(os.path.join(made, "main.root"), "define=t:twice=2*y", "define=t:more=twice-2*keyed.y", "define=t:lost=yyy+1")
    assert set(flat(values(os.path.join(m.path, "t", "more")))) == {0}
    assert "/t/lost: in the definition of lost: there is no yyy" in m.errors()


def test_they_are_named_in_a_chain(made, expected, mount):
    table = os.path.join(mount(os.path.join(made, "part*.root:t"), "chain", "define=t:mine=same_size.y-y").path, "t")
    assert set(column(os.path.join(table, "mine.f8"))) == {0}
    assert column(os.path.join(table, ".where=keyed.y>=0", "y.f8")).size == len(expected["chain.keyed.y"])


def test_a_friend_that_cannot_be_joined_is_named(made, tmp_path, mount):
    shutil.copy(os.path.join(made, "main.root"), tmp_path / "main.root")
    m = mount(str(tmp_path / "main.root"), "define=t:sum=x+same.y")
    table = os.path.join(m.path, "t")
    with pytest.raises(OSError) as refused:
        os.listdir(os.path.join(table, ".where=same.y>1"))
    assert refused.value.errno == errno.EINVAL
    assert not os.path.exists(os.path.join(table, "sum.f8"))
    why = "the friend same cannot be joined: "
    assert f"/t/.where=same.y>1: {why}" in m.errors() and f"/t/sum: in the definition of sum: {why}" in m.errors()
    draw = [mounted.program(), "draw", "-q", f"{tmp_path}/main.root:t", "same.y"]
    done = subprocess.run(draw, capture_output=True, text=True)
    assert done.returncode == 1 and why in done.stderr and "beside.root" in done.stderr
    shutil.copy(os.path.join(made, "beside.root"), tmp_path)
    mounted.wait_until(lambda: os.path.exists(os.path.join(table, ".where=same.y>1")))
    assert subprocess.run(draw, capture_output=True).returncode == 0


def test_random_reads(table):
    random = np.random.default_rng(2)
    for path in ("keyed/y/values.f8", "keyed/y/offsets.i8", "keyed/vector/values/offsets.i8", "keyed/vector/values/values.f4",
                 "keyed/nested/values/values/values.i4", "keyed/text/values/chars.u1", "keyed/.match.i8", "long/nested/values/offsets.i8",
                 "long/nested/values/values.i4", "long/text/chars.u1", "keyed/three/values.f4x3"):
        mounted_table.assert_random_reads(os.path.join(table, ".friends", path), random, 20, 2000)


def test_friends_of_each_other(made, shared_mount):
    """A friend has no friends of its own, so a cycle ends."""
    for name, other in (("a", "b"), ("b", "a")):
        table = os.path.join(shared_mount(os.path.join(made, name + ".root")).path, name)
        assert len(column(os.path.join(friend(table, other), "y.f8"))) == 10
        assert not os.path.exists(os.path.join(friend(table, other), ".friends"))


def test_friends_of_a_chain(made, expected, tmp_path, mount):
    """They are the friends of its files, each beside the entries of its own file."""
    parts, index = [os.path.join(made, f"part{number}.root") for number in range(3)], tmp_path / "index"
    for _ in range(2):
        with mounted.Mounted(parts, [f"chain,index={index}"]) as m:
            table, files = os.path.join(m.path, "t"), os.path.join(m.path, ".files")
            singles = [os.path.join(files, name, "t") for name in sorted(os.listdir(files))]
            assert sorted(os.listdir(os.path.join(table, ".friends"))) == ["inside", "keyed", "long", "same_size", "short"]
            assert "alone is left out: only 1 of 3" in m.errors()
            for alias in ("inside", "long", "same_size"):
                for node in os.listdir(friend(singles[0], alias)):
                    own = [value for single in singles for value in mounted_table.read_node(friend(single, alias), node)]
                    mounted_table.assert_same(mounted_table.read_node(friend(table, alias), node), own, node)
                assert not test_awkward.compare(friend(table, alias))
            for alias in ("keyed", "short"):
                assert_as_its_files(friend(table, alias), [friend(single, alias) for single in singles], (60, 2, 90))
            for name in ("same_size.y", "same_size.vector", "long.y", "inside.y", "keyed.y"):
                alias, node = name.split(".")
                found = [value for value in optional(os.path.join(friend(table, alias), node)) if value is not None]
                assert flat(found) == expected["chain." + name], name
            assert column(os.path.join(table, "same_size.y.f8")).tolist() == expected["chain.same_size.y"]


def test_friends_of_a_remote_chain(made, expected):
    with http_server.Nginx(made) as server:
        with mounted.Mounted([server.url(f"part{number}.root") for number in range(3)], ["chain"]) as m:
            table = os.path.join(m.path, "t")
            for alias in ("same_size", "inside", "long"):
                assert column(os.path.join(table, f"{alias}.y.f8")).tolist() == expected[f"chain.{alias}.y"]
            found = optional(os.path.join(friend(table, "keyed"), "y"))
            assert [value for value in found if value is not None] == expected["chain.keyed.y"]
        # Each of the six files is opened once: its beginning and its end, and what lies between.
        assert len(server.requests()) <= 6 * 5


def test_a_chain_beside_files_that_end_elsewhere(made, expected, tmp_path, mount):
    (tmp_path / "others").write_text("".join(f"{made}/beside{number}.root:same_size\n" for number in (2, 0, 1)))
    m = mount([os.path.join(made, f"part{number}.root:inside") for number in range(3)], "chain", f"friend=other=@{tmp_path}/others")
    assert column(os.path.join(m.path, "inside", "other.y.f8")).tolist() == expected["other borders"]


def assert_as_its_files(chain, singles, entries):
    """Each column is a list of 0 or 1: the values that the friends of the files have, in as many entries as these have."""
    found = {node: optional(os.path.join(chain, node)) for node in os.listdir(chain)}
    wanted = {node: [] for node in found}
    for single, count in zip(singles, entries):
        for name in os.listdir(single):
            node = name if os.path.isdir(os.path.join(single, name)) else name.rsplit(".", 1)[0]
            own = optional(os.path.join(single, node))
            wanted[node] += [*own, *[None] * (count - len(own))]
    for node in wanted:
        mounted_table.assert_same(found[node], wanted[node], node)
    match = column(os.path.join(chain, ".match.i8"))
    assert [value is not None for value in found["y"]] == (match >= 0).tolist()
    mounted_table.assert_schema_matches_files(chain)


def test_friends_of_a_chain_that_are_not_all_there(made, tmp_path, mount):
    for name in ("part0.root", "part1.root", "part2.root", "beside0.root", "beside2.root"):
        shutil.copy(os.path.join(made, name), tmp_path)
    m = mount(tmp_path)
    table = os.path.join(m.path, ".chain=part*.root", "t")
    assert len(column(os.path.join(table, "y.f8"))) == 152
    assert len(column(os.path.join(table, "inside.y.f8"))) == 152
    with pytest.raises(OSError) as failed:
        os.listdir(friend(table, "same_size"))
    assert failed.value.errno == errno.EIO and "beside1.root" in m.errors()
    shutil.copy(os.path.join(made, "beside1.root"), tmp_path)
    assert len(column(os.path.join(friend(table, "same_size"), "y.f8"))) == 152


def test_a_missing_file_and_one_that_comes(made, tmp_path, mount):
    shutil.copy(os.path.join(made, "main.root"), tmp_path)
    m = mount(tmp_path / "main.root")
    table = os.path.join(m.path, "t")
    assert len(os.listdir(os.path.join(table, ".friends"))) == 7
    with pytest.raises(OSError) as failed:
        os.listdir(friend(table, "keyed"))
    assert failed.value.errno == errno.EIO
    assert "/t/.friends/keyed" in m.errors() and "keyed.root" in m.errors()
    assert len(column(os.path.join(table, "x.f4"))) == 300
    assert len(column(os.path.join(friend(table, "inside"), "y.f8"))) == 300
    shutil.copy(os.path.join(made, "keyed.root"), tmp_path)
    assert column(os.path.join(friend(table, "keyed"), ".match.i8")).max() >= 0
    with pytest.raises(OSError):  # beside.root is not there
        os.listdir(friend(table, "long"))


def test_a_table_that_is_not_there(made, tmp_path, mount):
    for name in ("main.root", "keyed.root"):
        shutil.copy(os.path.join(made, name), tmp_path)
    shutil.copy(os.path.join(made, "a.root"), tmp_path / "beside.root")
    m = mount(tmp_path / "main.root")
    with pytest.raises(OSError) as failed:
        os.listdir(friend(os.path.join(m.path, "t"), "same"))
    assert failed.value.errno == errno.EIO and "same_size" in m.errors()


def test_a_friend_that_changes(made, tmp_path, mount):
    for name in ("main.root", "keyed.root", "beside.root"):
        shutil.copy(os.path.join(made, name), tmp_path)
    m = mount(tmp_path / "main.root")
    same = friend(os.path.join(m.path, "t"), "same")
    before = open(os.path.join(same, "y.f8"), "rb", buffering=0)
    first = before.read(8)
    put(tmp_path / "new.root", same_size={"y": np.arange(1000, 1300).astype("f8")})
    os.replace(tmp_path / "new.root", tmp_path / "beside.root")
    becomes(os.path.join(same, "y.f8"), list(range(1000, 1300)))
    assert first == struct.pack("<d", 0.25)
    before.close()


def test_hostile_indices(made, tmp_path, mount):
    """Numbers in the index that contradict the file; the table itself stays."""
    with open(os.path.join(made, "keyed.root"), "rb") as file:
        bytes_ = file.read()
    at = bytes_.rindex(b"\x03run\x05event" + struct.pack(">q", 250)) + 10  # fN; the last one is the tree's last cycle
    entry = at + 8 + 2 * 250 * 8
    cases = {"huge": (at, struct.pack(">q", 1 << 60), True), "negative": (at, struct.pack(">q", -1), True),
             "longer": (at, struct.pack(">q", 251), True), "shorter": (at, struct.pack(">q", 10), False),
             "beyond": (entry, struct.pack(">qq", 1 << 40, -5), False)}
    for name, (place, new, fails) in cases.items():
        directory = tmp_path / name
        directory.mkdir()
        shutil.copy(os.path.join(made, "main.root"), directory)
        (directory / "keyed.root").write_bytes(bytes_[:place] + new + bytes_[place + len(new):])
        m = mount(directory / "main.root")
        keyed = friend(os.path.join(m.path, "t"), "keyed")
        assert len(column(os.path.join(m.path, "t", "x.f4"))) == 300
        if fails:
            with pytest.raises(OSError) as failed:
                os.listdir(keyed)
            assert failed.value.errno == errno.EIO and "TTreeIndex" in m.errors(), (name, m.errors())
        else:
            match = column(os.path.join(keyed, ".match.i8"))
            assert match.min() == -1 and match.max() < 250, name
            assert len(optional(os.path.join(keyed, "vector"))) == 300, name


# ---- friends that a user names


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Three files of a table, and one of a friend cut at other places."""
    import awkward

    directory = tmp_path_factory.mktemp("friends")

    def lists(n):
        return awkward.unflatten(np.arange((n % 3).sum()).astype("f4"), n % 3)

    first = 0
    for number, entries in enumerate((100, 1, 250)):
        write(directory / f"run{number}.root", first, entries, run=lambda n: (n // 50).astype("i4"), event=lambda n: (n % 50).astype("i8"),
              x=lambda n: n.astype("f8"))
        first += entries
    first = 0
    for number, entries in enumerate((30, 200, 0, 170)):  # 49 more than the table
        write(directory / f"more{number}.root", first, entries, y=lambda n: n * 2.0, l=lists)
        first += entries
    order = np.random.default_rng(3).permutation(300)  # fewer than the table, shuffled, and some twice
    order = np.concatenate([order, order[:40]])
    for number, part in enumerate(np.array_split(order, 3)):
        put(directory / f"keys{number}.root", keys={"run": (part // 50).astype("i4"), "event": (part % 50).astype("i8"), "z": part * 3.0,
                                                  "l": awkward.unflatten(np.repeat(part, part % 3).astype("i4"), part % 3)})
    return str(directory), order


def test_a_chain_beside_a_chain(runs, mount):
    directory, _ = runs
    m = mount([f"{directory}/run*.root"], "chain", f"friend=more={directory}/more*.root")
    more = friend(os.path.join(m.path, "t"), "more")
    assert os.listdir(os.path.join(m.path, "t", ".friends")) == ["more"]
    assert column(os.path.join(more, "y.f8")).tolist() == [n * 2.0 for n in range(351)]
    lists = values(os.path.join(more, "l"))
    assert [len(one) for one in lists] == [n % 3 for n in range(351)]
    with mounted.Mounted([f"{directory}/more*.root"], ["chain"]) as alone:
        assert lists == values(os.path.join(alone.path, "t", "l"))[:351]
    assert column(os.path.join(m.path, "t", "more.y.f8")).tolist() == [n * 2.0 for n in range(351)]
    assert not test_awkward.compare(more)


@pytest.mark.parametrize("option", ["friend=k={}/keys*.root:keys@run,event", "friend=k={}/keys*.root@run\\,event,views=hidden"])
def test_by_columns(runs, mount, option):
    directory, order = runs
    m = mount([f"{directory}/run*.root"], "chain", option.format(directory))
    k = friend(os.path.join(m.path, "t"), "k")
    first = {}
    for entry, number in enumerate(order.tolist()):
        first.setdefault(number, entry)
    match = column(os.path.join(k, ".match.i8")).tolist()
    assert match == [first.get(n, -1) for n in range(351)]
    assert optional(os.path.join(k, "z")) == [n * 3.0 if n < 300 else None for n in range(351)]
    assert optional(os.path.join(k, "l")) == [[n] * (n % 3) if n < 300 else None for n in range(351)]
    assert not test_awkward.compare(k)


def test_one_key_and_one_file(runs, mount):
    directory, order = runs
    m = mount(f"{directory}/run0.root", f"friend=k={directory}/keys0.root@event", f"friend=p={directory}/keys0.root")
    table = os.path.join(m.path, "t")
    assert sorted(os.listdir(os.path.join(table, ".friends"))) == ["k", "p"]
    first = {}
    for entry, number in enumerate(np.array_split(order, 3)[0].tolist()):
        first.setdefault(number % 50, entry)
    assert column(os.path.join(friend(table, "k"), ".match.i8")).tolist() == [first.get(n % 50, -1) for n in range(100)]
    assert column(os.path.join(friend(table, "p"), "z.f8")).tolist() == (np.array_split(order, 3)[0][:100] * 3.0).tolist()


def test_keys_are_compared_by_their_values(tmp_path, mount):
    """Numbers of each type as keys of a table, and of a friend: those belong together that are equal, NaN to nothing."""
    nan, inf = float("nan"), float("inf")
    keys = {"i1": np.array([-1, 0, 1, 127], "i1"), "u4": np.array([0, 1, 2**32 - 1], "u4"),
            "i8": np.array([-1, -2**63, 2**63 - 1, 2**53 + 1, 3, 0], "i8"), "u8": np.array([2**64 - 1, 2**63, 2**53 + 1, 3], "u8"),
            "f4": np.array([1.5, 0.1, nan, inf, 3, -0.0], "f4"),
            "f8": np.array([1.5, 0.1, nan, nan, inf, -inf, 1e300, 2e300, 2.0**63, -2.0**63, 2.0**53, 3, 1.0])}
    for name, numbers in keys.items():
        put(tmp_path / f"{name}.root", t={"key": numbers, "w": np.arange(len(numbers), dtype="f8")})
    for name, wanted in keys.items():
        m = mount(str(tmp_path / f"{name}.root"), *(f"friend=of_{other}={tmp_path}/{other}.root:t@key" for other in keys))
        for other, held in keys.items():
            # Python compares its integers and floats by their exact values.
            first = {}
            for entry, value in enumerate(held.tolist()):
                first.setdefault(value, entry)
            match = column(os.path.join(friend(os.path.join(m.path, "t"), f"of_{other}"), ".match.i8")).tolist()
            assert match == [-1 if value != value else first.get(value, -1) for value in wanted.tolist()], (name, other)


@pytest.mark.parametrize("option, said", [("friend=k", "friend=k"), ("friend==x.root", "friend="), ("friend=.k=x.root", "friend="),
                                          ("friend=k=/nowhere/x.root", "friend k: /nowhere")])
def test_refused(runs, mount, option, said):
    with pytest.raises(mounted.MountFailed) as failed:
        mount(f"{runs[0]}/run0.root", option)
    assert said in failed.value.message
    with pytest.raises(mounted.MountFailed) as failed:
        mount(runs[0], f"friend=k={runs[0]}/keys0.root")
    assert "friend=" in failed.value.message


def test_a_key_that_is_no_column(runs, mount):
    m = mount(f"{runs[0]}/run0.root", f"friend=k={runs[0]}/keys0.root@run,nothing")
    with pytest.raises(OSError) as failed:
        os.listdir(friend(os.path.join(m.path, "t"), "k"))
    assert failed.value.errno == errno.EIO and "nothing" in m.errors()


def test_an_index_within_memory(tmp_path, mount):
    entries = 300_000
    number = np.arange(entries)
    put(tmp_path / "main.root", t={"n": number})
    put(tmp_path / "other.root", t={"n": number[::-1].copy(), "v": number[::-1] * 2})
    option = f"friend=o={tmp_path}/other.root@n"
    m = mount(tmp_path / "main.root", option)
    assert (column(os.path.join(friend(os.path.join(m.path, "t"), "o"), "v", "values.i8")) == number * 2).all()
    small = mount(tmp_path / "main.root", option, "memory=8M")  # the index takes 7.2 MB
    with pytest.raises(OSError) as failed:
        os.listdir(friend(os.path.join(small.path, "t"), "o"))
    assert failed.value.errno == errno.ENOMEM and "half of memory=" in small.errors()
    assert (column(os.path.join(small.path, "t", "n.i8")) == number).all()


def test_a_dataset_has_friends(runs, tmp_path, mount):
    """They are friends of all samples, one after the other, as RDataFrame has them."""
    directory, _ = runs
    spec = {"samples": {"z_first": {"trees": ["t"], "files": [f"{directory}/run0.root", f"{directory}/run1.root"], "metadata": {}},
                        "a_second": {"trees": ["t"], "files": [f"{directory}/run2.root"], "metadata": {}}},
            "friends": {"more": {"trees": ["t"], "files": [f"{directory}/more{n}.root" for n in (0, 1, 3)]}}}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    m = mount([f"@{tmp_path}/spec.json"], "chain")
    for sample, entries in (("z_first", range(101)), ("a_second", range(101, 351))):
        table = os.path.join(m.path, sample, "t")
        assert column(os.path.join(table, "x.f8")).tolist() == list(entries)
        assert column(os.path.join(table, "more.y.f8")).tolist() == [n * 2.0 for n in entries]
        assert [len(one) for one in values(os.path.join(friend(table, "more"), "l"))] == [n % 3 for n in entries]
    spec["friends"] = {"more": {"trees": ["t"], "files": []}}
    (tmp_path / "broken.json").write_text(json.dumps(spec))
    with pytest.raises(mounted.MountFailed) as failed:
        mount([f"@{tmp_path}/broken.json"], "chain")
    assert "friends/more/files" in failed.value.message


def test_friends_of_a_dataset_follow_its_samples(tmp_path, mount):
    """The first sample shrinks and grows: the friend's entries behind it belong to other entries then."""
    numbers = lambda first, end: {"x": np.arange(first, end, dtype="f8")}
    put(tmp_path / "one.root", t=numbers(0, 10))
    put(tmp_path / "two.root", t=numbers(0, 5))
    put(tmp_path / "more.root", t={"y": np.arange(100.0)})
    spec = {"samples": {name: {"trees": ["t"], "files": [f"{name}.root"]} for name in ("one", "two")},
            "friends": {"more": {"trees": ["t"], "files": ["more.root"]}}}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    m = mount([f"@{tmp_path}/spec.json"], "chain")
    y = os.path.join(friend(os.path.join(m.path, "two", "t"), "more"), "y.f8")
    becomes(y, [10.0, 11, 12, 13, 14])
    for end in (3, 20):
        put(tmp_path / "new.root", t=numbers(0, end))
        os.rename(tmp_path / "new.root", tmp_path / "one.root")
        becomes(y, [end + n for n in range(5)])
        beside = mounted_table.read_exactly(os.path.join(m.path, "two", "t", "more.y.f8"))
        assert np.frombuffer(beside, "<f8").tolist() == [end + n for n in range(5)]


def test_a_friend_beside_a_chain_that_changes(tmp_path, mount):
    """What a file of the chain gains or loses moves the entries of the others."""
    numbers = lambda name, first, end: {name: np.arange(first, end, dtype="f8")}
    for number in range(2):
        put(tmp_path / f"run{number}.root", t=numbers("x", 0, 4))
    put(tmp_path / "more.root", t=numbers("y", 0, 100))
    m = mount([f"{tmp_path}/run*.root"], "chain", f"friend=more={tmp_path}/more.root")
    y = os.path.join(friend(os.path.join(m.path, "t"), "more"), "y.f8")
    for end in (4, 2, 9):
        put(tmp_path / "new.root", t=numbers("x", 0, end))
        os.rename(tmp_path / "new.root", tmp_path / "run0.root")
        becomes(y, [float(n) for n in range(end + 4)])


def test_the_schema_of_a_chain_names_its_friends(made, mount):
    m = mount([os.path.join(made, f"part{number}.root") for number in range(3)], "chain")
    schema = json.loads(mounted_table.read_exactly(os.path.join(m.path, "t", ".schema.json")))
    assert {"alias": "same_size", "table": "same_size", "file": "beside0.root"} in schema["friends"]
    assert "alone" not in [each["alias"] for each in schema["friends"]]
    for number, file in enumerate(schema["files"]):
        assert {"alias": "same_size", "table": "same_size", "file": f"beside{number}.root"} in file["friends"]


@pytest.mark.parametrize("sample", ["pointers/pointers-0-101", "strings/strings"])
def test_every_kind_of_node(samples, mount, shared_mount, sample):
    """A file beside itself: by position it is the same; cut, it is its beginning."""
    kind, name = sample.split("/")
    path = os.path.join(samples(kind), name + ".root")
    m = mount(path, f"friend=self={path}")
    for table in columnar.tables_in(m.path):
        of = friend(table, "self")
        for node in os.listdir(of):
            if not node.startswith("object."):
                mounted_table.assert_same(mounted_table.read_node(of, node), mounted_table.read_node(table, node), node)


STALE = r"""
import sys, ROOT
ROOT.gInterpreter.Declare('''
void write(const char* directory) {
  int run; float y;
  TFile f((std::string(directory) + "/f.root").c_str(), "RECREATE");
  TTree t("T", "");
  t.Branch("run", &run); t.Branch("y", &y);
  for (run = 0; run < 10; ++run) { y = run * 1.5f; t.Fill(); }
  t.BuildIndex("run");
  t.Write();
  f.Close();
  TFile g((std::string(directory) + "/m.root").c_str(), "RECREATE");
  TTree m("M", "");
  m.Branch("run", &run);
  for (run = 14; run >= 0; --run) m.Fill();
  m.AddFriend("T", (std::string(directory) + "/f.root").c_str());
  m.Write();
}''')
ROOT.write(sys.argv[1])
"""


def test_an_index_that_is_older_than_its_entries(tmp_path, mount):
    """Entries were appended, of which the stored index knows nothing: its columns do."""
    root_process.run_code(STALE, tmp_path, check=True)
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        for name, more in (("run.i4", np.arange(10, 15, dtype="<i4")), ("y.f4", np.arange(10, 15, dtype="<f4") * 1.5)):
            with open(os.path.join(m.path, "f.root", "T", name), "ab") as file:
                file.write(more.tobytes())
    top = mount(tmp_path / "m.root").path
    assert column(friend(os.path.join(top, "M"), "T") + "/.match.i8").tolist() == list(range(14, -1, -1))
    assert [value for value in optional(friend(os.path.join(top, "M"), "T") + "/y")] == [n * 1.5 for n in range(14, -1, -1)]
