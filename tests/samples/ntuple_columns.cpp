// SPDX-License-Identifier: Apache-2.0
// ntuple_columns read FILE NTUPLE DIRECTORY: writes the columns of an RNTuple, as ROOT's typed views read them, as the
// files that a mount shows (docs/semantics/layout.md, "Tables"). ntuple_columns make FILE SETTINGS: writes an RNTuple.

#include <ROOT/RField.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleView.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

namespace {

using ROOT::RNTupleReader;
const std::map<std::string, std::string> kSuffixes = {{"bool", "b1"},
                                                      {"std::int8_t", "i1"},
                                                      {"std::uint8_t", "u1"},
                                                      {"std::int16_t", "i2"},
                                                      {"std::uint16_t", "u2"},
                                                      {"std::int32_t", "i4"},
                                                      {"std::uint32_t", "u4"},
                                                      {"std::int64_t", "i8"},
                                                      {"std::uint64_t", "u8"},
                                                      {"float", "f4"},
                                                      {"double", "f8"},
                                                      {"ROOT::RNTupleCardinality<std::uint32_t>", "u4"},
                                                      {"ROOT::RNTupleCardinality<std::uint64_t>", "u8"}};

template <class T>
void put(std::ofstream& out, T value) {
  out.write(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T, class Viewed = T>
void numbers(RNTupleReader& reader, const std::string& name, const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  auto view = reader.GetView<Viewed>(name);
  for (auto i : view.GetFieldRange()) put<T>(out, view(i));
}

void strings(RNTupleReader& reader, const std::string& name, const std::string& path) {
  std::filesystem::create_directories(path);
  std::ofstream offsets(path + "/offsets.i8", std::ios::binary), chars(path + "/chars.u1", std::ios::binary);
  std::int64_t end = 0;
  put(offsets, end);
  auto view = reader.GetView<std::string>(name);
  for (auto i : view.GetFieldRange()) {
    const std::string& text = view(i);
    chars << text;
    put(offsets, end += static_cast<std::int64_t>(text.size()));
  }
}

// Returns the number of items in all `count` lists.
std::int64_t lists(RNTupleReader& reader, const std::string& name, const std::string& path, std::int64_t count) {
  std::filesystem::create_directories(path);
  std::ofstream offsets(path + "/offsets.i8", std::ios::binary);
  std::int64_t end = 0;
  put(offsets, end);
  auto view = reader.GetCollectionView(name);
  for (std::int64_t i = 0; i < count; ++i) put(offsets, end += static_cast<std::int64_t>(view(i)));
  return end;
}

void numbers_of(RNTupleReader& reader, const std::string& type, const std::string& name, const std::string& path) {
  if (type == "bool") return numbers<bool>(reader, name, path);
  if (type == "std::int8_t") return numbers<std::int8_t>(reader, name, path);
  if (type == "std::uint8_t") return numbers<std::uint8_t>(reader, name, path);
  if (type == "std::int16_t") return numbers<std::int16_t>(reader, name, path);
  if (type == "std::uint16_t") return numbers<std::uint16_t>(reader, name, path);
  if (type == "std::int32_t") return numbers<std::int32_t>(reader, name, path);
  if (type == "std::uint32_t") return numbers<std::uint32_t>(reader, name, path);
  if (type == "std::int64_t") return numbers<std::int64_t>(reader, name, path);
  if (type == "std::uint64_t") return numbers<std::uint64_t>(reader, name, path);
  if (type == "float") return numbers<float>(reader, name, path);
  if (type == "double") return numbers<double>(reader, name, path);
  if (type == "ROOT::RNTupleCardinality<std::uint32_t>")
    return numbers<std::uint32_t, ROOT::RNTupleCardinality<std::uint32_t>>(reader, name, path);
  if (type == "ROOT::RNTupleCardinality<std::uint64_t>")
    return numbers<std::uint64_t, ROOT::RNTupleCardinality<std::uint64_t>>(reader, name, path);
  throw std::runtime_error("no number: " + type);
}

// `path`: of the node, without the type of a number. `count`: of its items.
void walk(RNTupleReader& reader, ROOT::DescriptorId_t id, std::string name, const std::string& path,
          std::int64_t count) {
  const auto& descriptor = reader.GetDescriptor();
  const auto* field = &descriptor.GetFieldDescriptor(id);
  if (field->GetTypeName() == "std::string") return strings(reader, name, path);
  if (field->GetStructure() == ROOT::ENTupleStructure::kCollection) {
    const std::int64_t items = lists(reader, name, path, count);
    const auto item = field->GetLinkIds().at(0);
    return walk(reader, item, name + "." + descriptor.GetFieldDescriptor(item).GetFieldName(), path + "/values", items);
  }
  if (field->GetStructure() == ROOT::ENTupleStructure::kRecord) {
    std::filesystem::create_directories(path);
    for (const auto member : field->GetLinkIds()) {
      const std::string own = descriptor.GetFieldDescriptor(member).GetFieldName();
      walk(reader, member, name + "." + own, path + "/" + own, count);
    }
    return;
  }
  std::string shape;
  while (field->GetNRepetitions() > 0) {
    shape += "x" + std::to_string(field->GetNRepetitions());
    field = &descriptor.GetFieldDescriptor(field->GetLinkIds().at(0));
    name += "." + field->GetFieldName();
  }
  numbers_of(reader, field->GetTypeName(), name, path + "." + kSuffixes.at(field->GetTypeName()) + shape);
}

void write(const std::string& file, const std::string& table, const std::string& directory) {
  auto reader = RNTupleReader::Open(table, file);
  std::filesystem::create_directories(directory);
  const auto& descriptor = reader->GetDescriptor();
  for (const auto& field : descriptor.GetTopLevelFields())
    walk(*reader, field.GetId(), field.GetFieldName(), directory + "/" + field.GetFieldName(),
         static_cast<std::int64_t>(reader->GetNEntries()));
}

// Shows the lengths of a list.
template <class T>
std::unique_ptr<ROOT::RFieldBase> lengths(const std::string& name) {
  return std::make_unique<ROOT::RField<ROOT::RNTupleCardinality<T>>>(name);
}

// Clusters of ROOT's, with a field that is added late, and with projections that show the lengths of lists.
void make(const std::string& file, int settings) {
  auto model = ROOT::RNTupleModel::Create();
  auto x = model->MakeField<float>("x");
  auto n = model->MakeField<std::int16_t>("n");
  auto b = model->MakeField<bool>("b");
  auto s = model->MakeField<std::string>("s");
  auto v = model->MakeField<std::vector<std::vector<double>>>("v");
  auto a = model->MakeField<std::array<std::uint32_t, 2>>("a");
  model->AddProjectedField(lengths<std::uint32_t>("nv"), [](const std::string&) { return "v"; });
  ROOT::RNTupleWriteOptions options;
  options.SetCompression(settings);
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "Events", file, options);
  std::shared_ptr<std::vector<float>> late;
  for (int i = 0; i < 30; ++i) {
    if (i == 20) {
      auto updater = writer->CreateModelUpdater();
      updater->BeginUpdate();
      late = updater->MakeField<std::vector<float>>("late");
      updater->AddProjectedField(lengths<std::uint64_t>("count"), [](const std::string&) { return "late"; });
      updater->CommitUpdate();
    }
    *x = i / 4.f;
    *n = static_cast<std::int16_t>(-i);
    *b = i % 3 == 0;
    *s = std::string(i % 5, 'a');
    v->assign(i % 3, std::vector<double>(i % 4, i));
    *a = {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(2 * i)};
    if (late) late->assign(i % 2, static_cast<float>(i));
    writer->Fill();
    if (i == 10) writer->CommitCluster();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string action = argc > 2 ? argv[1] : "";
  if (action == "make" && argc == 4) return make(argv[2], std::stoi(argv[3])), 0;
  if (action == "read" && argc == 5) return write(argv[2], argv[3], argv[4]), 0;
  return 2;
}
