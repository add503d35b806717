# SPDX-License-Identifier: Apache-2.0
"""Reads number columns of lists of records with RDataFrame, TTreeReader and Scan: FILE TREE COLUMN,... ANSWER.json."""

import json
import sys

import ROOT

file, name, columns, answer = sys.argv[1:]


# Python takes char for text.
ROOT.gInterpreter.Declare("template <class T> std::vector<int> ints(T& v) { return {v.begin(), v.end()}; }")


def plain(values, item_type):
    return list(ROOT.ints(values) if item_type.lower() in ("char_t", "uchar_t", "char", "unsigned char") else values)


def read(column, scan):
    full_type = frame.GetColumnType(column)
    item_type = full_type[full_type.index("<") + 1:full_type.rindex(">")]
    found = {"frame": [plain(each, item_type) for each in frame.Take[full_type](column).GetValue()], "reader": []}
    reader = ROOT.TTreeReader(name, source)
    values = ROOT.TTreeReaderArray[item_type](reader, column)
    while reader.Next():
        found["reader"].append(plain(values, item_type))
    path = ROOT.std.string(scan)  # ROOT keeps the address
    tree.GetPlayer().SetScanFileName(path.c_str())
    tree.Scan(column)
    with open(scan) as lines:
        found["rows"] = sum(line[:1] == "*" and line[:2] != "**" for line in lines) - 1  # without the names
    return found


frame = ROOT.RDataFrame(name, file)
source = ROOT.TFile.Open(file)
tree = source.Get(name)
tree.SetScanField(0)
tree.GetPlayer().SetScanRedirect(True)
found = {column: read(column, f"{answer}.{column}") for column in columns.split(",")}
with open(answer, "w") as out:
    json.dump(found, out)
