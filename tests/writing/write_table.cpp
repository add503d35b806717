// SPDX-License-Identifier: Apache-2.0
// write_table DIRECTORY FILE COMPRESSION CLUSTER [CLUSTER...]: makes a ROOT file with the table "Events" of the columns
// below DIRECTORY (px.f4, Muon_pt/offsets.i8, ...). CLUSTER: entries of each cluster; the last is repeated to the end.

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "bytes/endian.h"
#include "format/container/file_image.h"
#include "tree/tree_writer.h"

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

template <class T>
T must(Result<T> result) {
  if (result) return *std::move(result);
  std::cerr << result.error().text << "\n";
  std::exit(1);
}
void must(Result<> result) {
  if (result) return;
  std::cerr << result.error().text << "\n";
  std::exit(1);
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

std::int64_t entries_of(const TableForm& form, const Columns& columns) {
  const std::uint32_t first = form.branches.at(0).columns.at(0);
  const std::size_t items = columns.bytes[first].size() / item_size(columns.offered[first]);
  return static_cast<std::int64_t>(items) - (columns.offered[first].role == Role::offsets ? 1 : 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const Columns columns = read_columns(argv[1]);
  const TableForm form = must(table_form(columns.offered));
  for (const std::string& line : form.incomplete) std::cerr << line << "\n";
  const std::int64_t entries = entries_of(form, columns);

  test::FileImage image;
  TreePlace place;
  place.directory_seek = 100;
  place.name = "Events";
  place.title = "a title";
  place.compression = must(parse_compression(argv[3]));
  place.datime = 0x41CCEB89;
  const auto tree = TreeWriter::create(place);
  must(tree->add_branches(columns.offered, form));
  const std::int64_t auto_flush = argc > 5 ? 0 : std::atoll(argv[4]);
  int next = 4;
  for (std::int64_t begin = 0; begin < entries;) {
    const std::int64_t end = std::min<std::int64_t>(entries, begin + std::atoll(argv[next]));
    if (next + 1 < argc) ++next;
    for (std::size_t i = 0; i < form.branches.size(); ++i) {
      Basket basket = must(tree->encode(i, {begin, end}, slices(form.branches[i], columns, {begin, end})));
      const std::uint64_t address = image.bytes().size();
      store_big(basket.record.data() + kBasketSeekOffset, address);
      image.bytes().all().insert(image.bytes().all().end(), basket.record.data(), basket.record.data() + basket.record.size());
      tree->add_basket(i, basket, address);
    }
    tree->end_cluster(end, auto_flush, {});
    begin = end;
  }
  test::FileImage::Key key{tree->class_name(), place.name, place.title, 1, 0, 100, 0, 0, 0};
  const std::size_t keylen = 26 + 1 + key.class_name.size() + 1 + key.name.size() + 1 + key.title.size();
  image.root.keys.push_back(image.add_record(key, must(tree->record(static_cast<std::uint32_t>(keylen)))));
  const std::vector<std::byte> file = image.finish();
  std::ofstream(argv[2], std::ios::binary).write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
}
