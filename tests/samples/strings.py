# SPDX-License-Identifier: Apache-2.0
"""strings.py DIR: TLeafC, std::string and vectors of them: empty, short, over 254 bytes, and not UTF-8."""

import sys

import ROOT

ROOT.gInterpreter.Declare(r"""
#include <TFile.h>
#include <TTree.h>
#include <string>
#include <vector>

std::string text_of(int n) {
  if (n % 5 == 0) return "";
  if (n % 17 == 1) return std::string(254, 'a' + n % 26);
  if (n % 17 == 2) return std::string(255, 'b');
  if (n % 17 == 3) return std::string(256 + n, 'c');
  if (n % 17 == 4) return "tab\t newline\n escape \x1b[31m";
  if (n % 17 == 5) return "\xc3\xa9t\xc3\xa9";
  return "entry " + std::to_string(n);
}

void strings(const char* name, int compression, int basket_size, bool offset_map) {
  TFile file(name, "RECREATE", "", compression);
  TTree tree("t", "strings");
  if (offset_map) { ROOT::TIOFeatures features; features.Set("kGenerateOffsetMap"); tree.SetIOFeatures(features); }
  char c[1000], only_short[20];
  std::string s, plain;
  std::vector<std::string> v;
  tree.Branch("c", c, "c/C", basket_size);
  tree.Branch("only_short", only_short, "only_short/C", basket_size);
  tree.Branch("s", &s, basket_size);
  tree.Branch("plain", &plain, basket_size);
  tree.Branch("v", &v, basket_size);
  struct __attribute__((packed)) { Int_t number; } list;
  tree.Branch("after", &list, "number/I");
  for (int entry = 0; entry < 400; entry++) {
    strcpy(c, text_of(entry).c_str());
    strcpy(only_short, ("x" + std::to_string(entry % 13)).c_str());
    s = text_of(entry + 1) + (entry % 7 ? "" : std::string("\0\xff\xfe", 3));
    plain = "p" + std::to_string(entry);
    v.clear();
    for (int i = 0; i < entry % 6; i++) v.push_back(text_of(entry * 3 + i));
    list.number = entry;
    tree.Fill();
  }
  tree.Write();
}
""")

ROOT.strings(f"{sys.argv[1]}/strings.root", 101, 32000, False)
ROOT.strings(f"{sys.argv[1]}/strings-small-baskets.root", 505, 1600, False)
ROOT.strings(f"{sys.argv[1]}/strings-stored.root", 0, 1600, False)
ROOT.strings(f"{sys.argv[1]}/strings-offset-map.root", 101, 1600, True)
