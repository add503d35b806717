# SPDX-License-Identifier: Apache-2.0
"""counted.py DIR: counted.root, a tree `t` of three branches of lists of lists, whose sizes nothing but decoding tells;
that takes a while (LZMA)."""

import os
import sys

sys.path.pop(0)  # numpy, which ROOT imports, wants Python's own `numbers` and not the sample of that name

import ROOT  # noqa: E402

options = ROOT.RDF.RSnapshotOptions()
options.fCompressionAlgorithm = ROOT.RCompressionSetting.EAlgorithm.kLZMA
options.fCompressionLevel = 1
options.fAutoFlush = 20_000
frame = ROOT.RDataFrame(1_000_000)
for number in range(3):
    frame = frame.Define(f"v{number}", f"""
        std::vector<std::vector<float>> lists(rdfentry_ % 4);
        for (std::size_t i = 0; i < lists.size(); ++i) lists[i].assign(2, rdfentry_ * 1.1f + {number});
        return lists;""")
frame.Snapshot("t", os.path.join(sys.argv[1], "counted.root"), [f"v{number}" for number in range(3)], options)
