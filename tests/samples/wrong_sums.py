# SPDX-License-Identifier: Apache-2.0
"""Run by ROOT: wrong_sums.py DIRECTORY writes right.root, a tree of several baskets with lists of all kinds whose record
is not compressed, and sums.json: for each branch the entries, fFirstEntry, fTotBytes and fZipBytes that its record has."""

import array
import json
import os
import sys

sys.path.pop(0)  # numpy, which ROOT imports, needs Python's own `numbers`, not the sample of that name

import ROOT  # noqa: E402

os.chdir(sys.argv[1])
ENTRIES = 6000
ROOT.gInterpreter.Declare("struct Hit { int channel = 0; float charge = 0; };")
file = ROOT.TFile("right.root", "RECREATE", "", 101)
tree = ROOT.TTree("t", "lists of all kinds")
n, m = array.array("i", [0]), array.array("i", [0])
x, y = array.array("f", [0] * 16), array.array("d", [0] * 16)
alone, shaped = array.array("h", [0] * 16), array.array("i", [0] * 48)
fixed, word = array.array("f", [0] * 3), bytearray(64)
numbers, nested = ROOT.std.vector("float")(), ROOT.std.vector("std::vector<short>")()
text, hits = ROOT.std.string(), ROOT.std.vector("Hit")()
leaves = {"n": (n, "n/I"), "m": (m, "m/I"), "x": (x, "x[n]/F"), "y": (y, "y[n]/D"), "alone": (alone, "alone[m]/S"),
          "shaped": (shaped, "shaped[n][3]/I"), "fixed": (fixed, "fixed[3]/F"), "word": (word, "word/C")}
for name, (address, leaf) in leaves.items():
    tree.Branch(name, address, leaf, 4000)
for name, address in (("numbers", numbers), ("nested", nested), ("text", text), ("hits", hits)):
    tree.Branch(name, address, 4000, 99)
tree.SetAutoFlush(0)
for entry in range(ENTRIES):
    n[0], m[0] = entry % 7, entry % 5
    for container in (numbers, nested, hits):
        container.clear()
    for i in range(n[0]):
        x[i], y[i] = entry + i / 8, entry - i
        shaped[3 * i:3 * i + 3] = array.array("i", [entry, i, entry * i])
        hit = ROOT.Hit()
        hit.channel, hit.charge = entry, i / 4
        hits.push_back(hit)
    for i in range(m[0]):
        alone[i] = entry % 30000 - i
        numbers.push_back(entry * 2 + i)
        nested.push_back(ROOT.std.vector("short")([i] * (entry % 3)))
    fixed[0], fixed[2] = entry, -entry
    word[:] = (f"word {entry}" + "!" * (entry % 9)).encode().ljust(64, b"\0")
    text.assign(f"text {entry}" + "?" * (entry % 11))
    tree.Fill()
file.SetCompressionLevel(0)  # of the record; branches have their own
tree.Write()


def all_of(branches):
    for branch in branches:
        yield branch
        yield from all_of(branch.GetListOfBranches())


with open("sums.json", "w") as sums:
    json.dump({branch.GetName(): [branch.GetEntries(), branch.GetFirstEntry(), branch.GetTotBytes(), branch.GetZipBytes()]
               for branch in all_of(tree.GetListOfBranches()) if branch.GetZipBytes() > 0}, sums)
file.Close()
