# SPDX-License-Identifier: Apache-2.0
"""reader_process.py: opens ROOT files with uproot and with ROOT. One request per line on stdin, one answer per line on
stdout.

Request: {"path": FILE, "append": BOOL}. Answer: {"uproot": READ, "root": READ, "appended": null or {"uproot": READ,
"root": READ}}. READ is {"error": TEXT} or {"directories": {PATH: {KEY: CLASS}}, "tables": {PATH: {"entries": N,
"columns": {BRANCH: MD5}}}}.

`append` lets ROOT open the file in UPDATE mode, fill each tree with APPENDED copies of its first entry and write an
object; then the file is read again. The digests are then of the old entries only. Any message from ROOT, and a
recovered file, is an error.

A member of a list of records is a column, with the name of its branch.

Variants, and lists of them, are read as a text for each entry (variant_columns.text_of), which is taken for a list of
bytes.

A column's digest is that of its items as little-endian bytes, then, if entries differ in length, of their counts as
int64.
"""

import hashlib
import json
import os
import resource
import sys
import tempfile

import awkward
import numpy
import ROOT
import uproot

import variant_columns

APPENDED = 3
MEMORY = 6 << 30  # address space; because of a garbage length, a reader may ask for any amount

ROOT.gInterpreter.Declare(r"""
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleView.hxx>
#include <TBranch.h>
#include <TBranchElement.h>
#include <TDirectory.h>
#include <TLeaf.h>
#include <TMD5.h>
#include <TTree.h>
#include <TTreeReader.h>
#include <TTreeReaderArray.h>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

struct ColumnDigest {
  TMD5 digest;
  std::vector<Long64_t> counts;
  void add(const void* data, size_t size, Long64_t count) {
    add_item(data, size);
    counts.push_back(count);
  }
  void add_item(const void* data, size_t size) {
    if (size > 0) digest.Update(static_cast<const UChar_t*>(data), size);
  }
  std::string text(bool jagged) {
    if (jagged) digest.Update(reinterpret_cast<const UChar_t*>(counts.data()), counts.size() * 8);
    digest.Final();
    return digest.AsString();
  }
};

template <class T> std::string vector_column(TBranch* branch, Long64_t entries) {
  ColumnDigest column;
  std::vector<T>* items = nullptr;
  branch->SetAddress(&items);
  for (Long64_t i = 0; i < entries; i++) {
    if (branch->GetEntry(i) <= 0) throw std::runtime_error("ROOT cannot read an entry");
    column.add(items->data(), items->size() * sizeof(T), items->size());
  }
  branch->ResetAddress();
  delete items;
  return column.text(true);
}

std::string string_column(TBranch* branch, Long64_t entries) {
  ColumnDigest column;
  std::string* text = nullptr;
  branch->SetAddress(&text);
  for (Long64_t i = 0; i < entries; i++) {
    if (branch->GetEntry(i) <= 0) throw std::runtime_error("ROOT cannot read an entry");
    column.add(text->data(), text->size(), text->size());
  }
  branch->ResetAddress();
  delete text;
  return column.text(true);
}

std::string leaf_column(TBranch* branch, Long64_t entries) {
  ColumnDigest column;
  TLeaf* leaf = static_cast<TLeaf*>(branch->GetListOfLeaves()->At(0));
  for (Long64_t i = 0; i < entries; i++) {
    // An entry of no items has no bytes.
    const Int_t size = branch->GetEntry(i);
    if (size < 0 || (size == 0 && leaf->GetLeafCount() == nullptr)) throw std::runtime_error("ROOT cannot read an entry");
    column.add(leaf->GetValuePointer(), static_cast<size_t>(leaf->GetLen()) * leaf->GetLenType(), leaf->GetLen());
  }
  return column.text(leaf->GetLeafCount() != nullptr);
}

template <class T> std::string member_column(TBranch* branch, Long64_t entries) {
  ColumnDigest column;
  TTreeReader reader(branch->GetTree());
  TTreeReaderArray<T> items(reader, branch->GetName());
  for (Long64_t i = 0; i < entries; i++) {
    if (!reader.Next()) throw std::runtime_error("ROOT cannot read an entry");
    for (const T& item : items) column.add_item(&item, sizeof item);
    column.counts.push_back(static_cast<Long64_t>(items.GetSize()));
  }
  return column.text(true);
}

// Of a list of records.
std::string member_of(TBranch* branch, Long64_t entries) {
  const std::string type = static_cast<TLeaf*>(branch->GetListOfLeaves()->At(0))->GetTypeName();
  if (branch->GetEntries() < entries) throw std::runtime_error("a branch has too few entries");
  if (type == "Int_t") return member_column<Int_t>(branch, entries);
  if (type == "Float_t") return member_column<Float_t>(branch, entries);
  if (type == "Double_t") return member_column<Double_t>(branch, entries);
  throw std::runtime_error("no digest of a member of type " + type);
}

template <class T> std::string number_field(ROOT::RNTupleReader& reader, const std::string& name) {
  ColumnDigest column;
  auto view = reader.GetView<T>(name);
  for (auto i : reader) {
    const T value = view(i);
    column.add(&value, sizeof value, 1);
  }
  return column.text(false);
}

template <class T> std::string list_field(ROOT::RNTupleReader& reader, const std::string& name) {
  ColumnDigest column;
  auto view = reader.GetView<T>(name);
  for (auto i : reader) {
    const T& items = view(i);
    column.add(items.data(), items.size() * sizeof items[0], static_cast<Long64_t>(items.size()));
  }
  return column.text(true);
}

template <class T> std::enable_if_t<std::is_arithmetic_v<T>> put(std::ostream& out, T value) { out << value; }
void put(std::ostream& out, const std::string& value) { out << '"' << value << '"'; }
template <class... T> void put(std::ostream& out, const std::variant<T...>& value);
template <class T> void put(std::ostream& out, const std::vector<T>& values) {
  out << '[';
  for (const T& value : values) {
    put(out, value);
    out << ' ';
  }
  out << ']';
}
template <class... T> void put(std::ostream& out, const std::variant<T...>& value) {
  std::visit([&](const auto& held) { put(out, held); }, value);
}

template <class T> std::string text_field(ROOT::RNTupleReader& reader, const std::string& name) {
  ColumnDigest column;
  auto view = reader.GetView<T>(name);
  for (auto i : reader) {
    std::ostringstream text;
    put(text, view(i));
    column.add(text.str().data(), text.str().size(), static_cast<Long64_t>(text.str().size()));
  }
  return column.text(true);
}

std::string field_of(ROOT::RNTupleReader& reader, const std::string& name, const std::string& type) {
  if (type == "ROOT::RNTupleCardinality<std::uint32_t>")
    return number_field<ROOT::RNTupleCardinality<std::uint32_t>>(reader, name);
  if (type == "std::variant<std::int32_t,std::string,std::vector<float>>")
    return text_field<std::variant<std::int32_t, std::string, std::vector<float>>>(reader, name);
  if (type == "std::vector<std::variant<double,std::string>>")
    return text_field<std::vector<std::variant<double, std::string>>>(reader, name);
  if (type == "std::int32_t") return number_field<std::int32_t>(reader, name);
  if (type == "double") return number_field<double>(reader, name);
  if (type == "float") return number_field<float>(reader, name);
  if (type == "std::array<double,3>") return number_field<std::array<double, 3>>(reader, name);
  if (type == "std::string") return list_field<std::string>(reader, name);
  if (type == "std::vector<float>") return list_field<std::vector<float>>(reader, name);
  throw std::runtime_error("no digest of " + type);
}

// The number of entries, then a name and a digest for each field. Python cannot hold the anchor, which is no TObject.
std::vector<std::string> fields_of(TDirectory& directory, const char* key) {
  std::unique_ptr<ROOT::RNTuple> anchor(directory.Get<ROOT::RNTuple>(key));
  if (!anchor) throw std::runtime_error("ROOT cannot read an RNTuple");
  auto reader = ROOT::RNTupleReader::Open(*anchor);
  std::vector<std::string> all = {std::to_string(reader->GetNEntries())};
  for (const auto& field : reader->GetDescriptor().GetTopLevelFields()) {
    all.push_back(field.GetFieldName());
    all.push_back(field_of(*reader, field.GetFieldName(), field.GetTypeName()));
  }
  return all;
}

std::string column_of(TBranch* branch, Long64_t entries) {
  const std::string type = branch->GetClassName();
  if (branch->GetEntries() < entries) throw std::runtime_error("a branch has too few entries");
  if (type.empty()) return leaf_column(branch, entries);
  if (type == "vector<float>") return vector_column<float>(branch, entries);
  if (type == "vector<double>") return vector_column<double>(branch, entries);
  if (type == "vector<int>") return vector_column<int>(branch, entries);
  if (type == "string") return string_column(branch, entries);
  throw std::runtime_error("no digest of " + type);
}
""")


def read_with_uproot(path, fewer):
    with uproot.open(path) as file:
        directories, tables = {"": {}}, {}

        def walk(directory, prefix):
            for key, kind in directory.classnames(recursive=False, cycle=True).items():
                name, cycle = key.rsplit(";", 1)
                newest = int(cycle) == max(
                    int(k.rsplit(";", 1)[1]) for k in directory.keys(recursive=False) if k.rsplit(";", 1)[0] == name
                )
                if newest:
                    directories[prefix][name] = kind
                if kind == "TDirectory":
                    directories[prefix + name + "/"] = {}
                    walk(directory[key], prefix + name + "/")
                elif kind in ("TTree", "TNtuple"):
                    table = uproot_table(directory[key], fewer)
                    if newest:
                        tables[prefix + name] = table
                elif kind == "ROOT::RNTuple" and newest:
                    tables[prefix + name] = uproot_ntuple(directory[key])

        walk(file, "")
        return {"directories": directories, "tables": tables}


def without_appended(entries, fewer):
    return entries - fewer if entries > fewer else 0 if fewer else entries


def uproot_table(tree, fewer):
    entries = without_appended(tree.num_entries, fewer)
    branches = [branch for top in tree.branches for branch in (top.branches or [top])]
    return {"entries": entries, "columns": {branch.name: uproot_column(branch, entries) for branch in branches}}


def uproot_ntuple(ntuple):
    entries = ntuple.num_entries
    names = ntuple.keys(recursive=False)
    return {"entries": entries, "columns": {name: uproot_field(ntuple, name, entries) for name in names}}


def uproot_field(ntuple, name, entries):
    kind = ntuple[name].typename
    if "std::variant<" in kind:
        return uproot_variants(ntuple, name)
    if kind == "ROOT::RNTupleCardinality<std::uint32_t>":  # uproot makes them int64
        return uproot_column(ntuple[name], entries, numpy.uint32)
    return uproot_column(ntuple[name], entries)


def uproot_variants(ntuple, name):
    """Cluster by cluster: of several, uproot takes the index of each for an index into the first."""
    digest, counts = hashlib.md5(), []
    for cluster in ntuple.cluster_summaries:
        first, last = cluster.num_first_entry, cluster.num_first_entry + cluster.num_entries
        values = ntuple[name].array(entry_start=first, entry_stop=last).tolist()
        if len(values) != last - first:
            raise ValueError(f"{name} has {len(values)} entries of {last - first}")
        for text in map(variant_columns.text_of, values):
            digest.update(text.encode())
            counts.append(len(text))
    digest.update(numpy.array(counts, "<i8").tobytes())
    return digest.hexdigest()


def uproot_column(branch, entries, dtype=None):
    array = branch.array(entry_stop=entries)
    if dtype is not None:
        array = awkward.values_astype(array, dtype)
    if len(array) != entries:
        raise ValueError(f"{branch.name} has {len(array)} entries of {entries}")
    digest = hashlib.md5()
    if (
        array.ndim == 1
        and awkward.parameters(array).get("__array__") not in ("string", "bytestring")
        and is_numeric(array)
    ):
        digest.update(numpy.ascontiguousarray(awkward.to_numpy(array)).tobytes())
        return digest.hexdigest()
    if is_numeric(array):  # with a fixed shape
        digest.update(numpy.ascontiguousarray(awkward.to_numpy(array)).tobytes())
        return digest.hexdigest()
    array = awkward.without_parameters(array)
    digest.update(awkward.to_numpy(awkward.flatten(array)).tobytes())
    digest.update(awkward.to_numpy(awkward.num(array)).astype("<i8").tobytes())
    return digest.hexdigest()


def is_numeric(array):
    layout = awkward.to_layout(array)
    return isinstance(layout, (awkward.contents.NumpyArray, awkward.contents.RegularArray)) and not awkward.parameters(
        array
    )


def read_with_root(path, fewer):
    file = ROOT.TFile.Open(path)
    if not file or file.IsZombie():
        return {"error": "ROOT cannot open the file"}
    try:
        if file.TestBit(ROOT.TFile.kRecovered):
            return {"error": "ROOT recovered the file"}
        directories, tables = {"": {}}, {}

        def walk(directory, prefix):
            newest = {}
            for key in directory.GetListOfKeys():
                newest[str(key.GetName())] = max(newest.get(str(key.GetName()), 0), key.GetCycle())
            for key in directory.GetListOfKeys():
                name, kind = str(key.GetName()), str(key.GetClassName())
                is_newest = newest[name] == key.GetCycle()
                if is_newest:
                    directories[prefix][name] = kind.replace("TDirectoryFile", "TDirectory")
                if kind.startswith("TDirectory"):
                    directories[prefix + name + "/"] = {}
                    walk(directory.Get(name), prefix + name + "/")
                elif kind in ("TTree", "TNtuple"):
                    tree = directory.Get(f"{name};{key.GetCycle()}")
                    table = root_table(tree, fewer)
                    if is_newest:
                        tables[prefix + name] = table
                elif kind == "ROOT::RNTuple" and is_newest:
                    tables[prefix + name] = root_ntuple(directory, f"{name};{key.GetCycle()}")

        walk(file, "")
        return {"directories": directories, "tables": tables}
    finally:
        file.Close()


def root_table(tree, fewer):
    if not tree:
        raise ValueError("ROOT cannot read a tree")
    entries = without_appended(tree.GetEntries(), fewer)
    columns = {}
    for top in tree.GetListOfBranches():
        for branch in top.GetListOfBranches():
            columns[str(branch.GetName())] = str(ROOT.member_of(branch, entries))
        if top.GetListOfBranches().GetEntries() == 0:
            columns[str(top.GetName())] = str(ROOT.column_of(top, entries))
    return {"entries": entries, "columns": columns}


def root_ntuple(directory, key):
    entries, *fields = map(str, ROOT.fields_of(directory, key))
    return {"entries": int(entries), "columns": dict(zip(fields[::2], fields[1::2]))}


def append_with_root(path):
    file = ROOT.TFile.Open(path, "UPDATE")
    if not file or file.IsZombie():
        raise ValueError("ROOT cannot open the file to append")

    def walk(directory):
        trees = []
        for key in directory.GetListOfKeys():
            if str(key.GetClassName()).startswith("TDirectory"):
                walk(directory.Get(str(key.GetName())))
            elif str(key.GetClassName()) in ("TTree", "TNtuple") and str(key.GetName()) not in trees:
                trees.append(str(key.GetName()))
        for name in trees:
            tree = directory.Get(name)
            if tree.GetEntries() > 0:
                tree.GetEntry(0)
                for _ in range(APPENDED):
                    tree.Fill()
                directory.cd()
                tree.Write("", ROOT.TObject.kOverwrite)
        directory.cd()
        ROOT.TNamed("appended by ROOT", "to see what it destroys " * 20).Write()

    walk(file)
    file.Close()


class Messages:
    """Everything written to stderr in the meantime, also by ROOT's C++ code."""

    def __enter__(self):
        self._file = tempfile.TemporaryFile()
        self._own = os.dup(2)
        os.dup2(self._file.fileno(), 2)
        return self

    def __exit__(self, *_):
        sys.stderr.flush()
        os.dup2(self._own, 2)
        os.close(self._own)
        self._file.seek(0)
        self.text = self._file.read().decode("utf-8", "replace")
        self._file.close()


def guarded(action, *arguments):
    try:
        with Messages() as messages:
            answer = action(*arguments)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {str(error).strip()[:400]}"}
    if messages.text.strip():
        return {"error": f"message: {messages.text.strip()[:400]}"}
    return answer


def answer(request):
    path = request["path"]
    result = {"uproot": guarded(read_with_uproot, path, 0), "root": guarded(read_with_root, path, 0), "appended": None}
    if request["append"] and "error" not in result["root"]:
        failed = guarded(append_with_root, path)
        result["appended"] = (
            {"uproot": failed, "root": failed}
            if failed
            else {"uproot": guarded(read_with_uproot, path, APPENDED), "root": guarded(read_with_root, path, APPENDED)}
        )
    return result


def main():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of ROOT must not be taken for an answer
    for line in sys.stdin:
        out.write(json.dumps(answer(json.loads(line))) + "\n")
        out.flush()


main()
