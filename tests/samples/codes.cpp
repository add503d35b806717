// SPDX-License-Identifier: Apache-2.0
// codes write FILE SPLIT COMPRESSION BASKET_SIZE ENTRIES: trees of Codes, Lengths and Lost and of their members, and
// beside FILE, in FILE.written, a Python literal {branch: value} for each entry.
// codes lone FILE: branches of collections of enumerations that nothing in the file describes.
// codes dump FILE ANSWER: what ROOT reads back of all that it reads right, as one literal {branch: [entry, ...]}.
#include "codes.h"

#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>

#include <cstdlib>
#include <fstream>
#include <type_traits>

namespace literal {
template <class T>
std::enable_if_t<std::is_enum_v<T>> put(std::ostream& out, T value) {
  out << +static_cast<std::underlying_type_t<T>>(value);
}
}  // namespace literal

#include "python_literal.h"
#include "rolled.h"

void roll(Plain& value) { value = std::array{kNone, kOne, kSeven, kLarge}[few()]; }
void roll(Signed& value) { value = few() < 2 ? kLess : kMore; }
void roll(Small& value) { value = few() < 2 ? Small::a : Small::b; }
void roll(Short& value) { value = few() < 2 ? Short::a : Short::b; }
void roll(Wide& value) { value = few() < 2 ? Wide::a : Wide::b; }
void roll(Scope::Kind& value) { value = few() < 2 ? Scope::Kind::x : Scope::Kind::y; }

#define SCOPE(DO) DO(i) DO(kinds)
// clang-format off
#define CODES(DO) \
  DO(first) DO(single) DO(fixed) DO(plains) DO(signeds) DO(list) DO(queue) DO(set) DO(multi_set) DO(hashed_set) DO(lists) \
  DO(deep_lists) DO(list_array) DO(values) DO(keys) DO(both) DO(map_list) DO(map_map) DO(one_pair) DO(pairs) \
  DO(pair_lists) DO(scopes) DO(scope_lists) DO(scope) DO(last)
#define LENGTHS(DO) \
  DO(smalls) DO(shorts) DO(set_small) DO(set_short) DO(list_small) DO(queue_short) DO(small_lists) DO(wide_lists) \
  DO(short_lists) DO(values) DO(keys) DO(both) DO(map_map) DO(last)
#define LOST(DO) DO(map_list) DO(last)
// Collections in branches of their own.
#define TOPS(DO) \
  DO(plains) DO(signeds) DO(list) DO(set) DO(lists) DO(deep_lists) DO(values) DO(keys) DO(both) DO(map_list) \
  DO(map_map) DO(pairs) DO(pair_lists) DO(scopes) DO(scope_lists)
// clang-format on
ROLLED(Scope, SCOPE)
ROLLED(Codes, CODES)
ROLLED(Lengths, LENGTHS)
ROLLED(Lost, LOST)

namespace {

void write(const std::string& name, int split, int compression, int basket_size, int entries) {
  TFile file(name.c_str(), "RECREATE", "", compression);
  TTree tree("t", "enumerations");
  Codes codes, tops;
  Lengths lengths;
  Lost lost;
  tree.Branch("codes", &codes, basket_size, split);
  tree.Branch("lengths", &lengths, basket_size, split);
  tree.Branch("lost", &lost, basket_size, split);
#define BRANCH(name) tree.Branch(#name, &tops.name, basket_size, split);
  TOPS(BRANCH)
  std::ofstream out(name + ".written");
  for (int entry = 0; entry < entries; entry++) {
    roll(codes), roll(lengths), roll(lost), roll(tops);
    tree.Fill();
    out << "{'codes':", put(out, codes), out << ",'lengths':", put(out, lengths), out << ",'lost':", put(out, lost);
#define PUT(name) out << ",'" #name "':", put(out, tops.name);
    TOPS(PUT)
    out << "}\n";
  }
  tree.Write();
}

void write_lone(const char* name) {
  TFile file(name, "RECREATE");
  TTree tree("t", "enumerations");
  std::vector<Lone> numbers, empty;
  std::vector<std::vector<Lone>> lists;
  std::vector<std::vector<LoneByte>> small_lists;
  tree.Branch("numbers", &numbers);
  tree.Branch("empty", &empty);
  tree.Branch("lists", &lists);
  tree.Branch("small_lists", &small_lists);
  for (std::size_t entry = 0; entry < 40; entry++) {
    numbers.assign(entry % 3, kLone);
    lists = {numbers, {}, numbers};
    small_lists.assign(2, std::vector<LoneByte>(entry % 3, LoneByte::a));
    tree.Fill();
  }
  tree.Write();
}

void dump(const char* name, const char* answer) {
  TFile file(name);
  TTree& tree = *file.Get<TTree>("t");
  std::ofstream out(answer);
  out << "{";
  dump_branch<Codes>(out, tree, "codes");
#define DUMP(name) dump_branch<decltype(Codes::name)>(out, tree, #name);
  TOPS(DUMP)
  out << "}";
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  if (what == "write" && count == 7) {
    write(arguments[2], atoi(arguments[3]), atoi(arguments[4]), atoi(arguments[5]), atoi(arguments[6]));
  } else if (what == "lone" && count == 3) {
    write_lone(arguments[2]);
  } else if (what == "dump" && count == 4) {
    dump(arguments[2], arguments[3]);
  } else {
    return 2;
  }
  return 0;
}
