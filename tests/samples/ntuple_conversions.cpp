// SPDX-License-Identifier: Apache-2.0
// Tables converted from a tree: by RNTupleImporter, and by RDataFrame. The tree is in a file beside the table's.
#include <TFile.h>
#include <TTree.h>

#include <ROOT/RDataFrame.hxx>
#include <ROOT/RNTupleImporter.hxx>
#include <cstdio>
#include <cstring>

#include "ntuple_samples.h"

namespace conversions {

struct Muon {
  float pt = 0;
  std::int32_t charge = 0;
};
template <class V>
void members(Muon& of, V visit) {
  visit("Muon_pt", of.pt), visit("Muon_charge", of.charge);
}

namespace {

constexpr long kEntries = 100;
constexpr int kMuonsMax = 20;  // of `few`
constexpr int kTextMax = 40;

std::vector<Muon> muons_of(long entry) {
  std::vector<Muon> muons;
  fill_random("Muon", entry, muons);
  return muons;
}

// Has one line, and is never empty: a leaf of characters ends at the first zero.
std::string line_of(long entry) { return "line " + std::to_string(entry * entry); }

template <class T>
Field of_muons(const std::string& name, T Muon::*member) {
  return field<ROOT::RVec<T>>(name, [member](ROOT::RVec<T>& values, long entry) {
    values.clear();
    for (const Muon& muon : muons_of(entry)) values.push_back(muon.*member);
  });
}

// A string in a tree ends at the first zero.
std::vector<std::string> strings_of(long entry) {
  std::vector<std::string> strings;
  fill_random("strings", entry, strings);
  for (std::string& string : strings) string = string.c_str();
  return strings;
}

std::vector<Field> common_fields() {
  return {field<std::int32_t>("number"),
          field<double>("x"),
          field<std::string>("text"),
          field<std::vector<float>>("vector"),
          field<std::vector<std::string>>("strings", [](auto& strings, long entry) { strings = strings_of(entry); }),
          of_muons("Muon_pt", &Muon::pt),
          of_muons("Muon_charge", &Muon::charge)};
}

void write_tree(const std::string& name, int compression) {
  TFile file(name.c_str(), "RECREATE", "", compression);
  TTree tree("t", "a table of events");
  const auto fields = common_fields();
  std::int32_t number, n_muons, charge[kMuonsMax];
  double x;
  float pt[kMuonsMax], matrix[6];
  char line[kTextMax];
  std::string text;
  std::vector<float> vector;
  std::vector<std::string> strings;
  Point point;
  std::vector<Point> points;
  tree.Branch("number", &number), tree.Branch("x", &x), tree.Branch("text", &text), tree.Branch("vector", &vector);
  tree.Branch("strings", &strings), tree.Branch("nMuon", &n_muons), tree.Branch("Muon_pt", pt, "Muon_pt[nMuon]/F");
  tree.Branch("Muon_charge", charge, "Muon_charge[nMuon]/I"), tree.Branch("matrix", matrix, "matrix[6]/F");
  tree.Branch("line", line, "line/C"), tree.Branch("met.point", &point), tree.Branch("points", &points);
  for (long entry = 0; entry < kEntries; entry++) {
    fill_random("number", entry, number), fill_random("x", entry, x), fill_random("text", entry, text);
    fill_random("vector", entry, vector), strings = strings_of(entry), fill_random("matrix", entry, matrix);
    fill_random("met_point", entry, point), fill_random("points", entry, points);
    std::strcpy(line, line_of(entry).c_str());
    n_muons = 0;
    for (const Muon& muon : muons_of(entry)) pt[n_muons] = muon.pt, charge[n_muons++] = muon.charge;
    tree.Fill();
  }
  tree.Write();
}

std::string tree_beside(const std::string& file) { return file.substr(0, file.rfind(".root")) + "-tree.root"; }

std::vector<Table> imported_tables() {
  using Cardinality = ROOT::RNTupleCardinality<std::uint64_t>;
  Table table = table_of(kEntries, {});
  table.path = "t";
  table.fields = common_fields();
  Field muons = created<std::vector<Muon>>("_collection0", {});
  muons.fill = [](void* value, long entry) { *static_cast<std::vector<Muon>*>(value) = muons_of(entry); };
  table.fields.push_back(muons);
  table.fields.push_back(
      field<Cardinality>("nMuon", [](Cardinality& value, long entry) { value = Cardinality(muons_of(entry).size()); }));
  table.fields.push_back(field<std::array<float, 6>>("matrix"));
  table.fields.push_back(field<std::string>("line", [](std::string& value, long entry) { value = line_of(entry); }));
  table.fields.push_back(field<Point>("met_point"));
  table.fields.push_back(field<std::vector<Point>>("points"));
  return {table};
}

void write_imported(const std::string& file, int compression) {
  write_tree(tree_beside(file), compression);
  std::remove(file.c_str());
  auto importer = ROOT::Experimental::RNTupleImporter::Create(tree_beside(file), "t", file);
  importer->SetIsQuiet(true);
  importer->SetConvertDotsInBranchNames(true);
  importer->SetWriteOptions(small_pages(compression));
  importer->Import();
}

std::vector<Table> snapshot_tables() {
  Table table = table_of(kEntries, {});
  table.fields = common_fields();
  table.fields.push_back(
      field<std::int32_t>("nMuon", [](std::int32_t& value, long entry) { value = int(muons_of(entry).size()); }));
  return {table};
}

void write_snapshot(const std::string& file, int compression) {
  const std::string source = file + ".source";
  write_tree(source, compression);
  std::vector<std::string> columns;
  const Table table = snapshot_tables()[0];
  for (const Field& field : table.fields) columns.push_back(field.name);
  ROOT::RDataFrame frame("t", source);
  ROOT::RDF::RSnapshotOptions options;
  frame.Snapshot("t", tree_beside(file), columns, options);
  options.fOutputFormat = ROOT::RDF::ESnapshotOutputFormat::kRNTuple;
  frame.Snapshot("nt", file, columns, options);
  std::remove(source.c_str());
}

}  // namespace

const Sample imported{imported_tables, write_imported};
const Sample snapshot{snapshot_tables, write_snapshot};

}  // namespace conversions
