// SPDX-License-Identifier: Apache-2.0
// Streams whose chunks are pages: numbers, ends of lists, variants.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "bytes/endian.h"
#include "compression/frame.h"
#include "ntuple/blob_source.h"
#include "ntuple/field_nodes.h"
#include "ntuple/ntuple_streams.h"
#include "ntuple/ntuple_table.h"
#include "ntuple/page_decode.h"
#include "ntuple/page_table.h"

namespace tfile {

bool NtupleTable::reads_pages(const FieldStream& stream) {
  return stream.kind == Kind::numbers || stream.kind == Kind::ends || stream.kind == Kind::variant;
}

std::uint32_t NtupleTable::compression_of(StreamId id) const {
  return streams_[id].kind == Kind::steps ? 0 : pages_.compression[streams_[id].column];
}

const PageEncoding& NtupleTable::encoding_of(const FieldStream& stream, const Page& page) const {
  const auto& encodings = encodings_[stream.column].by_representation;
  return encodings[std::min<std::size_t>(page.representation, encodings.size() - 1)];
}

void NtupleTable::add_pages_in_parts(const ColumnPages& column) {
  if (!is_in_parts(column.largest_page() + kChecksumSize, max_key_size_)) return;
  for (std::size_t index = 0; index < column.size(); ++index) {
    const Page page = column.page(index);
    if (page.kind == Page::Kind::stored && is_in_parts(page.range.size + kChecksumSize, max_key_size_))
      pages_in_parts_.try_emplace(page.range.begin, source_of_blobs(source_, max_key_size_));
  }
}

ItemRange NtupleTable::elements_of_cluster(const FieldStream& stream, std::uint32_t cluster) const {
  return {pages_of(stream).first_of_cluster(cluster), pages_of(stream).first_of_cluster(cluster + 1)};
}

std::optional<std::uint32_t> NtupleTable::page_before(const FieldStream& stream, std::uint32_t index) const {
  const ColumnPages& pages = pages_of(stream);
  const Page own = pages.page(index);
  for (std::uint32_t before = index; own.elements > 0 && before-- > 0;) {
    const Page page = pages.page(before);
    if (page.cluster != own.cluster && !has_uncounted_items(streams_[stream.from])) break;
    if (page.elements > 0) return before;
  }
  return std::nullopt;
}

std::int64_t NtupleTable::items(const ItemCount& count, std::int64_t elements) const {
  return elements / static_cast<std::int64_t>(count.per_item);
}

std::int64_t NtupleTable::first_item(const std::optional<ItemCount>& count, std::uint32_t cluster) const {
  return count ? items(*count, pages_.columns[count->column].first_of_cluster(cluster)) : 0;
}

bool NtupleTable::is_lost(const ItemCount& count, std::int64_t begin, std::int64_t end) const {
  const ColumnPages& pages = pages_.columns[count.column];
  const auto per_item = static_cast<std::int64_t>(count.per_item);
  if (begin >= end || pages.size() == 0 || begin >= pages.elements() / per_item) return false;
  const Page page = pages.page(pages.page_of(begin * per_item));
  return page.kind == Page::Kind::lost && end * per_item <= page.first_element + page.elements;
}

Result<Buffer> NtupleTable::unpacked(const FieldStream& stream, const Page& page,
                                     std::span<const std::byte> stored) const {
  if (page.has_checksum) {
    if (stored.size() < kChecksumSize)
      return fail(ErrorKind::damaged, "page of " + std::to_string(stored.size()) + " bytes has no checksum of " +
                                          std::to_string(kChecksumSize));
    const std::span<const std::byte> bytes = stored.first(stored.size() - kChecksumSize);
    TRY_VOID(check_checksum("the page", bytes, load_little<std::uint64_t>(stored.data() + bytes.size())));
    stored = bytes;
  }
  return decompress(stored, page_size(encoding_of(stream, page), page.elements));
}

std::string_view NtupleTable::codec_of(ChunkKey key, std::span<const std::byte> begin, std::uint64_t stored) const {
  const FieldStream& stream = streams_[key.stream];
  if (!reads_pages(stream) || key.index >= pages_of(stream).size()) return "";
  const Page page = pages_of(stream).page(key.index);
  if (page.kind != Page::Kind::stored || (page.has_checksum && stored < kChecksumSize)) return "";
  return codec_name(begin, stored - (page.has_checksum ? kChecksumSize : 0),
                    page_size(encoding_of(stream, page), page.elements));
}

Result<Chunk> NtupleTable::decode_page(const FieldStream& stream, std::uint32_t index,
                                       std::span<const std::byte> stored, std::span<const std::int64_t> first) const {
  const bool is_there = index < pages_of(stream).size();
  Page page;
  page.kind = Page::Kind::zeros;
  if (is_there) page = pages_of(stream).page(index);
  Buffer bytes;
  if (page.kind == Page::Kind::stored) {
    TRY(bytes, unpacked(stream, page, stored));
  } else {
    bytes = Buffer(page_size(encoding_of(stream, page), page.elements));
    std::memset(bytes.data(), 0, bytes.size());
  }
  switch (stream.kind) {
    case Kind::ends:
      return decode_ends_page(stream, page, index, bytes.span(), first);
    case Kind::variant:
      return decode_variant_page(stream, page, bytes.span());
    default:
      break;
  }
  const PageEncoding& encoding = encoding_of(stream, page);
  if (is_plain(encoding, stream.dtype)) return chunk_of(std::move(bytes));
  Buffer numbers(page.elements * size_of(stream.dtype));
  TRY_VOID(decode_numbers(encoding, bytes.span(), page.elements, stream.dtype, numbers.span()));
  return chunk_of(std::move(numbers));
}

// The lists of a cluster that others follow have all of its items: else they would fall to the first list that follows,
// or it would begin before the one ahead of it ends. What the last cluster has shows in the lengths of the columns.
Result<> NtupleTable::check_cluster_end(const FieldStream& stream, const Page& page, std::int64_t end) const {
  const ColumnPages& pages = pages_of(stream);
  const std::int64_t elements_end = page.first_element + static_cast<std::int64_t>(page.elements);
  const bool ends_cluster = elements_end == pages.first_of_cluster(page.cluster + 1);
  if (!ends_cluster || elements_end == pages.elements() || !stream.below[0] || page.kind != Page::Kind::stored)
    return {};
  const std::int64_t expected = first_item(stream.below[0], page.cluster + 1);
  if (end == expected) return {};
  return fail(ErrorKind::damaged, "the lists of cluster " + std::to_string(page.cluster) + " end at item " +
                                      std::to_string(end) + ", its items at " + std::to_string(expected));
}

Result<Chunk> NtupleTable::decode_ends_page(const FieldStream& stream, const Page& page, std::uint32_t index,
                                            std::span<const std::byte> bytes,
                                            std::span<const std::int64_t> first) const {
  const std::size_t lead = index == 0 ? sizeof(std::int64_t) : 0;
  Buffer ends(lead + page.elements * sizeof(std::int64_t));
  std::memset(ends.data(), 0, lead);
  const std::int64_t base = has_uncounted_items(stream) ? first[1] : first_item(stream.below[0], page.cluster);
  TRY_VOID(decode_ends(encoding_of(stream, page), bytes, page.elements, base, ends.span().subspan(lead)));
  if (page.elements > 0)
    TRY_VOID(check_cluster_end(stream, page, load_little<std::int64_t>(ends.span().last(8).data())));
  Chunk chunk = chunk_of(std::move(ends));
  if (has_uncounted_items(stream)) chunk.arrays.emplace_back();
  return chunk;
}

Result<Chunk> NtupleTable::decode_variant_page(const FieldStream& stream, const Page& page,
                                               std::span<const std::byte> bytes) const {
  std::vector<std::int64_t> bases;
  for (const auto& alternative : stream.below) bases.push_back(first_item(alternative, page.cluster));
  Chunk chunk;
  Buffer& tags = chunk.owned.emplace_back(page.elements);
  Buffer index(page.elements * sizeof(std::int64_t));
  TRY_VOID(decode_switch(bytes, page.elements, bases, tags.span(), index.span()));
  chunk.arrays.emplace_back(tags.span());
  chunk.owned.push_back(std::move(index));
  chunk.arrays.emplace_back(chunk.owned.back().span());
  return chunk;
}

}  // namespace tfile
