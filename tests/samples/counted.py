# SPDX-License-Identifier: Apache-2.0
"""counted.py DIR: counted.root, a tree `t` of three branches of lists of lists. Their sizes are known only after
decoding, which takes a while (LZMA)."""

import os
import sys

sys.path.pop(0)  # numpy, which ROOT imports, needs Python's own `numbers`, not the sample of that name

import ROOT  # noqa: E402

ROOT.gInterpreter.Declare("""
// Of the first branch numbers that do not compress.
float value(int branch, unsigned long long entry) {
  if (branch != 0) return entry * 1.1f + branch;
  entry = (entry + 1) * 0x9E3779B97F4A7C15ull;
  return static_cast<float>((entry ^ entry >> 29) * 0xBF58476D1CE4E5B9ull >> 7);
}""")
options = ROOT.RDF.RSnapshotOptions()
options.fCompressionAlgorithm = ROOT.RCompressionSetting.EAlgorithm.kLZMA
options.fCompressionLevel = 1
options.fAutoFlush = 20_000
frame = ROOT.RDataFrame(1_000_000)
for number in range(3):
    frame = frame.Define(f"v{number}", f"""
        std::vector<std::vector<float>> lists(rdfentry_ % 4);
        for (std::size_t i = 0; i < lists.size(); ++i) lists[i] = {{value({number}, rdfentry_), value({number}, rdfentry_ + 1)}};
        return lists;""")
frame.Snapshot("t", os.path.join(sys.argv[1], "counted.root"), [f"v{number}" for number in range(3)], options)
