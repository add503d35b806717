# SPDX-License-Identifier: Apache-2.0
"""wide.py DIR: wide.root, a tree of 1,000 branches of doubles with five small baskets each, of counted arrays, and of
matrices with larger baskets. Every value follows from its place (tests/wide.py)."""

import array
import sys

import ROOT

COLUMNS, LISTS, ENTRIES, BASKET = 1000, 10, 5000, 1000


def write(path):
    file = ROOT.TFile(path, "RECREATE", "", 401)  # LZ4: the tests are about keeping decoded data
    tree = ROOT.TTree("t", "wide")
    tree.SetAutoFlush(BASKET)
    values = [array.array("d", [0]) for _ in range(COLUMNS)]
    for column, value in enumerate(values):
        tree.Branch(f"c{column}", value, f"c{column}/D", 8 * BASKET + 1000)
    count = array.array("i", [0])
    tree.Branch("n", count, "n/I")
    lists = [array.array("f", [0] * 5) for _ in range(LISTS)]
    for column, items in enumerate(lists):
        tree.Branch(f"list{column}", items, f"list{column}[n]/F")
    matrix = array.array("d", [0] * 100)
    tree.Branch("matrix", matrix, "matrix[10][10]/D", 800 * BASKET + 1000)
    for entry in range(ENTRIES):
        for column, value in enumerate(values):
            value[0] = 1000.0 * column + entry
        count[0] = entry % 5
        for column, items in enumerate(lists):
            for i in range(count[0]):
                items[i] = 10000 * column + entry
        for i in range(100):
            matrix[i] = 100.0 * entry + i
        tree.Fill()
    tree.Write()
    file.Close()


if __name__ == "__main__":
    write(sys.argv[1] + "/wide.root")
