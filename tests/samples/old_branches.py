# SPDX-License-Identifier: Apache-2.0
"""Run by ROOT: old_branches.py DIRECTORY writes without.root, later.root and with.root. Each has a tree with branches as
ROOT made them before TBranchElement: a TClonesArray is a TBranchClones. The last one also has what trees have beside
their branches. read.json: what ROOT reads of the first two, one behind the other."""

import json
import os
import sys

import ROOT

os.chdir(sys.argv[1])
ROOT.gInterpreter.Declare('''
class OldEvent : public TObject {
 public:
  int n = 0;
  TClonesArray* lines = new TClonesArray("TLine", 10);
  ClassDef(OldEvent, 1)
};
void write_old(const char* path, int first, int entries, bool has_extras) {
  TFile file(path, "recreate");
  TTree tree("T", "t");
  OldEvent* event = new OldEvent;
  int x = 0;
  tree.Branch("x", &x, "x/I");
  tree.BranchOld("event", "OldEvent", &event, 32000, 1);
  for (x = first; x < first + entries; ++x) {
    event->n = x;
    event->lines->Clear();
    for (int i = 0; i < x % 3; ++i) new ((*event->lines)[i]) TLine(x, i, 1, 2);
    tree.Fill();
  }
  if (has_extras) {
    tree.SetAlias("twice", "2*x");
    tree.SetWeight(2.5);
    tree.GetUserInfo()->Add(new TNamed("run", "7"));
    tree.BuildIndex("x");
    tree.AddFriend("T", "without.root");
  }
  tree.Write("T");
}
// Of each line of each entry: fX1, fY1, fX2, fLineWidth.
std::vector<std::vector<std::vector<double>>> read_old(const std::vector<std::string>& paths) {
  TChain chain("T");
  for (const std::string& path : paths) chain.Add(path.c_str());
  OldEvent* event = new OldEvent;
  chain.SetBranchAddress("event", &event);
  std::vector<std::vector<std::vector<double>>> all;
  for (int entry = 0; chain.GetEntry(entry) > 0; ++entry) {
    all.emplace_back();
    for (TObject* each : *event->lines) {
      const auto* line = static_cast<TLine*>(each);
      all.back().push_back({line->GetX1(), line->GetY1(), line->GetX2(), double(line->GetLineWidth())});
    }
  }
  return all;
}''')
ROOT.write_old("without.root", 0, 10, False)
ROOT.write_old("later.root", 10, 7, False)
ROOT.write_old("with.root", 0, 10, True)

with open("read.json", "w") as file:
    json.dump([[list(line) for line in lines] for lines in ROOT.read_old(["without.root", "later.root"])], file)
