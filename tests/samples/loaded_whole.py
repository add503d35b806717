# SPDX-License-Identifier: Apache-2.0
"""Run by ROOT: loaded_whole.py DIRECTORY writes loaded_whole.root with objects that are loaded as a whole: `eff` of
2,000 x 2,000 bins, its histograms `total` and `passed`, `dense` of four dimensions, and `sparse`."""

import os
import sys

sys.path.pop(0)  # numpy, which ROOT imports, needs Python's own `numbers`, not the sample of that name

import numpy as np  # noqa: E402
import ROOT  # noqa: E402

ROOT.gInterpreter.Declare("""
void fill(TEfficiency& eff) {
  for (int i = 0; i < 20000; ++i) eff.Fill(gRandom->Rndm() < 0.5, gRandom->Rndm(), gRandom->Rndm());
}
void fill(THnBase& histogram, int times) {
  for (int i = 0; i < times; ++i) {
    const double at[] = {1.1 * gRandom->Rndm(), gRandom->Rndm(), 1.1 * gRandom->Rndm(), gRandom->Rndm()};
    histogram.Fill(at, 0.5 + gRandom->Rndm());
  }
}
""")
file = ROOT.TFile(os.path.join(sys.argv[1], "loaded_whole.root"), "RECREATE")
eff = ROOT.TEfficiency("eff", "eff", 2_000, 0, 1, 2_000, 0, 1)
eff.SetDirectory(ROOT.nullptr)
ROOT.fill(eff)
eff.Write()
eff.GetTotalHistogram().Write("total")
eff.GetPassedHistogram().Write("passed")
lows, highs = np.zeros(4), np.ones(4)
dense = ROOT.THnD("dense", "dense", 4, np.array([60, 61, 50, 13], "i4"), lows, highs)
sparse = ROOT.THnSparseD("sparse", "sparse", 4, np.array([200] * 4, "i4"), lows, highs)
for histogram, fills in ((dense, 5_000), (sparse, 400_000)):
    histogram.Sumw2()
    ROOT.fill(histogram, fills)
    histogram.Write()
file.Close()
