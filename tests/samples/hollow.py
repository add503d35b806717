# SPDX-License-Identifier: Apache-2.0
"""hollow.py DIR: hollow.root, a tree `t` of objects of classes without members, as branches, as members, bases and in
a collection; and of a class that has only bases without members, with the object `heir`."""

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

struct Root { virtual ~Root() = default; };
struct Store : Root {};
struct Lock { virtual ~Lock() = default; };
struct Heir : Store, Lock {
  int unsaved = 0;  //!
};
struct Owner { Heir inner; std::vector<Heir> heirs; int x = 0; };

void hollow(const char* name) {
  TFile file(name, "RECREATE");
  TTree tree("t", "objects without members");
  Nothing nothing;
  Holder holder;
  Items items;
  Heir heir;
  Owner owner;
  tree.Branch("alone", &nothing);
  tree.Branch("whole", &nothing, 32000, 0);
  tree.Branch("holder.", &holder);
  tree.Branch("whole_holder", &holder, 32000, 0);
  tree.Branch("items.", &items);
  tree.Branch("heir", &heir);
  tree.Branch("heir_1", &heir, 32000, 1);
  tree.Branch("whole_heir", &heir, 32000, 0);
  tree.Branch("owner.", &owner);
  tree.Branch("whole_owner", &owner, 32000, 0);
  for (int entry = 0; entry < 20; ++entry) {
    holder.x = items.y = owner.x = entry;
    items.items.assign(entry % 3, holder);
    owner.heirs.resize(entry % 3);
    tree.Fill();
  }
  tree.Write();
  file.WriteObject(&heir, "heir");
}
""")
ROOT.hollow(os.path.join(sys.argv[1], "hollow.root"))
