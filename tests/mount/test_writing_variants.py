# SPDX-License-Identifier: Apache-2.0
"""Variants are written into RNTuples: values of several types in one field, in lists, records and each other; ROOT,
uproot and the mount read the same from what they were copied of, and from the copy."""

import contextlib
import errno
import json
import os
import shutil
import subprocess
import tempfile
import time

import numpy as np
import pytest
import uproot

import mounted
from mount.test_repack import repack, same
from mount.test_writing_rntuples import FORMAT, kill_when_synced
from oracle.test_writing import assert_same_files
from root_process import run_script

SCRIPT = os.path.join("oracle", "variant_ntuples.py")
TYPE = "user.tfilefs.class"


def make(file, first, entries, cluster):
    run_script(SCRIPT, ["make", str(file), str(first), str(entries), str(cluster)])
    return str(file)


def by_root(file, *fields):
    """What ROOT reads, a line for each value."""
    with tempfile.NamedTemporaryFile("r") as answer:
        run_script(SCRIPT, ["read", str(file), answer.name, *fields])
        return sorted(answer)


_read = {}


def by_root_once(file):
    """The same of a file that does not change."""
    if file not in _read:
        _read[file] = by_root(file)
    return _read[file]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A directory with files of ROOT: `whole.root` has entries 0 to 299, `begin.root` and `end.root` share them."""
    directory = tmp_path_factory.mktemp("variants")
    make(directory / "whole.root", 0, 300, 70)
    make(directory / "begin.root", 0, 170, 60)
    make(directory / "end.root", 170, 130, 130)
    make(directory / "one.root", 0, 50, 50)
    return directory


@pytest.fixture(scope="module")
def shown(written):
    with mounted.Mounted(written) as m:
        yield m.path


def types_below(directory):
    """The types of variants, by the paths of their directories."""
    types = {}
    for above, _, files in os.walk(directory):
        if "tags.i1" in files:
            types[os.path.relpath(above, directory)] = os.getxattr(above, TYPE)
    return types


def copy(table, into, *names, types=True):
    """`cp -a`, or without types `cp -r`."""
    os.makedirs(into, exist_ok=True)
    open(os.path.join(into, ".rntuple"), "wb").close()
    for name in names or os.listdir(table):
        subprocess.run(["cp", "-a" if types else "-r", os.path.join(table, name), into], check=True)


def test_a_mount_shows_the_types(shown):
    types = types_below(os.path.join(shown, "one.root", "Events"))
    assert types["some"] == b"std::variant<std::int32_t,std::string,std::vector<float>>"
    assert types["twice"] == b"std::variant<std::int32_t,float,std::int32_t>"
    assert types["lists/values/values"] == types["some"]
    assert types["deep/std::variant<char,float>"] == b"std::variant<char,float>"


@pytest.mark.parametrize("name, options", [("one", ("compression=none",)), ("whole", ("autoflush=2000",))])
def test_a_copy_is_what_it_was_copied_of(tmp_path, written, shown, name, options):
    source = os.path.join(shown, f"{name}.root", "Events")
    with mounted.Mounted(tmp_path, (*FORMAT, *options)) as m:
        copy(source, os.path.join(m.path, f"{name}.root", "Events"))
    with mounted.Mounted(tmp_path) as m:
        table = os.path.join(m.path, f"{name}.root", "Events")
        assert_same_files(source, table)
        assert types_below(table) == types_below(source)
    assert by_root(tmp_path / f"{name}.root") == by_root_once(written / f"{name}.root")
    if name == "one":  # uproot takes the index for that of the table, which it is in the first cluster
        with uproot.open(tmp_path / "one.root") as ours, uproot.open(written / "one.root") as roots:
            for field in ("number", "some", "items", "twice", "lists"):
                assert ours["Events"][field].array().tolist() == roots["Events"][field].array().tolist(), field


def test_rsync_brings_the_types(tmp_path, shown):
    with mounted.Mounted(tmp_path, FORMAT) as m:
        os.makedirs(os.path.join(m.path, "a.root"))
        table = os.path.join(shown, "one.root", "Events")
        subprocess.run(["rsync", "-aX", table, os.path.join(m.path, "a.root")], check=True)
    with mounted.Mounted(tmp_path) as m:
        assert_same_files(table, os.path.join(m.path, "a.root", "Events"))


def items_in(table, variant, tag):
    """The number of items that an alternative has."""
    held = np.fromfile(os.path.join(table, variant, "tags.i1"), "i1") == tag
    return np.fromfile(os.path.join(table, variant, "index.i8"), "<i8")[held].max(initial=-1) + 1


def append_through(table, more):
    """Appends the files of `more` to the columns of the table: offsets and indexes behind the last."""
    contents = {}
    for above, _, files in os.walk(more):
        for name in files:
            path = os.path.join(above, name)
            inside = os.path.relpath(path, more)
            contents[inside] = np.fromfile(path, "u1")
            if name == "offsets.i8":
                contents[inside] = np.fromfile(path, "<i8")[1:] + np.fromfile(os.path.join(table, inside), "<i8")[-1]
            if name == "index.i8" and "tags.i1" in files:
                contents[inside] = np.fromfile(path, "<i8")
                tags = np.fromfile(os.path.join(above, "tags.i1"), "i1")
                for tag in set(tags) - {0}:
                    contents[inside][tags == tag] += items_in(table, os.path.dirname(inside), tag)
    for path, content in contents.items():
        with open(os.path.join(table, path), "ab") as file:
            file.write(content.tobytes())


@pytest.mark.parametrize("whose", ["roots", "ours", "one mount"])
def test_entries_are_appended(tmp_path, written, shown, whose):
    file = tmp_path / "begin.root"
    if whose == "roots":
        shutil.copy(written / "begin.root", file)
    with mounted.Mounted(tmp_path, FORMAT) as m:
        table = os.path.join(m.path, "begin.root", "Events")
        if whose != "roots":
            copy(os.path.join(shown, "begin.root", "Events"), table)
            mounted.fsync(table)
        if whose != "ours":
            append_through(table, os.path.join(shown, "end.root", "Events"))
    if whose == "ours":
        with mounted.Mounted(tmp_path, FORMAT) as m:
            append_through(os.path.join(m.path, "begin.root", "Events"), os.path.join(shown, "end.root", "Events"))
    with mounted.Mounted(tmp_path) as m:
        assert_same_files(os.path.join(shown, "whole.root", "Events"), os.path.join(m.path, "begin.root", "Events"))
    assert by_root(file) == by_root_once(written / "whole.root")


def test_clusters_are_committed_while_it_is_written(tmp_path):
    """Each piece brings tags before their items, or behind them; some alternatives are long without one."""
    random, entries = np.random.default_rng(1), 40_000
    tags = np.where(np.arange(entries) < entries // 2, random.integers(0, 3, entries), random.integers(1, 4, entries)).astype("i1")
    index = np.zeros(entries, "<i8")
    for tag in 1, 2, 3:
        index[tags == tag] = np.arange((tags == tag).sum())
    lengths = random.integers(0, 4, (tags == 3).sum())
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype("<i8")
    files = {
        "v/tags.i1": tags, "v/index.i8": index, "v/float.f4": random.normal(size=(tags == 1).sum()).astype("<f4"),
        "v/double.f8": random.normal(size=(tags == 2).sum()), "v/std::string/offsets.i8": offsets,
        "v/std::string/chars.u1": random.integers(65, 90, offsets[-1]).astype("u1"), "n.i8": np.arange(entries),
    }
    with mounted.Mounted(tmp_path, (*FORMAT, "commit=0", "autoflush=10000")) as m:
        table = os.path.join(m.path, "a.root", "Events")
        os.makedirs(os.path.join(table, "v", "std::string"))
        open(os.path.join(table, ".rntuple"), "wb").close()
        os.setxattr(os.path.join(table, "v"), TYPE, b"std::variant<float,double,std::string>")
        opened = {path: open(os.path.join(table, path), "wb", buffering=0) for path in files}
        for piece in range(20):
            for path in random.permutation(list(files)):
                begin, end = (len(files[path]) * at // 20 for at in (piece, piece + 1))
                opened[path].write(files[path][begin:end].tobytes())
            time.sleep(0.2)
        committed = {column["path"]: column["committed"] for column in json.loads(pending(table))["tables"][0]["columns"]}
        assert committed["v/tags.i1"] > 0 and committed["v/std::string/chars.u1"] > 0
        for file in opened.values():
            file.close()
        mounted.fsync(table)
        for path, values in files.items():
            assert np.fromfile(os.path.join(table, path), values.dtype).tobytes() == values.tobytes(), path
    with mounted.Mounted(tmp_path) as m:
        for path, values in files.items():
            assert np.fromfile(os.path.join(m.path, "a.root", "Events", path), values.dtype).tobytes() == values.tobytes(), path


def test_variants_beside_what_is_there(tmp_path, written, shown):
    """New columns of a table, which get the clusters that there are; and a field that is removed."""
    source = os.path.join(shown, "whole.root", "Events")
    with mounted.Mounted(tmp_path, (*FORMAT, "autoflush=1000")) as m:
        table = os.path.join(m.path, "a.root", "Events")
        copy(source, table, "number.i8", "some")
        mounted.fsync(table)
        copy(source, table, "items", "lists", "deep", "twice", "other")
        mounted.fsync(table)
        assert_same_files(source, table)
        shutil.rmtree(os.path.join(table, "some"))
        mounted.fsync(table)
    names = [name for name in os.listdir(source) if name not in ("some", "number.i8")]
    wanted = [line for line in by_root_once(written / "whole.root") if not line.startswith("some ")]
    assert by_root(tmp_path / "a.root", "number", *names) == wanted


def test_it_is_found_again_after_a_kill(tmp_path, shown):
    m = mounted.Mounted(tmp_path, (*FORMAT, "commit=86400"))
    table, source = os.path.join(m.path, "a.root", "Events"), os.path.join(shown, "whole.root", "Events")
    copy(source, table)
    kill_when_synced(m, table)
    result = subprocess.run([mounted.program(), "recover", tmp_path / "a.root"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    with mounted.Mounted(tmp_path) as m:
        assert_same_files(source, os.path.join(m.path, "a.root", "Events"))


@pytest.fixture
def writing(tmp_path):
    with mounted.Mounted(tmp_path, (*FORMAT, "commit=600")) as m:
        os.makedirs(os.path.join(m.path, "a.root", "Events"))
        m.table = os.path.join(m.path, "a.root", "Events")
        open(os.path.join(m.table, ".rntuple"), "wb").close()
        yield m
        shutil.rmtree(m.table, ignore_errors=True)


def put(directory, tags, index, **alternatives):
    os.makedirs(directory, exist_ok=True)
    np.array(tags, "i1").tofile(os.path.join(directory, "tags.i1"))
    np.array(index, "<i8").tofile(os.path.join(directory, "index.i8"))
    for name, values in alternatives.items():
        dtype = {"float": "<f4", "double": "<f8"}[name]
        np.array(values, dtype).tofile(os.path.join(directory, f"{name}.{dtype[1:]}"))


def pending(table):
    with open(os.path.join(table, ".pending.json")) as file:
        return file.read()



def reasons(m):
    mounted.fsync(m.table)
    return pending(m.table)


def test_what_waits(writing):
    """Items that are missing, a type that is not set, or does not name the alternatives; then it can be committed."""
    v = os.path.join(writing.table, "v")
    put(v, [2, 1, 0, 2, 2], [0, 0, 0, 1, 2], float=[1.5], double=[1, 2])
    assert "user.tfilefs.class of v must name its alternatives in the order of their tags" in reasons(writing)
    os.setxattr(v, TYPE, b"std::variant<float,std::string>")
    assert "no columns of std::string" in reasons(writing)
    os.setxattr(v, TYPE, b"std::variant<float>")
    assert "v/double.f8: it is not an alternative of std::variant<float>" in reasons(writing)
    os.setxattr(v, TYPE, b"std::variant<float, double>")
    assert os.getxattr(v, TYPE) == b"std::variant<float, double>"
    assert "v/double.f8: 2 items, v/tags.i1 expects 3" in reasons(writing)
    with open(os.path.join(v, "double.f8"), "ab") as file:
        file.write(np.array([3], "<f8").tobytes())
    mounted.fsync(writing.table)
    assert os.getxattr(v, TYPE) == b"std::variant<float,double>"
    assert np.fromfile(os.path.join(v, "double.f8")).tolist() == [1, 2, 3]


def test_items_tell_the_order(tmp_path, shown):
    """`cp -r` brings no types; where two alternatives have equally many items, the table waits for one."""
    source = os.path.join(shown, "one.root", "Events")
    with mounted.Mounted(tmp_path, (*FORMAT, "commit=600")) as m:
        table = os.path.join(m.path, "a.root", "Events")
        copy(source, table, "number.i8", "some", "lists", types=False)
        mounted.fsync(table)
        counts = [items_in(source, "items/values", tag) for tag in (1, 2, 3)]
        assert counts[0] == counts[2]
        copy(source, table, "items", types=False)
        mounted.fsync(table)
        assert "user.tfilefs.class of items/values must name its alternatives" in pending(table)
        os.setxattr(os.path.join(table, "items", "values"), TYPE, os.getxattr(os.path.join(source, "items", "values"), TYPE))
        mounted.fsync(table)
        for name in os.listdir(table):
            assert not same(os.path.join(source, name), os.path.join(table, name))
        assert types_below(os.path.join(table, "some")) == types_below(os.path.join(source, "some"))


@pytest.mark.parametrize("tags, index, reason", [
    ([1, 2, 1], [0, 0, 2], "v/index.i8: variant 2 does not refer to the next item of its alternative, number 1"),
    ([1, 2, 1], [1, 0, 2], "v/index.i8: variant 0 does not refer to the next item of its alternative, number 0"),
    ([1, 3, 1], [0, 0, 1], "v/tags.i1: variant 1 has tag 3, of 2 alternatives"),
    ([1, -1, 1], [0, 0, 1], "v/tags.i1: variant 1 has tag -1, of 2 alternatives"),
])
def test_what_can_never_be(writing, tags, index, reason):
    v = os.path.join(writing.table, "v")
    put(v, [], [], float=[1, 2], double=[3])
    for name, values, dtype in (("tags.i1", tags, "i1"), ("index.i8", index, "<i8")):
        with contextlib.suppress(OSError):  # some are told at once
            np.array(values, dtype).tofile(os.path.join(v, name))
    os.setxattr(v, TYPE, b"std::variant<float,double>")
    assert reason in reasons(writing)
    assert reason in writing.errors()


def test_an_index_is_refused_when_it_is_closed(writing):
    v = os.path.join(writing.table, "v")
    put(v, [1, 2, 1], [0, 0, 1], float=[1, 2], double=[3])
    with pytest.raises(OSError) as refused:
        with open(os.path.join(v, "index.i8"), "wb", buffering=0) as file:
            file.write(np.array([0, 0, 0], "<i8").tobytes())
    assert refused.value.errno == errno.EINVAL
    with open(os.path.join(v, "index.i8"), "r+b", buffering=0) as file:
        file.write(np.array([0, 0, 1], "<i8").tobytes())
    os.setxattr(v, TYPE, b"std::variant<float,double>")
    mounted.fsync(writing.table)
    assert types_below(writing.table) == {"v": b"std::variant<float,double>"}


def test_trees_hold_none(tmp_path):
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        table = os.path.join(m.path, "a.root", "Events")
        os.makedirs(table)
        np.zeros(3, "<f4").tofile(os.path.join(table, "x.f4"))
        with pytest.raises(OSError):
            put(os.path.join(table, "v"), [1, 1, 1], [0, 1, 2], float=[1, 2, 3])
        assert "variants cannot be written" in m.errors()


def test_a_chain_shows_what_its_files_show(written, shown):
    with mounted.Mounted([written / "begin.root", written / "end.root"], ("chain",)) as m:
        assert not same(os.path.join(shown, "whole.root", "Events"), os.path.join(m.path, "Events"))


def test_repacked(tmp_path, written, shown):
    """By columns: cut anew, chosen entries and fields, chains."""
    whole = written / "whole.root"
    repack("--cluster", "3K", whole, tmp_path / "cut.root")
    repack("--format", "rntuple", "--cluster", "4K", "--verify", written / "begin.root", written / "end.root", tmp_path / "chain.root")
    with mounted.Mounted(tmp_path) as m:
        for name in ("cut", "chain"):
            assert not same(os.path.join(shown, "whole.root", "Events"), os.path.join(m.path, f"{name}.root", "Events"))
    for name in ("cut", "chain"):
        assert by_root(tmp_path / f"{name}.root") == by_root_once(whole)
    chosen = [i for i in range(300) if i % 7 in (1, 2, 6) or 100 < i < 140]
    np.save(tmp_path / "chosen.npy", np.isin(np.arange(300), chosen))
    repack("--select", tmp_path / "chosen.npy", "--format", "rntuple", "--cluster", "3K", whole, tmp_path / "some.root")

    def values(lines):
        return {(field, int(i)): value for field, i, value in (line.split(" ", 2) for line in lines)}

    found, wanted = values(by_root(tmp_path / "some.root")), values(by_root_once(whole))
    assert len(found) == 7 * len(chosen)
    for (field, i), value in found.items():
        assert value == wanted[field, chosen[i]], (field, i)
