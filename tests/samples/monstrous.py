# SPDX-License-Identifier: Apache-2.0
"""monstrous.py DIR: DIR/monstrous.root, with functions of absurdly many terms at as many points as are drawn, and a
histogram."""

import os
import sys

sys.path.pop(0)  # numpy, which ROOT imports, needs Python's own `numbers`, not the sample of that name

import ROOT  # noqa: E402

ROOT.TH1.AddDirectory(False)

file = ROOT.TFile(os.path.join(sys.argv[1], "monstrous.root"), "recreate")
formula = "+".join(["pow(x,1.1)*y"] * 400)
for i in range(24):
    surface = ROOT.TF2(f"surface{i}", formula, 0, 1, 0, 1)
    surface.SetNpx(500)
    surface.SetNpy(500)
    surface.Write()
histogram = ROOT.TH1D("h", "h", 10, 0, 1)
histogram.Fill(0.5)
histogram.Write()
file.Close()
