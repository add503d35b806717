# SPDX-License-Identifier: Apache-2.0
"""root_reader.py FILE TREE ANSWER: reads a tree with ROOT and pickles {branch: values} into ANSWER.

Values are one object per entry, in the form of mounted_table.py: numbers, nested lists, bytes for strings, and a
dictionary of leaves for a branch with several leaves. Branches of classes that are not collections of numbers or
strings are left out."""

import os
import pickle
import re
import sys
import tempfile

import ROOT

HERE = os.path.dirname(os.path.abspath(__file__))

ROOT.gInterpreter.AddIncludePath(HERE)
ROOT.gInterpreter.Declare(r"""
#include <fstream>
#include <TBranch.h>
#include <TLeaf.h>
#include <TTree.h>
#include "python_literal.h"

template <class T> void put_leaf(std::ostream& out, TLeaf* leaf) {
  literal::put_array(out, static_cast<const T*>(leaf->GetValuePointer()), leaf->GetLen());
}

void put_leaf_of(std::ostream& out, TLeaf* leaf) {
  const std::string kind = leaf->ClassName();
  const bool u = leaf->IsUnsigned();
  if (kind == "TLeafC") { const char* s = static_cast<const char*>(leaf->GetValuePointer()); literal::put_bytes(out, s, strlen(s)); }
  else if (kind == "TLeafO") put_leaf<bool>(out, leaf);
  else if (kind == "TLeafB") u ? put_leaf<UChar_t>(out, leaf) : put_leaf<Char_t>(out, leaf);
  else if (kind == "TLeafS") u ? put_leaf<UShort_t>(out, leaf) : put_leaf<Short_t>(out, leaf);
  else if (kind == "TLeafI") u ? put_leaf<UInt_t>(out, leaf) : put_leaf<Int_t>(out, leaf);
  else if (kind == "TLeafL") u ? put_leaf<ULong64_t>(out, leaf) : put_leaf<Long64_t>(out, leaf);
  else if (kind == "TLeafG") u ? put_leaf<ULong_t>(out, leaf) : put_leaf<Long_t>(out, leaf);
  else if (kind == "TLeafF" || kind == "TLeafF16") put_leaf<Float_t>(out, leaf);
  else if (kind == "TLeafD" || kind == "TLeafD32") put_leaf<Double_t>(out, leaf);
  else throw std::runtime_error("no such leaf: " + kind);
}

void read_leaf(TBranch* branch, TLeaf* leaf, const char* answer) {
  std::ofstream out(answer);
  out << "[";
  for (Long64_t i = 0; i < branch->GetEntries(); i++) {
    if (branch->GetEntry(i) < 0) throw std::runtime_error("ROOT cannot read the entry");
    put_leaf_of(out, leaf);
    out << ",";
  }
  out << "]";
}

template <class T> void read_object(TBranch* branch, const char* answer) {
  std::ofstream out(answer);
  T* object = nullptr;
  branch->SetAddress(&object);
  out << "[";
  for (Long64_t i = 0; i < branch->GetEntries(); i++) {
    if (branch->GetEntry(i) < 0) throw std::runtime_error("ROOT cannot read the entry");
    literal::put(out, *object);
    out << ",";
  }
  out << "]";
  branch->ResetAddress();
}
""")

NUMBERS = {
    "bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long",
    "unsigned long", "Long64_t", "ULong64_t", "float", "double", "Double32_t", "Float16_t",
}


def literal(fill):
    with tempfile.NamedTemporaryFile(suffix=".txt", mode="r") as answer:
        fill(answer.name)
        return eval(answer.read(), {"nan": float("nan"), "inf": float("inf")})


def shaped(flat, leaf):
    """Folds an entry's flat list according to the leaf's title; a single number stays a number."""
    dimensions = re.findall(r"\[([^\]]*)\]", re.sub(r"/[a-zA-Z]\[.*$", "", leaf.GetTitle()))
    numbers = [int(d) for d in dimensions if d.isdigit()]
    for n in reversed(numbers if leaf.GetLeafCount() else numbers[1:]):
        flat = [flat[i : i + n] for i in range(0, len(flat), n)]
    return flat if dimensions else flat[0]


def read_plain(branch):
    leaves = {}
    for leaf in branch.GetListOfLeaves():
        rows = literal(lambda answer: ROOT.read_leaf(branch, leaf, answer))
        leaves[str(leaf.GetName())] = rows if leaf.ClassName() == "TLeafC" else [shaped(row, leaf) for row in rows]
    if len(leaves) == 1:
        return next(iter(leaves.values()))
    return [dict(zip(leaves, row)) for row in zip(*leaves.values())]


def is_plain_class(name):
    inner = re.sub(r"\b(vector|list|deque|set|multiset)<", "", name).replace(">", "").strip()
    return inner in NUMBERS | {"string"}


def read_element(branch):
    name = str(branch.GetClassName())
    if not is_plain_class(name) or branch.GetListOfBranches().GetEntries():
        return None
    cpp = re.sub(r"\b(vector|list|deque|set|multiset|string)\b", r"std::\1", name)
    return literal(lambda answer: ROOT.read_object[cpp](branch, answer))


def main(file_name, tree_name, answer):
    file = ROOT.TFile.Open(file_name)
    tree = file.Get(tree_name)
    result = {}
    for branch in tree.GetListOfBranches():
        plain = branch.ClassName() == "TBranch"
        values = read_plain(branch) if plain else read_element(branch) if branch.ClassName() == "TBranchElement" else None
        if values is not None:
            result[str(branch.GetName())] = values
    with open(answer, "wb") as out:
        pickle.dump(result, out)


main(*sys.argv[1:])
