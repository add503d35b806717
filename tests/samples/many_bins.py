# SPDX-License-Identifier: Apache-2.0
"""many_bins.py DIR: bins100000000.root and bins16000000.root, each with a histogram of that many empty bins;
record.root, which has that many zeros as the record of an ntuple."""

import os
import sys

sys.path.pop(0)  # numpy, which ROOT imports, needs Python's own `numbers`, not the sample of that name

import ROOT  # noqa: E402

ROOT.TH1.AddDirectory(False)
for bins in (16_000_000, 100_000_000):
    file = ROOT.TFile(os.path.join(sys.argv[1], f"bins{bins}.root"), "recreate", "", 505)
    histogram = ROOT.TH1D("h", "h", bins, 0, 1)
    histogram.SetBinContent(bins // 2, 1)
    histogram.Write()
    file.Close()

path = os.path.join(sys.argv[1], "record.root")
file = ROOT.TFile(path, "recreate", "", 505)
file.WriteObject(ROOT.TArrayD(60_000_000), "t")
file.Close()
with open(path, "rb") as file:
    image = file.read()
with open(path, "wb") as file:
    file.write(image.replace(b"\x07TArrayD", b"\x07TNtuple"))
