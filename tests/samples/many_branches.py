# SPDX-License-Identifier: Apache-2.0
"""many_branches.py DIR: many_branches.root, a tree of 12,000 branches with one integer per entry: entry e of c5 is 5 +
e."""

import array
import sys

import ROOT

BRANCHES, ENTRIES = 12_000, 3


def write(path):
    file = ROOT.TFile(path, "RECREATE")
    tree = ROOT.TTree("t", "many branches")
    values = [array.array("i", [0]) for _ in range(BRANCHES)]
    for branch, value in enumerate(values):
        tree.Branch(f"c{branch}", value, f"c{branch}/I", 1000)
    for entry in range(ENTRIES):
        for branch, value in enumerate(values):
            value[0] = branch + entry
        tree.Fill()
    tree.Write()
    file.Close()


if __name__ == "__main__":
    write(sys.argv[1] + "/many_branches.root")
