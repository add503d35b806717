# SPDX-License-Identifier: Apache-2.0
"""vectors.py DIR: std::vector and other collections of every number type as top branches, and nested ones."""

import sys

import ROOT

TYPES = (
    "bool", "char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long", "unsigned long",
    "Long64_t", "ULong64_t", "float", "double",
)
NESTED = ("std::vector<std::vector<float>>",)  # others need a compiled dictionary
ROOT.gInterpreter.Declare(r"""
#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>
#include <deque>
#include <list>
#include <set>
#include <vector>

TRandom3 dice(11);
template <class T> struct Draw {
  static T draw(int entry) {
    if (entry == 2) return std::numeric_limits<T>::max();
    if (entry == 3) return std::numeric_limits<T>::min();
    return T(dice.Gaus(0, 50));
  }
};
template <> struct Draw<bool> { static bool draw(int) { return dice.Integer(2); } };
template <class T> struct Draw<std::vector<T>> {
  static std::vector<T> draw(int entry) {
    std::vector<T> v;
    for (int i = dice.Integer(4); i > 0; i--) v.push_back(Draw<T>::draw(entry));
    return v;
  }
};

struct Branch { virtual ~Branch() = default; virtual void fill(int entry) = 0; };
template <class C> struct Collection : Branch {
  C values;
  Collection(TTree& tree, const char* name, const char* class_name) { tree.Branch(name, class_name, &values); }
  void fill(int entry) override {
    values = C();
    const int n = entry % 9 == 0 ? 0 : entry == 10 ? 700 : dice.Integer(6);
    for (int i = 0; i < n; i++) values.insert(values.end(), Draw<typename C::value_type>::draw(entry));
  }
};

std::vector<std::unique_ptr<Branch>> branches;
template <class C> void add(TTree& tree, const char* name, const char* class_name) {
  branches.emplace_back(new Collection<C>(tree, name, class_name));
}
void fill(TTree& tree, int entries) {
  for (int entry = 0; entry < entries; entry++) {
    for (auto& branch : branches) branch->fill(entry);
    tree.Fill();
  }
}
""")

for compression, basket_size in ((101, 32000), (505, 1600), (0, 1600)):
    file = ROOT.TFile(f"{sys.argv[1]}/vectors-{compression}.root", "RECREATE", "", compression)
    tree = ROOT.TTree("t", "vectors")
    ROOT.branches.clear()
    for name in TYPES:
        ROOT.add[f"std::vector<{name}>"](tree, "v_" + name.replace(" ", "_"), f"vector<{name}>")
    for kind in ("deque", "list", "set", "multiset"):
        ROOT.add[f"std::{kind}<int>"](tree, kind, f"{kind}<int>")
    for i, name in enumerate(NESTED):
        ROOT.add[name](tree, f"nested{i}", name.replace("std::", ""))
    tree.SetBasketSize("*", basket_size)
    ROOT.fill(tree, 300)
    tree.Write()
    file.Close()
    ROOT.branches.clear()
