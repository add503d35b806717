// SPDX-License-Identifier: Apache-2.0
// column_sum FILE TABLE COLUMN: prints the sum of a column of numbers, for instance `column_sum run.root Events
// energy.f4`. Built against an installed libtfile: by CMake (the file beside this one), or with
//   c++ -std=c++20 column_sum.cpp $(pkg-config --cflags --libs tfile)

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "tfile/file.h"
#include "tfile/stored_chunk.h"

namespace {

using namespace tfile;

// The bytes of an array are little-endian numbers, and need not be aligned.
template <class T>
double sum_of(std::span<const std::byte> bytes) {
  double sum = 0;
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T number;
    std::memcpy(&number, bytes.data() + at, sizeof(T));
    sum += static_cast<double>(number);
  }
  return sum;
}

Result<double> sum_of(std::span<const std::byte> bytes, Dtype dtype) {
  switch (dtype) {
    case Dtype::f4:
      return sum_of<float>(bytes);
    case Dtype::f8:
      return sum_of<double>(bytes);
    case Dtype::i4:
      return sum_of<std::int32_t>(bytes);
    case Dtype::i8:
      return sum_of<std::int64_t>(bytes);
    default:
      return fail(ErrorKind::unsupported, "this example adds f4, f8, i4 and i8 alone");
  }
}

// Reads and decodes one chunk of the column's stream after the other.
Result<double> sum_column(const Table& table, const Column& column) {
  double sum = 0;
  const std::vector<std::int64_t> first(table.slot_count(column.stream), 0);  // numbers do not depend on their place
  for (std::uint32_t i = 0; i < table.chunk_count(column.stream); ++i) {
    const ChunkKey key{column.stream, i};
    TFILE_TRY(const Locator place, table.locate(key));
    std::vector<std::byte> memory;
    TFILE_TRY(const auto stored, read_stored(place, memory));
    std::vector<std::shared_ptr<const Chunk>> inputs;
    for (const ChunkKey& input : table.inputs(key)) {
      TFILE_TRY(auto chunk, read_input(table, input));
      inputs.push_back(std::move(chunk));
    }
    TFILE_TRY(const Chunk chunk, table.decode(key, stored, inputs, first));
    TFILE_TRY(const double part, sum_of(chunk.arrays[column.slot], column.dtype));
    sum += part;
  }
  return sum;
}

Result<double> sum_in_file(const std::string& path, std::string_view table_name, std::string_view column_name) {
  TFILE_TRY(auto source, open_source(path, {}));
  TFILE_TRY(const auto file, File::open(std::move(source)));
  const auto listing = file->root();
  const auto key = std::ranges::find_if(
      listing->keys, [&](const KeyInfo& one) { return one.kind == KeyKind::table && one.name == table_name; });
  if (key == listing->keys.end()) return fail(ErrorKind::not_found, "there is no such table");
  TFILE_TRY(const auto table, file->table(*key));
  const auto column = std::ranges::find(table->columns, column_name, &Column::path);
  if (column == table->columns.end()) return fail(ErrorKind::not_found, "the table has no such column");
  return sum_column(*table, *column);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: column_sum FILE TABLE COLUMN\n");
    return 2;
  }
  const auto sum = sum_in_file(argv[1], argv[2], argv[3]);
  if (!sum) {
    std::fprintf(stderr, "column_sum: %s\n", sum.error().text.c_str());
    return 1;
  }
  std::printf("%.10g\n", *sum);
  return 0;
}
