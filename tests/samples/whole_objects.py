# SPDX-License-Identifier: Apache-2.0
"""Run by ROOT: whole_objects.py DIRECTORY writes vectors.root: 24 branches of unsplit vectors of TVector3, with random
numbers and baskets of 200 KB, and a branch of numbers."""

import os
import sys

import ROOT

os.chdir(sys.argv[1])
file = ROOT.TFile("vectors.root", "RECREATE", "", 404)
tree = ROOT.TTree("t", "objects that are not split")
number = ROOT.std.vector("double")()
tree.Branch("number", number)
vectors = [ROOT.std.vector("TVector3")() for _ in range(24)]
for i, vector in enumerate(vectors):
    tree.Branch(f"v{i:02}", vector, 200_000, 0)
random = ROOT.TRandom3(1)
for entry in range(400):
    number.clear()
    number.push_back(entry)
    for vector in vectors:
        vector.clear()
        for _ in range(entry % 30):
            vector.push_back(ROOT.TVector3(random.Rndm(), random.Rndm(), random.Rndm()))
    tree.Fill()
tree.Write()
file.Close()
