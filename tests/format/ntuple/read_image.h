// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "format/ntuple/ntuple_image.h"
#include "fuzz/stream_body.h"
#include "tfile/file.h"

namespace tfile::test {

// Opens the table "t" of a file; this must succeed.
inline std::shared_ptr<const Table> open_table(std::shared_ptr<const Source> source) {
  const auto file = File::open(std::move(source));
  if (!file) return ADD_FAILURE() << file.error().text, nullptr;
  const auto root = (*file)->root();
  const auto key = std::ranges::find(root->keys, "t", &KeyInfo::name);
  if (key == root->keys.end()) return ADD_FAILURE() << "no table", nullptr;
  auto table = (*file)->table(*key);
  if (!table) return ADD_FAILURE() << table.error().text, nullptr;
  return *std::move(table);
}

inline std::shared_ptr<const Table> open_table(std::vector<std::byte> bytes) {
  return open_table(in_memory(std::move(bytes)));
}

inline const Column* find_column(const Table& table, std::string_view path) {
  const auto found = std::ranges::find(table.columns, path, &Column::path);
  return found == table.columns.end() ? nullptr : &*found;
}

// The content of a column's chunks, one after the other, and the errors of those that could not be read.
struct ColumnRead {
  std::vector<std::byte> bytes;
  std::vector<std::string> errors;  // of each chunk; empty: no error
  bool is_right() const {
    return std::ranges::all_of(errors, [](const std::string& error) { return error.empty(); });
  }
  template <class T>
  std::vector<T> as() const {
    std::vector<T> numbers(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }
};

// Decodes a chunk, after the chunks that are its inputs, as the cache does.
inline Result<Chunk> read_chunk(const Table& table, ChunkKey key, std::span<const std::int64_t> first) {
  std::vector<std::shared_ptr<const Chunk>> inputs;
  for (const ChunkKey& input : table.inputs(key)) {
    const std::vector<std::int64_t> none(table.slot_count(input.stream), 0);
    TRY(Chunk chunk, read_chunk(table, input, none));
    inputs.push_back(std::make_shared<const Chunk>(std::move(chunk)));
  }
  TRY(const Locator locator, table.locate(key));
  std::vector<std::byte> stored(locator.range.size < (1 << 26) ? locator.range.size : 0);
  if (stored.size() != locator.range.size) return fail(ErrorKind::damaged, "a page that no test has");
  if (locator.source) TRY_VOID(read_range(*locator.source, locator.range, stored));
  return table.decode(key, stored, inputs, first);
}

inline ColumnRead read_column(const Table& table, std::string_view path) {
  ColumnRead read;
  const Column* column = find_column(table, path);
  if (!column) return read.errors.push_back("there is no column " + std::string(path)), read;
  const std::vector<std::int64_t> first(table.slot_count(column->stream), 0);
  for (std::uint32_t index = 0; index < table.chunk_count(column->stream); ++index) {
    const auto chunk = read_chunk(table, {column->stream, index}, first);
    read.errors.push_back(chunk ? "" : chunk.error().text);
    if (!chunk) continue;
    const auto array = chunk->arrays[column->slot];
    read.bytes.insert(read.bytes.end(), array.begin(), array.end());
  }
  return read;
}

template <class T>
std::vector<T> numbers_of(const Table& table, std::string_view path) {
  const ColumnRead read = read_column(table, path);
  for (const std::string& error : read.errors) EXPECT_EQ(error, "") << path;
  return read.as<T>();
}

// Opens the table and reads all of it. Whatever its content is, this must end, be consistent, and take little memory.
inline void expect_survived(std::vector<std::byte> bytes, std::size_t memory_max = 1 << 20) {
  const auto file = File::open(in_memory(std::move(bytes)));
  if (!file) return;
  for (const KeyInfo& key : (*file)->root()->keys) {
    const auto table = (*file)->table(key);
    if (!table) continue;
    EXPECT_LE((*table)->memory(), memory_max);
    fuzz::walk_table(**table);
  }
}

}  // namespace tfile::test
