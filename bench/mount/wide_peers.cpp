// SPDX-License-Identifier: Apache-2.0
// Makes a tree such as NanoAOD's: collections of jagged branches and their counters, and flags; and reads columns of it
// with TTreeReader: prints the seconds from open to the sum of all values, and the sum. Compiled by wide.py.
//
//   wide_peers make FILE COMPRESSION ENTRIES
//   wide_peers reader FILE LIST        LIST: a file with a line NAME TYPE for each column; TYPE: f4[] i4[] i4 b1

#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>
#include <TTreeReader.h>
#include <TTreeReaderArray.h>
#include <TTreeReaderValue.h>

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

// Values are rounded to ten bits of mantissa, as NanoAOD's are.
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

double read(const char* path, const char* list) {
  std::unique_ptr<TFile> file(TFile::Open(path));
  TTreeReader reader("t", file.get());
  std::vector<std::function<double()>> columns;
  std::ifstream names(list);
  for (std::string name, type; names >> name >> type;) {
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

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  if (way == "make" && argc == 5) return make(argv[2], std::atoi(argv[3]), std::atol(argv[4])), 0;
  if (way != "reader" || argc != 4) return std::fprintf(stderr, "usage: see the head of wide_peers.cpp\n"), 2;
  const auto begin = std::chrono::steady_clock::now();
  const double sum = read(argv[2], argv[3]);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%.6f %.17g\n", seconds.count(), sum);
}
