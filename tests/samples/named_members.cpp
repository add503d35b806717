// SPDX-License-Identifier: Apache-2.0
// named_members write FILE SPLIT COMPRESSION BASKET_SIZE ENTRIES: a tree of the classes of named_members.h, and beside
// FILE, in FILE.written, a Python literal {branch: value} for each entry.
// named_members dump FILE ANSWER: what ROOT reads back, as one literal {branch: [entry, ...]}.
#include "named_members.h"

#include <TFile.h>
#include <TTree.h>

#include <fstream>

#include "commands.h"
#include "rolled.h"

void roll(unsigned char& value) { value = static_cast<unsigned char>(few() + 'a'); }
void roll(signed char& value) { value = static_cast<signed char>(few()); }
void roll(long long& value) { value = few(); }

#define VALUES(DO) DO(values)
#define CHARS(DO) DO(chars)
#define RAW(DO) DO(raw)
#define OFFSETS(DO) DO(offsets)
#define TEXT(DO) DO(offsets) DO(chars)
#define CHOICE(DO) DO(tags) DO(index) DO(x)
#define ENTRY(DO) DO(key) DO(value)
#define TRACK(DO) DO(n) DO(matrix) DO(row) DO(letter) DO(byte) DO(steps) DO(choice) DO(matrices)
ROLLED(Matrix, VALUES)
ROLLED(Row, VALUES)
ROLLED(Letter, CHARS)
ROLLED(Byte, RAW)
ROLLED(Steps, OFFSETS)
ROLLED(Text, TEXT)
ROLLED(Choice, CHOICE)
ROLLED(Entry, ENTRY)
ROLLED(Track, TRACK)

struct All {
  float values = 0;  // a column of the table
  Matrix matrix;
  Row row;
  Letter letter;
  Byte byte;
  Steps steps;
  Choice choice;
  Text text;
  Track track;
  std::vector<Matrix> matrices;
  std::vector<Row> rows;
  std::vector<Entry> entries;
  std::vector<Text> texts;
  std::vector<Track> tracks;
};
// clang-format off
#define BRANCHES(DO) \
  DO(matrix) DO(row) DO(letter) DO(byte) DO(steps) DO(choice) DO(text) DO(track) DO(matrices) DO(rows) DO(entries) \
  DO(texts) DO(tracks)
// clang-format on

namespace {

void write_file(const std::string& name, int split, int compression, int basket_size, int entries) {
  TFile file(name.c_str(), "RECREATE", "", compression);
  TTree tree("t", "members");
  All all;
  tree.Branch("values", &all.values);
#define BRANCH(name) tree.Branch(#name, &all.name, basket_size, split);
  BRANCHES(BRANCH)
  const auto roll_entry = [&] {
    roll(all.values);
#define ROLL(name) roll(all.name);
    BRANCHES(ROLL)
  };
  fill(tree, name, entries, roll_entry, [&](std::ostream& out) {
    out << "'values':", put(out, all.values);
#define PUT(name) out << ",'" #name "':", put(out, all.name);
    BRANCHES(PUT)
  });
}

void dump_file(const char* name, const char* answer) {
  TFile file(name);
  TTree& tree = *file.Get<TTree>("t");
  std::ofstream out(answer);
  out << "{";
#define DUMP(name) dump_branch<decltype(All::name)>(out, tree, #name);
  BRANCHES(DUMP)
  out << "}";
}

}  // namespace

int main(int count, char** arguments) { return run_command(count, arguments, write_file, dump_file); }
