// SPDX-License-Identifier: Apache-2.0
// shelf write FILE SPLIT COMPRESSION BASKET_SIZE ENTRIES: a tree of Shelf and of collections, written by ROOT.
// shelf dump FILE ANSWER: what ROOT reads back, as one Python literal {branch: [entry, ...]}.
#include "shelf.h"

#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>

#include <fstream>

#include "commands.h"
#include "python_literal.h"

namespace {

TRandom3 dice(7);

int few() { return int(dice.Integer(4)); }
std::string word() { return std::string(size_t(few()), char('a' + few())); }

void roll(int& value) { value = few() * 1000; }
void roll(short& value) { value = short(few() - 2); }
void roll(float& value) { value = float(dice.Gaus()); }
void roll(double& value) { value = dice.Gaus(); }
void roll(std::string& value) { value = word(); }

void roll(Point& point) {
  roll(point.a);
  roll(point.b);
}

template <class C>
auto roll(C& collection) -> decltype(collection.insert(collection.end(), typename C::value_type()), void());

void roll(Inner& inner) {
  roll(inner.id);
  roll(inner.xs);
  inner.name = word();
}

template <class A, class B>
void roll(std::pair<A, B>& pair) {
  roll(const_cast<std::remove_const_t<A>&>(pair.first));
  roll(pair.second);
}

template <std::size_t N>
void roll(std::bitset<N>& bits) {
  for (std::size_t i = 0; i < N; i++) bits[i] = few() == 0;
}

template <class C>
auto roll(C& collection) -> decltype(collection.insert(collection.end(), typename C::value_type()), void()) {
  collection.clear();
  for (int i = few(); i > 0; i--) {
    typename C::value_type item;
    roll(item);
    collection.insert(collection.end(), item);
  }
}

void roll(Shelf& shelf, int entry) {
  roll(shelf.map_point), roll(shelf.map_list), roll(shelf.map_map), roll(shelf.map_inner), roll(shelf.multi_map);
  roll(shelf.hashed_map), roll(shelf.lists), roll(shelf.deep_lists), roll(shelf.texts), roll(shelf.words);
  roll(shelf.multi_set), roll(shelf.hashed_set), roll(shelf.queue), roll(shelf.points), roll(shelf.inners);
  roll(shelf.nested_inners), roll(shelf.one_pair), roll(shelf.pair_list), roll(shelf.pairs), roll(shelf.pairs_point);
  roll(shelf.bits), roll(shelf.bits_list);
  for (auto& x : shelf.numbers) roll(x);
  for (auto& x : shelf.point_array) roll(x);
  for (auto& x : shelf.inner_array) roll(x);
  for (auto& x : shelf.list_array) roll(x);
  for (auto& x : shelf.string_array) x = word();
  for (auto& x : shelf.tstring_array) x = word();
  for (auto& x : shelf.named_array) x.SetNameTitle(word().c_str(), word().c_str());
  roll(shelf.inner);
  shelf.last = entry;
}

void write_file(const char* name, int split, int compression, int basket_size, int entries) {
  TFile file(name, "RECREATE", "", compression);
  TTree tree("t", "one class");
  Shelf shelf;
  std::vector<Inner> inners;
  std::map<int, Point> map_point;
  std::map<std::string, std::vector<int>> map_list;
  std::vector<std::vector<Inner>> nested_inners;
  std::set<std::string> words;
  std::vector<std::pair<int, Point>> pairs_point;
  std::list<Point> points;
  tree.Branch("shelf", &shelf, basket_size, split);
  tree.Branch("inners", &inners, basket_size, split);
  tree.Branch("map_point", &map_point, basket_size, split);
  tree.Branch("map_list", &map_list, basket_size, split);
  tree.Branch("nested_inners", &nested_inners, basket_size, split);
  tree.Branch("words", &words, basket_size, split);
  tree.Branch("pairs_point", &pairs_point, basket_size, split);
  tree.Branch("points", &points, basket_size, split);
  for (int entry = 0; entry < entries; entry++) {
    roll(shelf, entry);
    roll(inners), roll(map_point), roll(map_list), roll(nested_inners), roll(words), roll(pairs_point), roll(points);
    tree.Fill();
  }
  tree.Write();
}

}  // namespace

// These are found by argument-dependent lookup from the templates of python_literal.h.
using namespace literal;

#define MEMBER(object, name) out << "'" #name "':", put(out, object.name), out << ","
#define ARRAY(object, name) \
  out << "'" #name "':", put_array(out, object.name, sizeof object.name / sizeof *object.name), out << ","

void put(std::ostream& out, const TString& value) { put_bytes(out, value.Data(), size_t(value.Length())); }

void put(std::ostream& out, const TNamed& named) {
  out << "{'fName':", put_bytes(out, named.GetName(), strlen(named.GetName()));
  out << ",'fTitle':", put_bytes(out, named.GetTitle(), strlen(named.GetTitle())), out << "}";
}

void put(std::ostream& out, const Point& point) {
  out << "{";
  MEMBER(point, a), MEMBER(point, b);
  out << "}";
}

void put(std::ostream& out, const Inner& inner) {
  out << "{";
  MEMBER(inner, id), MEMBER(inner, xs), MEMBER(inner, name);
  out << "}";
}

void put(std::ostream& out, const Shelf& shelf) {
  out << "{";
  MEMBER(shelf, map_point), MEMBER(shelf, map_list), MEMBER(shelf, map_map), MEMBER(shelf, map_inner);
  MEMBER(shelf, multi_map), MEMBER(shelf, hashed_map), MEMBER(shelf, lists), MEMBER(shelf, deep_lists);
  MEMBER(shelf, texts), MEMBER(shelf, words), MEMBER(shelf, multi_set), MEMBER(shelf, hashed_set);
  MEMBER(shelf, queue), MEMBER(shelf, points), MEMBER(shelf, inners), MEMBER(shelf, nested_inners);
  MEMBER(shelf, one_pair), MEMBER(shelf, pair_list), MEMBER(shelf, pairs), MEMBER(shelf, pairs_point);
  MEMBER(shelf, bits), MEMBER(shelf, bits_list), MEMBER(shelf, numbers);
  ARRAY(shelf, point_array), ARRAY(shelf, inner_array), ARRAY(shelf, list_array), ARRAY(shelf, string_array);
  ARRAY(shelf, tstring_array), ARRAY(shelf, named_array);
  MEMBER(shelf, inner), MEMBER(shelf, last);
  out << "}";
}

namespace {

template <class T>
void dump_branch(std::ostream& out, TTree& tree, const char* name) {
  T* object = nullptr;
  TBranch* branch = nullptr;
  tree.SetBranchAddress(name, &object, &branch);
  out << "'" << name << "':[";
  for (Long64_t i = 0; i < tree.GetEntries(); i++) {
    branch->GetEntry(i);
    put(out, *object);
    out << ",";
  }
  out << "],\n";
  tree.ResetBranchAddresses();
}

void dump_file(const char* name, const char* answer) {
  TFile file(name);
  TTree& tree = *file.Get<TTree>("t");
  std::ofstream out(answer);
  out << "{";
  dump_branch<Shelf>(out, tree, "shelf");
  dump_branch<std::vector<Inner>>(out, tree, "inners");
  dump_branch<std::map<int, Point>>(out, tree, "map_point");
  dump_branch<std::map<std::string, std::vector<int>>>(out, tree, "map_list");
  dump_branch<std::vector<std::vector<Inner>>>(out, tree, "nested_inners");
  dump_branch<std::set<std::string>>(out, tree, "words");
  dump_branch<std::vector<std::pair<int, Point>>>(out, tree, "pairs_point");
  dump_branch<std::list<Point>>(out, tree, "points");
  out << "}";
}

}  // namespace

int main(int count, char** arguments) { return run_command(count, arguments, write_file, dump_file); }
