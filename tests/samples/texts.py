# SPDX-License-Identifier: Apache-2.0
"""Run by ROOT: texts.py DIRECTORY writes texts.root, with a tree `t` of arrays of characters, and of aliases with odd names."""

import array
import os
import sys

import ROOT

os.chdir(sys.argv[1])
TEXTS = [b"abc", b"abcd", b"xyza", b"", b"longer", b"a", b"ABC"] * 10

file = ROOT.TFile("texts.root", "RECREATE")
tree = ROOT.TTree("t", "arrays of characters")
x, count = array.array("d", [0]), array.array("i", [0])
name, other, two = (array.array("b", [0] * size) for size in (16, 8, 24))
letters, bytes_ = array.array("b", [0] * 8), array.array("B", [0] * 4)
tree.Branch("x", x, "x/D")
tree.Branch("name", name, "name[16]/B")
tree.Branch("other", other, "other[8]/B")
tree.Branch("two", two, "two[3][8]/B")
tree.Branch("count", count, "count/I")
tree.Branch("letters", letters, "letters[count]/B")
tree.Branch("bytes", bytes_, "bytes[4]/b")


def put(text, to, begin, size):
    for i in range(size):
        to[begin + i] = text[i] if i < len(text) else 0


for entry, text in enumerate(TEXTS):
    x[0] = entry
    put(text, name, 0, 16)
    put(TEXTS[(entry + entry % 2) % len(TEXTS)], other, 0, 8)
    for row in range(3):
        put(TEXTS[(entry + row) % len(TEXTS)], two, 8 * row, 8)
    count[0] = len(text)
    put(text, letters, 0, 8)
    put(text, bytes_, 0, 4)
    tree.Fill()
for alias, expression in (("al st", "x+1"), ("d.t", "2*x"), ("b`k", "3*x"), ("1st", "4*x"), ("a/b", "5*x"), ("plain", "6*x")):
    tree.SetAlias(alias, expression)
tree.Write()
file.Close()
