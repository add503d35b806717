# SPDX-License-Identifier: Apache-2.0
"""Reads members of records that are in no list with RDataFrame, TTreeReader and Scan: FILE TREE COLUMN,... ANSWER.json.
`frame` and `reader` are lists of values, `scan` is what is printed in each row, without its number."""

import json
import sys

import ROOT

path, name, columns, answer = sys.argv[1:]

# Python takes char for text.
ROOT.gInterpreter.Declare("""
template <class T> std::vector<int> ints(const T& values) { return {values.begin(), values.end()}; }
template <class T> int number(TTreeReaderValue<T>& value) { return *value; }
template <class T> std::vector<int> numbers(TTreeReaderArray<T>& values) { return {values.begin(), values.end()}; }
""")

ARRAY = "ROOT::VecOps::RVec<"
CHARS = ("char_t", "uchar_t", "char", "unsigned char")


def plain(value):
    if isinstance(value, (bool, int, float, str)):
        return value
    if type(value).__name__.startswith(("string", "basic_string")):
        return str(value)
    return [plain(each) for each in value]


def by_frame(column, kind, is_char):
    found = frame.Take[kind](column).GetValue()
    if is_char:
        return [plain(ROOT.ints(each)) for each in found] if kind.startswith(ARRAY) else plain(ROOT.ints(found))
    return [plain(each) for each in found]


def by_reader(column, kind, item, is_char):
    reader, found = ROOT.TTreeReader(name, source), []
    if kind.startswith(ARRAY):
        values = ROOT.TTreeReaderArray[item](reader, column)
        while reader.Next():
            found.append(plain(ROOT.numbers(values) if is_char else values))
        return found
    value = ROOT.TTreeReaderValue[kind](reader, column)
    while reader.Next():
        found.append(ROOT.number(value) if is_char else plain(value.__deref__()))
    return found


def by_scan(column, text):
    file = ROOT.std.string(text)  # ROOT keeps the address
    tree.GetPlayer().SetScanFileName(file.c_str())
    tree.Scan(column.partition("[")[0], "", "colsize=400 precision=18")
    with open(text) as lines:
        rows = [[cell.strip() for cell in line.split("*")] for line in lines if line[:1] == "*" and line[:2] != "**"]
    return [row[-2] for row in rows[1:]]


frame = ROOT.RDataFrame(name, path)
source = ROOT.TFile.Open(path)
tree = source.Get(name)
tree.SetScanField(0)
tree.GetPlayer().SetScanRedirect(True)
read = {}
for column in columns.split(","):
    kind = str(frame.GetColumnType(column))
    item = kind[len(ARRAY):-1].strip() if kind.startswith(ARRAY) else kind
    is_char = item.lower() in CHARS
    read[column] = {"frame": by_frame(column, kind, is_char), "reader": by_reader(column, kind, item, is_char),
                    "scan": by_scan(column, f"{answer}.scan")}
sizes = [tree.GetEntry(entry) for entry in range(tree.GetEntries())]
assert min(sizes) > 0
with open(answer, "w") as out:
    json.dump(read, out)
