# SPDX-License-Identifier: Apache-2.0
"""same_trees.py PAIRS: for each pair of files in the JSON file, ROOT reads all trees of both, entry by entry, and
compares the values of all leaves. Fails at the first difference."""

import json
import sys

import ROOT

ROOT.gErrorIgnoreLevel = ROOT.kError

# Compiled: Python takes a microsecond for each value.
ROOT.gInterpreter.Declare(r"""
#include <TFile.h>
#include <TKey.h>
#include <TLeaf.h>
#include <TTree.h>
#include <cstring>
#include <string>

std::string different(TTree& a, TTree& b) {
  if (a.GetEntries() != b.GetEntries()) return "entries " + std::to_string(b.GetEntries());
  auto* leaves_a = a.GetListOfLeaves();
  auto* leaves_b = b.GetListOfLeaves();
  if (leaves_a->GetEntriesFast() != leaves_b->GetEntriesFast()) return "leaves";
  for (Long64_t entry = 0; entry < a.GetEntries(); ++entry) {
    if (a.GetEntry(entry) != b.GetEntry(entry)) return "bytes of entry " + std::to_string(entry);
    for (int i = 0; i < leaves_a->GetEntriesFast(); ++i) {
      auto* x = static_cast<TLeaf*>(leaves_a->UncheckedAt(i));
      auto* y = static_cast<TLeaf*>(leaves_b->UncheckedAt(i));
      const std::string kind = x->ClassName();
      // Not of a number; and ROOT leaves what was there before where a text is empty.
      if (kind == "TLeafObject" || kind == "TLeafElement" || kind == "TLeafC") continue;
      const std::string where = std::string(x->GetName()) + " of entry " + std::to_string(entry);
      if (x->GetLen() != y->GetLen()) return "length of " + where;
      for (int k = 0; k < x->GetLen(); ++k) {
        const double u = x->GetValue(k), v = y->GetValue(k);
        if (std::memcmp(&u, &v, sizeof u) != 0) return where;
      }
    }
  }
  return "";
}
""")


def trees(directory, path=""):
    """{path: newest cycle} of the trees of a file."""
    found = {}
    for key in directory.GetListOfKeys():
        kind = key.GetClassName()
        if kind not in ("TTree", "TNtuple", "TNtupleD") and not kind.startswith("TDirectory"):
            continue  # its name may be no text
        name = path + key.GetName()
        if kind.startswith("TDirectory"):
            found.update(trees(key.ReadObj(), name + "/"))
        elif name not in found:
            found[name] = key.ReadObj()
    return found


def main(pairs):
    count = 0
    with open(pairs) as file:
        for first, second in json.load(file):
            a, b = ROOT.TFile.Open(first), ROOT.TFile.Open(second)
            for name, tree in trees(a).items():
                what = ROOT.different(tree, trees(b)[name])
                if what:
                    sys.exit(f"{second}: {name}: {what}")
                count += 1
    print(f"{count} trees are the same")


if __name__ == "__main__":
    main(sys.argv[1])
