// SPDX-License-Identifier: Apache-2.0
// pointers write FILE SPLIT COMPRESSION BASKET_SIZE ENTRIES: writes the class of pointers.h, and collections of
// pointers as top branches. pointers dump FILE ANSWER: the values that ROOT reads, as a Python literal {branch: [one
// value per entry]}.
#include "pointers.h"

#include <TBranch.h>
#include <TFile.h>
#include <TTree.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <string>

#include "commands.h"
#include "python_literal.h"

namespace {

std::mt19937 dice(11);
int few() { return int(dice() % 4); }

Hit* new_hit() {
  auto* hit = new Hit;
  hit->id = int(dice());
  hit->energy = float(few()) / 4;
  hit->samples.assign(std::size_t(few()), short(dice()));
  return hit;
}
void fill(Track& track) { track.id = few(), track.pt = float(few()) / 8; }
Part* new_part() {
  if (few() == 0) {
    auto* part = new Part;
    part->id = few();
    return part;
  }
  if (few() < 2) {
    auto* track = new Track;
    fill(*track);
    return track;
  }
  auto* shower = new Shower;
  shower->id = few();
  shower->cells.assign(std::size_t(few()), float(few()));
  return shower;
}
// Some are null, and some are the previous object again.
template <class T, class Make>
T* maybe(T* before, Make make) {
  const int what = few();
  return what == 0 ? nullptr : what == 1 && before ? before : make();
}
TObject* new_object() {
  switch (few()) {
    case 0:
      return new TObjString(std::to_string(few()).c_str());
    case 1:
      return new TNamed(std::to_string(few()).c_str(), "named");
    default:
      return new_part();
  }
}

void roll(TObjArray& array) {
  array.Clear();
  TObject* before = nullptr;
  for (int i = few(); i > 0; --i) array.AddLast(before = maybe(before, new_object));
  if (array.GetEntriesFast() > 0)
    array.AddLast(new TNamed("last", ""));  // in memory, the array does not count nulls at its end
}

// The objects of an entry are not freed, since slots share them.
void roll(Owner& owner, int entry) {
  owner.one = maybe<Hit>(nullptr, new_hit);
  owner.same = maybe(owner.one, new_hit);
  owner.part = maybe<Part>(nullptr, new_part);
  for (auto& hit : owner.fixed) hit = maybe(owner.one, new_hit);
  owner.hits.clear(), owner.parts.clear(), owner.hit_list.clear(), owner.part_deque.clear(), owner.by_number.clear();
  for (int i = few(); i > 0; --i)
    owner.hits.push_back(maybe(owner.hits.empty() ? owner.one : owner.hits.back(), new_hit));
  for (int i = few(); i > 0; --i)
    owner.parts.push_back(maybe(owner.parts.empty() ? owner.part : owner.parts.back(), new_part));
  for (int i = few(); i > 0; --i) owner.hit_list.push_back(maybe(owner.one, new_hit));
  for (int i = few(); i > 0; --i) owner.part_deque.push_back(maybe(owner.part, new_part));
  for (int i = few(); i > 0; --i) owner.by_number[few()] = maybe(owner.one, new_hit);
  owner.unique.reset(few() ? new_hit() : nullptr);
  owner.n = few();
  owner.loop = owner.n ? new Hit[std::size_t(owner.n)] : nullptr;
  owner.numbers = owner.n ? new float[std::size_t(owner.n)] : nullptr;
  for (int i = 0; i < owner.n; ++i) owner.loop[i].id = i + entry, owner.numbers[i] = float(i) / 2;
  static TNamed target("target", "");
  owner.ref = few() ? &target : nullptr;
  owner.refs.Clear();
  for (int i = few(); i > 0; --i) owner.refs.Add(&target);
  const int size = 1 + few();
  owner.symmetric.ResizeTo(size, size);
  owner.matrix.ResizeTo(size, 2);
  owner.vector.ResizeTo(size);
  for (int i = 0; i < size; ++i) {
    owner.vector[i] = few();
    for (int k = 0; k < 2; ++k) owner.matrix(i, k) = few();
    for (int k = i; k < size; ++k) owner.symmetric(i, k) = owner.symmetric(k, i) = few() + 10 * i;
  }
  roll(owner.objects);
  owner.list.Clear("nodelete"), owner.hash_list.Clear("nodelete"), owner.map.Clear();
  for (int i = few(); i > 0; --i) owner.list.Add(new_object(), few() ? "" : "option");
  for (int i = few(); i > 0; --i) owner.hash_list.Add(new TNamed(std::to_string(i).c_str(), ""));
  for (int i = few(); i > 0; --i) owner.map.Add(new TObjString(std::to_string(i).c_str()), new_part());
  for (auto* clones : {&owner.clones, &owner.slots}) {
    clones->Clear();
    for (int i = 0, count = few(); i < count; ++i) fill(*static_cast<Track*>(clones->ConstructedAt(i)));
  }
  owner.text = few() ? strdup(std::to_string(dice()).c_str()) : nullptr;
  for (std::size_t i = 0; i < 10; ++i) owner.bitset[i] = few() == 0;
  owner.bits.Clear();
  for (int i = few(); i > 0; --i) owner.bits.SetBitNumber(dice() % 40);
  owner.inside->SetNameTitle("in", std::to_string(few()).c_str());
  owner.last = entry;
}

void write_file(const char* name, int split, int compression, int basket_size, int entries) {
  TFile file(name, "RECREATE", "", compression);
  TTree tree("t", "pointers");
  Owner owner;
  std::vector<Hit*> hits;
  std::vector<Part*> parts;
  TObjArray objects;
  TClonesArray counted("Counted", 4);
  auto* hits_pointer = &hits;
  auto* parts_pointer = &parts;
  auto* objects_pointer = &objects;
  auto* counted_pointer = &counted;
  tree.Branch("owner", &owner, basket_size, split);
  tree.Branch("top_hits", &hits_pointer, basket_size, split);
  tree.Branch("top_parts", &parts_pointer, basket_size, split);
  if (split == 0) tree.Branch("top_objects", "TObjArray", &objects_pointer, basket_size, 0);
  tree.Branch("top_counted", &counted_pointer, basket_size, split);
  for (int entry = 0; entry < entries; entry++) {
    roll(owner, entry);
    roll(objects);
    hits.clear(), parts.clear(), counted.Clear();
    // Branches of collections of pointers cannot have null pointers.
    for (int i = few(); i > 0; --i) hits.push_back(new_hit());
    for (int i = few(); i > 0; --i) parts.push_back(new_part());
    for (int i = 0, count = few(); i < count; ++i) {
      auto& item = *static_cast<Counted*>(counted.ConstructedAt(i));
      item.resize(few(), few());
      std::fill_n(item.xs, item.n, float(entry));
      std::fill_n(item.ys, item.m, 0.5 * entry);
    }
    tree.Fill();
  }
  tree.Write();
}

}  // namespace

// These are found by argument-dependent lookup from the templates of python_literal.h.
using namespace literal;

#define MEMBER(object, name) out << "'" #name "':", put(out, object.name), out << ","

void put(std::ostream& out, const Hit& hit) {
  out << "{";
  MEMBER(hit, id), MEMBER(hit, energy), MEMBER(hit, samples);
  out << "}";
}
void put(std::ostream& out, Hit* const& hit) {
  out << "[";
  if (hit) put(out, *hit), out << ",";
  out << "]";
}
void put(std::ostream& out, const Track& track) {
  out << "{";
  MEMBER(track, id), MEMBER(track, pt);
  out << "}";
}
void put(std::ostream& out, const TString& text) { put_bytes(out, text.Data(), std::size_t(text.Length())); }
void put(std::ostream& out, const TNamed& named) {
  out << "{'fName':", put_bytes(out, named.GetName(), strlen(named.GetName()));
  out << ",'fTitle':", put_bytes(out, named.GetTitle(), strlen(named.GetTitle())), out << "}";
}
void put(std::ostream& out, TObject* const& object) {
  if (!object) {
    out << "None";
    return;
  }
  out << "('" << object->ClassName() << "',";
  if (auto* track = dynamic_cast<Track*>(object)) {
    put(out, *track);
  } else if (auto* shower = dynamic_cast<Shower*>(object)) {
    out << "{";
    MEMBER((*shower), id), MEMBER((*shower), cells);
    out << "}";
  } else if (auto* part = dynamic_cast<Part*>(object)) {
    out << "{";
    MEMBER((*part), id);
    out << "}";
  } else if (auto* text = dynamic_cast<TObjString*>(object)) {
    out << "{'fString':", put(out, text->GetString()), out << "}";
  } else {
    put(out, *static_cast<TNamed*>(object));
  }
  out << ")";
}
void put(std::ostream& out, Part* const& part) { put(out, static_cast<TObject*>(part)); }
void put(std::ostream& out, const TCollection& objects) {
  out << "[";
  for (TObject* object : objects) put(out, object), out << ",";
  out << "]";
}
void put(std::ostream& out, const TObjArray& objects) {
  out << "[";
  for (int i = 0; i <= objects.GetLast(); ++i) put(out, objects.At(i)), out << ",";
  out << "]";
}
void put(std::ostream& out, const TMap& map) {
  out << "[";
  TIter next(&map);
  while (TObject* key = next()) {
    out << "{'key':", put(out, key), out << ",'value':", put(out, map.GetValue(key)), out << "},";
  }
  out << "]";
}
template <class T>
void put_clones(std::ostream& out, const TClonesArray& clones) {
  out << "[";
  for (int i = 0; i < clones.GetEntriesFast(); ++i) put(out, *static_cast<const T*>(clones.At(i))), out << ",";
  out << "]";
}
void put(std::ostream& out, const Counted& item) {
  out << "{";
  MEMBER(item, n), MEMBER(item, m);
  out << "'xs':", put_array(out, item.xs, std::size_t(item.n)),
      out << ",'ys':", put_array(out, item.ys, std::size_t(item.m));
  out << "}";
}

void put(std::ostream& out, const Owner& owner) {
  out << "{";
  MEMBER(owner, one), MEMBER(owner, same), MEMBER(owner, part);
  out << "'fixed':[";
  for (Hit* hit : owner.fixed) put(out, hit), out << ",";
  out << "],";
  MEMBER(owner, hits), MEMBER(owner, parts), MEMBER(owner, hit_list), MEMBER(owner, part_deque),
      MEMBER(owner, by_number);
  out << "'unique':", put(out, owner.unique.get()), out << ",";
  MEMBER(owner, n);
  out << "'loop':", put_array(out, owner.loop, std::size_t(owner.n)), out << ",";
  out << "'numbers':", put_array(out, owner.numbers, std::size_t(owner.n)), out << ",";
  out << "'ref':{'TObject':{'fUniqueID':" << owner.ref.GetUniqueID() << "},'fPID':0},";
  out << "'refs':{'fName':b'','fSize':" << owner.refs.GetLast() + 1 << ",'fLowerBound':0,'fPID':0,'fUIDs':[";
  for (int i = 0; i <= owner.refs.GetLast(); ++i) out << owner.refs.GetUID(i) << ",";
  out << "]},'symmetric':{'...':0,'fElements':[";
  for (int i = 0; i < owner.symmetric.GetNrows(); ++i) {
    for (int k = i; k < owner.symmetric.GetNcols(); ++k) put(out, owner.symmetric(i, k)), out << ",";
  }
  out << "]},'matrix':{'...':0,'fElements':",
      put_array(out, owner.matrix.GetMatrixArray(), std::size_t(owner.matrix.GetNoElements()));
  out << "},'vector':{'...':0,'fElements':",
      put_array(out, owner.vector.GetMatrixArray(), std::size_t(owner.vector.GetNrows()));
  out << "},";
  MEMBER(owner, objects), MEMBER(owner, list), MEMBER(owner, hash_list), MEMBER(owner, map);
  out << "'clones':", put_clones<Track>(out, owner.clones), out << ",'slots':", put_clones<Track>(out, owner.slots);
  out << ",'text':", put_bytes(out, owner.text ? owner.text : "", owner.text ? strlen(owner.text) : 0), out << ",";
  MEMBER(owner, bitset);
  out << "'bits':{'...':0,'fNbits':" << owner.bits.GetNbits() << "},'inside':", put(out, *owner.inside), out << ",";
  MEMBER(owner, last);
  out << "}";
}

namespace {

template <class T, class Put>
void dump_branch(std::ostream& out, TTree& tree, const char* name, Put put_it) {
  if (!tree.GetBranch(name)) return;
  out << "'" << name << "':[";
  for (Long64_t i = 0; i < tree.GetEntries(); i++) {
    // A new object for each entry: ROOT would free an object that several slots of the previous one share once per
    // slot.
    T* object = nullptr;
    TBranch* branch = nullptr;
    tree.SetBranchAddress(name, &object, &branch);
    branch->GetEntry(i);
    put_it(out, *object);
    out << ",";
  }
  out << "],\n";
  tree.ResetBranchAddresses();
}

void dump_file(const char* name, const char* answer) {
  TFile file(name);
  TTree& tree = *file.Get<TTree>("t");
  std::ofstream out(answer);
  const auto plainly = [](std::ostream& to, const auto& value) { put(to, value); };
  out << "{";
  dump_branch<Owner>(out, tree, "owner", plainly);
  dump_branch<std::vector<Hit*>>(out, tree, "top_hits", plainly);
  dump_branch<std::vector<Part*>>(out, tree, "top_parts", plainly);
  dump_branch<TObjArray>(out, tree, "top_objects", plainly);
  dump_branch<TClonesArray>(out, tree, "top_counted",
                            [](std::ostream& to, const TClonesArray& all) { put_clones<Counted>(to, all); });
  out << "}";
}

}  // namespace

int main(int count, char** arguments) { return run_command(count, arguments, write_file, dump_file); }
