// SPDX-License-Identifier: Apache-2.0
// zoo write FILE KIND SPLIT MEMBER_WISE COMPRESSION ENTRIES: a branch `hits` of a collection. KIND: TClonesArray, or
// vector, list, deque, set, multiset, map, multimap, with * for a collection of pointers. zoo read FILE KIND: prints
// the seconds to read all entries of the open tree into its object, those of a second pass, and the sum of all
// channels.
#include "zoo.h"

#include <TClonesArray.h>
#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>
#include <TVirtualStreamerInfo.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace {

constexpr int kHitsMean = 20;
TRandom3 dice(3);

void roll(Hit& hit) {
  hit.channel = int(dice.Integer(100'000));
  hit.x = float(dice.Gaus(0, 100)), hit.y = float(dice.Gaus(0, 100)), hit.z = float(dice.Gaus(0, 500));
  hit.energy = float(int(dice.Exp(40) * 16)) / 16;
  hit.time = dice.Uniform(0, 25);
}
Hit rolled() {
  Hit hit;
  roll(hit);
  return hit;
}

template <class T>
void put(T& all, const Hit& hit) {
  using Value = typename T::value_type;
  if constexpr (std::is_same_v<Value, Hit>) {
    all.insert(all.end(), hit);
  } else if constexpr (std::is_same_v<Value, Hit*>) {
    all.insert(all.end(), new Hit(hit));
  } else if constexpr (std::is_same_v<typename T::mapped_type, Hit>) {
    all.insert({hit.channel, hit});
  } else {
    auto* copy = new Hit(hit);
    all.insert({hit.channel, copy});
  }
}
template <class V>
const Hit& hit_of(const V& value) {
  if constexpr (std::is_same_v<V, Hit>) {
    return value;
  } else if constexpr (std::is_same_v<V, Hit*>) {
    return *value;
  } else {
    return hit_of<std::remove_const_t<typename V::second_type>>(value.second);
  }
}

void write_tree(TTree& tree, long entries, auto&& refill) {
  for (long i = 0; i < entries; ++i) {
    refill();
    tree.Fill();
  }
  tree.Write();
}

template <class T>
void write(TTree& tree, int split, long entries) {
  T all;
  T* pointer = &all;
  if (!tree.Branch("hits", &pointer, 32000, split)) std::exit(1);
  write_tree(tree, entries, [&] {
    all.clear();  // the objects of pointers are not freed
    for (int n = dice.Poisson(kHitsMean); n > 0; --n) put(all, rolled());
  });
}
void write_clones(TTree& tree, int split, long entries) {
  TClonesArray all("Hit", 100);
  TClonesArray* pointer = &all;
  tree.Branch("hits", &pointer, 32000, split);
  write_tree(tree, entries, [&] {
    all.Clear();
    for (int n = dice.Poisson(kHitsMean), i = 0; i < n; ++i) roll(*static_cast<Hit*>(all.ConstructedAt(i)));
  });
}

template <class T>
double read(TTree& tree) {
  T* all = nullptr;
  tree.SetBranchAddress("hits", &all);
  double sum = 0;
  for (Long64_t i = 0; i < tree.GetEntries(); ++i) {
    tree.GetEntry(i);
    for (const auto& value : *all) sum += hit_of(value).channel;
  }
  return sum;
}
double read_clones(TTree& tree) {
  TClonesArray* all = nullptr;
  tree.SetBranchAddress("hits", &all);
  double sum = 0;
  for (Long64_t i = 0; i < tree.GetEntries(); ++i) {
    tree.GetEntry(i);
    for (int k = 0; k < all->GetEntriesFast(); ++k) sum += static_cast<Hit*>(all->UncheckedAt(k))->channel;
  }
  return sum;
}

// Calls `use` with the type of the kind.
template <class Use>
auto with_type(const std::string& kind, Use use) {
  if (kind == "vector") return use(std::type_identity<std::vector<Hit>>());
  if (kind == "list") return use(std::type_identity<std::list<Hit>>());
  if (kind == "deque") return use(std::type_identity<std::deque<Hit>>());
  if (kind == "set") return use(std::type_identity<std::set<Hit>>());
  if (kind == "multiset") return use(std::type_identity<std::multiset<Hit>>());
  if (kind == "map") return use(std::type_identity<std::map<int, Hit>>());
  if (kind == "multimap") return use(std::type_identity<std::multimap<int, Hit>>());
  if (kind == "vector*") return use(std::type_identity<std::vector<Hit*>>());
  if (kind == "list*") return use(std::type_identity<std::list<Hit*>>());
  if (kind == "deque*") return use(std::type_identity<std::deque<Hit*>>());
  if (kind == "set*") return use(std::type_identity<std::set<Hit*>>());
  if (kind == "multiset*") return use(std::type_identity<std::multiset<Hit*>>());
  if (kind == "map*") return use(std::type_identity<std::map<int, Hit*>>());
  return use(std::type_identity<std::multimap<int, Hit*>>());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  const std::string kind = argc > 3 ? argv[3] : "";
  if (way == "write" && argc == 8) {
    TVirtualStreamerInfo::SetStreamMemberWise(std::atoi(argv[5]) != 0);
    TFile file(argv[2], "RECREATE", "", std::atoi(argv[6]));
    TTree tree("t", "a collection");
    const int split = std::atoi(argv[4]);
    const long entries = std::atol(argv[7]);
    if (kind == "TClonesArray") {
      write_clones(tree, split, entries);
    } else {
      with_type(kind, [&](auto type) { write<typename decltype(type)::type>(tree, split, entries); });
    }
    return 0;
  }
  if (way != "read" || argc != 4) return 2;
  std::unique_ptr<TFile> file(TFile::Open(argv[2]));
  auto& tree = *file->Get<TTree>("t");
  double sum = 0;
  for (int i = 0; i < 2; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    sum = kind == "TClonesArray"
              ? read_clones(tree)
              : with_type(kind, [&](auto type) { return read<typename decltype(type)::type>(tree); });
    std::printf("%.6f ", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::printf("%.17g\n", sum);
  std::fflush(stdout);
  std::_Exit(0);  // skips destructors: the objects of the collections' pointers have no owner
}
