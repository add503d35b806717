# SPDX-License-Identifier: Apache-2.0
"""Run by ROOT: left_out.py DIRECTORY writes left_out-SPLIT.root with pairs of which ROOT leaves out a part: an enumeration
of 8 bytes without a dictionary. Of the key `key`, too."""

import os
import sys

sys.path.pop(0)  # numpy, which ROOT imports, needs Python's own `numbers`, not the sample of that name

import ROOT  # noqa: E402

ROOT.gInterpreter.Declare("""
enum class Narrow : unsigned short { a = 7, b = 60000 };
enum class Wide : long long { a = -1, b = 1LL << 40 };
struct Pairs {
  int first = 0;
  std::pair<Narrow, Wide> narrow{Narrow::b, Wide::b};
  std::pair<Wide, int> second{Wide::b, 9};
  std::vector<std::pair<int, Wide>> list{{5, Wide::b}, {6, Wide::a}};
  std::vector<std::vector<std::pair<Wide, int>>> lists{{{Wide::b, 5}, {Wide::a, 6}}, {}};
  int last = 4;
};
void write_pairs(const char* name, int split) {
  TFile file(name, "RECREATE");
  TTree tree("t", "t");
  static Pairs pairs;  // of zeros also between members: ROOT writes four bytes of an enumeration of two
  tree.Branch("pairs", &pairs, 32000, split);
  for (pairs.first = 0; pairs.first < 20; ++pairs.first) {
    pairs.narrow.first = pairs.first % 2 ? Narrow::a : Narrow::b;
    tree.Fill();
  }
  tree.Write();
  file.WriteObjectAny(&pairs, "Pairs", "key");
}
""")
ROOT.gErrorIgnoreLevel = ROOT.kFatal  # it reports each part that it leaves out
for split in (0, 1, 99):
    ROOT.write_pairs(os.path.join(sys.argv[1], f"left_out-{split}.root"), split)
