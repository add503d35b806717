# SPDX-License-Identifier: Apache-2.0
"""Writes the tree Events of four entries with a split list of records: FILE."""

import sys

import ROOT

ROOT.gInterpreter.Declare("struct RecordOfTest { float x; int n; short pos[3]; };")
file = ROOT.TFile(sys.argv[1], "recreate")
tree = ROOT.TTree("Events", "")
hits, plain = ROOT.std.vector("RecordOfTest")(), ROOT.std.vector("float")()
tree.Branch("hits", hits, 32000, 99)
tree.Branch("plain", plain)
for i in range(4):
    hits.clear()
    for j in range(i):
        record = ROOT.RecordOfTest()
        record.x, record.n = i + j * 0.5, j
        record.pos[0], record.pos[1], record.pos[2] = i, j, 5
        hits.push_back(record)
    tree.Fill()
tree.Write()
file.Close()
