# SPDX-License-Identifier: Apache-2.0
"""claimed.py DIR: small files with uncompressed records, in which tests make false claims: tree.root, histograms.root,
formulas.root, objects.root (an object and a tree of class TObjString, whose description is the object `infos`), and
many_elements.root, a class of a million members."""

import os
import sys
from array import array

sys.path.pop(0)  # numpy, which ROOT imports, needs Python's own `numbers`, not the sample of that name

import ROOT  # noqa: E402

ROOT.TH1.AddDirectory(False)
ROOT.gInterpreter.Declare(r"""
#include <TBaseClass.h>
#include <TClass.h>
#include <TFile.h>
#include <TList.h>
#include <TStreamerElement.h>
#include <TStreamerInfo.h>

TStreamerInfo* info_of(const char* name) {
  auto* info = new TStreamerInfo(new TClass(name, 1, nullptr, nullptr));
  info->SetClassVersion(1);
  return info;
}

// Ten letters, as TObjString has.
TList* recursive_infos() {
  auto* list = new TList;
  auto* own = info_of("Recursive1");  // holds itself, by value and in vectors, and is its own base
  own->GetElements()->Add(new TStreamerBase("Recursive1", "", 0));
  own->GetElements()->Add(new TStreamerObjectAny("self", "", 0, "Recursive1"));
  own->GetElements()->Add(new TStreamerObjectAny("other", "", 0, "Recursive2"));
  own->GetElements()->Add(new TStreamerSTL("many", "", 0, "vector<Recursive1>", "vector<Recursive1>", false));
  list->Add(own);
  auto* other = info_of("Recursive2");
  for (int i = 0; i < 8; ++i)
    other->GetElements()->Add(new TStreamerObjectAny(Form("back%d", i), "", 0, i % 2 ? "Recursive1" : "Recursive3"));
  list->Add(other);
  for (int depth = 3; depth < 40; ++depth) {  // each holds the next one eight times
    auto* info = info_of(Form("Recursive%d", depth));
    for (int i = 0; i < 8; ++i)
      info->GetElements()->Add(new TStreamerObjectAny(Form("next%d", i), "", 0, Form("Recursive%d", depth + 1)));
    list->Add(info);
  }
  return list;
}

TList* many_elements(const char* name) {
  auto* list = new TList;
  auto* info = info_of(name);
  for (int i = 0; i < 1'000'000; ++i) {
    auto* element = new TStreamerBasicType(Form("m%d", i), "", 0, 3, "int");
    element->SetTypeName("int");
    info->GetElements()->Add(element);
  }
  list->Add(info);
  return list;
}
""")


def create(name, compression=0):
    return ROOT.TFile(os.path.join(sys.argv[1], name + ".root"), "recreate", "", compression)


def beside():
    histogram = ROOT.TH1D("beside", "beside", 4, 0, 1)
    histogram.Fill(0.5, 7)
    histogram.Write()


def tree():
    file = create("tree")
    t = ROOT.TTree("t", "t")
    t.SetAutoFlush(50)
    x, n, a, m = array("d", [0]), array("i", [0]), array("f", [0] * 8), array("d", [0] * 6)
    v, vv, s = ROOT.std.vector("float")(), ROOT.std.vector("vector<float>")(), ROOT.std.string()
    t.Branch("x", x, "x/D")
    t.Branch("n", n, "n/I")
    t.Branch("a", a, "a[n]/F")
    t.Branch("m", m, "m[2][3]/D")
    for name, value in (("v", v), ("vv", vv), ("s", s)):
        t.Branch(name, value)
    for i in range(100):
        x[0], n[0] = i, i % 8
        v.clear()
        vv.clear()
        for k in range(i % 5):
            v.push_back(k)
            vv.push_back(v)
        s.assign(f"s{i}")
        t.Fill()
    t.Write()
    beside()
    file.Close()


def histograms():
    file = create("histograms")
    one = ROOT.TH1D("one", "one", 21, 0, 1)
    one.Sumw2()
    one.Fill(0.5)
    one.Write()
    two = ROOT.TH2F("two", "two", 23, 0, 1, 25, 0, 1)
    two.Fill(0.5, 0.5)
    two.Write()
    graph = ROOT.TGraphErrors(27)
    graph.SetName("graph")
    graph.Write()
    stack = ROOT.THStack("stack", "stack")
    stack.Add(one)
    stack.Write()
    sparse = ROOT.THnSparseD("sparse", "sparse", 2, array("i", [29, 31]), array("d", [0, 0]), array("d", [1, 1]), 16)
    sparse.Fill(array("d", [0.3, 0.4]))
    sparse.Write()
    ROOT.TObjString("how long is this?").Write("text")
    beside()
    file.Close()


def formulas():
    file = create("formulas")
    function = ROOT.TF1("line", "x" + "+0" * 2000, 0, 1)
    function.SetNpx(4099)
    function.Write()
    surface = ROOT.TF2("surface", "y" + "+0" * 2000, 0, 1, 0, 1)
    surface.SetNpx(4111)
    surface.Write()
    beside()
    file.Close()


def objects():
    file = create("objects")
    text = ROOT.TObjString("a text, as long as it is")
    text.Write("object")
    t = ROOT.TTree("t", "t")
    t.Branch("b", "TObjString", text, 32000, 0)
    for _ in range(10):
        t.Fill()
    t.Write()
    ROOT.recursive_infos().Write("infos", 1)
    beside()
    file.Close()


def many_elements():
    file = create("many_elements", 505)
    ROOT.TObjString("text").Write("object")
    beside()
    ROOT.many_elements("TObjString").Write("infos", 1)
    file.Close()


for write in (tree, histograms, formulas, objects, many_elements):
    write()
