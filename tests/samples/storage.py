# SPDX-License-Identifier: Apache-2.0
"""storage.py DIR: the same small tree in all forms in which a file can store it."""

import os
import sys

import ROOT

ROOT.gInterpreter.Declare(r"""
#include <TDirectory.h>
#include <TFile.h>
#include <TH1F.h>
#include <TH2D.h>
#include <TNtuple.h>
#include <TNtupleD.h>
#include <TObjString.h>
#include <TRandom3.h>
#include <TTree.h>

// A tree with one branch of each shape that a basket can have.
struct Tree {
  int number = 0, n = 0;
  float list[10];
  char text[300];
  std::vector<double> vector;
  double matrix[2][2];
  TRandom3 random{3};
  TTree* tree;
  explicit Tree(const char* name = "t", int basket_size = 32000) : tree(new TTree(name, "title")) {
    tree->Branch("number", &number, "number/I", basket_size);
    tree->Branch("n", &n, "n/I", basket_size);
    tree->Branch("list", list, "list[n]/F", basket_size);
    tree->Branch("text", text, "text/C", basket_size);
    tree->Branch("vector", &vector, basket_size);
    tree->Branch("matrix", matrix, "matrix[2][2]/D", basket_size);
  }
  void set() {
    n = number % 10;
    for (auto& x : list) x = random.Gaus();
    strcpy(text, std::string(number % 40 == 7 ? 280 : 1 + number % 5, 'a' + number % 26).c_str());
    vector.assign(number % 4, random.Gaus());
    for (auto& row : matrix) for (auto& x : row) x = random.Gaus();
    number++;
  }
  void fill(int entries) {
    for (int i = 0; i < entries; i++) set(), tree->Fill();
  }
};

void autoflush(const char* name) {
  TFile file(name, "RECREATE");
  Tree t("t", 1600);
  t.tree->SetAutoFlush(100);
  t.fill(250);
  t.tree->SetAutoFlush(70);
  t.fill(400);
  t.tree->SetAutoFlush(-1000);
  t.fill(100);
  file.Write();
}

void embedded(const char* name, bool after_flush) {
  TFile file(name, "RECREATE");
  Tree t;
  t.fill(40);
  if (after_flush) t.tree->FlushBaskets(), t.fill(25);
  t.tree->AutoSave("");
  t.tree->ResetBit(kMustCleanup);
  t.tree->SetDirectory(nullptr);  // so that closing the file does not write it again
}

void circular(const char* name) {
  TFile file(name, "RECREATE");
  TTree tree("t", "circular");
  int number;
  double x;
  tree.Branch("number", &number, "number/I");
  tree.Branch("x", &x, "x/D");
  tree.SetCircular(20);
  for (number = 0; number < 33; number++) x = number * 0.5, tree.Fill();
  file.Write();
}

void other_file(const char* name, const char* other) {
  auto* side = new TFile(other, "RECREATE");  // the branch's destructor closes and deletes it
  TFile file(name, "RECREATE");
  Tree t;
  t.tree->GetBranch("vector")->SetFile(side);
  t.fill(100);
  file.Write();
}

void ntuples(const char* name) {
  TFile file(name, "RECREATE");
  TNtuple single("single", "floats", "x:y:z");
  TNtupleD twice("twice", "doubles", "a:b");
  TRandom3 random(9);
  for (int i = 0; i < 500; i++) single.Fill(i, random.Gaus(), random.Gaus()), twice.Fill(i, random.Gaus());
  file.Write();
}

void cycles(const char* name) {
  TFile file(name, "RECREATE");
  for (int i = 1; i <= 3; i++) { TObjString text(std::string(i, 'x').c_str()); text.Write("text"); }
  Tree t;
  t.fill(10);
  t.tree->Write();
  t.fill(10);
  t.tree->Write();
}

void directories(const char* name) {
  TFile file(name, "RECREATE");
  for (const char* path : {"a", "a/b", "a/b/c", "empty", "with space"}) {
    TDirectory* directory = file.mkdir(path);
    directory->cd();
    if (path != std::string("empty")) {
      TH1F h("h", "counts;x;y", 10, 0, 1);
      h.FillRandom("gaus", 100);
      h.Write();
    }
  }
  file.cd("a/b/c");
  Tree t;
  t.fill(30);
  t.tree->Write();
  file.cd();
  TH2D h2("h2", "two", 3, 0, 3, 4, 0, 4);
  h2.Fill(1, 1);
  h2.Write();
}

void names(const char* name) {
  TFile file(name, "RECREATE");
  const std::string long_name(300, 'n');
  int i = 0;
  for (const std::string& key : {std::string("a/b"), std::string(".."), std::string("."), std::string(".hidden"),
                                 std::string("%41"), std::string("100%"), long_name + "1", long_name + "2",
                                 std::string("line\nbreak"), std::string("\x1b[31mred"), std::string("\xff\xfe"),
                                 std::string("two words"), std::string("semi;7"), std::string("\xc3\xa9t\xc3\xa9"), std::string()}) {
    TObjString text(std::to_string(i++).c_str());
    // ROOT's Write() would take "a/b" apart, so the key is made by hand.
    TKey* k = new TKey(&text, key.c_str(), 32000, &file);
    k->WriteFile();
    file.GetListOfKeys()->Contains(k) ? (void)0 : (void)file.AppendKey(k);
  }
  TTree tree("t", "names of branches");
  float x = 0;
  for (const std::string& branch : {std::string("a.b"), std::string("ends."), std::string("sl/ash"), std::string("%2F"),
                                    std::string(".dot"), std::string("x"), long_name + "A", long_name + "B"}) {
    tree.Branch(branch.c_str(), &x, "x/F");
  }
  for (x = 0; x < 5; x++) tree.Fill();
  tree.Write();
}

void uneven(const char* name) {
  TFile file(name, "RECREATE");
  TTree tree("t", "branches of different length");
  int a = 0, b = 0;
  TBranch* first = tree.Branch("a", &a, "a/I");
  TBranch* second = tree.Branch("b", &b, "b/I");
  for (a = 0; a < 10; a++) first->Fill();
  for (b = 0; b < 4; b++) second->Fill();
  tree.SetEntries(10);
  tree.Write();
}

void big(const char* name) {
  TFile file(name, "RECREATE");
  auto* free = static_cast<TFree*>(file.GetListOfFree()->First());
  free->SetFirst(2200000000);
  free->SetLast(3000000000);
  file.SetEND(2200000000);
  file.mkdir("d")->cd();
  Tree t;
  t.fill(50);
  t.tree->Write();
  file.cd();
  Tree u("u", 1600);
  u.fill(200);
  u.tree->Write();
}

void plain(const char* name) {
  TFile file(name, "RECREATE");
  Tree t("t", 1600);
  t.fill(500);
  TH1F h("h", "counts", 10, 0, 1);
  h.Fill(0.5);
  h.Write();
  t.tree->Write();
}

// Ends like a job that was killed: after SaveSelf the directory knows the tree, otherwise recovery must find it.
void never_closed(const char* name, bool save_self) {
  auto* file = new TFile(name, "RECREATE");
  auto* t = new Tree("t", 1600);
  t->fill(300);
  TObjString("here").Write("note");
  t->tree->AutoSave(save_self ? "SaveSelf" : "FlushBaskets");
  t->fill(300);
  ::_exit(0);
}
""")
directory = sys.argv[1]


def path(name):
    return os.path.join(directory, name)


ROOT.plain(path("plain.root"))
ROOT.autoflush(path("autoflush.root"))
ROOT.embedded(path("embedded.root"), False)
ROOT.embedded(path("embedded-after-flush.root"), True)
ROOT.circular(path("circular.root"))
os.chdir(directory)  # the name of the other file is stored as given
ROOT.other_file("other-file.root", "other-file-side.root")
ROOT.ntuples(path("ntuples.root"))
ROOT.cycles(path("cycles.root"))
ROOT.directories(path("directories.root"))
ROOT.names(path("names.root"))
ROOT.uneven(path("uneven.root"))
ROOT.big(path("big.root"))
for name, save_self in (("killed-saved.root", True), ("killed.root", False)):
    child = os.fork()
    if child == 0:
        ROOT.never_closed(path(name), save_self)
    os.waitpid(child, 0)
with open(path("plain.root"), "rb") as whole, open(path("cut.root"), "wb") as cut:
    cut.write(whole.read()[:-40])  # inside the free list, the last record: this makes ROOT recover
os.mkdir(path("alone"))
with open(path("other-file.root"), "rb") as whole, open(path("alone/other-file.root"), "wb") as copy:
    copy.write(whole.read())
