// SPDX-License-Identifier: Apache-2.0
#include "view/made_text.h"

#include <cstring>
#include <utility>
#include <vector>

#include "reply.h"

namespace tfilefs {
namespace {

using tfile::Chunk;
using tfile::ChunkKey;
using tfile::StreamId;

// What is reserved before the text is known: a number of 4 bytes takes about 20 in JSON, and the names of members are
// longer than small objects themselves. What it then takes is counted as it is.
constexpr std::uint64_t kTextPerByte = 6, kTextMin = 64 << 10;

class MadeText final : public tfile::StreamSet {
 public:
  MadeText(std::shared_ptr<const tfile::StreamSet> payload, TextOfPayload make)
      : payload_(std::move(payload)), make_(std::move(make)) {}

  std::size_t stream_count() const override { return 1; }
  std::size_t chunk_count(StreamId) const override { return 1; }
  std::size_t slot_count(StreamId) const override { return 1; }
  tfile::EntryRange chunk_entries(ChunkKey) const override { return {0, 1}; }
  Result<tfile::Locator> locate(ChunkKey) const override { return payload_->locate({}); }
  std::uint64_t decoded_size(ChunkKey) const override { return payload_->decoded_size({}) * kTextPerByte + kTextMin; }
  std::vector<ChunkKey> inputs(ChunkKey) const override { return {}; }
  tfile::ItemsFrom items_from(StreamId) const override { return tfile::ItemsFrom::payloads; }
  Result<tfile::Locator> header_locator(ChunkKey) const override { return tfile::Locator{}; }
  Result<std::vector<std::int64_t>> items(ChunkKey, std::span<const std::byte> stored,
                                          std::span<const std::shared_ptr<const Chunk>>) const override {
    TRY(const std::string text, make(stored));
    return std::vector<std::int64_t>{static_cast<std::int64_t>(text.size())};
  }
  QuickLengths quick_lengths(StreamId) const override { return {}; }
  Result<std::optional<std::vector<std::int64_t>>> lengths(StreamId, std::span<const std::byte>) const override {
    return std::optional<std::vector<std::int64_t>>();
  }
  std::uint64_t stored_bytes(StreamId) const override { return payload_->stored_bytes(0); }
  Result<Chunk> decode(ChunkKey, std::span<const std::byte> stored, std::span<const std::shared_ptr<const Chunk>>,
                       std::span<const std::int64_t>) const override {
    TRY(const std::string text, make(stored));
    Chunk chunk;
    tfile::Buffer& buffer = chunk.owned.emplace_back(text.size());
    std::memcpy(buffer.data(), text.data(), text.size());
    chunk.arrays.push_back(buffer.span());
    return chunk;
  }

 private:
  Result<std::string> make(std::span<const std::byte> stored) const {
    if (payload_->chunk_count(0) == 0) return make_({});
    TRY(const Chunk payload, payload_->decode({}, stored, {}, {}));
    return make_(payload.arrays[0]);
  }

  const std::shared_ptr<const tfile::StreamSet> payload_;
  const TextOfPayload make_;
};

}  // namespace

std::shared_ptr<const tfile::StreamSet> made_text(std::shared_ptr<const tfile::StreamSet> payload, TextOfPayload make) {
  return std::make_shared<const MadeText>(std::move(payload), std::move(make));
}

}  // namespace tfilefs
