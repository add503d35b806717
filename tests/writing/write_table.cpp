// SPDX-License-Identifier: Apache-2.0
// write_table FILE TABLE COMPRESSION DIRECTORY CLUSTER [CLUSTER...]: writes the columns below DIRECTORY (px.f4,
// Muon_pt/offsets.i8, ...) into a table of a ROOT file, both made where they are not there. Columns that the table has
// get entries behind its last, others become branches beside. CLUSTER: entries of each cluster, the last one repeated.
// write_table FILE TABLE drop BRANCH...: takes branches out of it.

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
  std::vector<OfferedColumn> offered;
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

std::size_t item_size(const OfferedColumn& column) {
  std::size_t size = size_of(column.dtype);
  for (const std::uint32_t extent : column.shape) size *= extent;
  return size;
}

// The bytes of a branch's columns for a range of entries.
std::vector<std::span<const std::byte>> slices(const BranchForm& branch, const Columns& columns, EntryRange entries) {
  std::vector<std::span<const std::byte>> out;
  auto begin = static_cast<std::size_t>(entries.begin), end = static_cast<std::size_t>(entries.end);
  for (const std::uint32_t i : branch.columns) {
    const std::span<const std::byte> bytes(columns.bytes[i]);
    const std::size_t size = item_size(columns.offered[i]);
    if (columns.offered[i].role == Role::offsets) {
      out.push_back(bytes.subspan(begin * 8, (end + 1 - begin) * 8));
      begin = static_cast<std::size_t>(load_little<std::int64_t>(out.back().data()));
      end = static_cast<std::size_t>(load_little<std::int64_t>(out.back().data() + out.back().size() - 8));
    } else {
      out.push_back(bytes.subspan(begin * size, (end - begin) * size));
    }
  }
  return out;
}

// One form of all that is written: of the table's own branches with the columns at hand, and of new ones.
struct Work {
  struct Branch {
    std::size_t number;
    BranchForm form;  // its columns are those of `columns`
    std::int64_t first_entry;
  };
  std::vector<Branch> branches;
};

Work plan_work(TableWriter& table, Columns& columns) {
  Work work;
  const CommittedForm& committed = table.committed_form();
  std::vector<bool> used(columns.offered.size());
  const auto at = [&](const std::string& path) {
    const auto found = std::ranges::find(columns.offered, path, &OfferedColumn::path);
    return static_cast<std::uint32_t>(found - columns.offered.begin());
  };
  for (std::size_t i = 0; i < committed.branches.size(); ++i) {
    BranchForm form = committed.branches[i];
    for (std::uint32_t& column : form.columns) {
      column = at(committed.columns[column].path);
      if (column < used.size()) used[column] = true;
    }
    const bool all = std::ranges::all_of(form.columns, [&](std::uint32_t c) { return c < used.size(); });
    if (all) work.branches.push_back({i, std::move(form), table.committed_entries()});
  }
  Columns added;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) added.offered.push_back(columns.offered[i]);
  }
  const TableForm form = must(table_form(added.offered));
  for (const std::string& line : form.incomplete) std::cerr << line << "\n";
  must(table.add_branches(added.offered, form));
  for (std::size_t i = 0; i < form.branches.size(); ++i) {
    BranchForm branch = form.branches[i];
    for (std::uint32_t& column : branch.columns) column = at(added.offered[column].path);
    work.branches.push_back({committed.branches.size() + i, std::move(branch), 0});
  }
  return work;
}

std::int64_t entries_of(const BranchForm& branch, const Columns& columns) {
  const std::uint32_t first = branch.columns.at(0);
  const std::size_t items = columns.bytes[first].size() / item_size(columns.offered[first]);
  return static_cast<std::int64_t>(items) - (columns.offered[first].role == Role::offsets ? 1 : 0);
}

void write_at(std::fstream& file, std::uint64_t offset, std::span<const std::byte> bytes) {
  file.seekp(static_cast<std::streamoff>(offset));
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void write_clusters(FileWriter& writer, TableWriter& table, const Work& work, const Columns& columns,
                    std::span<char*> clusters, std::fstream& file) {
  const std::int64_t first = work.branches.at(0).first_entry;
  const std::int64_t entries = first + entries_of(work.branches.at(0).form, columns);
  const std::int64_t auto_flush = clusters.size() == 1 ? std::atoll(clusters[0]) : 0;
  for (std::int64_t begin = first; begin < entries;) {
    const std::int64_t end = std::min<std::int64_t>(entries, begin + std::atoll(clusters.front()));
    if (clusters.size() > 1) clusters = clusters.subspan(1);
    for (const Work::Branch& branch : work.branches) {
      const EntryRange range{begin - first + branch.first_entry, end - first + branch.first_entry};
      const EntryRange of_columns{begin - first, end - first};
      Basket basket = must(table.encode(branch.number, range, slices(branch.form, columns, of_columns)));
      const std::uint64_t address = writer.place(basket);
      write_at(file, address, basket.record.span());
      table.add_basket(branch.number, basket, address);
    }
    table.end_cluster(end, auto_flush, {});
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
  const Compression compression = action == "drop" ? Compression{} : must(parse_compression(action));
  std::unique_ptr<FileWriter> writer;
  if (fs::exists(path)) {
    writer = must(FileWriter::open(must(File::open(must(open_source(path)))), compression));
  } else {
    writer = must(FileWriter::create(fs::path(path).filename(), compression));
    std::ofstream(path).put(0);
  }
  auto opened = writer->open_table("", table_name, false);
  TableWriter* table = opened ? *opened : nullptr;
  if (table == nullptr && opened.error().kind != ErrorKind::not_found) must(std::move(opened));
  if (table == nullptr) table = must(writer->create_table("", table_name, "a title"));
  if (action == "drop") {
    for (int i = 4; i < argc; ++i) must(writer->drop_branch(table, argv[i]));
  } else {
    Columns columns = read_columns(argv[4]);
    const Work work = plan_work(*table, columns);
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    write_clusters(*writer, *table, work, columns, std::span(argv + 5, argv + argc), file);
  }
  commit(*writer, path);
}
