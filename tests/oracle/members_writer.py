# SPDX-License-Identifier: Apache-2.0
"""Writes the tree Events of five entries with a split object of numbers, texts and lists: FILE BRANCH."""

import sys

import ROOT

CODE = """
#include <string>
#include <vector>
#include "TFile.h"
#include "TTree.h"

struct ThingOfTest {
  int n;
  double y;
  std::string name;
  float pos[3];
  std::vector<double> ys;
  std::vector<std::string> words;
};
#ifdef __ROOTCLING__
#pragma link C++ class ThingOfTest+;
#endif

inline void write_things(const char* path, const char* branch) {
  TFile file(path, "recreate");
  TTree tree("Events", "");
  ThingOfTest thing;
  int run = 0;
  tree.Branch(branch, &thing, 32000, 99);
  tree.Branch("run", &run);
  for (int i = 0; i < 5; ++i) {
    run = i;
    thing.n = i;
    thing.y = i * 0.5;
    thing.name = "name " + std::to_string(i);
    for (int j = 0; j < 3; ++j) thing.pos[j] = i + j + 0.5;
    thing.ys.assign(i, i * 0.25);
    thing.words.assign(i % 3, "w" + std::to_string(i));
    tree.Fill();
  }
  tree.Write();
}
"""

with open("things.h", "w") as header:
    header.write(CODE)
assert ROOT.gROOT.LoadMacro("things.h+") == 0
ROOT.write_things(*sys.argv[1:])
