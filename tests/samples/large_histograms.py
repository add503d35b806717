# SPDX-License-Identifier: Apache-2.0
"""large_histograms.py DIR: large_histograms.root, with histograms that take almost no space in their file: `large` with
1.5 million bins, `huge` with 26 million, and `tiny` with scattered fills; and the stacks `large_stack` and
`tiny_stack`, which refer to one of them many times. `sparse` has 300,000 cells of three dimensions, and a few of flow; the
list `held` has it as well. `dense` has a million cells of four dimensions."""

import sys
from array import array

import ROOT

LARGE, HUGE, CELLS = 1_500_000, 26_000_000, 300_000


def sparse():
    """The n-th cell has n + 1 fills; each 10,000th lies below the first axis."""
    made = ROOT.THnSparseD("sparse", "", 3, array("i", [100] * 3), array("d", [0] * 3), array("d", [100, 50, 1]))
    for n in range(CELLS):
        at = [n % 100 + 1, n // 100 % 100 + 1, n // 10_000 + 1]
        made.SetBinContent(array("i", at), n + 1)
        if n % 10_000 == 0:
            made.SetBinContent(array("i", [0, *at[1:]]), 1)
    return made


def dense():
    made = ROOT.THnF("dense", "", 4, array("i", [30] * 4), array("d", [0] * 4), array("d", [30] * 4))
    made.Fill(array("d", [29.5, 0.5, 1.5, 2.5]), 4)
    return made


def write(path):
    file = ROOT.TFile(path, "RECREATE")
    for name, bins in (("tiny", 10), ("large", LARGE), ("huge", HUGE)):
        histogram = ROOT.TH1D(name, name, bins, 0, bins)
        for step in range(10):
            histogram.SetBinContent(1 + step * bins // 10, step)
        histogram.Write()
        if name != "huge":
            stack = ROOT.THStack(name + "_stack", name)
            for _ in range(3):
                stack.Add(histogram)
            stack.Write()
    cells, held = sparse(), ROOT.TList()
    cells.Write()
    held.Add(cells)
    held.Write("held", ROOT.TObject.kSingleKey)
    held.Clear("nodelete")  # else it looks at what Python may have deleted before
    dense().Write()
    file.Close()


if __name__ == "__main__":
    write(sys.argv[1] + "/large_histograms.root")
