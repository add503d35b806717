// SPDX-License-Identifier: Apache-2.0
// One branch of float arrays, which have the same length in all of a file: makes it, or reads it with GetEntry and
// prints the seconds from open to the sum of all values, and the sum. Compiled by event_size.py.
//
//   event_peers make FILE COMPRESSION MEGABYTES FLOATS · event_peers getentry FILE

#include <TBranch.h>
#include <TFile.h>
#include <TLeaf.h>
#include <TRandom3.h>
#include <TTree.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace {

void make(const char* path, int compression, long megabytes, long floats) {
  TFile file(path, "RECREATE", "", compression);
  TTree tree("t", "events of one size");
  std::vector<float> x(floats);
  tree.Branch("x", x.data(), TString::Format("x[%ld]/F", floats));
  TRandom3 random(4);
  for (long entry = 0; entry < megabytes * 1'000'000 / 4 / floats; ++entry) {
    for (float& value : x) value = float(int(random.Exp(40) * 16)) / 16;
    tree.Fill();
  }
  tree.Write();
}

double get_entry(const char* path) {
  std::unique_ptr<TFile> file(TFile::Open(path));
  auto* tree = file->Get<TTree>("t");
  std::vector<float> x(tree->GetLeaf("x")->GetLen());
  tree->SetBranchAddress("x", x.data());
  double sum = 0;
  for (Long64_t entry = 0; entry < tree->GetEntries(); ++entry) {
    tree->GetEntry(entry);
    for (const float value : x) sum += value;
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  if (way == "make" && argc == 6) return make(argv[2], std::atoi(argv[3]), std::atol(argv[4]), std::atol(argv[5])), 0;
  if (way != "getentry" || argc != 3) return std::fprintf(stderr, "usage: see the head of event_peers.cpp\n"), 2;
  const auto begin = std::chrono::steady_clock::now();
  const double sum = get_entry(argv[2]);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%.6f %.17g\n", seconds.count(), sum);
}
