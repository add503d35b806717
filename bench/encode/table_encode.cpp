// SPDX-License-Identifier: Apache-2.0
// The cost of encoding whole columns into parts without a mount or a file: columns in memory, on the given number of
// threads. Prints the seconds, and the bytes of all parts.
//
//   table_encode COLUMNS LIST COMPRESSION THREADS ENTRIES FORM      ENTRIES: per part; FORM: tree or rntuple
//
// COLUMNS and LIST as in write_peers; COMPRESSION as in the mount's option.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tfile/writer.h"

namespace {

using Bytes = std::vector<std::byte>;

template <class T>
T must(tfile::Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().text.c_str());
    std::exit(1);
  }
  return *std::move(result);
}

Bytes content(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) std::perror(path.c_str()), std::exit(1);
  Bytes bytes(static_cast<std::size_t>(file.tellg()));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

std::vector<std::string> paths(const char* list) {
  std::vector<std::string> found;
  std::ifstream lines(list);
  for (std::string name, type; lines >> name >> type;) {
    if (type.size() > 2) {
      found.push_back(name + "/offsets.i8");
      found.push_back(name + "/values." + type.substr(0, 2));
    } else {
      found.push_back(name + "." + type);
    }
  }
  return found;
}

// What encoding takes for some entries of a field, each time as a cluster of its own.
struct Slices {
  std::vector<std::span<const std::byte>> columns;
  std::vector<std::int64_t> cluster_begin;
};

Slices slices(const tfile::FieldForm& field, const std::vector<tfile::InputColumn>& offered,
              const std::vector<Bytes>& columns, tfile::EntryRange entries) {
  Slices made;
  auto begin = static_cast<std::size_t>(entries.begin), end = static_cast<std::size_t>(entries.end);
  for (const std::uint32_t i : field.encoded) {
    const std::span<const std::byte> all = columns[i];
    const std::size_t size = tfile::size_of(offered[i].dtype);
    const bool offsets = offered[i].role == tfile::Role::offsets;
    const std::span<const std::byte> part = all.subspan(begin * size, (end - begin + (offsets ? 1 : 0)) * size);
    std::int64_t first = 0, last = 0;
    if (offsets) {
      std::memcpy(&first, part.data(), sizeof first);
      std::memcpy(&last, part.data() + part.size() - sizeof last, sizeof last);
    }
    made.columns.push_back(part);
    made.cluster_begin.push_back(first);
    if (!offsets) continue;
    begin = static_cast<std::size_t>(first), end = static_cast<std::size_t>(last);
  }
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  const std::string directory = argv[1];
  const std::int64_t step = std::atoll(argv[5]);
  std::vector<tfile::InputColumn> offered;
  std::vector<Bytes> columns;
  for (const std::string& path : paths(argv[2])) {
    offered.push_back(must(tfile::offered_column(path)));
    columns.push_back(content(directory + "/" + path));
  }
  const auto format = argv[6] == std::string("rntuple") ? tfile::TableFormat::rntuple : tfile::TableFormat::tree;
  const tfile::WriteSchema form = must(tfile::offered_form(offered, format));
  const auto writer = must(tfile::FileWriter::create("limit.root", must(tfile::parse_compression(argv[3]))));
  tfile::TableWriter* const table = must(writer->create_table("", "t", "", format));
  if (!table->add_fields(offered, form)) return 1;
  const auto scalar = std::find_if(form.fields.begin(), form.fields.end(), [&](const tfile::FieldForm& field) {
    return field.kind == tfile::FieldForm::Kind::number;
  });
  const std::uint32_t first = scalar->columns[0];
  const auto entries = static_cast<std::int64_t>(columns[first].size() / tfile::size_of(offered[first].dtype));

  const std::size_t steps = static_cast<std::size_t>((entries + step - 1) / step);
  std::atomic<std::size_t> next = 0;
  std::atomic<std::uint64_t> stored = 0;
  const auto work = [&] {
    for (std::size_t at = next++; at < steps * form.fields.size(); at = next++) {
      const std::size_t field = at % form.fields.size();
      const auto begin = static_cast<std::int64_t>(at / form.fields.size()) * step;
      const tfile::EntryRange range{begin, std::min(begin + step, entries)};
      const Slices part = slices(form.fields[field], offered, columns, range);
      stored += must(table->encode(field, {range, part.columns, part.cluster_begin})).stored.size();
    }
  };
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < std::atoi(argv[4]); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  std::printf("%f %llu\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
              static_cast<unsigned long long>(stored.load()));
  return 0;
}
