# SPDX-License-Identifier: Apache-2.0
"""Run by ROOT: contradictions.py DIRECTORY writes two trees with a branch whose items contradict its lists:
unwritten.root, with a vector<array<int,3>> of which ROOT writes only the sizes; and longer.root, with a branch that was
filled once more than the others. Also classes.root, with a branch whose layout depends on its first entries; and
empty.root, with trees without branches or without entries."""

import os
import sys

import ROOT

os.chdir(sys.argv[1])
ROOT.gInterpreter.Declare("struct Point { int x = 0; float y = 0; };")
for name in ("unwritten", "longer"):
    file = ROOT.TFile(name + ".root", "RECREATE")
    tree = ROOT.TTree("t", "a branch of it is odd")
    odd = ROOT.std.vector("std::array<int,3>")()
    points = ROOT.std.vector("Point")()
    good = ROOT.std.vector("float")()
    if name == "unwritten":
        ROOT.gErrorIgnoreLevel = ROOT.kFatal  # it reports that it does not find the member
        tree.Branch("odd", odd)
        ROOT.gErrorIgnoreLevel = ROOT.kInfo
    else:
        tree.Branch("points", points, 32000, 99)
    tree.Branch("good", good)
    for entry in range(100):
        for each in (odd, points, good):
            each.clear()
        for i in range(entry % 6):
            odd.push_back(ROOT.std.array("int", 3)())
            good.push_back(entry + i / 8)
            point = ROOT.Point()
            point.x, point.y = entry, i
            points.push_back(point)
        tree.Fill()
    if name == "longer":
        tree.GetBranch("points.y").Fill()
    tree.Write()
    file.Close()

file = ROOT.TFile("classes.root", "RECREATE")
tree = ROOT.TTree("t", "lists in lists")
nested = ROOT.std.vector("std::vector<int>")()
tree.Branch("nested", nested)
tree.Branch("good", good)
for entry in range(100):
    nested.clear()
    good.clear()
    for i in range(entry % 6):
        nested.push_back(ROOT.std.vector("int")(i))
        good.push_back(entry + i / 8)
    tree.Fill()
tree.Write()
file.Close()

file = ROOT.TFile("empty.root", "RECREATE")
empty = ROOT.TTree("none", "no branches, no entries")
empty.Write()
counted = ROOT.TTree("counted", "no branches, five entries")
counted.SetEntries(5)
counted.Write()
lists = ROOT.TTree("lists", "no number and no entry")
lists.Branch("good", good)
lists.Write()
file.Close()
