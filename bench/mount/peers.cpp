// SPDX-License-Identifier: Apache-2.0
// Reads whole columns of floating-point numbers in one of ROOT's ways. Prints the seconds from open to the sum of all
// values, and the sum; with --again also the seconds of a second time in this process, which opens the file again.
// Compiled by compare.py with the ROOT of the Python package.
//
//   peers [--again] WAY FILE TABLE NAME:TYPE...      TYPE: f4 f8
//     WAY: getentry reader rdf rdf2 bulk bulk2 array array2 of a TTree; views ntuple ntuple2 ntuple-halves of an
//     RNTuple
//   peers make-column|make-dimuon FILE COMPRESSION ENTRIES · peers import TREE_FILE TABLE NTUPLE_FILE COMPRESSION

#include <TBranch.h>
#include <TBufferFile.h>
#include <TFile.h>
#include <TLeaf.h>
#include <TROOT.h>
#include <TRandom3.h>
#include <TTree.h>
#include <TTreeReader.h>
#include <TTreeReaderValue.h>

#include <ROOT/RDataFrame.hxx>
#include <ROOT/RNTupleImporter.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Column {
  std::string name;
  bool is_double = false;
  std::size_t size() const { return is_double ? sizeof(double) : sizeof(float); }
};

struct Input {
  std::string file, table;
  std::vector<Column> columns;
};

double get_entry(const Input& in) {
  std::unique_ptr<TFile> file(TFile::Open(in.file.c_str()));
  auto* tree = file->Get<TTree>(in.table.c_str());
  tree->SetBranchStatus("*", false);
  std::vector<float> floats(in.columns.size());
  std::vector<double> doubles(in.columns.size());
  for (std::size_t i = 0; i < in.columns.size(); ++i) {
    tree->SetBranchStatus(in.columns[i].name.c_str(), true);
    if (in.columns[i].is_double) {
      tree->SetBranchAddress(in.columns[i].name.c_str(), &doubles[i]);
    } else {
      tree->SetBranchAddress(in.columns[i].name.c_str(), &floats[i]);
    }
  }
  double sum = 0;
  const Long64_t entries = tree->GetEntries();
  for (Long64_t e = 0; e < entries; ++e) {
    tree->GetEntry(e);
    for (std::size_t i = 0; i < in.columns.size(); ++i) sum += in.columns[i].is_double ? doubles[i] : floats[i];
  }
  return sum;
}

double tree_reader(const Input& in) {
  std::unique_ptr<TFile> file(TFile::Open(in.file.c_str()));
  TTreeReader reader(in.table.c_str(), file.get());
  std::vector<std::unique_ptr<TTreeReaderValue<float>>> floats;
  std::vector<std::unique_ptr<TTreeReaderValue<double>>> doubles;
  for (const Column& column : in.columns) {
    if (column.is_double) {
      doubles.push_back(std::make_unique<TTreeReaderValue<double>>(reader, column.name.c_str()));
    } else {
      floats.push_back(std::make_unique<TTreeReaderValue<float>>(reader, column.name.c_str()));
    }
  }
  double sum = 0;
  while (reader.Next()) {
    for (auto& value : floats) sum += **value;
    for (auto& value : doubles) sum += **value;
  }
  return sum;
}

double data_frame(const Input& in) {
  ROOT::RDataFrame frame(in.table, in.file);
  std::vector<ROOT::RDF::RResultPtr<double>> doubles;
  for (const Column& column : in.columns) {
    if (column.is_double) {
      doubles.push_back(frame.Sum<double>(column.name));
    } else {
      // Sums of floats are kept in double, as in all other ways here.
      doubles.push_back(frame.Define("as_double_" + column.name, [](float x) { return double(x); }, {column.name})
                            .Sum<double>("as_double_" + column.name));
    }
  }
  double sum = 0;
  for (auto& result : doubles) sum += *result;
  return sum;
}

template <class T>
double sum_of(const void* data, Long64_t count) {
  const T* values = static_cast<const T*>(data);
  double sum = 0;
  for (Long64_t i = 0; i < count; ++i) sum += values[i];
  return sum;
}
double sum_of(const Column& column, const void* data, Long64_t count) {
  return column.is_double ? sum_of<double>(data, count) : sum_of<float>(data, count);
}

// One thread's share of the bulk interface: from entry `begin` on, the entries of clusters that start below `end`. With
// `arrays`, one for each column, they are copied there; else they are summed while they are in the processor's cache.
double bulk_range(const Input& in, Long64_t begin, Long64_t end, std::byte* const* arrays) {
  std::unique_ptr<TFile> file(TFile::Open(in.file.c_str()));
  auto* tree = file->Get<TTree>(in.table.c_str());
  double sum = 0;
  for (std::size_t i = 0; i < in.columns.size(); ++i) {
    const Column& column = in.columns[i];
    TBranch* branch = tree->GetBranch(column.name.c_str());
    TBufferFile buffer(TBuffer::kWrite, 32 * 1024);
    for (Long64_t e = begin; e < end;) {
      const int count = branch->GetBulkRead().GetBulkEntries(e, buffer);
      if (count <= 0) throw std::runtime_error("GetBulkEntries failed");
      if (arrays)
        std::memcpy(arrays[i] + e * column.size(), buffer.GetCurrent(), count * column.size());
      else
        sum += sum_of(column, buffer.GetCurrent(), count);
      e += count;
    }
  }
  return sum;
}

// `as_arrays`: each column is there as a whole before it is summed.
double bulk(const Input& in, unsigned threads, bool as_arrays = false) {
  std::vector<Long64_t> cuts{0};
  {
    std::unique_ptr<TFile> file(TFile::Open(in.file.c_str()));
    auto* tree = file->Get<TTree>(in.table.c_str());
    // Bulk reading begins at the first entry of a basket. All branches of our files have common basket starts only at
    // clusters.
    auto cluster = tree->GetClusterIterator(0);
    std::vector<Long64_t> starts;
    for (Long64_t start = cluster(); start < tree->GetEntries(); start = cluster()) starts.push_back(start);
    for (unsigned t = 1; t < threads; ++t) cuts.push_back(starts[starts.size() * t / threads]);
    cuts.push_back(tree->GetEntries());
  }
  std::vector<std::unique_ptr<std::byte[]>> arrays;
  std::vector<std::byte*> places;
  for (std::size_t i = 0; as_arrays && i < in.columns.size(); ++i) {
    arrays.push_back(std::make_unique_for_overwrite<std::byte[]>(cuts.back() * in.columns[i].size()));
    places.push_back(arrays.back().get());
  }
  std::vector<double> sums(threads);
  const auto read = [&](unsigned t) {
    sums[t] = bulk_range(in, cuts[t], cuts[t + 1], as_arrays ? places.data() : nullptr);
  };
  std::vector<std::thread> workers;
  for (unsigned t = 1; t < threads; ++t) workers.emplace_back(read, t);
  read(0);
  for (auto& worker : workers) worker.join();
  double sum = 0;
  for (double s : sums) sum += s;
  for (std::size_t i = 0; i < places.size(); ++i) sum += sum_of(in.columns[i], places[i], cuts.back());
  return sum;
}

// Typed views: all columns of an entry, then the next entry.
double ntuple_views(const Input& in) {
  auto reader = ROOT::RNTupleReader::Open(in.table, in.file);
  std::vector<ROOT::RNTupleView<float>> floats;
  std::vector<ROOT::RNTupleView<double>> doubles;
  for (const Column& column : in.columns) {
    if (column.is_double) {
      doubles.push_back(reader->GetView<double>(column.name));
    } else {
      floats.push_back(reader->GetView<float>(column.name));
    }
  }
  double sum = 0;
  for (const auto entry : reader->GetEntryRange()) {
    for (auto& view : floats) sum += view(entry);
    for (auto& view : doubles) sum += view(entry);
  }
  return sum;
}

// From each cluster, the entries of one of `parts` equal parts.
template <class T>
double ntuple_column(ROOT::RNTupleReader& reader, const std::string& name, unsigned part, unsigned parts) {
  auto bulk = reader.GetModel().CreateBulk(name);
  double sum = 0;
  const auto& descriptor = reader.GetDescriptor();
  for (const auto& cluster : descriptor.GetClusterIterable()) {
    const auto begin = cluster.GetNEntries() * part / parts, end = cluster.GetNEntries() * (part + 1) / parts;
    const auto* values = static_cast<const T*>(bulk.ReadBulk(ROOT::RNTupleLocalRange(cluster.GetId(), begin, end)));
    for (std::size_t i = 0; i < end - begin; ++i) sum += values[i];
  }
  return sum;
}

double ntuple(const Input& in, unsigned part = 0, unsigned parts = 1) {
  auto reader = ROOT::RNTupleReader::Open(in.table, in.file);
  double sum = 0;
  for (const Column& column : in.columns)
    sum += column.is_double ? ntuple_column<double>(*reader, column.name, part, parts)
                            : ntuple_column<float>(*reader, column.name, part, parts);
  return sum;
}

// Two threads with a reader each, while implicit multi-threading decompresses on two and copies on one.
double ntuple_halves(const Input& in) {
  double first = 0;
  std::thread worker([&] { first = ntuple(in, 0, 2); });
  const double second = ntuple(in, 1, 2);
  worker.join();
  return first + second;
}

// A falling spectrum in steps of a sixteenth, as from a detector: about 12 bits of mantissa.
void make_column(const char* path, int compression, long entries) {
  TFile file(path, "RECREATE", "", compression);
  TTree tree("t", "one column");
  float x;
  tree.Branch("x", &x, "x/F");
  TRandom3 random(1);
  for (long i = 0; i < entries; ++i) {
    x = float(int(random.Exp(40) * 16)) / 16;
    tree.Fill();
  }
  tree.Write();
}

void make_dimuon(const char* path, int compression, long entries) {
  TFile file(path, "RECREATE", "", compression);
  TTree tree("t", "pairs of muons");
  float px, py, pz;
  double mass;
  tree.Branch("px", &px, "px/F");
  tree.Branch("py", &py, "py/F");
  tree.Branch("pz", &pz, "pz/F");
  tree.Branch("mass", &mass, "mass/D");
  TRandom3 random(2);
  for (long i = 0; i < entries; ++i) {
    px = float(random.Gaus(0, 20));
    py = float(random.Gaus(0, 20));
    pz = float(random.Gaus(0, 60));
    mass = random.BreitWigner(91.2, 2.5);
    tree.Fill();
  }
  tree.Write();
}

void import_tree(const char* tree_file, const char* table, const char* ntuple_file, int compression) {
  auto importer = ROOT::Experimental::RNTupleImporter::Create(tree_file, table, ntuple_file);
  auto options = importer->GetWriteOptions();
  options.SetCompression(compression);
  importer->SetWriteOptions(options);
  importer->SetIsQuiet(true);
  importer->Import();
}

}  // namespace

int main(int argc, char** argv) {
  const bool again = argc > 1 && std::string(argv[1]) == "--again";
  if (again) --argc, ++argv;
  const std::string way = argc > 1 ? argv[1] : "";
  if (way == "make-column" && argc == 5) return make_column(argv[2], std::atoi(argv[3]), std::atol(argv[4])), 0;
  if (way == "make-dimuon" && argc == 5) return make_dimuon(argv[2], std::atoi(argv[3]), std::atol(argv[4])), 0;
  if (way == "import" && argc == 6) return import_tree(argv[2], argv[3], argv[4], std::atoi(argv[5])), 0;
  if (argc < 5) return std::fprintf(stderr, "usage: see the head of peers.cpp\n"), 2;
  Input in{argv[2], argv[3], {}};
  for (int i = 4; i < argc; ++i) {
    const char* type = std::strchr(argv[i], ':');
    if (!type) return std::fprintf(stderr, "%s has no type\n", argv[i]), 2;
    in.columns.push_back(
        {std::string(argv[i], static_cast<std::size_t>(type - argv[i])), std::string(type + 1) == "f8"});
  }
  ROOT::EnableThreadSafety();
  double sum = 0;
  for (int time = 0; time < (again ? 2 : 1); ++time) {
    const auto begin = std::chrono::steady_clock::now();
    if (way.ends_with("2") && way != "bulk2" && way != "array2") ROOT::EnableImplicitMT(2);
    if (way == "getentry") sum = get_entry(in);
    if (way == "reader") sum = tree_reader(in);
    if (way == "rdf" || way == "rdf2") sum = data_frame(in);
    if (way == "bulk") sum = bulk(in, 1);
    if (way == "bulk2") sum = bulk(in, 2);
    if (way == "array") sum = bulk(in, 1, true);
    if (way == "array2") sum = bulk(in, 2, true);
    if (way == "views") sum = ntuple_views(in);
    if (way == "ntuple" || way == "ntuple2") sum = ntuple(in);
    if (way == "ntuple-halves") sum = ntuple_halves(in);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("%.6f ", seconds.count());
  }
  std::printf("%.17g\n", sum);
}
