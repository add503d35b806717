# SPDX-License-Identifier: Apache-2.0
"""protocol_template.py FILE: ROOT writes a tree in three cycles of a thousand entries each, uncompressed, and after
each cycle a text object, whose space two_barriers.py uses for key list and free list. Prints their places as JSON."""

import array
import json
import sys

import ROOT

file = ROOT.TFile(sys.argv[1], "RECREATE", "", 0)
tree = ROOT.TTree("Events", "")
tree.SetAutoFlush(250)
tree.SetAutoSave(0)
px, n = array.array("f", [0]), array.array("i", [0])
tree.Branch("px", px, "px/F")
tree.Branch("n", n, "n/I")
for cycle in range(3):
    for entry in range(1000 * cycle, 1000 * (cycle + 1)):
        px[0], n[0] = 0.5 * entry, entry * 7
        tree.Fill()
    tree.FlushBaskets()
    tree.Write()
    ROOT.TNamed("room", "x" * (30000 if cycle == 0 else 3000)).Write()
places = {str(key.GetName()) + str(key.GetCycle()): [key.GetSeekKey(), key.GetNbytes()] for key in file.GetListOfKeys()}
file.Close()
print(json.dumps(places))
