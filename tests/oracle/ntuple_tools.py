# SPDX-License-Identifier: Apache-2.0
"""Run by ROOT, on an RNTuple "Events" whose entries follow from their numbers. ntuple_tools.py write FILE FIRST END; read FILE
FIRST; inspect FILE; chain FILE...; late FILE."""

import sys

import ROOT

ROOT.gInterpreter.Declare(r"""
#include <ROOT/RNTupleInspector.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleProcessor.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriter.hxx>

std::vector<float> items(long number) {
  std::vector<float> made;
  for (long i = 0; i < number % 4; ++i) made.push_back(float(i + number));
  return made;
}
std::string text(long number) {
  std::string made;
  for (long i = 0; i < number % 4; ++i) made.push_back(char((i + number) % 256 % 26 + 'a'));
  return made;
}
bool is_right(long number, long run, float x, const std::vector<float>& v, const std::string& name) {
  return run == number && x == float(number) / 4 && v == items(number) && name == text(number);
}

void write(const char* path, long first, long end) {
  auto model = ROOT::RNTupleModel::Create();
  auto run = model->MakeField<std::int64_t>("run");
  auto x = model->MakeField<float>("x");
  auto v = model->MakeField<std::vector<float>>("v");
  auto name = model->MakeField<std::string>("name");
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "Events", path);
  for (long i = first; i < end; ++i) {
    *run = i, *x = float(i) / 4, *v = items(i), *name = text(i);
    writer->Fill();
  }
}

void read(const char* path, long first) {
  auto reader = ROOT::RNTupleReader::Open("Events", path);
  auto run = reader->GetView<std::int64_t>("run");
  auto x = reader->GetView<float>("x");
  auto v = reader->GetView<std::vector<float>>("v");
  auto name = reader->GetView<std::string>("name");
  bool right = true;
  for (auto i : reader->GetEntryRange()) right = right && is_right(first + long(i), run(i), x(i), v(i), name(i));
  std::cout << reader->GetNEntries() << " entries from " << first << ": " << (right ? "right" : "wrong") << std::endl;
}

void inspect(const char* path) {
  auto inspector = ROOT::Experimental::RNTupleInspector::Create("Events", path);
  const auto& descriptor = inspector->GetDescriptor();
  std::string types;
  for (ROOT::DescriptorId_t i = 0; i < descriptor.GetNPhysicalColumns(); ++i)
    types += std::string(ROOT::Internal::RColumnElementBase::GetColumnTypeName(inspector->GetColumnInspector(i).GetType())) + " ";
  std::cout << types << std::endl;
  std::cout << "fields " << descriptor.GetNFields() - 1 << " columns " << descriptor.GetNPhysicalColumns() << " entries " << descriptor.GetNEntries()
            << " clusters " << descriptor.GetNClusters() << " groups " << descriptor.GetNClusterGroups() << std::endl;
}

void chain(const std::vector<std::string>& paths) {
  std::vector<ROOT::Experimental::RNTupleOpenSpec> specs;
  for (const auto& path : paths) specs.emplace_back("Events", path);
  auto processor = ROOT::Experimental::RNTupleProcessor::CreateChain(specs);
  auto run = processor->RequestField<std::int64_t>("run");
  auto x = processor->RequestField<float>("x");
  auto v = processor->RequestField<std::vector<float>>("v");
  auto name = processor->RequestField<std::string>("name");
  long number = 0;
  bool right = true;
  for (const auto& entry : *processor) right = is_right(number++, *run, *x, *v, *name) && right;
  std::cout << number << " entries: " << (right ? "right" : "wrong") << std::endl;
}

void late(const char* path) {
  auto reader = ROOT::RNTupleReader::Open("Events", path);
  auto run = reader->GetView<std::int64_t>("run"), late = reader->GetView<std::int64_t>("late");
  bool right = reader->GetNEntries() > 0;
  for (auto i : reader->GetEntryRange()) right = right && late(i) == 3 * run(i);
  ROOT::RDataFrame frame("Events", path);
  right = right && *frame.Filter("late != 3 * run").Count() == 0;
  std::cout << "late: " << (right ? "right" : "wrong") << std::endl;
}
""")

command, *arguments = sys.argv[1:]
if command == "chain":
    ROOT.chain(arguments)
elif command == "write":
    ROOT.write(arguments[0], int(arguments[1]), int(arguments[2]))
elif command == "read":
    ROOT.read(arguments[0], int(arguments[1]))
else:
    getattr(ROOT, command)(arguments[0])
