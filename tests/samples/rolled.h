// SPDX-License-Identifier: Apache-2.0
// Random values for numbers, collections and classes, and the Python literals of them and of branches: for the programs
// that write samples. ROLLED(Class, MEMBERS) is for a class, where MEMBERS(DO) is DO(name) for each member.
#pragma once
#include <TRandom3.h>
#include <TTree.h>

#include <array>
#include <fstream>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "python_literal.h"

using literal::put;

inline int few() {
  static TRandom3 dice(7);
  return int(dice.Integer(4));
}

inline void roll(bool& value) { value = few() > 1; }
inline void roll(int& value) { value = few() * 1000; }
inline void roll(short& value) { value = short(few() - 2); }
inline void roll(float& value) { value = float(few()) / 3; }
inline void roll(double& value) { value = double(few()) / 7; }
inline void roll(std::string& value) { value = std::string(size_t(few()), char('a' + few())); }

template <class A, class B>
void roll(std::pair<A, B>& pair);
template <class T, std::size_t N>
void roll(std::array<T, N>& items);
template <class T, std::size_t N>
void roll(T (&items)[N]);
template <class C>
auto roll(C& collection) -> decltype(collection.insert(collection.end(), typename C::value_type()), void());

template <class T, std::size_t N>
void put(std::ostream& out, const T (&items)[N]) {
  literal::put_array(out, items, N);
}

#define ROLL_MEMBER(name) roll(object.name);
#define PUT_MEMBER(name) out << "'" #name "':", put(out, object.name), out << ",";
#define ROLLED(Class, MEMBERS)                       \
  void roll(Class& object) { MEMBERS(ROLL_MEMBER) }  \
  void put(std::ostream& out, const Class& object) { \
    out << "{";                                      \
    MEMBERS(PUT_MEMBER)                              \
    out << "}";                                      \
  }

template <class A, class B>
void roll(std::pair<A, B>& pair) {
  roll(const_cast<std::remove_const_t<A>&>(pair.first));
  roll(pair.second);
}

template <class T, std::size_t N>
void roll(std::array<T, N>& items) {
  for (T& item : items) roll(item);
}

template <class T, std::size_t N>
void roll(T (&items)[N]) {
  for (T& item : items) roll(item);
}

template <class C>
auto roll(C& collection) -> decltype(collection.insert(collection.end(), typename C::value_type()), void()) {
  collection.clear();
  for (int i = few(); i > 0; i--) {
    typename C::value_type item{};
    roll(item);
    collection.insert(collection.end(), item);
  }
}

// Fills a tree of a file and writes it; beside the file, in FILE.written, a Python literal {branch: value} of each
// entry. `roll_entry` sets all values, and `put_entry` writes the members of the literal.
template <class RollEntry, class PutEntry>
void fill(TTree& tree, const std::string& file, int entries, RollEntry roll_entry, PutEntry put_entry) {
  std::ofstream out(file + ".written");
  for (int entry = 0; entry < entries; entry++) {
    roll_entry();
    tree.Fill();
    out << "{";
    put_entry(out);
    out << "}\n";
  }
  tree.Write();
}

// What ROOT reads of a branch: 'name': [entry, ...],
template <class T>
void dump_branch(std::ostream& out, TTree& tree, const char* name) {
  T* value = nullptr;
  tree.SetBranchAddress(name, &value);
  out << "'" << name << "':[";
  for (Long64_t i = 0; i < tree.GetEntries(); i++) {
    tree.GetBranch(name)->GetEntry(i);
    put(out, *value);
    out << ",\n";
  }
  out << "],\n";
  tree.ResetBranchAddresses();
}
