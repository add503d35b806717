// SPDX-License-Identifier: Apache-2.0
// write_table FILE TABLE FORMAT COMPRESSION DIRECTORY CLUSTER [CLUSTER...]: writes the columns below DIRECTORY (px.f4,
// Muon_pt/offsets.i8, ...) into a table of a ROOT file; makes both if they do not exist, the table as FORMAT (tree or
// rntuple). Columns that the table already has get appended entries; others become new fields. CLUSTER: entries of each
// cluster; the last number is repeated. write_table FILE TABLE drop FIELD...: removes fields.

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <numeric>
#include <optional>

#include "bytes/endian.h"
#include "must.h"
#include "tfile/writer.h"

namespace {

namespace fs = std::filesystem;
using namespace tfile;

std::vector<std::byte> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

struct Columns {
  std::vector<InputColumn> offered;
  std::vector<std::vector<std::byte>> bytes;
};

Columns read_columns(const fs::path& directory) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) paths.push_back(fs::relative(entry.path(), directory).string());
  }
  std::sort(paths.begin(), paths.end());
  Columns columns;
  for (const std::string& path : paths) {
    columns.offered.push_back(must(offered_column(path)));
    columns.bytes.push_back(read_file(directory / path));
  }
  return columns;
}

std::size_t item_size(const InputColumn& column) {
  std::size_t size = size_of(column.dtype);
  for (const std::uint32_t extent : column.shape) size *= extent;
  return size;
}

// The bytes of a field's columns for a range of entries, and where the offsets begin.
struct Slices {
  std::vector<std::span<const std::byte>> columns;
  std::vector<std::int64_t> begin;
};
Slices slices(const FieldForm& form, const Columns& columns, EntryRange entries) {
  Slices out;
  for (std::size_t at = 0; at < form.encoded.size(); ++at) {
    const std::uint32_t i = form.encoded[at];
    const std::span<const std::byte> bytes(columns.bytes[i]);
    auto begin = static_cast<std::size_t>(entries.begin), end = static_cast<std::size_t>(entries.end);
    if (form.lists[at] != FieldForm::kEachEntry) {
      const std::span<const std::byte> around = out.columns[form.lists[at]];
      begin = static_cast<std::size_t>(load_little<std::int64_t>(around.data()));
      end = static_cast<std::size_t>(load_little<std::int64_t>(around.data() + around.size() - 8));
    }
    const bool is_offsets = columns.offered[i].role == Role::offsets;
    const std::size_t size = item_size(columns.offered[i]);
    out.columns.push_back(bytes.subspan(begin * size, (end - begin + is_offsets) * size));
    out.begin.push_back(is_offsets ? load_little<std::int64_t>(out.columns.back().data()) : 0);
  }
  return out;
}

std::int64_t entries_of(std::uint32_t column, const Columns& columns) {
  const std::size_t items = columns.bytes[column].size() / item_size(columns.offered[column]);
  return static_cast<std::int64_t>(items) - (columns.offered[column].role == Role::offsets ? 1 : 0);
}

// One form for everything that is written: the table's own fields with the available columns, and new fields.
struct Work {
  struct Field {
    std::size_t number;
    FieldForm form;  // its columns are indices of `columns`
    std::int64_t first_entry;
  };
  std::vector<Field> fields;
};

Work plan_work(TableWriter& table, Columns& columns) {
  Work work;
  const CommittedForm& committed = table.committed_form();
  std::vector<bool> used(columns.offered.size());
  const auto at = [&](const std::string& path) {
    const auto found = std::ranges::find(columns.offered, path, &InputColumn::path);
    return static_cast<std::uint32_t>(found - columns.offered.begin());
  };
  for (std::size_t i = 0; i < committed.fields.size(); ++i) {
    FieldForm form = committed.fields[i];
    for (std::uint32_t& column : form.columns) {
      column = at(committed.columns[column].path);
      if (column < used.size()) used[column] = true;
    }
    for (std::uint32_t& column : form.encoded) column = at(committed.columns[column].path);
    const bool all = std::ranges::all_of(form.encoded, [&](std::uint32_t c) { return c < used.size(); });
    if (all) work.fields.push_back({i, std::move(form), table.committed_entries()});
  }
  Columns added;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) added.offered.push_back(columns.offered[i]);
  }
  find_projections(added.offered,
                   {[&](std::uint32_t i) { return entries_of(at(added.offered[i].path), columns); },
                    [&](std::uint32_t i, std::int64_t first, std::span<std::byte> into) {
                      const auto& bytes = columns.bytes[at(added.offered[i].path)];
                      const std::size_t begin = static_cast<std::size_t>(first) * item_size(added.offered[i]);
                      std::ranges::copy(std::span(bytes).subspan(begin, into.size()), into.begin());
                      return true;
                    }},
                   table.format());
  const WriteSchema form = must(offered_form(added.offered, table.format()));
  for (const std::string& line : form.incomplete) std::cerr << line << "\n";
  must(table.add_fields(added.offered, form));
  for (std::size_t i = 0; i < form.fields.size(); ++i) {
    FieldForm field = form.fields[i];
    for (std::uint32_t& column : field.columns) column = at(added.offered[column].path);
    for (std::uint32_t& column : field.encoded) column = at(added.offered[column].path);
    work.fields.push_back({committed.fields.size() + i, std::move(field), 0});
  }
  return work;
}

void write_at(std::fstream& file, std::uint64_t offset, std::span<const std::byte> bytes) {
  file.seekp(static_cast<std::streamoff>(offset));
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void write_clusters(FileWriter& writer, TableWriter& table, const Work& work, const Columns& columns,
                    std::span<char*> clusters, std::fstream& file) {
  const std::int64_t first = work.fields.at(0).first_entry;
  const std::int64_t entries = first + entries_of(work.fields.at(0).form.columns.at(0), columns);
  const std::int64_t cluster_entries = clusters.size() == 1 ? std::atoll(clusters[0]) : 0;
  for (std::int64_t begin = first; begin < entries;) {
    const std::int64_t end =
        table.end_of_cluster(begin).value_or(std::min<std::int64_t>(entries, begin + std::atoll(clusters.front())));
    if (clusters.size() > 1) clusters = clusters.subspan(1);
    for (const Work::Field& field : work.fields) {
      const EntryRange range{begin - first + field.first_entry, end - first + field.first_entry};
      const EntryRange of_columns{begin - first, end - first};
      const Slices items = slices(field.form, columns, of_columns);
      Part part = must(table.encode(field.number, {range, items.columns, items.begin}));
      table.leave_out_stored(part);
      const std::uint64_t address = part.stored.size() > 0 ? writer.place(part.stored.size()) : 0;
      table.add_part(field.number, part, address);
      if (part.stored.size() > 0) write_at(file, address, part.stored.span());
    }
    table.end_cluster(end, cluster_entries);
    begin = end;
  }
}

void commit(FileWriter& writer, const std::string& path) {
  const CommitPlan plan = must(writer.plan(0x7EEB58E8));
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  for (const CommitStep& step : plan.steps) {
    if (step.kind == CommitStep::Kind::write) write_at(file, step.offset, step.bytes);
  }
  file.close();
  fs::resize_file(path, plan.size);
  writer.committed(plan);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const std::string path = argv[1], table_name = argv[2], action = argv[3];
  const TableFormat format = action == "rntuple" ? TableFormat::rntuple : TableFormat::tree;
  const Compression compression = action == "drop" ? Compression{} : must(parse_compression(argv[4]));
  std::unique_ptr<FileWriter> writer;
  if (fs::exists(path)) {
    writer = must(FileWriter::open(must(File::open(must(open_source(path)))), compression));
  } else {
    writer = must(FileWriter::create(fs::path(path).filename(), compression));
    std::ofstream(path).put(0);
  }
  auto opened = writer->open_table("", table_name, FileWriter::OldCycle::replaced);
  TableWriter* table = opened ? *opened : nullptr;
  if (table == nullptr && opened.error().kind != ErrorKind::not_found) must(std::move(opened));
  if (table == nullptr) table = must(writer->create_table("", table_name, "a title", format));
  if (action == "drop") {
    for (int i = 4; i < argc; ++i) must(table->drop_field(argv[i]));
  } else {
    Columns columns = read_columns(argv[5]);
    const Work work = plan_work(*table, columns);
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    write_clusters(*writer, *table, work, columns, std::span(argv + 6, argv + argc), file);
  }
  commit(*writer, path);
}
