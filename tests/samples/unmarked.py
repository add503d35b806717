# SPDX-License-Identifier: Apache-2.0
"""unmarked.py DIR: unmarked.root, a tree `t` of two branches of counted arrays with their counters before them. As in
files of ROOT 3, those of the second are not marked as counters (fIsRange), and one has the name of the first one's."""

import os
import sys

sys.path.pop(0)  # numpy, which ROOT imports, needs Python's own `numbers`, not the sample of that name

import ROOT  # noqa: E402

ROOT.gInterpreter.Declare(r"""
#include <TFile.h>
#include <TLeaf.h>
#include <TTree.h>

void unmarked(const char* name) {
  TFile file(name, "RECREATE");
  TTree tree("t", "counters without a mark");
  Int_t n = 0, other_n = 0;
  Short_t m = 0;
  Float_t x[5], y[5], grid[3][3], last = 0;
  tree.Branch("first", &n, "n/I:x[n]/F:y[n]/F");
  tree.Branch("second", &other_n, "n/I:m/S:x[n]/F:grid[m][3]/F:y[n]/F:last/F");
  const auto put = [&](const char* branch, const char* leaf, void* at) { tree.GetBranch(branch)->GetLeaf(leaf)->SetAddress(at); };
  put("first", "x", x);
  put("first", "y", y);
  put("second", "m", &m);
  put("second", "x", y);
  put("second", "grid", grid);
  put("second", "y", x);
  put("second", "last", &last);
  for (int entry = 0; entry < 50; ++entry) {
    n = entry % 5;
    other_n = (entry + 1) % 4;
    m = entry % 3;
    last = -entry;
    for (int i = 0; i < 5; ++i) x[i] = entry + 0.25f * i, y[i] = -entry - 0.125f * i;
    for (int i = 0; i < 9; ++i) grid[i / 3][i % 3] = entry * 10 + i;
    tree.Fill();
  }
  for (const char* counter : {"n", "m"}) tree.GetBranch("second")->GetLeaf(counter)->SetRange(false);
  tree.Write();
}
""")
ROOT.unmarked(os.path.join(sys.argv[1], "unmarked.root"))
