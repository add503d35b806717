# SPDX-License-Identifier: Apache-2.0
"""remote.py DIR: files that tests read from servers. A source has the first and last bytes of a file at hand from its
opening, so the kinds of bytes lie in different places:

remote.root      as ROOT writes it: data in front, then descriptions and names at the end
bare.root     the same without compression: a wrong byte is not found by a checksum, but seen by the reader
middle.root   an object that does not compress comes last, so that the descriptions lie in the midst of the file
small.root    is read as a whole when it is opened
tiny.root     is shorter than the first bytes that are asked for
wide.root     a tree of 400 columns, half of them lists: the sizes of these are told by the headers of baskets"""

import os
import sys

import ROOT

ROOT.gInterpreter.Declare(r"""
#include <TDirectory.h>
#include <TFile.h>
#include <TGraph.h>
#include <TH1D.h>
#include <TNamed.h>
#include <TRandom3.h>
#include <TTree.h>

#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>

void write_tree(int columns, int lists, int entries, int cluster, int basket_size) {
  TTree tree("events", "numbers that hardly compress");
  tree.SetAutoFlush(cluster);
  TRandom3 random(columns);
  std::vector<double> values(columns);
  std::vector<std::vector<float>> items(lists);
  char text[20] = "";
  for (int i = 0; i < columns; i++) tree.Branch(Form("x%d", i), &values[i], Form("x%d/D", i), basket_size);
  for (int i = 0; i < lists; i++) tree.Branch(Form("list%d", i), &items[i], basket_size);
  tree.Branch("text", text, "text/C", basket_size);
  for (int entry = 0; entry < entries; entry++) {
    for (double& value : values) value = random.Gaus();
    for (auto& list : items) {
      list.resize(random.Integer(4));
      for (float& item : list) item = random.Gaus();
    }
    snprintf(text, sizeof text, "entry %d", entry);
    tree.Fill();
  }
  tree.Write();
}

void write_ntuple(TFile& file, int entries, int cluster) {
  auto model = ROOT::RNTupleModel::Create();
  auto x = model->MakeField<double>("x");
  auto list = model->MakeField<std::vector<float>>("list");
  auto text = model->MakeField<std::string>("text");
  auto writer = ROOT::RNTupleWriter::Append(std::move(model), "ntuple", file);
  TRandom3 random(7);
  for (int entry = 0; entry < entries; entry++) {
    *x = random.Gaus();
    list->resize(random.Integer(4));
    for (float& item : *list) item = random.Gaus();
    *text = Form("entry %d", entry);
    writer->Fill();
    if (entry % cluster == cluster - 1) writer->CommitCluster();
  }
}

// At random, so that it is as large in the file.
void write_histogram(const char* name, int bins) {
  TH1D histogram(name, "a histogram;x;y", bins, 0, 1);
  TRandom3 random(3);
  for (int bin = 1; bin <= bins; bin++) histogram.SetBinContent(bin, random.Gaus());
  histogram.Write();
}

void write_file(const char* name, int entries, int last_bins, int compression = 101) {
  TFile file(name, "RECREATE", "", compression);
  write_tree(20, 4, entries, entries / 4, 32000);
  write_ntuple(file, entries, entries / 4);
  file.mkdir("deep")->mkdir("er")->cd();
  write_histogram("h", 100);
  TGraph graph(3);
  graph.Write("graph");
  file.cd();
  write_histogram("last", last_bins);
  file.Write();
}

void write_tiny(const char* name) {
  TFile file(name, "RECREATE");
  TNamed("note", "few bytes").Write();
}

void write_wide(const char* name) {
  TFile file(name, "RECREATE");
  write_tree(200, 200, 1600, 800, 32000);
}
""")


def write(directory):
    ROOT.write_file(os.path.join(directory, "remote.root"), 12000, 100)
    ROOT.write_file(os.path.join(directory, "bare.root"), 8000, 100, 0)
    ROOT.write_file(os.path.join(directory, "middle.root"), 6000, 60000)
    ROOT.write_file(os.path.join(directory, "small.root"), 200, 100)
    ROOT.write_tiny(os.path.join(directory, "tiny.root"))
    ROOT.write_wide(os.path.join(directory, "wide.root"))


if __name__ == "__main__":
    write(sys.argv[1])
