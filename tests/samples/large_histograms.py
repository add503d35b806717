# SPDX-License-Identifier: Apache-2.0
"""large_histograms.py DIR: large_histograms.root, with histograms that take almost no space in their file: `large` with
1.5 million bins, `huge` with 26 million, and `tiny` with scattered fills; and the stacks `large_stack` and
`tiny_stack`, which refer to one of them many times."""

import sys

import ROOT

LARGE, HUGE = 1_500_000, 26_000_000


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
    file.Close()


if __name__ == "__main__":
    write(sys.argv[1] + "/large_histograms.root")
