# SPDX-License-Identifier: Apache-2.0
"""`tfilefs repack`: copies by baskets, by pages and by columns, compared with what they are copies of: by mounts, by
ROOT and by uproot; random selections; damage, faults and signals; memory."""

import json
import os
import re
import signal
import shutil
import subprocess
import sys
import time

import awkward
import numpy
import pytest
import uproot

import mounted
import root_process
from root_process import run_script

# Samples with trees of every shape: leaves, vectors, strings, split and whole classes, pointers, baskets in the record,
# clusters of several sizes, baskets in other files.
SAMPLES = ("numbers", "vectors", "strings", "storage", "siblings", "counted", "event", "nested", "shelf", "pointers")


def repack(*arguments, status=0):
    done = subprocess.run([mounted.program(), "repack", *map(str, arguments)], capture_output=True, text=True, errors="replace")
    assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return done


def same(a, b, *more):
    """What `diff -r` says of two directories, without lines that mention `more`."""
    done = subprocess.run(["diff", "-rq", a, b], capture_output=True, text=True, errors="replace")
    assert done.returncode < 2, done.stderr
    return [line for line in done.stdout.splitlines() if not any(text in line for text in more)]


WAYS = {"kept": [], "lz4": ["--compression", "lz4"], "cut": ["-j", "3"]}


def cluster_size(path):
    """Small enough to cut baskets, but not into thousands of clusters, each of which decodes a basket again."""
    return str(max(4096, os.path.getsize(path) // 100))


@pytest.fixture(scope="module")
def copies(samples, tmp_path_factory):
    """A directory with `in`, the ROOT files of SAMPLES, and a directory of copies for each of WAYS. And what the program
    said, by copy and name."""
    base, said = tmp_path_factory.mktemp("repacked"), {}
    for sample in SAMPLES:
        for way in ("in", *WAYS):
            (base / way / sample).mkdir(parents=True)
        names = [name for name in sorted(os.listdir(samples(sample))) if name.endswith(".root")]
        for name in names:
            shutil.copy(os.path.join(samples(sample), name), base / "in" / sample)
        for name in names:
            for way, options in WAYS.items():
                paths = [str(base / part / sample / name) for part in ("in", way)]
                cut = ["--cluster", cluster_size(paths[0])] if way == "cut" else []
                said[way, f"{sample}/{name}"] = subprocess.run([mounted.program(), "repack", "--verify", *options, *cut, *paths],
                                                               capture_output=True, text=True, errors="replace")
    return base, said


def names_of(said, way):
    return [name for each, name in said if each == way]


@pytest.fixture(scope="module")
def mount(copies):
    with mounted.Mounted(copies[0], ("memory=512M",)) as m:
        yield m


# What samples hold that is not copied, with the reason that is told.
LEFT_OUT = ("its name is not possible in a path", "are stored without offsets")


@pytest.mark.parametrize("way", ["kept", "lz4", "cut"])
def test_copies_show_what_the_originals_show(copies, mount, way):
    base, said = copies
    different, good = {}, 0
    for name in names_of(said, way):
        done = said[way, name]
        if done.returncode != 0:
            assert "tfilefs: " in done.stderr
            different[name] = done.stderr.splitlines()
            continue
        lines = same(os.path.join(mount.path, "in", name), os.path.join(mount.path, way, name))
        good += not lines
        if lines:
            different[name] = lines
    told = {name: lines for name, lines in different.items() if not all(any(why in line for why in LEFT_OUT) for line in lines)}
    assert not told, told
    assert good > 40


@pytest.mark.parametrize("way", ["kept", "lz4", "cut"])
def test_root_reads_the_same_values(copies, way, tmp_path):
    base, said = copies
    # ROOT does not read lists without offsets the same way twice, and ends in classes without dictionaries.
    simple = ("numbers", "vectors", "strings", "storage", "siblings", "counted")
    names = [name for name in names_of(said, way)
             if said[way, name].returncode == 0 and name.startswith(simple) and "offset-map" not in name]
    pairs = tmp_path / "pairs.json"
    pairs.write_text(json.dumps([[str(base / part / name) for part in ("in", way)] for name in names]))
    told = run_script(os.path.join("oracle", "same_trees.py"), [str(pairs)], tolerate=("no dictionary", "TStreamerInfo", "TClass::", "is truncated at"))
    assert int(told.split("trees are the same")[0].split()[-1]) >= len(names)


# ---- what is chosen

def write_table(path, entries, seed, flush=700):
    """A tree of each kind of column, with clusters and baskets of `flush` entries; and its values."""
    random = numpy.random.default_rng(seed)
    values = {"x": random.normal(size=entries), "flag": random.integers(0, 2, entries).astype(bool),
              "id": numpy.arange(entries), "pos": random.normal(size=(entries, 3)).astype("f4")}
    counts = random.integers(0, 5, entries)
    values["Muon_pt"] = awkward.unflatten(random.exponential(20, counts.sum()).astype("f4"), counts)
    values["Muon_charge"] = awkward.unflatten(random.integers(-1, 2, counts.sum()).astype("i4"), counts)
    values["name"] = awkward.Array([f"entry {i}" for i in range(entries)])
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        tree = file.mktree("Events", {
            "x": "f8", "flag": "?", "id": "i8", "pos": numpy.dtype(("f4", (3,))), "name": "string",
            "Muon": awkward.zip({"pt": values["Muon_pt"], "charge": values["Muon_charge"]}).type.content})
        for at in range(0, entries, flush):
            part = slice(at, at + flush)
            tree.extend({name: values[name][part] for name in ("x", "flag", "id", "pos", "name")} |
                        {"Muon": awkward.zip({"pt": values["Muon_pt"][part], "charge": values["Muon_charge"][part]})})
        file["tracker/hits"] = numpy.histogram(values["x"], bins=10, range=(-9, 9))
    return values


def read(path, names):
    with uproot.open(path) as file:
        return {name: file["Events"][name].array() for name in names}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "in.root"
    return path, write_table(path, 5000, 1)


@pytest.mark.parametrize("seed", range(8))
def test_random_selections_are_those_of_numpy(table, tmp_path, seed):
    path, values = table
    random = numpy.random.default_rng(seed)
    chosen = numpy.zeros(5000, bool)
    options = ["--format", ("ttree", "rntuple")[seed % 2], "-j", str(1 + seed % 3)]
    if seed % 4 < 2:
        chosen[:] = random.random(5000) < (0.003, 0.5, 0.98)[seed % 3]
        numpy.save(tmp_path / "mask.npy", chosen)
        options += ["--select", tmp_path / "mask.npy"]
    else:
        begin = int(random.integers(0, 2000))
        end = int(random.integers(begin, 5000))
        chosen[begin:end] = True
        options += ["--entries", f"{begin}:{end}"]
    if seed % 3 == 1:
        options += ["--cluster", str(random.integers(2000, 60000))]
    names = sorted(random.choice(sorted(values), 4, replace=False)) if seed % 3 == 2 else list(values)
    if len(names) < len(values):
        options += ["--columns", ",".join(names)]
    repack("--verify", *options, path, tmp_path / "out.root")
    for name, array in read(tmp_path / "out.root", names).items():
        assert awkward.to_list(array) == awkward.to_list(awkward.Array(values[name])[chosen]), (name, options)
    with mounted.Mounted(tmp_path / "out.root") as m:
        schema = json.load(open(os.path.join(m.path, "Events", ".schema.json")))
    assert schema["entries"] == chosen.sum() and schema["kind"] == ("ttree", "rntuple")[seed % 2]


def test_an_index_and_a_column_choose_as_well(table, tmp_path):
    path, values = table
    numpy.array([3, 4, 700, 4999], "i8").tofile(tmp_path / "chosen.i8")
    repack("--select", tmp_path / "chosen.i8", path, tmp_path / "index.root")
    assert read(tmp_path / "index.root", ["id"])["id"].tolist() == [3, 4, 700, 4999]
    repack("--select", "flag", "--entries", "100:300", path, tmp_path / "column.root")
    assert read(tmp_path / "column.root", ["id"])["id"].tolist() == [i for i in range(100, 300) if values["flag"][i]]


def test_several_files_become_one(table, tmp_path):
    path, values = table
    more = write_table(tmp_path / "more.root", 1200, 2)
    for form in ("keep", "rntuple"):
        out = tmp_path / f"{form}.root"
        repack("--format", form, "--compression", "zstd:3", path, tmp_path / "more.root", out)
        for name, array in read(out, values).items():
            assert awkward.to_list(array) == awkward.to_list(values[name]) + awkward.to_list(more[name]), name
        with uproot.open(out) as file:
            assert file["tracker/hits"].values().sum() == 6200
    repack(path, tmp_path / "rntuple.root", tmp_path / "mixed.root", status=0)
    assert len(read(tmp_path / "mixed.root", ["id"])["id"]) == 11200


def test_files_that_differ_lose_nothing_in_silence(tmp_path):
    ids = numpy.arange(100)
    for name, tree, columns in (("a", "T", {"x": ids, "id": ids}), ("b", "T", {"id": ids}), ("c", "U", {"x": ids, "id": ids})):
        with uproot.recreate(tmp_path / f"{name}.root") as file:
            file.mktree(tree, {column: "i8" for column in columns}).extend(columns)
    a, b, c, out = (tmp_path / f"{name}.root" for name in ("a", "b", "c", "out"))
    for form in ("keep", "rntuple"):
        done = repack("--force", "--format", form, a, b, out, status=1)
        assert "left out: T: x: its type differs between the files" in done.stderr and "T: 200 entries" in done.stdout
        repack("--force", "--format", form, "--columns", "id", a, b, out)
        out.unlink()
        assert "c.root: no table T" in repack("--format", form, a, c, out, status=1).stderr and not out.exists()
        repack("--force", "--format", form, f"{a}:T", f"{c}:U", out)
        with uproot.open(out) as file:
            assert file["T"]["x"].array().tolist() == 2 * ids.tolist()


WRITE_REFERENCES = """
import array, sys, ROOT
for path in sys.argv[1:]:
    file = ROOT.TFile(path, "RECREATE")
    tree, x, named = ROOT.TTree("T", ""), array.array("f", [0]), ROOT.TNamed("name", "title")
    reference = ROOT.TRef(named)
    tree.Branch("x", x, "x/F")
    tree.Branch("reference", "TRef", reference)
    for x[0] in (1, 2, 3):
        tree.Fill()
    file.Write()
    file.Close()
"""


def test_objects_of_several_files_that_refer_to_each_other(tmp_path):
    """Each file counts its objects by itself, so that references of the second would lead to those of the first."""
    files = [tmp_path / "a.root", tmp_path / "b.root"]
    root_process.run_code(WRITE_REFERENCES, *files, check=True)
    assert "as stored" in repack(files[0], tmp_path / "one.root").stdout
    done = repack(*files, tmp_path / "out.root", status=1)
    assert "refer to each other (TRef)" in done.stderr and "left out: T: reference" in done.stderr
    with uproot.open(tmp_path / "out.root") as file:
        assert file["T"]["x"].array().tolist() == [1, 2, 3, 1, 2, 3]


WRITE_USER_INFO = """
import array, sys, ROOT
ROOT.gInterpreter.Declare("struct Told : public TNamed { Double32_t told[3] = {1, 2, 3}; ClassDefInlineOverride(Told, 1); };")
file = ROOT.TFile(sys.argv[1], "RECREATE")
tree, x, named = ROOT.TTree("T", ""), array.array("f", [0]), ROOT.TNamed("name", "title")
reference = ROOT.TRef(named)
tree.Branch("x", x, "x/F")
tree.Branch("named", "TNamed", named)
tree.Branch("reference", "TRef", reference)
tree.BranchRef()
told = ROOT.Told()
ROOT.SetOwnership(told, False)
tree.GetUserInfo().Add(told)
for x[0] in (1, 2, 3):
    tree.Fill()
file.Write()
file.Close()
"""
READ_USER_INFO = """
import sys, ROOT
file = ROOT.TFile(sys.argv[1])
tree = file.Get("T")
print(tree.GetUserInfo().GetSize(), [round(entry.x) for entry in tree], tree.GetBranchRef() is not None)
"""


WRITE_EXTRAS = """
import array, sys, ROOT
path, kind, weight, alias, told = sys.argv[1:]
file = ROOT.TFile(path, "RECREATE")
tree, x = ROOT.TTree("T", path), array.array(kind, [0])  # titles of several lengths: what is behind them moves
tree.Branch("x", x, {"i": "x/I", "h": "x/S"}[kind])
for x[0] in range(100):
    tree.Fill()
tree.SetAlias("z", alias)
info = ROOT.TNamed("meta", told)
ROOT.SetOwnership(info, False)
tree.GetUserInfo().Add(info)
tree.SetWeight(float(weight))
tree.BuildIndex("x")
tree.AddFriend("T", path)
tree.Write()
file.Close()
"""
READ_EXTRAS = """
import sys, ROOT
file = ROOT.TFile(sys.argv[1])
tree = file.Get("T")
print(tree.GetEntries(), tree.GetWeight(), tree.GetAlias("z"), [each.GetTitle() for each in tree.GetUserInfo()])
"""


@pytest.fixture(scope="module")
def extras(tmp_path_factory):
    base = tmp_path_factory.mktemp("extras")
    for name, *what in (("a", "i", "2.5", "x+1", "lumi=3"), ("same", "i", "2.5", "x+1", "lumi=3"), ("other", "i", "1", "x*100", "lumi=7"),
                        ("short", "h", "2.5", "x+1", "lumi=3")):
        root_process.run_code(WRITE_EXTRAS, base / f"{name}.root", *what, check=True)
    return base


def left_out(done):
    return [line.removeprefix("tfilefs: left out: T: ") for line in done.stderr.splitlines()]


ENTRIES_RENUMBERED = ["its index of entries", "its friends"]


def test_what_a_tree_has_beside_its_columns_stays_or_is_named(extras, tmp_path):
    all_of_them = ["its aliases", "its user info", "its weight of 2.5", *ENTRIES_RENUMBERED]
    for options, files, lost in (([], ["a"], []), (["--compression", "lz4", "--cluster", "1k"], ["a"], []),
                                 (["--entries", "0:50"], ["a"], ENTRIES_RENUMBERED), ([], ["a", "same"], ENTRIES_RENUMBERED),
                                 (["--format", "rntuple"], ["a"], all_of_them), ([], ["same", "short"], None)):
        done = repack("--force", *options, *(extras / f"{name}.root" for name in files), tmp_path / "out.root",
                      status=0 if lost == [] else 1)
        assert lost is None and set(all_of_them) <= set(left_out(done)) or left_out(done) == lost
        if "as stored" in done.stdout:
            read = root_process.run_code(READ_EXTRAS, tmp_path / "out.root", check=True)
            assert read.stdout.split(maxsplit=1)[1] == "2.5 x+1 ['lumi=3']\n"


def test_of_trees_that_differ_beside_their_columns_what_is_lost_is_named(extras, tmp_path):
    done = repack(extras / "a.root", extras / "other.root", tmp_path / "out.root", status=1)
    assert "as stored" in done.stdout
    assert sorted(left_out(done)) == sorted([
        *ENTRIES_RENUMBERED, "aliases of a later file, which differ from those of the first",
        "user info of a later file, which differs from that of the first",
        "the weight of a later file, 1: its entries have the weight of the first, 2.5"])


def test_what_trees_have_that_cannot_be_copied_is_named(samples, tmp_path):
    """Their record cannot be followed: a branch is a TBranchClones. Columns are taken, and nothing is lost silently."""
    with_extras, without = (os.path.join(samples("old_branches"), name) for name in ("with.root", "without.root"))
    lost = ["its aliases", "its user info", "its weight of 2.5", *ENTRIES_RENUMBERED]
    for options in (["--format", "rntuple"], ["--columns", "x"]):
        assert left_out(repack("--force", *options, with_extras, tmp_path / "out.root", status=1)) == lost
        assert left_out(repack("--force", *options, without, tmp_path / "out.root")) == []
    assert set(lost) < set(left_out(repack("--force", with_extras, tmp_path / "out.root", status=1)))
    assert not set(lost) & set(left_out(repack("--force", without, tmp_path / "out.root", status=1)))


@pytest.mark.parametrize("options", [[], ["--compression", "lz4"], ["--format", "rntuple"], ["--format", "ttree"], ["--entries", "2:14"]])
@pytest.mark.parametrize("names", [["tree", "ntuple"], ["ntuple", "tree"], ["ntuple", "ntuple", "tree"]])
def test_a_table_may_be_a_tree_in_one_file_and_an_rntuple_in_another(tmp_path, names, options):
    with uproot.recreate(tmp_path / "tree.root") as file:
        file.mktree("T", {"x": "i4"}).extend({"x": numpy.arange(10, dtype="i4")})
    repack("--format", "rntuple", tmp_path / "tree.root", tmp_path / "ntuple.root")
    repack(*options, *(tmp_path / f"{name}.root" for name in names), tmp_path / "out.root")
    values = list(range(10)) * len(names)
    with uproot.open(tmp_path / "out.root") as file:
        assert file["T"]["x"].array().tolist() == (values[2:14] if "--entries" in options else values)


def test_user_info_of_a_class_that_cannot_be_followed_is_left_out_alone(tmp_path):
    path, out = tmp_path / "in.root", tmp_path / "out.root"
    root_process.run_code(WRITE_USER_INFO, path, check=True)
    for options in ([], ["--compression", "lz4"], ["--entries", "0:2"]):
        done = repack("--force", *options, path, out, status=1)
        assert "as stored" in done.stdout
        assert done.stderr == "tfilefs: left out: T: its user info: member told of type Double32_t\n"
        read = root_process.run_code(READ_USER_INFO, out, check=True)
        assert read.stdout == f"0 {[1, 2, 3][:2 if options == ['--entries', '0:2'] else 3]} True\n"
    with mounted.Mounted(tmp_path) as m:
        repack("--force", path, out, status=1)
        assert not same(f"{m.path}/in.root/T", f"{m.path}/out.root/T")


def test_branches_of_a_file_that_is_not_there_are_left_out_alone(samples, tmp_path):
    path, out = tmp_path / "main.root", tmp_path / "out.root"
    shutil.copy(os.path.join(samples("siblings"), "main.root"), path)
    done = repack(path, out, status=1)
    assert "as stored" in done.stdout and "left out: t: branch other: " in done.stderr and "side.root" in done.stderr
    with uproot.open(path) as before, uproot.open(out) as after:
        assert after["t"].keys() == ["vector"]
        assert awkward.to_list(after["t"]["vector"].array()) == awkward.to_list(before["t"]["vector"].array())
    # Where the first of several files has it.
    shutil.copy(os.path.join(samples("siblings"), "side.root"), tmp_path)
    (tmp_path / "alone").mkdir()
    shutil.copy(path, tmp_path / "alone")
    done = repack("--force", path, tmp_path / "alone" / "main.root", out, status=1)
    assert "side.root" in done.stderr


def test_names_and_tables(table, tmp_path):
    path, _ = table
    repack("--rename", "Events=Chosen", "--drop", "Muon_*,name", path, tmp_path / "out.root")
    with uproot.open(tmp_path / "out.root") as file:
        assert {"x", "flag", "id", "pos", "nMuon"} == set(file["Chosen"].keys())
        assert file["tracker/hits"].values().sum() == 5000
    done = repack("--tables", "other", path, tmp_path / "none.root", status=1)
    assert "other: no table of that name" in done.stderr and not (tmp_path / "none.root").exists()


@pytest.mark.parametrize("form", ["keep", "rntuple", "ttree"])
def test_patterns_that_match_nothing_are_mistakes(table, tmp_path, form):
    path = tmp_path / "in.root"
    repack("--format", form, table[0], path)
    for arguments, told in ((["--columns", "Flag"], "Flag: no column of that name, did you mean flag?"),
                            (["--columns", "x,Moun_*"], "Moun_*: no column of that name"),
                            (["--columns", "muon_*"], "muon_*: no column of that name, did you mean Muon_"),
                            (["--drop", "nothing"], "nothing: no column of that name; there are x, "), (["--columns", "x,flag", "--drop", "X"], "did you mean x?"),
                            (["--tables", "events"], "events: no table of that name, did you mean Events?"),
                            (["--rename", "events=Other"], "no table events is written, did you mean Events?"),
                            (["--rename", "hits=Other"], "no table hits is written")):
        for mode in ([], ["--dry-run"], ["--format", "rntuple"], ["--split", "60K"]):
            assert told in repack(*mode, *arguments, path, tmp_path / "none.root", status=1).stderr, (mode, arguments)
            assert os.listdir(tmp_path) == ["in.root"]
    repack("--columns", "Muon_pt,name", "--drop", "x", path, tmp_path / "out.root")


def test_out_is_a_root_file(table, tmp_path):
    path, _ = table
    for out, told in (("out.parquet", "TABLE.parquet"), ("out.arrow", "TABLE.arrow"), ("out.csv", "TABLE.csv"), ("out.h5", "other programs"),
                      ("out.npz", "other programs"), ("-", "name a file")):
        done = repack(path, out if out == "-" else tmp_path / out, status=2)
        assert told in done.stderr and "Events" not in done.stdout, done.stderr
    assert os.listdir(tmp_path) == []


def test_rntuples_are_copied_by_pages(table, tmp_path):
    path, values = table
    repack("--format", "rntuple", path, tmp_path / "a.root")
    for way in (["--compression", "lz4"], ["--compression", "none"], []):
        out = tmp_path / "b.root"
        assert "as stored" in repack("--force", *way, tmp_path / "a.root", out).stdout
        with mounted.Mounted(tmp_path) as m:
            assert not same(f"{m.path}/a.root/Events", f"{m.path}/b.root/Events")
    assert "as stored" in repack("--force", tmp_path / "a.root", tmp_path / "a.root", tmp_path / "b.root").stdout
    assert awkward.to_list(read(tmp_path / "b.root", ["name"])["name"]) == 2 * awkward.to_list(values["name"])
    repack("--format", "ttree", tmp_path / "a.root", tmp_path / "tree.root")
    with mounted.Mounted(tmp_path) as m:
        assert not same(f"{m.path}/a.root/Events", f"{m.path}/tree.root/Events")


def test_advice_is_ten_lines_and_a_command_that_runs(table, tmp_path):
    path, _ = table
    for file, ends in ((path, "--format rntuple"), (tmp_path / "packed.root", "nothing")):
        done = subprocess.run([mounted.program(), "advise", file], capture_output=True, text=True, check=True)
        lines = done.stdout.splitlines()
        assert 7 <= len(lines) <= 10 and "5000 entries" in lines[0] and "clusters" in lines[1], lines
        assert ends in lines[-1], lines
        if ends != "nothing":
            repack(*lines[-1].split(" repack ")[1].split()[:-2], file, tmp_path / "packed.root")


def test_advice_without_descriptors_is_an_error(table):
    """The file opens, and the look at it as an RNTuple has no descriptor left: there is no advice without it."""
    path, _ = table
    for descriptors in range(4, 9):
        limited = f"ulimit -n {descriptors}; exec {mounted.program()} advise {path}"
        done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (1, ""), descriptors
        assert "Too many open files" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


def test_what_differs_is_not_kept(table, tmp_path):
    """Damage inside of a basket that is copied as it is: reading both tells."""
    path, _ = table
    damaged_copy(path, tmp_path / "bad.root", "x", 3)
    repack(tmp_path / "bad.root", tmp_path / "out.root")
    repack("--verify", tmp_path / "bad.root", tmp_path / "verified.root", status=1)
    assert sorted(os.listdir(tmp_path)) == ["bad.root", "out.root"]


@pytest.mark.parametrize("options", [[], ["--select", "flag"], ["--format", "rntuple"]])
def test_files_of_a_size(table, tmp_path, options):
    path, values = table
    repack("--verify", "--split", "60K", *options, path, tmp_path / "out.root")
    names = [f"out-{i:04}.root" for i in range(len(os.listdir(tmp_path)))]
    assert sorted(os.listdir(tmp_path)) == sorted(names) and len(names) > 2
    assert max(os.path.getsize(tmp_path / name) for name in names) < 75e3
    chosen = values["flag"] if "--select" in options else slice(None)
    for name in values:
        parts = [awkward.to_list(read(tmp_path / each, [name])[name]) for each in names]
        assert sum(parts, []) == awkward.to_list(awkward.Array(values[name])[chosen]), name
    with uproot.open(tmp_path / names[0]) as first, uproot.open(tmp_path / names[1]) as second:
        assert "tracker/hits" in first and "tracker/hits" not in second
    if not options:  # names in order give entries in order
        with mounted.Mounted([str(tmp_path / "*.root")], ["chain"]) as m:
            assert numpy.fromfile(os.path.join(m.path, "Events", "id.i8"), "i8").tolist() == values["id"].tolist()
    os.unlink(tmp_path / names[0])
    assert "already exists" in repack("--split", "60K", *options, path, tmp_path / "out.root", status=1).stderr
    assert sorted(os.listdir(tmp_path)) == sorted(names[1:])


# ---- what goes wrong

def test_requests_that_make_no_sense(table, tmp_path):
    path, _ = table
    (tmp_path / "there.root").write_text("something")
    for arguments, status, told in (
            ((path, tmp_path / "there.root"), 1, "already exists"),
            ((path, path), 1, "is also an input"),
            (("--force", path, path), 1, "is also an input"),
            ((tmp_path / "no.root", tmp_path / "out.root"), 1, "No such file"),
            ((path, tmp_path / "no" / "out.root"), 1, "No such file"),
            (("--entries", "7", path, tmp_path / "out.root"), 2, "--entries 7"),
            (("--entries", "9:7", path, tmp_path / "out.root"), 2, "--entries 9:7"),
            (("--format", "csv", path, tmp_path / "out.root"), 2, "--format csv"),
            (("--compression", "zip", path, tmp_path / "out.root"), 2, "zip"),
            (("--select", "no_such", path, tmp_path / "out.root"), 1, "no_such"),
            (("--select", "id", path, tmp_path / "out.root"), 1, "id: not booleans: entry 2 is neither 0 nor 1"),
            (("--columns", "x", "--drop", "x", path, tmp_path / "out.root"), 1, "no column in any table"),
            (("--rename", "Events=A", "--rename", "Events=B", path, tmp_path / "out.root"), 2, "--rename Events=B"),
            (("--rename", "Events=A;3", path, tmp_path / "out.root"), 2, "';'"),
            (("--rename", "Events", path, tmp_path / "out.root"), 2, "OLD=NEW")):
        assert told in repack(*arguments, status=status).stderr
    assert (tmp_path / "there.root").read_text() == "something" and os.listdir(tmp_path) == ["there.root"]
    numpy.zeros(4999, bool).tofile(tmp_path / "short.b1")
    assert "4999 values" in repack("--select", tmp_path / "short.b1", path, tmp_path / "out.root", status=1).stderr


def test_a_dry_run_writes_nothing(table, tmp_path):
    path, _ = table
    for options, entries in (([], 5000), (["--format", "rntuple"], 5000), (["--entries", "0:100"], 100)):
        told = repack("--dry-run", *options, path, tmp_path / "out.root").stdout
        assert "would have 1 tables" in told and f"Events: {entries} entries" in told
        of_table, of_file = (int(number) for number in re.findall(r"about (\d+) bytes", told))
        assert of_file > of_table
    assert os.listdir(tmp_path) == []


def damaged_copy(path, to, branch, basket):
    """A copy in which a basket of a branch is damaged; and the entries of that basket."""
    with uproot.open(path) as file:
        found = file["Events"][branch]
        seek, entries = int(found.member("fBasketSeek")[basket]), found.basket_entry_start_stop(basket)
    data = bytearray(path.read_bytes())
    data[seek + 120:seek + 140] = bytes(20)
    to.write_bytes(data)
    return entries


@pytest.mark.parametrize("options", [["--compression", "lz4"], ["--entries", "10:4990"], ["--format", "rntuple"]])
def test_damage_is_named_or_left_out(table, tmp_path, options):
    path, values = table
    begin, end = damaged_copy(path, tmp_path / "bad.root", "x", 3)
    done = repack(*options, tmp_path / "bad.root", tmp_path / "out.root", status=1)
    assert "x" in done.stderr and "at byte" in done.stderr and os.listdir(tmp_path) == ["bad.root"]
    done = repack("--skip-damaged", *options, tmp_path / "bad.root", tmp_path / "out.root", status=1)
    assert f"entries {begin} to {end - 1} are damaged" in done.stderr
    ids = [i for i in range(5000) if not begin <= i < end]
    if "--entries" in options:
        ids = [i for i in ids if 10 <= i < 4990]
    arrays = read(tmp_path / "out.root", ["id", "x"])
    assert arrays["id"].tolist() == ids and arrays["x"].tolist() == values["x"][ids].tolist()


@pytest.mark.parametrize("options", [[], ["--format", "rntuple"]])
def test_faults_of_writing_leave_no_file(table, tmp_path, options):
    path, _ = table
    repack(*options, path, tmp_path / "whole.root")
    size = (tmp_path / "whole.root").stat().st_size
    (tmp_path / "whole.root").unlink()
    for share in (0, 0.3, 0.7, 0.999):
        limit = int(size * share)
        command = ["prlimit", f"--fsize={limit}", mounted.program(), "repack", *options, str(path), str(tmp_path / "out.root")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 1 and "File too large" in done.stderr, (share, done.stderr)
        assert os.listdir(tmp_path) == []


def is_writing_below(pid, directory):
    """Whether a process has a file there that has bytes, with or without a name."""
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            path, size = os.readlink(f"/proc/{pid}/fd/{number}"), os.stat(f"/proc/{pid}/fd/{number}").st_size
        except FileNotFoundError:
            continue  # closed meanwhile
        if path.startswith(f"{directory}/") and size > 0:
            return True
    return False


def test_a_signal_leaves_no_file(samples, tmp_path):
    path = os.path.join(samples("wide"), "wide.root")
    for number in (signal.SIGTERM, signal.SIGINT):
        work = subprocess.Popen([mounted.program(), "repack", "--compression", "lzma:9", "-j", "1", path, str(tmp_path / "out.root")],
                                stderr=subprocess.PIPE, text=True)
        while not is_writing_below(work.pid, tmp_path):
            assert work.poll() is None
            time.sleep(0.01)
        work.send_signal(number)
        assert "stopped" in work.communicate(timeout=60)[1] and work.returncode == 128 + number
        assert os.listdir(tmp_path) == []


def peak_of_repack(*words):
    """The largest resident size, in KiB."""
    # Through a small process: what is forked from this one counts with all that this one has.
    code = "import resource, subprocess, sys\nsubprocess.run(sys.argv[1:], check=True)\n" \
           "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    work = [mounted.program(), "repack", "--memory", "64M", *map(str, words)]
    done = subprocess.run([sys.executable, "-c", code, *work], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1])


def test_memory_does_not_grow_with_the_table(samples, tmp_path):
    """A wide table, with many more bytes than memory: with 64 MiB in buffers, no more than that and the program."""
    path = os.path.join(samples("wide"), "wide.root")
    for options in ([], ["--compression", "none"], ["--format", "rntuple"], ["--cluster", "2M"]):
        assert peak_of_repack("--force", *options, path, tmp_path / "out.root") < (64 + 64) << 10, options


def test_large_entries_are_verified_within_the_memory(tmp_path):
    with uproot.recreate(tmp_path / "in.root") as file:
        file.mktree("t", {f"x{column}": ("f4", (120_000,)) for column in range(2)})
        for entry in range(100):
            file["t"].extend({f"x{column}": numpy.full((1, 120_000), entry + column, "f4") for column in range(2)})
    words = ["--format", "rntuple", "--verify", tmp_path / "in.root", tmp_path / "out.root"]
    assert peak_of_repack(*words) < (64 + 64) << 10


@pytest.mark.parametrize("options", [[], ["--format", "rntuple", "--verify"]])
def test_twelve_thousand_branches_need_few_descriptors_and_little_memory(samples, tmp_path, options):
    path, out = os.path.join(samples("many_branches"), "many_branches.root"), tmp_path / "out.root"
    code = "import resource, subprocess, sys\nresource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))\n" \
           "subprocess.run(sys.argv[1:], check=True)\nprint(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    work = [mounted.program(), "repack", "--memory", "64M", *options, path, str(out)]
    done = subprocess.run([sys.executable, "-c", code, *work], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) < (64 + 64) << 10, done.stdout
    with uproot.open(out) as file:
        assert file["t"]["c11999"].array().tolist() == [11999, 12000, 12001]


@pytest.mark.parametrize("options", [[], ["--format", "rntuple"]])
def test_many_files_need_few_descriptors(table, tmp_path, options):
    path, _ = table
    for i in range(100):
        os.link(shutil.copy(path, tmp_path / "first.root") if i == 0 else tmp_path / "first.root", tmp_path / f"in{i:03}.root")
    code = "import resource, subprocess, sys\nresource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n" \
           "sys.exit(subprocess.run(sys.argv[1:]).returncode)"
    done = subprocess.run([sys.executable, "-c", code, mounted.program(), "repack", *options, str(tmp_path / "in*.root"), str(tmp_path / "out.root")],
                          capture_output=True, text=True)
    assert done.returncode == 0 and "Events: 500000 entries" in done.stdout, done.stderr


# ---- pages and clusters of RNTuples

CLUSTERS = """
import sys
import ROOT
descriptor = ROOT.Experimental.RNTupleInspector.Create("t", sys.argv[1]).GetDescriptor()
print([cluster.GetNEntries() for cluster in descriptor.GetClusterIterable()])
frame = ROOT.RDataFrame("t", sys.argv[1])
print(frame.Sum("x").GetValue() == float(sys.argv[2]), int(frame.Max("number").GetValue()))
"""


def test_clusters_of_rntuples_are_larger(tmp_path):
    """54 MB that cannot be compressed further are one, and two with little memory."""
    numbers = numpy.random.default_rng(1).uniform(size=8_000_000)
    with uproot.recreate(tmp_path / "in.root", compression=None) as file:
        file.mktree("t", {"x": "f8"})
        for part in numpy.split(numbers, 10):
            file["t"].extend({"x": part})
    for options, clusters in ([], 1), (["--memory", "64M"], 2), (["--cluster", "10M"], 5):
        repack("--force", "--format", "rntuple", *options, tmp_path / "in.root", tmp_path / "out.root")
        with uproot.open(tmp_path / "out.root") as file:
            assert len(file["t"].cluster_summaries) == clusters, options


def test_equal_pages_are_stored_once_in_all_clusters(tmp_path):
    """And what would be a small last cluster belongs to the one before it."""
    entries, period = 10_400, 1000
    x = numpy.tile(numpy.random.default_rng(1).integers(0, 1 << 40, period).astype("f8"), 11)[:entries]
    values = {"x": x, "number": numpy.arange(entries), "small": numpy.zeros(entries, "i1")}
    with uproot.recreate(tmp_path / "in.root", compression=None) as file:
        tree = file.mktree("t", {name: column.dtype for name, column in values.items()})
        for at in range(0, entries, period):
            tree.extend({name: column[at:at + period] for name, column in values.items()})
    repack("--format", "rntuple", "--compression", "none", "--cluster", 17 * period, "--verify", tmp_path / "in.root", tmp_path / "out.root")
    done = root_process.run_code(CLUSTERS, tmp_path / "out.root", repr(float(x.sum())))
    assert done.stdout.splitlines() == [str([period] * 9 + [1400]), f"True {entries - 1}"], done.stdout + done.stderr
    stored = (8 + 1) * entries + 8 * (period + 1400)  # x only in the first cluster and the last
    assert stored <= os.path.getsize(tmp_path / "out.root") < stored + 30_000  # uproot describes classes in 20 KB
    with uproot.open(tmp_path / "out.root") as file:
        for name, column in values.items():
            numpy.testing.assert_array_equal(file["t"].arrays([name])[name].to_numpy(), column)
    assert subprocess.run([mounted.program(), "check", tmp_path / "out.root"], capture_output=True).returncode == 0
    # Pages that several clusters have are copied as any others.
    repack("--compression", "lz4", "--verify", tmp_path / "out.root", tmp_path / "again.root")
    with mounted.Mounted(tmp_path) as m:
        assert same(os.path.join(m.path, "out.root", "t"), os.path.join(m.path, "again.root", "t")) == []


# ---- what entries show

CONTRADICTED = 40_000  # entries; each part of a file has many


def write_contradictions(directory, form):
    """in.root, a table with lists whose counters are right (good), wrong in one entry, or wrong from the first on; and a map
    of strings with a key that is there twice. Returns the lists of `good`."""
    random = numpy.random.default_rng(3)
    lengths = random.integers(0, 4, CONTRADICTED)
    offsets = numpy.concatenate(([0], numpy.cumsum(lengths))).astype("<i8")
    counts = {"good": lengths, "late": lengths.copy(), "last": lengths.copy(), "all": lengths + 1}
    counts["late"][CONTRADICTED // 2] += 1
    counts["last"][-1] += 1
    with mounted.Mounted(directory, ("rw", "format=" + form)) as m:
        table = os.path.join(m.path, "in.root", "Events")
        for name, numbers in counts.items():
            os.makedirs(os.path.join(table, f"{name}_x"))
            numbers.astype("<i4").tofile(os.path.join(table, f"n{name}.i4"))
            offsets.tofile(os.path.join(table, f"{name}_x", "offsets.i8"))
            random.normal(size=offsets[-1]).astype("<f4").tofile(os.path.join(table, f"{name}_x", "values.f4"))
        for part in ("", "values/key"):
            os.makedirs(os.path.join(table, "twice", part))
            numpy.arange(CONTRADICTED + 1).astype("<i8").tofile(os.path.join(table, "twice", part, "offsets.i8"))
        numbers = numpy.arange(CONTRADICTED, dtype="<i4")
        numbers.tofile(os.path.join(table, "twice", "values", "value.i4"))
        numpy.full(CONTRADICTED, ord("k"), "u1").tofile(os.path.join(table, "twice", "values", "key", "chars.u1"))
        ends = [0, *range(CONTRADICTED - 1), CONTRADICTED]
        numpy.array(ends, "<i8").tofile(os.path.join(table, "twice", "offsets.i8"))
        mounted.fsync(table)
    return counts


@pytest.mark.parametrize("options", ([], ["--split", "100K", "--cluster", "30K"], ["--dry-run"], ["--entries", "10:30000"]))
def test_columns_that_their_entries_refuse_are_named_and_left_out(tmp_path, options):
    """A tree has no list beside a counter that says something else. Which ones, is known when they are read."""
    counts = write_contradictions(tmp_path, "rntuple")
    (tmp_path / "out").mkdir()
    done = repack("--format", "ttree", "--verify", *options, tmp_path / "in.root", tmp_path / "out" / "new.root", status=1)
    told = [line.removeprefix("tfilefs: left out: Events: ") for line in done.stderr.splitlines()]
    wanted = {"all_x": f"all_x, entry 0: nall is {counts['all'][0]}, the list has {counts['good'][0]} items",
              "late_x": f"late_x, entry {CONTRADICTED // 2}: nlate is ",
              "last_x": f"last_x, entry {CONTRADICTED - 1}: nlast is ",
              "twice": f"twice, entry {CONTRADICTED - 1}: duplicate key in a map"}
    if "--entries" in options:
        wanted = {"all_x": f"all_x, entry 10: nall is {counts['all'][10]}, the list has {counts['good'][10]} items",
                  "late_x": wanted["late_x"]}
    if "--dry-run" in options:  # it looks at the first entries
        del wanted["late_x"], wanted["last_x"], wanted["twice"]
    assert len(told) == len(wanted) and all(any(line.startswith(start) for line in told) for start in wanted.values()), told
    files = sorted((tmp_path / "out").iterdir())
    assert len(files) > 2 if "--split" in options else len(files) == (0 if "--dry-run" in options else 1)
    kept = {"ngood", "nlate", "nlast", "nall"} | {"good_x", "all_x", "late_x", "last_x", "twice"} - set(wanted)
    read = []
    for file in files:
        with uproot.open(file) as opened:
            assert set(opened["Events"].keys(recursive=False)) == kept
            assert opened["Events"]["good_x"].array().layout.minmax_depth == (2, 2)
            read += opened["Events"]["nlate"].array().tolist()
    if files:
        assert read == counts["late"][slice(10, 30000) if "--entries" in options else slice(None)].tolist()


def test_an_rntuple_takes_lists_beside_any_numbers(tmp_path):
    counts = write_contradictions(tmp_path, "rntuple")
    repack("--format", "rntuple", "--cluster", "100K", "--verify", tmp_path / "in.root", tmp_path / "out.root")
    with uproot.open(tmp_path / "out.root") as opened:
        assert opened["Events"]["nlate"].array().tolist() == counts["late"].tolist()


def test_a_tree_that_is_written_by_columns_loses_such_a_list(tmp_path):
    """Two trees that differ; `nx`, a number of its own, has the name of what would count `x`."""
    lists = awkward.Array([[1.5], [], [2.5, 3.5]])
    for name, extra in (("a", "f4"), ("b", "i4")):
        with uproot.recreate(tmp_path / f"{name}.root") as file:
            tree = file.mktree("Events", {"x": "var * float64", "nx": "i4", "y": "var * int32", "extra": extra},
                               counter_name=lambda counted: "size_of_" + counted)
            tree.extend({"x": lists, "nx": numpy.array([1, 0, 2 if name == "a" else 3], "i4"), "y": [[1], [2], [3, 4]],
                         "extra": numpy.arange(3, dtype=extra)})
    done = repack("--format", "ttree", "--verify", tmp_path / "a.root", tmp_path / "b.root", tmp_path / "out.root", status=1)
    assert "left out: Events: x, entry 5: nx is 3, the list has 2 items" in done.stderr
    with uproot.open(tmp_path / "out.root") as file:
        assert file["Events"]["nx"].array().tolist() == [1, 0, 2, 1, 0, 3] and "x" not in file["Events"]
        assert file["Events"]["y"].array().tolist() == 2 * [[1], [2], [3, 4]]
