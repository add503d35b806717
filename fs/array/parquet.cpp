// SPDX-License-Identifier: Apache-2.0
#include "array/parquet.h"

#include "array/thrift_writer.h"

namespace tfilefs {
namespace {

// Numbers of fields and enumerations as in parquet.thrift.
using Meaning = ParquetElement::Meaning;
constexpr std::int32_t kPlain = 0, kRle = 3, kUncompressed = 0, kDataPage = 0, kVersion = 1;

// The LogicalType of timestamps, which has a unit and says whether they are of UTC.
void write_timestamp(ThriftWriter& out, Meaning meaning) {
  const bool is_nanoseconds = meaning == Meaning::nanoseconds;
  out.begin_struct(10);
  out.begin_struct(8);
  out.field(1, is_nanoseconds);
  out.begin_struct(2);
  out.begin_struct(is_nanoseconds ? 3 : 1);
  for (int open = 0; open < 4; ++open) out.end_struct();
}

void write_element(ThriftWriter& out, const ParquetElement& element, bool is_root) {
  out.begin_struct();
  const bool is_group = element.type == ParquetElement::Type::group;
  if (!is_group) out.field(1, static_cast<std::int32_t>(element.type));
  if (!is_root) out.field(3, static_cast<std::int32_t>(element.repetition));
  out.field(4, std::string_view(element.name));
  if (is_group) out.field(5, element.children);
  if (element.meaning >= Meaning::milliseconds)
    write_timestamp(out, element.meaning);
  else if (element.meaning != Meaning::none)
    out.field(6, static_cast<std::int32_t>(element.meaning));
  out.end_struct();
}

void write_statistics(ThriftWriter& out, const ParquetChunk& chunk) {
  out.begin_struct(12);
  if (chunk.nulls >= 0) out.field(3, chunk.nulls);
  if (!chunk.min.empty()) {
    out.field(5, std::string_view(chunk.max));
    out.field(6, std::string_view(chunk.min));
  }
  out.end_struct();
}

bool has_statistics(const ParquetChunk& chunk) { return chunk.nulls >= 0 || !chunk.min.empty(); }

void write_chunk(ThriftWriter& out, const ParquetFile& file, const ParquetChunk& chunk) {
  out.begin_struct();
  out.field(2, chunk.offset);
  out.begin_struct(3);
  out.field(1, static_cast<std::int32_t>(file.types[chunk.leaf]));
  out.begin_list(2, ThriftWriter::Type::i32, 2);
  out.item(kPlain);
  out.item(kRle);
  const auto& path = file.paths[chunk.leaf];
  out.begin_list(3, ThriftWriter::Type::binary, path.size());
  for (const std::string& name : path) out.item(std::string_view(name));
  out.field(4, kUncompressed);
  out.field(5, chunk.values);
  out.field(6, chunk.size);
  out.field(7, chunk.size);
  out.field(9, chunk.offset);
  if (has_statistics(chunk)) write_statistics(out, chunk);
  out.end_struct();
  out.end_struct();
}

void write_group(ThriftWriter& out, const ParquetFile& file, const ParquetRowGroup& group) {
  std::int64_t size = 0;
  for (const ParquetChunk& chunk : group.chunks) size += chunk.size;
  out.begin_struct();
  out.begin_list(1, ThriftWriter::Type::structure, group.chunks.size());
  for (const ParquetChunk& chunk : group.chunks) write_chunk(out, file, chunk);
  out.field(2, size);
  out.field(3, group.rows);
  if (!group.chunks.empty()) out.field(5, group.chunks[0].offset);
  out.field(6, size);
  out.end_struct();
}

// Says that minima and maxima are in the order of the leaves' types.
void write_orders(ThriftWriter& out, std::size_t leaves) {
  out.begin_list(7, ThriftWriter::Type::structure, leaves);
  for (std::size_t i = 0; i < leaves; ++i) {
    out.begin_struct();
    out.begin_struct(1);
    out.end_struct();
    out.end_struct();
  }
}

}  // namespace

std::string parquet_page_header(std::int32_t values, std::int32_t size) {
  ThriftWriter out;
  out.begin_struct();
  out.field(1, kDataPage);
  out.field(2, size);
  out.field(3, size);
  out.begin_struct(5);
  out.field(1, values);
  out.field(2, kPlain);
  out.field(3, kRle);
  out.field(4, kRle);
  out.end_struct();
  out.end_struct();
  return out.take();
}

std::uint64_t parquet_range_size(const ParquetChunk& chunk) {
  const auto statistics_size = [](const ParquetChunk& of) {
    ThriftWriter out;
    out.begin_struct();
    if (has_statistics(of)) write_statistics(out, of);
    out.end_struct();
    return out.take().size();
  };
  ParquetChunk without = chunk;
  without.min.clear();
  without.max.clear();
  return statistics_size(chunk) - statistics_size(without);
}

std::string parquet_tail(const ParquetFile& file) {
  ThriftWriter out;
  out.begin_struct();
  out.field(1, kVersion);
  out.begin_list(2, ThriftWriter::Type::structure, file.elements.size());
  for (const ParquetElement& element : file.elements) write_element(out, element, &element == file.elements.data());
  out.field(3, file.rows);
  out.begin_list(4, ThriftWriter::Type::structure, file.groups.size());
  for (const ParquetRowGroup& group : file.groups) write_group(out, file, group);
  out.field(6, std::string_view("tfilefs " TFILEFS_VERSION));
  write_orders(out, file.types.size());
  out.end_struct();
  std::string tail = out.take();
  const std::size_t size = tail.size();
  for (int i = 0; i < 4; ++i) tail.push_back(static_cast<char>(size >> (8 * i) & 0xff));
  tail += kParquetMagic;
  return tail;
}

}  // namespace tfilefs
