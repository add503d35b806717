# SPDX-License-Identifier: Apache-2.0
"""Writes an RNTuple of variants with ROOT, or prints what ROOT reads from one, entry by entry:
variant_ntuples.py make FILE FIRST ENTRIES CLUSTER, with entries FIRST to FIRST + ENTRIES - 1 of the one sequence; or
variant_ntuples.py read FILE ANSWER [FIELD ...]"""

import os
import sys

import ROOT

CODE = r"""
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

struct Hit { float x; short id; };
enum class Color : short { red = 3, blue = 4 };

using Some = std::variant<std::int32_t, std::string, std::vector<float>>;
using Item = std::variant<double, std::string, Hit>;
using Inner = std::variant<char, float>;
using Deep = std::variant<Inner, Hit, std::vector<Hit>, std::vector<Inner>>;
using Twice = std::variant<std::int32_t, float, std::int32_t>;
using Other = std::variant<std::array<float, 3>, std::bitset<5>, std::pair<char, float>, std::map<std::string, int>, Color,
                           std::optional<double>, std::set<int>>;
struct Held { int n; Some some; };

Hit hit(long i) { return {float(i) / 4, short(i)}; }
std::string text(long i) { return std::string(i % 5, char('a' + i % 26)); }
Some some(long i) {
  if (i % 4 == 1) return text(i);
  if (i % 4 == 3) return std::vector<float>(i % 3, float(i));
  return std::int32_t(i);
}
Item item(long i) { return i % 3 == 0 ? Item(i / 8.) : i % 3 == 1 ? Item(text(i)) : Item(hit(i)); }
Inner inner(long i) { return i % 3 ? Inner(char('A' + i % 26)) : Inner(float(i)); }
Deep deep(long i) {
  if (i % 5 == 0) return hit(i);
  if (i % 5 == 1) return std::vector<Hit>(i % 3, hit(i));
  if (i % 5 == 2) return std::vector<Inner>{inner(i), inner(i + 1), inner(i + 2)};
  return inner(i);
}
Twice twice(long i) {
  if (i % 3 == 0) return Twice(std::in_place_index<0>, i);
  return i % 3 == 1 ? Twice(std::in_place_index<2>, -i) : Twice(std::in_place_index<1>, i);
}
Other other(long i) {
  if (i % 7 == 0) return std::array<float, 3>{float(i), 1, 2};
  if (i % 7 == 1) return std::bitset<5>(i);
  if (i % 7 == 2) return std::pair<char, float>('a' + i % 20, i);
  if (i % 7 == 3) return std::map<std::string, int>{{"i", int(i)}, {"j", 7}};
  if (i % 7 == 4) return i % 2 ? Color::red : Color::blue;
  if (i % 7 == 5) return i % 2 ? std::optional<double>(i) : std::optional<double>();
  return std::set<int>{int(i), int(i + 1)};
}

void make(const char *file, long first, long entries, long cluster) {
  auto model = ROOT::RNTupleModel::Create();
  auto number = model->MakeField<std::int64_t>("number");
  auto a = model->MakeField<Some>("some");
  auto b = model->MakeField<std::vector<Item>>("items");
  auto c = model->MakeField<Deep>("deep");
  auto d = model->MakeField<Twice>("twice");
  auto e = model->MakeField<Other>("other");
  auto f = model->MakeField<std::vector<std::vector<Some>>>("lists");
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "Events", file);
  for (long i = first; i < first + entries; ++i) {
    *number = i; *a = some(i); *c = deep(i); *d = twice(i); *e = other(i);
    b->clear(); f->clear();
    for (long k = 0; k < i % 4; ++k) b->push_back(item(i + k));
    for (long k = 0; k < i % 3; ++k) {
      f->emplace_back();
      for (long j = 0; j < k + 1; ++j) f->back().push_back(some(i + j + k));
    }
    writer->Fill();
    if ((i + 1 - first) % cluster == 0) writer->CommitCluster();
  }
}

using Out = std::ostream;
void put(Out &o, const std::string &v) { o << '"' << v << '"'; }
void put(Out &o, const Hit &v) { o << '(' << v.x << ' ' << v.id << ')'; }
void put(Out &o, Color v) { o << "color " << int(v); }
void put(Out &o, char v) { o << "char " << int(v); }
template <std::size_t n> void put(Out &o, const std::bitset<n> &v) { o << "bits " << v; }
template <class T> std::enable_if_t<std::is_arithmetic_v<T>> put(Out &o, const T &v) { o << +v; }
template <class T> void put(Out &o, const std::vector<T> &v);
template <class T, std::size_t n> void put(Out &o, const std::array<T, n> &v);
template <class T> void put(Out &o, const std::set<T> &v);
template <class T> void put(Out &o, const std::optional<T> &v);
template <class A, class B> void put(Out &o, const std::map<A, B> &v);
template <class A, class B> void put(Out &o, const std::pair<A, B> &v);
template <class... T> void put(Out &o, const std::variant<T...> &v);
template <class L> void put_all(Out &o, const L &v) { o << '['; for (const auto &i : v) { put(o, i); o << ' '; } o << ']'; }
template <class T> void put(Out &o, const std::vector<T> &v) { put_all(o, v); }
template <class T, std::size_t n> void put(Out &o, const std::array<T, n> &v) { put_all(o, v); }
template <class T> void put(Out &o, const std::set<T> &v) { put_all(o, v); }
template <class A, class B> void put(Out &o, const std::map<A, B> &v) { put_all(o, v); }
template <class A, class B> void put(Out &o, const std::pair<A, B> &v) { put(o, v.first); o << ':'; put(o, v.second); }
template <class T> void put(Out &o, const std::optional<T> &v) { if (v) put(o, *v); else o << "none"; }
template <class... T> void put(Out &o, const std::variant<T...> &v) {
  o << v.index() << '=';
  if (!v.valueless_by_exception()) std::visit([&](const auto &held) { put(o, held); }, v);
}

template <class T> void read(const char *file, const char *field, const char *answer) {
  auto reader = ROOT::RNTupleReader::Open("Events", file);
  auto view = reader->GetView<T>(field);
  std::ofstream out(answer, std::ios::app);
  for (auto i : reader->GetEntryRange()) { out << field << ' ' << i << ' '; put(out, view(i)); out << '\n'; }
}
"""
TYPES = {
    "number": "std::int64_t", "some": "Some", "items": "std::vector<Item>", "deep": "Deep", "twice": "Twice",
    "other": "Other", "lists": "std::vector<std::vector<Some>>",
}

ROOT.gInterpreter.Declare(CODE)
if sys.argv[1] == "make":
    ROOT.make(sys.argv[2], *map(int, sys.argv[3:6]))
else:
    for field in sys.argv[4:] or TYPES:
        ROOT.read[TYPES[field]](sys.argv[2], field, sys.argv[3])
os._exit(0)  # ROOT crashes where Python destroys its views at the end
