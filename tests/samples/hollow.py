# SPDX-License-Identifier: Apache-2.0
"""hollow.py DIR: hollow.root, a tree `t` of objects of classes without members, as branches, as members, bases and in
a collection."""

import os
import sys

sys.path.pop(0)  # numpy, which ROOT imports, needs Python's own `numbers`, not the sample of that name

import ROOT  # noqa: E402

ROOT.gInterpreter.Declare(r"""
#include <TFile.h>
#include <TTree.h>
#include <vector>

struct Nothing {};
struct Base {};
struct Holder : Base { Nothing inner; int x = 0; };
struct Items { std::vector<Holder> items; int y = 0; };

void hollow(const char* name) {
  TFile file(name, "RECREATE");
  TTree tree("t", "objects without members");
  Nothing nothing;
  Holder holder;
  Items items;
  tree.Branch("alone", &nothing);
  tree.Branch("whole", &nothing, 32000, 0);
  tree.Branch("holder.", &holder);
  tree.Branch("whole_holder", &holder, 32000, 0);
  tree.Branch("items.", &items);
  for (int entry = 0; entry < 20; ++entry) {
    holder.x = items.y = entry;
    items.items.assign(entry % 3, holder);
    tree.Fill();
  }
  tree.Write();
}
""")
ROOT.hollow(os.path.join(sys.argv[1], "hollow.root"))
