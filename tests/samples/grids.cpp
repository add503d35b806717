// SPDX-License-Identifier: Apache-2.0
// grids write FILE SPLIT COMPRESSION BASKET_SIZE ENTRIES: a tree of Grid and of its members, and beside FILE, in
// FILE.written, a Python literal {branch: value} for each entry.
// grids dump FILE ANSWER: what ROOT reads back, as one literal {branch: [entry, ...]}.
#include "grids.h"

#include <TFile.h>
#include <TTree.h>

#include <fstream>

#include "commands.h"
#include "rolled.h"

#define INNER(DO) DO(id) DO(xs)
#define CELL(DO) DO(n) DO(at) DO(edges) DO(rings)
// clang-format off
#define COLLECTIONS(DO) \
  DO(points) DO(point_lists) DO(deep_lists) DO(shorts) DO(doubles) DO(set) DO(flags) DO(objects) DO(vectors) \
  DO(strings) DO(values) DO(keys) DO(map_list) DO(map_map) DO(one_pair) DO(pair_list) DO(pairs) DO(cells) \
  DO(cell_lists) DO(map_cell)
#define GRID(DO) \
  DO(first) DO(one) DO(inners) DO(lists) DO(texts) DO(list_array) DO(lists_array) COLLECTIONS(DO) DO(cell) DO(last)
// clang-format on
ROLLED(Inner, INNER)
ROLLED(Cell, CELL)
ROLLED(Grid, GRID)

namespace {

void write_file(const std::string& name, int split, int compression, int basket_size, int entries) {
  TFile file(name.c_str(), "RECREATE", "", compression);
  TTree tree("t", "arrays");
  Grid grid, tops;
  tree.Branch("grid", &grid, basket_size, split);
#define BRANCH(name) tree.Branch(#name, &tops.name, basket_size, split);
  COLLECTIONS(BRANCH)
  const auto roll_entry = [&] { roll(grid), roll(tops); };
  fill(tree, name, entries, roll_entry, [&](std::ostream& out) {
    out << "'grid':", put(out, grid);
#define PUT(name) out << ",'" #name "':", put(out, tops.name);
    COLLECTIONS(PUT)
  });
}

void dump_file(const char* name, const char* answer) {
  TFile file(name);
  TTree& tree = *file.Get<TTree>("t");
  std::ofstream out(answer);
  out << "{";
  dump_branch<Grid>(out, tree, "grid");
#define DUMP(name) dump_branch<decltype(Grid::name)>(out, tree, #name);
  COLLECTIONS(DUMP)
  out << "}";
}

}  // namespace

int main(int count, char** arguments) { return run_command(count, arguments, write_file, dump_file); }
