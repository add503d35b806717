// SPDX-License-Identifier: Apache-2.0
// handmade write FILE COMPRESSION ENTRIES: a tree of classes with Streamers of their own.
// handmade streamed FILE ENTRIES: ROOT's own RNTuple with streamer fields of the same content.
// handmade tree FILE, handmade ntuple FILE: what ROOT reads from the tree or RNTuple "t", a line for each entry.
#include "handmade.h"

#include <TFile.h>
#include <TTree.h>

#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

void Packed::Streamer(TBuffer& buffer) {
  UInt_t start = 0, count = 0;
  if (buffer.IsReading()) {
    buffer.ReadVersion(&start, &count);
    UChar_t n = 0;
    buffer >> n;
    numbers.assign(n, 0);
    int sum = 0;
    for (int& number : numbers) {
      Short_t step = 0;
      buffer >> step;
      number = sum += step;
    }
    buffer >> scale;
    buffer.CheckByteCount(start, count, Packed::IsA());
  } else {
    start = buffer.WriteVersion(Packed::IsA(), kTRUE);
    buffer << static_cast<UChar_t>(numbers.size());
    int sum = 0;
    for (const int number : numbers) {
      buffer << static_cast<Short_t>(number - sum);
      sum = number;
    }
    buffer << scale;
    buffer.SetByteCount(start, kTRUE);
  }
}

void Twice::Streamer(TBuffer& buffer) {
  UInt_t start = 0, count = 0;
  if (buffer.IsReading()) {
    buffer.ReadVersion(&start, &count);
    TNamed* again = nullptr;
    delete one;
    buffer >> number >> one >> again;
    if (again != one) std::cout << "two objects\n";
    buffer.CheckByteCount(start, count, Twice::IsA());
  } else {
    start = buffer.WriteVersion(Twice::IsA(), kTRUE);
    buffer << number << one << one;
    buffer.SetByteCount(start, kTRUE);
  }
}

namespace {

void set(Packed& packed, int i) {
  packed.numbers.clear();
  for (int k = 0; k < i % 5; ++k) packed.numbers.push_back(i * 7 - 300 * k);
  packed.scale = 0.25f * static_cast<float>(i);
}

void print(const Packed& packed) {
  std::cout << '[';
  for (const int number : packed.numbers) std::cout << number << ' ';
  std::cout << packed.scale << ']';
}
void print(const Holder& holder) {
  std::cout << holder.id << ' ';
  print(holder.packed);
  std::cout << ' ' << holder.weight;
}
void print(const Plain& plain) {
  std::cout << plain.code << ' ';
  print(plain.packed);
}
void print(const std::vector<Packed>& many) {
  for (const Packed& each : many) print(each);
}

struct Row {
  int run = 0;
  Packed packed;
  Holder whole, split;
  Plain plain;
  std::vector<Packed> many;
  Twice twice;
};

void fill(Row& row, int i) {
  row.run = i;
  set(row.packed, i);
  for (Holder* holder : {&row.whole, &row.split}) {
    holder->id = -i;
    set(holder->packed, i + 1);
    holder->weight = 1.5 * i;
  }
  row.plain.code = static_cast<short>(i % 1000);
  set(row.plain.packed, i + 2);
  row.many.assign(static_cast<std::size_t>(i % 3), {});
  for (Packed& each : row.many) set(each, ++i);
  if (!row.twice.one) row.twice.one = new TNamed("name", "title");
  row.twice.number = i;
}

void write(const char* path, int compression, int entries) {
  TFile file(path, "RECREATE", "", compression);
  auto* tree = new TTree("t", "made by hand");
  Row row;
  tree->Branch("run", &row.run);
  tree->Branch("packed", &row.packed, 4000, 0);
  tree->Branch("whole", &row.whole, 4000, 0);
  tree->Branch("plain", &row.plain, 4000, 0);
  tree->Branch("split.", &row.split, 4000, 99);
  tree->Branch("many", &row.many, 4000, 0);
  tree->Branch("twice", &row.twice, 4000, 0);
  for (int i = 0; i < entries; ++i) {
    fill(row, i);
    tree->Fill();
  }
  tree->Write();
}

// Of a split object.
void print_member(TTree& tree) {
  auto* holder = new Holder;
  tree.SetBranchAddress("split.", &holder);
  for (Long64_t i = 0; i < tree.GetEntries(); ++i) {
    tree.GetBranch("split.")->GetEntry(i);
    std::cout << "split.packed " << i << ' ';
    print(holder->packed);
    std::cout << '\n';
  }
  tree.ResetBranchAddresses();
  delete holder;
}

void write_streamed(const char* path, int entries) {
  auto model = ROOT::RNTupleModel::CreateBare();
  for (const auto& [name, type] :
       {std::pair{"packed", "Packed"}, {"whole", "Holder"}, {"plain", "Plain"}, {"many", "std::vector<Packed>"}})
    model->AddField(std::make_unique<ROOT::RStreamerField>(name, type));
  const auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "t", path);
  const auto entry = writer->CreateEntry();
  Row row;
  for (int i = 0; i < entries; ++i) {
    fill(row, i);
    *entry->GetPtr<Packed>("packed") = row.packed;
    *entry->GetPtr<Holder>("whole") = row.whole;
    *entry->GetPtr<Plain>("plain") = row.plain;
    *entry->GetPtr<std::vector<Packed>>("many") = row.many;
    writer->Fill(*entry);
  }
}

template <class T>
void print_branch(TTree& tree, const char* name) {
  T* value = new T;
  tree.SetBranchAddress(name, &value);
  for (Long64_t i = 0; i < tree.GetEntries(); ++i) {
    tree.GetBranch(name)->GetEntry(i);
    std::cout << name << ' ' << i << ' ';
    print(*value);
    std::cout << '\n';
  }
  tree.ResetBranchAddresses();
  delete value;
}

// Typed views know no streamer fields: the type is that of the field.
template <class T>
void print_field(ROOT::RNTupleReader& reader, const char* name) {
  T value;
  auto view = reader.GetView<void>(name, &value);
  std::cout << name << " is " << view.GetField().GetTypeName() << '\n';
  for (const auto i : reader.GetEntryRange()) {
    view(i);
    std::cout << name << ' ' << i << ' ';
    print(value);
    std::cout << '\n';
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = arguments[1];
  if (what == "write") {
    write(arguments[2], std::atoi(arguments[3]), std::atoi(arguments[4]));
  } else if (what == "streamed") {
    write_streamed(arguments[2], std::atoi(arguments[3]));
  } else if (what == "tree") {
    TFile file(arguments[2]);
    auto& tree = *file.Get<TTree>("t");
    print_branch<Packed>(tree, "packed");
    print_branch<Holder>(tree, "whole");
    print_branch<Plain>(tree, "plain");
    print_branch<std::vector<Packed>>(tree, "many");
    print_member(tree);
  } else {
    const auto reader = ROOT::RNTupleReader::Open("t", arguments[2]);
    print_field<Packed>(*reader, "packed");
    print_field<Holder>(*reader, "whole");
    print_field<Plain>(*reader, "plain");
    print_field<std::vector<Packed>>(*reader, "many");
    if (reader->GetDescriptor().FindFieldId("split") != ROOT::kInvalidDescriptorId)
      print_field<Packed>(*reader, "split.packed");
  }
}
