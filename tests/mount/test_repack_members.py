# SPDX-License-Identifier: Apache-2.0
"""`tfilefs repack` of what the target cannot hold: one member that cannot be taken costs that member, one name its name.
Keys that no path leads to are kept, and added."""

import json
import os
import subprocess

import awkward
import numpy
import pytest
import uproot

import mounted
import root_process


def repack(*arguments, status=0):
    done = subprocess.run([mounted.program(), "repack", *map(str, arguments)], capture_output=True, text=True, errors="replace")
    assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return done


def root(script, *arguments):
    done = root_process.run_code(script, *map(str, arguments))
    assert done.returncode == 0, done.stderr
    return done.stdout


# Two branches of one name, and names with a dot: of a branch, of a leaf, and of a member.
WRITE_NAMES = """
import array, sys, ROOT
file = ROOT.TFile(sys.argv[1], "RECREATE")
tree = ROOT.TTree("t", "")
i, f, d, n = array.array("i", [0]), array.array("f", [0]), array.array("d", [0]), array.array("i", [0])
items, leaves = array.array("f", [0] * 8), array.array("i", [0] * 2)
tree.Branch("x", i, "x/I")
tree.Branch("x", f, "x/F")
tree.Branch("x", f, "x/F")
tree.Branch("x.y", d, "x.y/D")
tree.Branch("n", n, "n/I")
tree.Branch("list", items, "list[n]/F")
tree.Branch("list.of", items, "of[n]/F")
tree.Branch("leaves", leaves, "a.b/I:c/I")
for entry in range(5):
    i[0], f[0], d[0], n[0] = entry, entry + .5, entry + .25, entry % 3
    leaves[0], leaves[1] = 10 * entry, 20 * entry
    for k in range(8):
        items[k] = 10 * entry + k
    tree.Fill()
tree.Write()
file.Close()
"""
LISTS = [[10.0 * entry + k for k in range(entry % 3)] for entry in range(5)]
READ_RNTUPLE = """
import sys, ROOT
reader = ROOT.RNTupleReader.Open("t", sys.argv[1])
views = {name: reader.GetView[kind](name) for name, kind in
         {"x": "std::int32_t", "x_2": "float", "x_3": "float", "x_y": "double", "leaves.a_b": "std::int32_t"}.items()}
for entry in range(reader.GetNEntries()):
    print(*(views[name](entry) for name in views))
views.clear()  # before their reader
"""


def test_names_that_an_rntuple_does_not_take(tmp_path):
    path, out = tmp_path / "in.root", tmp_path / "out.root"
    root(WRITE_NAMES, path)
    done = repack("--format", "rntuple", "--verify", path, out, status=1)
    told = [line.removeprefix("tfilefs: renamed: t: ").split(": ")[:2] for line in done.stderr.splitlines()]
    assert told == [["x", "now x_2"], ["x~" + told[1][0][2:], "now x_3"], ["x.y", "now x_y"], ["list.of", "now list_of"],
                    ["leaves/a.b", "now a_b"]], done.stderr
    assert root(READ_RNTUPLE, out) == "".join(f"{e} {e + .5} {e + .5} {e + .25} {10 * e}\n" for e in range(5))
    with uproot.open(out) as file:
        array = file["t"].arrays()
    assert array["x"].tolist() == list(range(5)) and array["x_3"].tolist() == [entry + .5 for entry in range(5)]
    assert array["list"].tolist() == array["list_of"].tolist() == LISTS
    assert array["leaves"].tolist() == [{"a_b": 10 * entry, "c": 20 * entry} for entry in range(5)]


def test_a_list_of_records_has_another_name(tmp_path):
    """What is below the node that is renamed comes along."""
    script = WRITE_NAMES.replace('tree.Branch("x.y", d, "x.y/D")', """text = ROOT.std.map("string", "double")()
text["one"] = 1.5
tree.Branch("a.map", text)""")
    path, out = tmp_path / "in.root", tmp_path / "out.root"
    root(script, path)
    done = repack("--format", "rntuple", "--verify", path, out, status=1)
    assert "renamed: t: a.map: now a_map: " in done.stderr
    with mounted.Mounted(out) as m, open(f"{m.path}/t.jsonl") as lines:
        assert [json.loads(line)["a_map"] for line in lines] == 5 * [[{"key": "one", "value": 1.5}]]


WRITE_EMPTY_RECORDS = """
import sys, ROOT
ROOT.gInterpreter.Declare('''
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>
struct Empty {};
struct Holder { int a = 7; Empty e; };
struct Nothing { Empty e; };
void write_empty_records(const char* path) {
  auto model = ROOT::RNTupleModel::Create();
  auto x = model->MakeField<int>("x");
  const std::pair<const char*, const char*> fields[] = {
      {"empty", "Empty"}, {"holder", "Holder"}, {"nothing", "Nothing"}, {"list", "std::vector<Holder>"},
      {"pair", "std::pair<int,Empty>"}, {"array", "std::array<Empty,3>"}, {"optional", "std::optional<Empty>"},
      {"variant", "std::variant<int,Empty>"}};
  for (const auto& [name, type] : fields) model->AddField(ROOT::RFieldBase::Create(name, type).Unwrap());
  model->AddField(std::make_unique<ROOT::RRecordField>("record", std::vector<std::unique_ptr<ROOT::RFieldBase>>{}));
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "t", path);
  for (int i = 0; i < 5; ++i) { *x = i; writer->Fill(); }
}''')
ROOT.write_empty_records(sys.argv[1])
"""


@pytest.mark.parametrize("options", (["--columns", "*"], ["--format", "ttree"]))
def test_records_without_members_are_named(tmp_path, options):
    path, out = tmp_path / "in.root", tmp_path / "out.root"
    root(WRITE_EMPTY_RECORDS, path)
    done = repack(*options, path, out, status=1)
    lost = {line.removeprefix("tfilefs: left out: t: ").split(":")[0] for line in done.stderr.splitlines()}
    assert lost == {"empty", "holder/e", "nothing", "list/values/e", "pair/second", "array", "optional", "variant", "record"}, done.stderr
    with mounted.Mounted(out) as m, open(f"{m.path}/t.jsonl") as lines:
        assert [json.loads(line) for line in lines] == [{"x": i, "holder": {"a": 7}, "list": [], "pair": {"first": 0}} for i in range(5)]


# A record in whose middle there are pointers to several classes, for which no column of a tree is written; a member of
# such records; lists of records of lists.
def test_a_table_without_columns_is_named(tmp_path):
    made = tmp_path / "made.root"
    root("import sys, ROOT\nfile = ROOT.TFile(sys.argv[1], 'RECREATE')\nROOT.TTree('t', 'no branch').Write()\nfile.Close()", made)
    done = repack("--format", "rntuple", made, tmp_path / "out.root", status=1)
    assert done.stderr == "tfilefs: left out: t: none of its columns can be written\n"
    assert (tmp_path / "out.root").exists()


def test_one_member_that_is_not_written_costs_one_member(tmp_path):
    records = awkward.Array([{"r": {"x": float(i), "deep": {"y": i, "z": i + 1}, "s": f"text {i}", "l": [{"p": 1.5, "q": "q"}] * i}}
                             for i in range(4)])
    rntuple, tree = tmp_path / "rntuple.root", tmp_path / "tree.root"
    with uproot.recreate(rntuple) as file:
        file.mkrntuple("t", {"r": records["r"], "items": awkward.Array([[{"a": i, "b": "text", "c": [i]}] * i for i in range(4)])})
    done = repack("--format", "ttree", "--verify", rntuple, tree, status=1)
    lost = {line.removeprefix("tfilefs: left out: t: ").split(":")[0] for line in done.stderr.splitlines()}
    assert lost == {"r/deep", "r/l", "items/values/b", "items/values/c"}, done.stderr
    with mounted.Mounted(tree) as m, open(f"{m.path}/t.jsonl") as lines:
        assert [json.loads(line) for line in lines] == [{"r": {"x": i, "s": f"text {i}"}, "items": [{"a": i}] * i} for i in range(4)]
    drawn = root("""
import sys, ROOT
file = ROOT.TFile(sys.argv[1])
tree = file.Get("t")
for name in ("r.x", "items.a"):
    print([tree.GetV1()[i] for i in range(tree.Draw(name, "", "goff"))])
""", tree)
    assert drawn == f"{[0., 1., 2., 3.]}\n{[1., 2., 2., 3., 3., 3.]}\n"


def test_pointers_to_several_classes_cost_their_member(samples, tmp_path):
    """No column of them is written. The other members of the same objects are, and stay what they are."""
    path, out = f"{samples('pointers')}/pointers-0-101.root", tmp_path / "out.root"
    done = repack("--format", "rntuple", "--verify", path, out, status=1)
    lost = [line.removeprefix("tfilefs: left out: ").split(": ") for line in done.stderr.splitlines()]
    members = [each[1] for each in lost if "/" in each[1] and "several types" in each[-1]]
    assert len(members) > 3, done.stderr
    with mounted.Mounted(path) as before, mounted.Mounted(out) as after:
        for table, member in ((each[0], each[1]) for each in lost if each[1] in members):
            above = f"{table}/{member.rpartition('/')[0]}"
            there = set(os.listdir(f"{after.path}/{above}"))
            assert there and there < set(os.listdir(f"{before.path}/{above}")), above


WRITE_SHORT = """
import array, sys, ROOT
file = ROOT.TFile(sys.argv[1], "RECREATE")
tree, x = ROOT.TTree("t", ""), array.array("i", [1])
tree.Branch("x", x, "x/I")
tree.Branch("short", x, "short/I")
for entry in range(4):
    tree.Fill()
tree.SetEntries(6)
for entry in range(2):
    tree.GetBranch("x").Fill()
tree.Write()
file.Close()
"""


def test_the_reason_is_that_of_one_file(tmp_path):
    """Nothing differs between the files where there is one, or where all have it so."""
    for name in "ab":
        root(WRITE_SHORT, tmp_path / f"{name}.root")
    for names in ("a", "ab"):
        done = repack("--force", "--format", "rntuple", *(tmp_path / f"{name}.root" for name in names), tmp_path / "out.root", status=1)
        assert done.stderr == "tfilefs: left out: t: short: i4, with fewer entries than the table\n"
        with uproot.open(tmp_path / "out.root") as file:
            assert file["t"]["x"].array().tolist() == [1] * 6 * len(names)


# ---- keys that no path leads to

WRITE_KEYS = """
import array, sys, ROOT
ROOT.TH1.AddDirectory(False)
for number, path in enumerate(sys.argv[1:]):
    file = ROOT.TFile(path, "RECREATE")
    for name in ("h/dN/deta", "", "plain", "a%2Fb"):
        histogram = ROOT.TH1D(name, "", 4, 0, 4)
        histogram.Fill(number)
        histogram.Write()
    tree, x = ROOT.TTree("tree/of", ""), array.array("i", [0])
    tree.Branch("x", x, "x/I")
    for x[0] in range(3):
        tree.Fill()
    tree.Write()
    file.mkdir("h").cd()
    ROOT.TNamed("dN", "in the directory").Write()
    ROOT.TH1D("x/y", "", 2, 0, 2).Write()
    file.Close()
"""
READ_KEYS = """
import sys, ROOT
file = ROOT.TFile(sys.argv[1])
for key in sorted(file.GetListOfKeys(), key=lambda key: key.GetName()):
    made = key.ReadObj()
    told = [made.GetBinContent(i) for i in range(1, 5)] if made.InheritsFrom("TH1") else made.GetEntries() if made.InheritsFrom("TTree") else ""
    print(repr(str(key.GetName())), key.GetClassName(), told)
"""


@pytest.fixture(scope="module")
def slashes(tmp_path_factory):
    directory = tmp_path_factory.mktemp("slashes")
    files = [directory / f"{name}.root" for name in "ab"]
    root(WRITE_KEYS, *files)
    return files


def test_keys_that_no_path_leads_to_are_copied(slashes, tmp_path):
    out = tmp_path / "out.root"
    assert "1 tables, 6 objects" in repack("--verify", slashes[0], out).stdout
    assert root(READ_KEYS, out) == root(READ_KEYS, slashes[0]) and "'h/dN/deta' TH1D [1.0" in root(READ_KEYS, out)
    with mounted.Mounted(slashes[0]) as before, mounted.Mounted(out) as after:
        assert subprocess.run(["diff", "-r", before.path, after.path], capture_output=True, text=True).stdout == ""


def test_keys_that_no_path_leads_to_are_added_as_hadd_does(slashes, tmp_path):
    out, merged = tmp_path / "out.root", tmp_path / "merged.root"
    done = repack(*slashes, out)
    assert done.stderr == ""
    root("""
import sys, ROOT
merger = ROOT.TFileMerger(False, False)
assert merger.OutputFile(sys.argv[1], "recreate") and all(merger.AddFile(file) for file in sys.argv[2:])
merger.Merge()
""", merged, *slashes)
    ours, theirs = root(READ_KEYS, out).splitlines(), root(READ_KEYS, merged).splitlines()
    assert "'h/dN/deta' TH1D [1.0, 1.0, 0.0, 0.0]" in ours and "'' TH1D [1.0, 1.0, 0.0, 0.0]" in ours and "'tree/of' TTree 6" in ours
    assert set(ours) >= {line for line in theirs if "/" in line or "plain" in line}, (ours, theirs)


def test_a_new_table_has_a_name_that_a_path_can_have(slashes, tmp_path):
    done = repack("--format", "rntuple", "--verify", slashes[0], tmp_path / "out.root", status=1)
    assert done.stderr == "tfilefs: renamed: tree%2Fof: now tree_of: no new table has the name 'tree/of'\n"
    with uproot.open(tmp_path / "out.root") as file:
        assert file["tree_of"].arrays()["x"].tolist() == numpy.arange(3).tolist()
