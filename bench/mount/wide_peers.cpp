// SPDX-License-Identifier: Apache-2.0
// Makes a tree like NanoAOD: collections of jagged branches with counters, and flags. Or reads columns of it, or of the
// RNTuple imported from it, and prints the seconds from open to the sum of all values, and the sum. Compiled by
// wide.py, listing.py and use_cases.py.
//
//   wide_peers make FILE COMPRESSION ENTRIES
//   wide_peers reader|views|rdf2 FILE LIST
//     LIST: a file with a line NAME TYPE for each column; TYPE: f4[] i4[] i4 b1, of an RNTuple u4 for a counter
//     reader: TTreeReader; of an RNTuple views: RNTupleReader's, rdf2: RDataFrame on 2 threads
//
// Of an RNTuple of many fields:
//
//   wide_peers make-fields FILE FIELDS CLUSTERS ENTRIES     floats; ENTRIES of each cluster
//   wide_peers open FILE     prints the seconds of opening it, and kB resident at most, before and with it
//   wide_peers use-case FILE CASE     a case of use_cases.py: prints calls and bytes of reading pages, as ROOT counts

#include <TFile.h>
#include <TROOT.h>
#include <TRandom3.h>
#include <TTree.h>
#include <TTreeReader.h>
#include <TTreeReaderArray.h>
#include <TTreeReaderValue.h>

#include <ROOT/RDataFrame.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <ROOT/RVec.hxx>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr int kCollections = 20, kFloats = 30, kInts = 10, kFlags = 700, kItemsMax = 32;

// Values are rounded to ten bits of mantissa, as in NanoAOD.
float rounded(double x) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  return float(std::ldexp(std::round(mantissa * 1024) / 1024, exponent));
}

void make(const char* path, int compression, long entries) {
  TFile file(path, "RECREATE", "", compression);
  TTree tree("t", "a table as wide as NanoAOD");
  std::deque<std::array<float, kItemsMax>> floats;
  std::deque<std::array<int, kItemsMax>> ints;
  std::array<int, kCollections> counts;
  std::array<bool, kFlags> flags;
  for (int c = 0; c < kCollections; ++c) {
    tree.Branch(TString::Format("nC%02d", c), &counts[c], TString::Format("nC%02d/I", c));
    for (int i = 0; i < kFloats; ++i)
      tree.Branch(TString::Format("C%02d_f%02d", c, i), floats.emplace_back().data(),
                  TString::Format("C%02d_f%02d[nC%02d]/F", c, i, c));
    for (int i = 0; i < kInts; ++i)
      tree.Branch(TString::Format("C%02d_i%02d", c, i), ints.emplace_back().data(),
                  TString::Format("C%02d_i%02d[nC%02d]/I", c, i, c));
  }
  for (int i = 0; i < kFlags; ++i)
    tree.Branch(TString::Format("HLT_%03d", i), &flags[i], TString::Format("HLT_%03d/O", i));
  TRandom3 random(3);
  for (long entry = 0; entry < entries; ++entry) {
    for (int c = 0; c < kCollections; ++c) {
      counts[c] = std::min<int>(kItemsMax, random.Poisson(c % 4 == 0 ? 6 : 2));
      for (int i = 0; i < kFloats; ++i)
        for (int k = 0; k < counts[c]; ++k)
          floats[c * kFloats + i][k] = rounded(i % 3 == 0 ? random.Exp(30) : random.Gaus(0, 2));
      for (int i = 0; i < kInts; ++i)
        for (int k = 0; k < counts[c]; ++k) ints[c * kInts + i][k] = int(random.Integer(i % 2 == 0 ? 8 : 200));
    }
    for (int i = 0; i < kFlags; ++i) flags[i] = random.Rndm() < 0.02 * (i % 10);
    tree.Fill();
  }
  tree.Write();
}

template <class T>
std::function<double()> summing(TTreeReader& reader, const std::string& name, bool jagged) {
  if (jagged) {
    auto array = std::make_shared<TTreeReaderArray<T>>(reader, name.c_str());
    return [array] {
      double sum = 0;
      for (const T& value : *array) sum += value;
      return sum;
    };
  }
  auto value = std::make_shared<TTreeReaderValue<T>>(reader, name.c_str());
  return [value] { return double(**value); };
}

struct Wanted {
  std::string name, type;
};

std::vector<Wanted> wanted(const char* list) {
  std::vector<Wanted> columns;
  std::ifstream names(list);
  for (Wanted one; names >> one.name >> one.type;) columns.push_back(one);
  return columns;
}

double read_tree(const char* path, const char* list) {
  std::unique_ptr<TFile> file(TFile::Open(path));
  TTreeReader reader("t", file.get());
  std::vector<std::function<double()>> columns;
  for (const auto& [name, type] : wanted(list)) {
    const bool jagged = type.ends_with("[]");
    if (type.starts_with("f4")) columns.push_back(summing<float>(reader, name, jagged));
    if (type.starts_with("i4")) columns.push_back(summing<int>(reader, name, jagged));
    if (type == "b1") columns.push_back(summing<bool>(reader, name, false));
  }
  double sum = 0;
  while (reader.Next())
    for (const auto& column : columns) sum += column();
  return sum;
}

template <class T>
double sum_of(const T& value) {
  return double(value);
}

template <class T>
double sum_of(const ROOT::RVec<T>& values) {
  double sum = 0;
  for (const T& value : values) sum += value;
  return sum;
}

template <class T>
std::function<double(std::uint64_t)> viewing(ROOT::RNTupleReader& reader, const std::string& name) {
  auto view = std::make_shared<ROOT::RNTupleView<T>>(reader.GetView<T>(name));
  return [view](std::uint64_t entry) { return sum_of((*view)(entry)); };
}

double read_views(const char* path, const char* list) {
  auto reader = ROOT::RNTupleReader::Open("t", path);
  std::vector<std::function<double(std::uint64_t)>> columns;
  for (const auto& [name, type] : wanted(list)) {
    if (type == "f4[]") columns.push_back(viewing<ROOT::RVec<float>>(*reader, name));
    if (type == "i4[]") columns.push_back(viewing<ROOT::RVec<int>>(*reader, name));
    if (type == "u4") columns.push_back(viewing<ROOT::RNTupleCardinality<std::uint32_t>>(*reader, name));
    if (type == "b1") columns.push_back(viewing<bool>(*reader, name));
  }
  double sum = 0;
  for (const auto entry : reader->GetEntryRange())
    for (const auto& column : columns) sum += column(entry);
  return sum;
}

double read_frame(const char* path, const char* list) {
  ROOT::EnableImplicitMT(2);
  ROOT::RDataFrame frame("t", path);
  std::vector<ROOT::RDF::RResultPtr<double>> sums;
  const auto add = [&]<class T>(const std::string& name, T) {
    const auto read = [](const T& value) { return sum_of(value); };
    sums.push_back(frame.Define("sum_" + name, read, {name}).template Sum<double>("sum_" + name));
  };
  for (const auto& [name, type] : wanted(list)) {
    if (type == "f4[]") add(name, ROOT::RVec<float>());
    if (type == "i4[]") add(name, ROOT::RVec<int>());
    if (type == "u4") add(name, std::uint32_t());
    if (type == "b1") add(name, bool());
  }
  double sum = 0;
  for (auto& one : sums) sum += *one;
  return sum;
}

void make_fields(const char* path, int fields, int clusters, int entries) {
  auto model = ROOT::RNTupleModel::Create();
  std::vector<std::shared_ptr<float>> values;
  for (int i = 0; i < fields; ++i)
    values.push_back(model->MakeField<float>(TString::Format("detector_channel_%05d", i).Data()));
  ROOT::RNTupleWriteOptions options;
  options.SetCompression(505);
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "t", path, options);
  for (int cluster = 0; cluster < clusters; ++cluster) {
    for (int entry = 0; entry < entries; ++entry) {
      for (int i = 0; i < fields; ++i) *values[i] = float(i) + 0.5f * float(entry) + float(cluster);
      writer->Fill();
    }
    writer->CommitCluster();
  }
}

long peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
  return 0;
}

void open(const char* path) {
  const long before = peak_memory();
  const auto begin = std::chrono::steady_clock::now();
  auto reader = ROOT::RNTupleReader::Open("t", path);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%.6f %ld %ld\n", seconds.count(), before, peak_memory());
}

void use_case(const char* path, int which) {
  auto reader = ROOT::RNTupleReader::Open("t", path);
  reader->EnableMetrics();
  std::vector<ROOT::RNTupleView<void>> views;
  for (int i = which == 2 ? 100 : 0; i < (which == 2 ? 2100 : 1); i += 100)
    views.push_back(reader->GetView<void>(TString::Format("b%04d", i).Data()));
  if (which != 2) reader->GetModel();  // makes it read a cluster with all its fields at once
  const auto entries = reader->GetNEntries();
  for (std::uint64_t entry = 0; entry < (which == 2 ? entries / 4 : entries); ++entry) {
    for (auto& view : views) view(entry);
    if (which == 1 || (which == 3 && entry % 100 == 0)) reader->LoadEntry(entry);
  }
  const auto counted = [&](const std::string& name) {
    return reader->GetMetrics().GetCounter("RNTupleReader.RPageSourceFile." + name)->GetValueAsInt();
  };
  std::printf("%ld %ld\n", long(counted("nRead")), long(counted("szReadPayload") + counted("szReadOverhead")));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  if (way == "make" && argc == 5) return make(argv[2], std::atoi(argv[3]), std::atol(argv[4])), 0;
  if (way == "make-fields" && argc == 6)
    return make_fields(argv[2], std::atoi(argv[3]), std::atoi(argv[4]), std::atoi(argv[5])), 0;
  if (way == "open" && argc == 3) return open(argv[2]), 0;
  if (way == "use-case" && argc == 4) return use_case(argv[2], std::atoi(argv[3])), 0;
  if (argc != 4) return std::fprintf(stderr, "usage: see the head of wide_peers.cpp\n"), 2;
  const auto begin = std::chrono::steady_clock::now();
  double sum = 0;
  if (way == "reader") sum = read_tree(argv[2], argv[3]);
  if (way == "views") sum = read_views(argv[2], argv[3]);
  if (way == "rdf2") sum = read_frame(argv[2], argv[3]);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%.6f %.17g\n", seconds.count(), sum);
}
