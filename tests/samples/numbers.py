# SPDX-License-Identifier: Apache-2.0
"""numbers.py DIR: every leaf type as scalar, array, matrix, counted array and in leaflists, with each codec."""

import sys

import ROOT

ROOT.gInterpreter.Declare(r"""
#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>
#include <limits>

template <class T> T draw(TRandom3& random, int entry) {
  if constexpr (std::is_same_v<T, bool>) return random.Integer(2);
  else if constexpr (std::is_floating_point_v<T>) {
    if (entry == 3) return std::numeric_limits<T>::infinity();
    if (entry == 4) return std::numeric_limits<T>::quiet_NaN();
    if (entry == 5) return -T(0);
    if (entry == 6) return std::numeric_limits<T>::denorm_min();
    return T(random.Gaus(0, 100));
  } else {
    if (entry == 0) return std::numeric_limits<T>::min();
    if (entry == 1) return std::numeric_limits<T>::max();
    if (entry % 3 == 0) return T(random.Integer(10));  // something that shrinks
    return T((ULong64_t(random.Integer(0xffffffffu)) << 32) | random.Integer(0xffffffffu));
  }
}

struct Filler {
  virtual ~Filler() = default;
  virtual void fill(TRandom3&, int entry) = 0;
};

int count_of_entry;

template <class T> struct Numbers : Filler {
  T scalar, array[3], matrix[2][3], counted[40], counted_matrix[40][2][2];
  Numbers(TTree& tree, char type) {
    const std::string t(1, type), slash = "/" + t;
    tree.Branch(("s_" + t).c_str(), &scalar, ("s_" + t + slash).c_str());
    tree.Branch(("a_" + t).c_str(), array, ("a_" + t + "[3]" + slash).c_str());
    tree.Branch(("m_" + t).c_str(), matrix, ("m_" + t + "[2][3]" + slash).c_str());
    tree.Branch(("c_" + t).c_str(), counted, ("c_" + t + "[n]" + slash).c_str());
    tree.Branch(("k_" + t).c_str(), counted_matrix, ("k_" + t + "[n][2][2]" + slash).c_str());
  }
  void fill(TRandom3& random, int entry) override {
    scalar = draw<T>(random, entry);
    for (auto& x : array) x = draw<T>(random, entry);
    for (auto& row : matrix) for (auto& x : row) x = draw<T>(random, entry);
    for (int i = 0; i < count_of_entry; i++) {
      counted[i] = draw<T>(random, entry);
      for (auto& row : counted_matrix[i]) for (auto& x : row) x = draw<T>(random, entry);
    }
  }
};

void numbers(const char* name, int compression, int entries, int basket_size, bool offset_map) {
  TFile file(name, "RECREATE", "", compression);
  TTree tree("t", "all leaf types");
  if (offset_map) { ROOT::TIOFeatures features; features.Set("kGenerateOffsetMap"); tree.SetIOFeatures(features); }
  TRandom3 random(7);
  int n2;
  struct { Int_t a; Double_t b; Short_t c[2]; Float_t d; } list;
  struct { Int_t m; Float_t y[30]; } jagged;
  float two[40]; short other[20];
  tree.Branch("n", &count_of_entry, "n/I");
  tree.Branch("n2", &n2, "n2/I");
  std::vector<std::unique_ptr<Filler>> fillers;
  fillers.emplace_back(new Numbers<bool>(tree, 'O'));
  fillers.emplace_back(new Numbers<Char_t>(tree, 'B'));
  fillers.emplace_back(new Numbers<UChar_t>(tree, 'b'));
  fillers.emplace_back(new Numbers<Short_t>(tree, 'S'));
  fillers.emplace_back(new Numbers<UShort_t>(tree, 's'));
  fillers.emplace_back(new Numbers<Int_t>(tree, 'I'));
  fillers.emplace_back(new Numbers<UInt_t>(tree, 'i'));
  fillers.emplace_back(new Numbers<Long64_t>(tree, 'L'));
  fillers.emplace_back(new Numbers<ULong64_t>(tree, 'l'));
  fillers.emplace_back(new Numbers<Long_t>(tree, 'G'));
  fillers.emplace_back(new Numbers<ULong_t>(tree, 'g'));
  fillers.emplace_back(new Numbers<Float_t>(tree, 'F'));
  fillers.emplace_back(new Numbers<Double_t>(tree, 'D'));
  fillers.emplace_back(new Numbers<Float_t>(tree, 'f'));
  fillers.emplace_back(new Numbers<Double_t>(tree, 'd'));
  tree.Branch("leaflist", &list.a, "a/I");
  // members by address: a leaflist's offsets are those of a struct without its padding
  struct __attribute__((packed)) Packed { Int_t a; Double_t b; Short_t c[2]; Float_t d; Bool_t e; } packed;
  tree.Branch("packed", &packed, "a/I:b/D:c[2]/S:d/F:e/O");
  tree.Branch("jagged", &jagged, "m/I:y[m]/F");
  tree.Branch("other", other, "other[n2]/S");
  tree.SetBasketSize("*", basket_size);
  for (int entry = 0; entry < entries; entry++) {
    count_of_entry = entry % 7 == 0 ? 0 : random.Integer(entry % 50 == 1 ? 40 : 5);
    n2 = random.Integer(20);
    for (auto& filler : fillers) filler->fill(random, entry);
    list.a = entry;
    packed = {entry, random.Gaus(), {Short_t(entry), Short_t(-entry)}, Float_t(random.Gaus()), Bool_t(entry % 2)};
    jagged.m = random.Integer(30);
    for (auto& y : jagged.y) y = random.Gaus();
    for (auto& x : other) x = random.Integer(1000);
    tree.Fill();
  }
  tree.Write();
}
""")

for compression in (0, 101, 207, 301, 404, 505):
    ROOT.numbers(f"{sys.argv[1]}/numbers-{compression}.root", compression, 300, 1600, False)
ROOT.numbers(f"{sys.argv[1]}/numbers-big-baskets.root", 101, 2000, 256000, False)
ROOT.numbers(f"{sys.argv[1]}/numbers-offset-map.root", 101, 300, 1600, True)
ROOT.numbers(f"{sys.argv[1]}/numbers-empty.root", 101, 0, 1600, False)
