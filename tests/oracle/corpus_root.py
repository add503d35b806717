# SPDX-License-Identifier: Apache-2.0
"""corpus_root.py FILE QUESTIONS ANSWER: the values that ROOT reads from single branches, with classes emulated from the
file.

QUESTIONS is a pickle of [(table, way, what), ...]; ANSWER becomes a pickle of {question: answer}. The ways:
  "draw"   TTree::Draw of an expression: (values, numbers of values in each entry), numpy arrays
  "leaf"   the same by TLeaf::GetValue
  "type"   ROOT's type of a member, (path of branch names, member or ""): "Int_t" as "int"
  "bytes"  the bytes of each entry in the baskets of a branch (a path of branch names), decompressed"""

import pickle
import sys

import numpy as np
import ROOT

ROOT.gInterpreter.Declare(r"""
#include <string>
#include <vector>
#include <TBasket.h>
#include <TBranch.h>

std::string hex(const char* data, Long64_t size) {
  std::string text;
  for (Long64_t i = 0; i < size; i++) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(data[i]));
    text += digits;
  }
  return text;
}

// Of the entries of one basket; nothing reads them into objects, whose classes are unknown.
std::vector<std::string> entries_in_hex(TBranch* branch, int number) {
  TBasket* basket = branch->GetBasket(number);
  std::vector<std::string> entries;
  if (!basket) return entries;
  const Int_t* offsets = basket->GetEntryOffset();
  for (int i = 0; i < basket->GetNevBuf(); i++) {
    const Long64_t size = basket->GetNevBufSize();
    const Long64_t begin = offsets ? offsets[i] : basket->GetKeylen() + i * size;
    const Long64_t end = i + 1 == basket->GetNevBuf() ? basket->GetLast() : offsets ? offsets[i + 1] : begin + size;
    entries.push_back(hex(basket->GetBufferRef()->Buffer() + begin, end - begin));
  }
  return entries;
}
""")


def by_draw(tree, expression):
    tree.SetEstimate(10_000_000)
    tree.Draw(expression + ":Entry$", "", "goff")
    n = tree.GetSelectedRows()
    if n < 0:
        raise RuntimeError(f"ROOT cannot draw {expression}")
    values = np.array([tree.GetV1()[i] for i in range(n)], "f8")
    entries = np.array([tree.GetV2()[i] for i in range(n)], "i8")
    return values, np.bincount(entries, minlength=tree.GetEntries())


def by_leaf(tree, name):
    leaf = tree.GetLeaf(name)
    values, lengths = [], []
    for entry in range(tree.GetEntries()):
        tree.GetEntry(entry)
        lengths.append(leaf.GetLen())
        values += [leaf.GetValue(i) for i in range(lengths[-1])]
    return np.array(values, "f8"), np.array(lengths, "i8")


def branches_at(branch, names):
    """Of several branches with the same name, any may have the branches below."""
    if not names:
        return [branch]
    same = [below for below in branch.GetListOfBranches() if str(below.GetName()) == names[0]]
    return [found for below in same for found in branches_at(below, names[1:])]


def by_bytes(tree, path):
    branch = branches_at(tree, path.split("/"))[0]
    entries = [entry for i in range(branch.GetWriteBasket() + 1) for entry in ROOT.entries_in_hex(branch, i)]
    assert len(entries) == branch.GetEntries()
    return [bytes.fromhex(str(entry)) for entry in entries]


def member_of(described, name):
    """The element of that name in a class or one of its bases."""
    for element in described.GetStreamerInfo().GetElements():
        if str(element.GetName()) == name:
            return element
        if element.IsBase() and element.GetClassPointer():
            found = member_of(element.GetClassPointer(), name)
            if found:
                return found
    return None


def by_type(tree, what):
    path, member = what
    branch = branches_at(tree, path.split("/"))[0]
    if not member:
        return str(branch.GetInfo().GetElement(branch.GetID()).GetTypeNameBasic())
    described = ROOT.TClass.GetClass(branch.GetClassName())
    if branch.GetID() >= 0:
        described = branch.GetInfo().GetElement(branch.GetID()).GetClassPointer()
    if described.GetCollectionProxy():
        described = described.GetCollectionProxy().GetValueClass()
    return str(member_of(described, member).GetTypeNameBasic())


WAYS = {"draw": by_draw, "leaf": by_leaf, "type": by_type, "bytes": by_bytes}


def main(file_name, questions, answer):
    with open(questions, "rb") as opened:
        asked = pickle.load(opened)
    file = ROOT.TFile.Open(file_name)
    answers = {}
    for table, way, what in asked:
        answers[table, way, what] = WAYS[way](file.Get(table), what)
    with open(answer, "wb") as out:
        pickle.dump(answers, out)


main(*sys.argv[1:])
