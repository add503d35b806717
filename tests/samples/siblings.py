# SPDX-License-Identifier: Apache-2.0
"""Run by ROOT: siblings.py DIRECTORY writes main.root, with several baskets of a vector, and one of its branches in
side.root. The first basket there has the same address as the first object written here. Also writes few.root, with a
tree of so few entries that those of its branch in another file are stored in the tree's record: ROOT does not make that
file."""

import os
import sys

import ROOT

os.chdir(sys.argv[1])
# lzma has a checksum, so that any damage is detected.
file = ROOT.TFile("main.root", "RECREATE", "", 207)
first = ROOT.TNamed("first", "a title that is long enough to be compressed, " * 20)
first.Write()
tree = ROOT.TTree("t", "a branch in another file")
here, there = ROOT.std.vector("double")(), ROOT.std.vector("int")()
tree.Branch("vector", here, 2000)
tree.Branch("other", there, 8000)
tree.GetBranch("other").SetFile("side.root")
for entry in range(1000):
    here.clear()
    there.clear()
    for i in range(entry % 5):
        here.push_back(entry * 0.37 + i)
        there.push_back(entry * i)
    tree.Fill()
tree.Write()
file.Close()

file = ROOT.TFile("few.root", "RECREATE")
tree = ROOT.TTree("t", "a branch that would lie in another file")
tree.Branch("other", there)
tree.GetBranch("other").SetFile("never.root")
for entry in range(10):
    there.clear()
    for i in range(entry % 3):
        there.push_back(entry * i)
    tree.Fill()
tree.Write()
file.Close()
