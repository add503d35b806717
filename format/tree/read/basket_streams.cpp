// SPDX-License-Identifier: Apache-2.0
// Streams whose chunks are baskets: where they are stored, what their headers say, and their arrays.
#include <algorithm>
#include <string>
#include <utility>

#include "compression/frame.h"
#include "streamer/layout/chunk_of_arrays.h"
#include "tree/read/basket_data.h"
#include "tree/read/tree_streams.h"

namespace tfile {
namespace {

// Room for the fixed fields of a basket's key and header and for long names: one read gets everything.
constexpr std::uint64_t kHeaderRoom = 512;

}  // namespace

StreamShape TreeTable::shape(StreamId id) const {
  const Stream& stream = streams_[id];
  return {.chunks = stream.is_stand_in ? 0 : std::max<std::size_t>(basket_count(id), 1),
          .slots = stream.lengths.size(),
          .items_from = items_from(stream),
          .stored_bytes = stored_bytes_[stream.branch]};
}

EntryRange TreeTable::chunk_entries(ChunkKey key) const {
  const auto& baskets = branch_of(key.stream).baskets;
  if (key.index >= basket_count(key.stream)) return {};
  return {(*baskets.entry)[key.index], (*baskets.entry)[key.index + 1]};
}

Result<Locator> TreeTable::locate(ChunkKey key) const {
  Locator locator;
  const BranchStorage& branch = branch_of(key.stream);
  if (key.index >= basket_count(key.stream)) return locator;
  if (const EmbeddedBasket* embedded = embedded_basket(branch, key.index)) {
    locator.embedded = embedded->data;
    return locator;
  }
  locator.range = {branch.baskets.seek[key.index], branch.baskets.nbytes[key.index]};
  if (locator.range.begin == 0 || locator.range.size == 0)
    return fail(ErrorKind::damaged, "branch " + branch.name + ": basket " + std::to_string(key.index) + " was lost");
  TRY(locator.source, source_of(branch));
  return locator;
}

Result<Locator> TreeTable::header_locator(ChunkKey key) const {
  TRY(Locator locator, locate(key));
  locator.range.size = std::min(locator.range.size, header_max(branch_of(key.stream)));
  return locator;
}

std::uint64_t TreeTable::decoded_size(ChunkKey key) const {
  const BranchStorage& branch = branch_of(key.stream);
  const EntryRange range = chunk_entries(key);
  const std::uint64_t stored = key.index < basket_count(key.stream) ? branch.baskets.nbytes[key.index] : 0;
  const double ratio =
      branch.zip_bytes > 0 && branch.tot_bytes > 0
          ? std::clamp(static_cast<double>(branch.tot_bytes) / static_cast<double>(branch.zip_bytes), 1.0, 1000.0)
          : 4.0;
  // Ends take 8 bytes in memory, and at most 4 in the file.
  const std::uint64_t slots = streams_[key.stream].lengths.size();
  return static_cast<std::uint64_t>(static_cast<double>(stored) * ratio) +
         8 * slots * static_cast<std::uint64_t>(range.size() + 1);
}

void TreeTable::place(ChunkKey key, Chunk& chunk, std::span<const std::int64_t> first) const {
  place_chunk(*streams_[key.stream].program, first, chunk);
}

std::uint64_t TreeTable::unpacked_size(ChunkKey key, std::span<const std::byte> stored) const {
  if (key.index >= basket_count(key.stream) || embedded_basket(branch_of(key.stream), key.index)) return 0;
  const auto header = read_basket_header(stored, stored.size());
  return header ? std::uint64_t{header->objlen} + header->keylen : 0;
}

std::string_view TreeTable::codec_of(ChunkKey key, std::span<const std::byte> begin, std::uint64_t stored) const {
  if (key.index >= basket_count(key.stream) || embedded_basket(branch_of(key.stream), key.index)) return "";
  const auto header = read_basket_header(begin, stored);
  if (!header || begin.size() < header->keylen) return "";
  return codec_name(begin.subspan(header->keylen), header->nbytes - header->keylen, header->objlen);
}

std::string TreeTable::contradicted_sums(StreamId id, std::uint64_t unpacked) const {
  const BranchStorage& branch = branch_of(id);
  std::string wrong;
  const auto compare = [&](const char* sum, std::int64_t claimed, std::uint64_t there) {
    if (claimed == static_cast<std::int64_t>(there)) return;
    wrong += (wrong.empty() ? "" : ", ") + std::string(sum) + " is " + std::to_string(claimed) +
             ", and its baskets have " + std::to_string(there);
  };
  compare("fTotBytes", branch.tot_bytes, unpacked);
  compare("fZipBytes", branch.zip_bytes, stored_bytes_[streams_[id].branch]);
  return wrong;
}

Result<Chunk> TreeTable::decode(ChunkKey key, std::span<const std::byte> stored,
                                std::span<const std::shared_ptr<const Chunk>> inputs,
                                std::span<const std::int64_t> first) const {
  auto chunk = chunk_of(key, stored, inputs, first);
  if (!chunk) chunk.error().source = branch_of(key.stream).file_name;
  return chunk;
}

Result<Chunk> TreeTable::chunk_of(ChunkKey key, std::span<const std::byte> stored,
                                  std::span<const std::shared_ptr<const Chunk>> inputs,
                                  std::span<const std::int64_t> first) const {
  TRY(BasketData data, basket_data(key, stored));
  TRY(const auto counts, missing_offsets(key, data, inputs));
  auto chunk = decode_basket(streams_[key.stream], std::move(data), counts, first, &shared_ends_);
  if (!chunk)
    return fail(
        chunk.error().kind,
        "branch " + branch_of(key.stream).name + ", basket " + std::to_string(key.index) + ": " + chunk.error().text,
        static_cast<std::int64_t>(locate(key).value_or(Locator{}).range.begin));
  return chunk;
}

std::uint64_t TreeTable::header_max(const BranchStorage& branch) const {
  return kHeaderRoom + branch.name.size() + name.size() + title.size();
}

std::int64_t TreeTable::stream_entries(StreamId id) const {
  const auto& entry = branch_of(id).baskets.entry;
  return entry && !entry->empty() ? entry->back() : 0;
}

Result<std::uint64_t> TreeTable::data_size(ChunkKey key, std::span<const std::byte> stored) const {
  if (key.index >= basket_count(key.stream)) return 0;
  const BranchStorage& branch = branch_of(key.stream);
  if (const EmbeddedBasket* embedded = embedded_basket(branch, key.index)) return embedded->data.size();
  TRY(const BasketHeader header, checked_header(key, stored));
  return header.border();
}

Result<BasketHeader> TreeTable::checked_header(ChunkKey key, std::span<const std::byte> stored) const {
  TRY(const BasketHeader header, read_basket_header(stored, branch_of(key.stream).baskets.nbytes[key.index]));
  if (header.entries != chunk_entries(key).size())
    return tl::unexpected<Error>(wrong_entries(header.entries, chunk_entries(key).size()));
  return header;
}

Result<BasketData> TreeTable::basket_data(ChunkKey key, std::span<const std::byte> stored) const {
  BasketData data;
  data.entries = chunk_entries(key).size();
  if (key.index >= basket_count(key.stream)) return data;
  if (const EmbeddedBasket* embedded = embedded_basket(branch_of(key.stream), key.index))
    return embedded_data(*embedded, data.entries);
  auto basket = stored_basket(stored, data.entries);
  if (!basket)
    return fail(
        basket.error().kind,
        "branch " + branch_of(key.stream).name + ", basket " + std::to_string(key.index) + ": " + basket.error().text,
        static_cast<std::int64_t>(branch_of(key.stream).baskets.seek[key.index]));
  return basket;
}

bool TreeTable::has_baskets_on_disk(const BranchStorage& branch) {
  return std::ranges::any_of(branch.baskets.seek, [](std::uint64_t at) { return at != 0; });
}

}  // namespace tfile
