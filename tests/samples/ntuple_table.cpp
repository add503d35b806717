// SPDX-License-Identifier: Apache-2.0
#include "ntuple_table.h"

#include <TFile.h>

#include <ROOT/RNTuple.hxx>
#include <ROOT/RNTupleAttrReading.hxx>
#include <cstdlib>
#include <sstream>

ROOT::RNTupleWriteOptions small_pages(int compression) {
  ROOT::RNTupleWriteOptions options;
  options.SetCompression(std::uint32_t(compression));
  options.SetInitialUnzippedPageSize(64);
  options.SetMaxUnzippedPageSize(4096);
  return options;
}

std::unique_ptr<ROOT::RNTupleModel> bare_model(const Table& table) {
  auto model = ROOT::RNTupleModel::CreateBare();
  for (const Field& field : table.fields)
    if (field.added == 0 && !field.source) model->AddField(field.create());
  for (const Field& field : table.fields)
    if (field.added == 0 && field.source) model->AddProjectedField(field.create(), field.source).ThrowOnError();
  return model;
}

Filler::Filler(const Table& table) : table_(table) {
  for (const Field& field : table.fields) values_.push_back(field.object());
}

void Filler::bind(long number) {
  for (std::size_t i = 0; i < values_.size(); i++) {
    const Field& field = table_.fields[i];
    if (!field.source && field.added <= number) entry_->BindRawPtr<void>(field.name, values_[i].get());
  }
}

void Filler::set(long number) {
  for (std::size_t i = 0; i < values_.size(); i++)
    if (!table_.fields[i].source) table_.fields[i].fill(values_[i].get(), number);
}

void fill_table(ROOT::RNTupleWriter& writer, const Table& table, Filler& filler,
                const std::function<void(long)>& before) {
  for (long entry = 0; entry < table.entries; entry++) {
    for (const long end : table.cluster_ends)
      if (std::abs(end) == entry) writer.CommitCluster(end < 0);
    if (before) before(entry);
    filler.fill(writer, table.order.empty() ? entry : table.order[std::size_t(entry)]);
  }
}

void write_file(const Table& table, const std::string& file, const ROOT::RNTupleWriteOptions& options) {
  auto writer = ROOT::RNTupleWriter::Recreate(bare_model(table), table.path, file, options);
  Filler filler(table);
  fill_table(*writer, table, filler);
}

void write_into(TDirectory& directory, const Table& table, const ROOT::RNTupleWriteOptions& options) {
  const std::string name = table.path.substr(table.path.rfind('/') + 1);
  auto writer = ROOT::RNTupleWriter::Append(bare_model(table), name.substr(0, name.find(';')), directory, options);
  Filler filler(table);
  fill_table(*writer, table, filler);
}

namespace {

void put_head(std::ostream& out, const Table& table, const Field& field) {
  out << "{\"table\": ";
  put(out, table.path);
  if (!table.attributes.empty()) out << ", \"attributes\": ", put(out, table.attributes);
  out << ", \"field\": ";
  put(out, field.name);
  if (field.tolerance > 0) out << ", \"tolerance\": ", put(out, field.tolerance);
}

void put_error(std::ostream& out, const ROOT::RException& error) {
  out << ", \"error\": ";
  put(out, std::string(error.what()));
  out << "}\n";
}

// Prints the values of a field after each call of `read_entry`, or the error.
void put_values(std::ostream& out, const Field& field, const void* value, long entries,
                const std::function<void(long)>& read_entry) {
  std::ostringstream values;
  try {
    for (long entry = 0; entry < entries; entry++) {
      read_entry(entry);
      values << (entry > 0 ? ", " : "");
      (field.put_read ? field.put_read : field.put)(values, value);
    }
    out << ", \"values\": [" << values.str() << "]}\n";
  } catch (const ROOT::RException& error) {
    put_error(out, error);
  }
}

void put_attributes(std::ostream& out, const Table& table, ROOT::RNTupleReader& reader) {
  const std::string of_user = "_userData.";
  auto set = reader.OpenAttributeSet(table.attributes);
  for (const Field& field : table.fields) {
    put_head(out, table, field);
    const auto value = field.object();
    const auto entry = set->CreateEntry();
    if (field.name.starts_with(of_user)) entry->BindRawPtr<void>(field.name.substr(of_user.size()), value.get());
    put_values(out, field, value.get(), long(set->GetNEntries()), [&](long i) {
      const auto range = set->LoadEntry(ROOT::NTupleSize_t(i), *entry);
      if (field.name == "_rangeStart") *static_cast<std::uint64_t*>(value.get()) = range.GetStart();
      if (field.name == "_rangeLen") *static_cast<std::uint64_t*>(value.get()) = range.GetLength();
    });
  }
}

}  // namespace

void put_expected(std::ostream& out, const Table& table) {
  for (const Field& field : table.fields) {
    put_head(out, table, field);
    out << ", \"values\": [";
    for (long entry = 0; entry < table.entries; entry++) {
      const long number = table.order.empty() ? entry : table.order[std::size_t(entry)];
      const bool present = !field.stored || field.stored(number);
      const auto value = field.object();
      if (present) field.fill(value.get(), number);
      if (present && field.keep) field.keep(value.get());
      if (entry > 0) out << ", ";
      if (!present && !field.absent.empty())
        out << field.absent;
      else
        field.put(out, value.get());
    }
    out << "]}\n";
  }
}

void put_read(std::ostream& out, const Table& table, const std::string& name) {
  const std::unique_ptr<TFile> file(TFile::Open(name.c_str()));
  const std::unique_ptr<ROOT::RNTuple> anchor(file->Get<ROOT::RNTuple>(table.path.c_str()));
  if (!anchor) throw std::runtime_error(name + " has no " + table.path);
  auto reader = ROOT::RNTupleReader::Open(*anchor);
  if (!table.attributes.empty()) return put_attributes(out, table, *reader);
  for (const Field& field : table.fields) {
    put_head(out, table, field);
    const auto value = field.read_object ? field.read_object() : field.object();
    try {
      auto view = reader->GetView(field.name, value.get(), field.type);
      put_values(out, field, value.get(), long(reader->GetNEntries()),
                 [&](long entry) { view(ROOT::NTupleSize_t(entry)); });
    } catch (const ROOT::RException& error) {
      put_error(out, error);
    }
  }
}
