# SPDX-License-Identifier: Apache-2.0
"""Items with a base TNamed that are stored member by member: each keeps the header of that base. And arrays of objects
among their members, which have one header for all items."""

import json
import os

import pytest

import root_process

WRITE = r"""
import sys, ROOT
ROOT.gInterpreter.Declare('''
#include <TNamed.h>
#include <vector>
class Hit : public TNamed { public: int a = 1; float b = 2; ClassDefInline(Hit, 2); };
class Heir : public Hit { public: int c = 3; ClassDefInline(Heir, 2); };
class Texts : public TNamed {
 public:
  Int_t n = 0;
  TString* texts = nullptr;  //[n]
  Int_t after = 0;
  void set(int count) {
    delete[] texts;
    n = count;
    texts = new TString[n];
    for (int i = 0; i < n; ++i) texts[i] = TString::Format("text %d of %d", i, n);
    after = 100 + n;
  }
  Texts() = default;
  Texts(const Texts& other) : TNamed(other) { set(other.n); }
  Texts& operator=(const Texts& other) { TNamed::operator=(other); set(other.n); return *this; }
  ~Texts() { delete[] texts; }
  ClassDefInline(Texts, 2);
};
''')
ROOT.TVirtualStreamerInfo.SetStreamMemberWise(True)
file = ROOT.TFile(sys.argv[1], "RECREATE")
tree = ROOT.TTree("t", "t")
names = ("Hit", "Heir", "Texts")
clones = {name: ROOT.TClonesArray(name) for name in names}
vectors = {name: ROOT.std.vector[name]() for name in names}
for name in names:
    tree.Branch("clones_" + name, "TClonesArray", clones[name], 32000, 0)
    tree.Branch("vector_" + name, vectors[name], 32000, 0)
for entry in range(5):
    for name in names:
        clones[name].Clear("C")
        vectors[name].clear()
        for k in range(entry):
            item = getattr(ROOT, name)()
            item.SetNameTitle(f"{name} {entry} {k}", f"title {k}")
            if name == "Texts":
                item.set((entry + k) % 4)
            else:
                item.a = 10 * entry + k
            if name == "Heir":
                item.c = 100 * entry + k
            vectors[name].push_back(item)
            there = clones[name].ConstructedAt(k)
            there.SetNameTitle(item.GetName(), item.GetTitle())
            if name == "Texts":
                there.set((entry + k) % 4)
            else:
                there.a, there.b = item.a, item.b
            if name == "Heir":
                there.c = item.c
    tree.Fill()
tree.Write()
file.Close()
"""


def own(name, entry, k):
    return {"TNamed": {"TObject": {"fUniqueID": 0, "fBits": 0}, "fName": f"{name} {entry} {k}", "fTitle": f"title {k}"}}


def expected(name, entry, k):
    if name == "Texts":
        n = (entry + k) % 4
        return {**own(name, entry, k), "n": n, "texts": [f"text {i} of {n}" for i in range(n)], "after": 100 + n}
    hit = {**own(name, entry, k), "a": 10 * entry + k, "b": 2}
    return {"Hit": hit, "c": 100 * entry + k} if name == "Heir" else hit


@pytest.fixture(scope="module")
def top(tmp_path_factory, shared_mount):
    path = tmp_path_factory.mktemp("named") / "named.root"
    root_process.run_code(WRITE, path, check=True)
    return shared_mount(path).path


def without_bits(value):
    """fBits says where an object lives, too."""
    if isinstance(value, dict):
        return {name: 0 if name == "fBits" else without_bits(each) for name, each in value.items()}
    return [without_bits(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", ("Hit", "Heir", "Texts"))
@pytest.mark.parametrize("how", ("clones", "vector"))
def test_items_with_a_name(top, how, name):
    with open(os.path.join(top, "t.jsonl")) as rows:
        read = [without_bits(json.loads(row)[f"{how}_{name}"]) for row in rows]
    assert read == [[expected(name, entry, k) for k in range(entry)] for entry in range(5)]


FORMULAS = """
import json, sys, ROOT
file = ROOT.TFile(sys.argv[1])
tree = file.Get("fTS")
told = {"f_Int0": [], "f_Int1": []}
for entry in range(tree.GetEntries()):
    tree.GetEntry(entry)
    for name in told:
        told[name].append([[f.GetName(), f.GetXmin(), f.GetXmax(), f.GetNpx(), [f.GetParameter(i) for i in range(f.GetNpar())]]
                           for f in getattr(tree, name)])
print(json.dumps(told))
"""


@pytest.mark.corpus
@pytest.mark.skipif(not os.environ.get("TFILEFS_CORPUS"), reason="TFILEFS_CORPUS names no corpus of real files")
def test_functions_of_root_5(shared_mount):
    """TF1 7 and TFormula 8, which no file describes that was written by another version."""
    path = os.path.join(os.environ["TFILEFS_CORPUS"], "files", "roottest-v5formula_clones.root")
    told = json.loads(root_process.run_code(FORMULAS, path, check=True).stdout.splitlines()[-1])
    with open(os.path.join(shared_mount(path).path, "fTS.jsonl")) as rows:
        read = [json.loads(row) for row in rows]
    for name, functions in told.items():
        assert [[of_function(item) for item in row[name]] for row in read] == functions and len(read) == 16, name
        # ROOT 6 writes formulas anew when it reads them, and names parameters p0, p1, ...; the mount has what is stored.
        formulas = {item["TFormula"]["TNamed"]["fTitle"]: item["TFormula"]["fNames"] for row in read for item in row[name]}
        assert formulas["[0]+[1]*x"] == ["offset", "slope"] and formulas["x"] == []


def of_function(item):
    formula = item["TFormula"]
    return [formula["TNamed"]["fName"], item["fXmin"], item["fXmax"], item["fNpx"], formula["fParams"]]
