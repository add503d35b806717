// SPDX-License-Identifier: Apache-2.0
// codes write FILE SPLIT COMPRESSION BASKET_SIZE ENTRIES: trees of Codes, Lengths, Wides, Lost and of their members,
// and beside FILE, in FILE.written, a Python literal {branch: value} for each entry.
// codes lone FILE: branches of collections of enumerations that nothing in the file describes.
// codes dump FILE ANSWER: what ROOT reads back of all that it reads right, as one literal {branch: [entry, ...]}.
#include "codes.h"

#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>

#include <fstream>
#include <type_traits>

namespace literal {
template <class T>
std::enable_if_t<std::is_enum_v<T>> put(std::ostream& out, T value) {
  out << +static_cast<std::underlying_type_t<T>>(value);
}
}  // namespace literal

#include "commands.h"
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
#define WIDES(DO) DO(both) DO(maps) DO(last)
#define LOST(DO) DO(map_list) DO(last)
// Collections in branches of their own.
#define TOPS(DO) \
  DO(plains) DO(signeds) DO(list) DO(set) DO(lists) DO(deep_lists) DO(values) DO(keys) DO(both) DO(map_list) \
  DO(map_map) DO(pairs) DO(pair_lists) DO(scopes) DO(scope_lists)
// clang-format on
ROLLED(Scope, SCOPE)
ROLLED(Codes, CODES)
ROLLED(Lengths, LENGTHS)
ROLLED(Wides, WIDES)
ROLLED(Lost, LOST)

namespace {

void write_file(const std::string& name, int split, int compression, int basket_size, int entries) {
  TFile file(name.c_str(), "RECREATE", "", compression);
  TTree tree("t", "enumerations");
  Codes codes, tops;
  Lengths lengths;
  Wides wides;
  Lost lost;
  tree.Branch("codes", &codes, basket_size, split);
  tree.Branch("lengths", &lengths, basket_size, split);
  tree.Branch("wides", &wides, basket_size, split);
  tree.Branch("lost", &lost, basket_size, split);
#define BRANCH(name) tree.Branch(#name, &tops.name, basket_size, split);
  TOPS(BRANCH)
  const auto roll_entry = [&] { roll(codes), roll(lengths), roll(wides), roll(lost), roll(tops); };
  fill(tree, name, entries, roll_entry, [&](std::ostream& out) {
    out << "'codes':", put(out, codes), out << ",'lengths':", put(out, lengths), out << ",'wides':", put(out, wides),
        out << ",'lost':", put(out, lost);
#define PUT(name) out << ",'" #name "':", put(out, tops.name);
    TOPS(PUT)
  });
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

void dump_file(const char* name, const char* answer) {
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
  if (count == 3 && arguments[1] == std::string("lone")) return write_lone(arguments[2]), 0;
  return run_command(count, arguments, write_file, dump_file);
}
