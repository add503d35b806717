// SPDX-License-Identifier: Apache-2.0
// nested write FILE SPLIT COMPRESSION BASKET_SIZE ENTRIES: TClonesArrays of the classes of nested.h as top branches and
// as members, by item and by member. `late` is deepest in the last entries. nested dump FILE ANSWER: the values that
// ROOT reads, as a Python literal {branch: [one value per entry]}. An item is [number, [items of one array], ...].
#include "nested.h"

#include <TBranch.h>
#include <TFile.h>
#include <TTree.h>

#include <fstream>
#include <random>

#include "commands.h"
#include "python_literal.h"

namespace {

std::mt19937 dice(21);
int few() { return int(dice() % 4); }

void roll(TClonesArray& items, int depth);
void roll(Quark& item, int depth) { item.id = few(), item.pt = float(few()) / 4, roll(item.subs, depth); }
void roll(Linked& item, int depth) {
  item.id = few();
  if (depth > 0 && few() > 0) {
    if (!item.subs) item.subs = new TClonesArray("Linked", 0);
    roll(*item.subs, depth);
  } else {
    item.subs = nullptr;
  }
  roll(*item.sure, depth);
}
void roll(Even& item, int depth) { item.number = short(few()), roll(item.odds, depth); }
void roll(Odd& item, int depth) { item.number = short(few()), roll(item.evens, depth); }

// Depth is limited to `depth`.
void roll(TClonesArray& items, int depth) {
  items.Delete();
  if (depth == 0) return;
  const std::string name = items.GetClass()->GetName();
  for (int i = 0, count = few(); i < count; ++i) {
    TObject* item = items.ConstructedAt(i);
    if (name == "Quark") roll(*static_cast<Quark*>(item), depth - 1);
    if (name == "Linked") roll(*static_cast<Linked*>(item), depth - 1);
    if (name == "Even") roll(*static_cast<Even*>(item), depth - 1);
    if (name == "Odd") roll(*static_cast<Odd*>(item), depth - 1);
  }
}

struct Branches {
  TClonesArray *quarks = new TClonesArray("Quark", 4), *slots = new TClonesArray("Quark", 4),
               *late = new TClonesArray("Quark", 4), *linked = new TClonesArray("Linked", 4),
               *evens = new TClonesArray("Even", 4);
  Quark* quark = new Quark;
  Branches() { slots->BypassStreamer(false); }
};

void write_file(const char* name, int split, int compression, int basket_size, int entries) {
  TFile file(name, "RECREATE", "", compression);
  TTree tree("t", "nested");
  Branches of;
  tree.Branch("quarks", &of.quarks, basket_size, split);
  tree.Branch("slots", &of.slots, basket_size, split);
  tree.Branch("late", &of.late, basket_size, split);
  tree.Branch("linked", &of.linked, basket_size, split);
  tree.Branch("evens", &of.evens, basket_size, split);
  tree.Branch("quark", &of.quark, basket_size, split);
  for (int entry = 0; entry < entries; ++entry) {
    for (TClonesArray* items : {of.quarks, of.slots, of.linked, of.evens}) roll(*items, 3);
    roll(*of.late, entry < entries - 3 ? 2 : 4);
    roll(*of.quark, 2);
    tree.Fill();
  }
  tree.Write();
}

void put(std::ostream& out, const TClonesArray& items);
void put(std::ostream& out, const TObject* object) {
  if (const auto* quark = dynamic_cast<const Quark*>(object)) {
    out << "{'id': " << quark->id << ", 'pt': ";
    literal::put(out, quark->pt);
    out << ", 'subs': ";
    put(out, quark->subs);
  } else if (const auto* linked = dynamic_cast<const Linked*>(object)) {
    out << "{'id': " << linked->id << ", 'subs': [";
    if (linked->subs) put(out, *linked->subs);
    out << "], 'sure': ";
    put(out, *linked->sure);
  } else if (const auto* even = dynamic_cast<const Even*>(object)) {
    out << "{'number': " << even->number << ", 'odds': ";
    put(out, even->odds);
  } else if (const auto* odd = dynamic_cast<const Odd*>(object)) {
    out << "{'number': " << odd->number << ", 'evens': ";
    put(out, odd->evens);
  }
  out << "}";
}
void put(std::ostream& out, const TClonesArray& items) {
  out << "[";
  for (int i = 0; i < items.GetEntriesFast(); ++i) put(out, items.UncheckedAt(i)), out << ", ";
  out << "]";
}
void put(std::ostream& out, const TClonesArray* items) { put(out, *items); }

void dump_file(const char* name, const char* answer) {
  TFile file(name);
  auto* tree = file.Get<TTree>("t");
  Branches of;
  std::ofstream out(answer);
  out << "{";
  const auto branch = [&](const char* name, auto*& value) {
    tree->SetBranchAddress(name, &value);
    out << "'" << name << "': [";
    for (Long64_t entry = 0; entry < tree->GetEntries(); ++entry) {
      tree->GetBranch(name)->GetEntry(entry);
      put(out, value);
      out << ", ";
    }
    out << "],\n";
    tree->ResetBranchAddresses();
  };
  branch("quarks", of.quarks);
  branch("slots", of.slots);
  branch("late", of.late);
  branch("linked", of.linked);
  branch("evens", of.evens);
  branch("quark", of.quark);
  out << "}\n";
}

}  // namespace

int main(int count, char** arguments) { return run_command(count, arguments, write_file, dump_file); }
