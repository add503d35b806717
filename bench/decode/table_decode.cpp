// SPDX-License-Identifier: Apache-2.0
// The cost of decoding whole columns without a mount: reads the stored bytes of all chunks, then decodes them on the
// given number of threads. Keeps all decoded chunks, as a cache does: a single thread that drops each chunk would write
// to the same warm memory again and again, while two threads move through cold memory. Prints seconds of reading and of
// decoding (wall), the bytes decoded, and CPU seconds of the decoding.
//
//   table_decode FILE TABLE THREADS BRANCH...

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "tfile/file.h"

namespace {

using tfile::ChunkKey;

struct Work {
  ChunkKey key;
  std::vector<std::byte> stored;
  std::vector<std::int64_t> first;
};

template <class T>
T must(tfile::Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().text.c_str());
    std::exit(1);
  }
  return *std::move(result);
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Counts chunk after chunk of a column that needs no other column.
tfile::Result<std::vector<std::int64_t>> items_of(const tfile::Table& table, const Work& one) {
  if (table.shape(one.key.stream).items_from == tfile::ItemsFrom::metadata) {
    TRY(const tfile::Extents extents, table.extents(one.key.stream));
    return extents.items_of(one.key.index);
  }
  TRY(auto counted, table.counter()->count(one.key, one.stored, {}));
  return std::move(counted.items);
}

std::vector<Work> read_all(const tfile::Table& table, const std::vector<std::string>& branches) {
  std::vector<Work> work;
  for (const std::string& branch : branches) {
    const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                     [&](const tfile::Column& c) { return c.branch == branch; });
    if (column == table.columns.end()) std::fprintf(stderr, "no branch %s\n", branch.c_str()), std::exit(1);
    std::vector<std::int64_t> first(table.slot_count(column->stream), 0);
    for (std::uint32_t i = 0; i < table.chunk_count(column->stream); ++i) {
      Work one{{column->stream, i}, {}, first};
      const tfile::Locator locator = must(table.locate(one.key));
      one.stored.resize(locator.range.size);
      if (!tfile::read_range(*locator.source, locator.range, one.stored)) std::exit(1);
      const auto items = must(items_of(table, one));
      for (std::size_t slot = 0; slot < first.size(); ++slot) first[slot] += items[slot];
      work.push_back(std::move(one));
    }
  }
  return work;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return std::fprintf(stderr, "usage: table_decode FILE TABLE THREADS BRANCH...\n"), 2;
  const auto file = must(tfile::File::open(must(tfile::open_source(argv[1]))));
  std::shared_ptr<const tfile::Table> table;
  for (const tfile::KeyInfo& key : file->root()->keys)
    if (key.name == argv[2] && key.kind == tfile::KeyKind::table && !table) table = must(file->table(key));
  if (!table) return std::fprintf(stderr, "no table %s\n", argv[2]), 1;

  auto begin = std::chrono::steady_clock::now();
  const std::vector<Work> work = read_all(*table, {argv + 4, argv + argc});
  const double reading = seconds_since(begin);

  std::atomic<std::size_t> next = 0;
  std::vector<tfile::Chunk> chunks(work.size());
  const auto decode = [&] {
    for (std::size_t i; (i = next++) < work.size();)
      chunks[i] = must(table->decode(work[i].key, work[i].stored, {}, work[i].first));
  };
  begin = std::chrono::steady_clock::now();
  const std::clock_t cpu_begin = std::clock();
  std::vector<std::thread> threads;
  for (int i = 1; i < std::atoi(argv[3]); ++i) threads.emplace_back(decode);
  decode();
  for (auto& thread : threads) thread.join();
  const double decoding = seconds_since(begin);
  const double cpu = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;
  std::uint64_t decoded = 0;
  for (const tfile::Chunk& chunk : chunks)
    for (const auto array : chunk.arrays) decoded += array.size();
  std::printf("%.6f %.6f %llu %.6f\n", reading, decoding, static_cast<unsigned long long>(decoded), cpu);
}
