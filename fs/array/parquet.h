// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tfilefs {

// The framing of a Parquet file (https://parquet.apache.org/docs/file-format): magic, pages each behind its header, the
// footer. Everything is uncompressed and PLAIN; levels are in the RLE / bit-packed hybrid.

inline constexpr std::string_view kParquetMagic = "PAR1";

struct ParquetElement {
  enum class Type : std::int8_t {
    boolean = 0,
    int32 = 1,
    int64 = 2,
    float32 = 4,
    float64 = 5,
    byte_array = 6,
    group = -1
  };
  enum class Repetition : std::int8_t { required = 0, optional = 1, repeated = 2 };
  enum class Meaning : std::int8_t {  // below 100 a ConvertedType
    none = -1,
    utf8 = 0,
    list = 3,
    uint8 = 11,
    uint16 = 12,
    uint32 = 13,
    uint64 = 14,
    int8 = 15,
    int16 = 16,
    milliseconds = 100,  // timestamps: of no time zone,
    nanoseconds = 101    // of UTC
  };
  std::string name;  // UTF-8
  Type type = Type::group;
  Repetition repetition = Repetition::required;
  Meaning meaning = Meaning::none;
  std::int32_t children = 0;  // of a group: this many of the elements that follow, each with all below it, are in it
};

// One leaf's part of a row group.
struct ParquetChunk {
  std::uint32_t leaf = 0;             // of ParquetFile::paths
  std::int64_t values = 0;            // nulls and empty lists included
  std::int64_t offset = 0, size = 0;  // in the file, headers of pages included
  std::int64_t nulls = -1;            // -1: not known
  std::string min, max;               // values as PLAIN stores them; empty: not known
};

struct ParquetRowGroup {
  std::int64_t rows = 0;
  std::vector<ParquetChunk> chunks;
};

struct ParquetFile {
  std::vector<ParquetElement> elements;         // depth first, the root first
  std::vector<ParquetElement::Type> types;      // by leaf
  std::vector<std::vector<std::string>> paths;  // by leaf: names below the root
  std::vector<ParquetRowGroup> groups;
  std::int64_t rows = 0;
};

// The bytes before a data page of `size` bytes (levels included).
std::string parquet_page_header(std::int32_t values, std::int32_t size);

// The bytes of the tail that tell `min` and `max` of a chunk that has them.
std::uint64_t parquet_range_size(const ParquetChunk&);

// All bytes after the last page: the footer, its size, the magic.
std::string parquet_tail(const ParquetFile&);

}  // namespace tfilefs
