// SPDX-License-Identifier: Apache-2.0
#include "view/made_text.h"

#include <atomic>
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
  MadeText(std::shared_ptr<const tfile::StreamSet> payload, TextOfPayload make, std::stop_token stop)
      : payload_(std::move(payload)), make_(std::move(make)), stop_(std::move(stop)) {}

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
  // Made once, for its size and for whoever reads it next.
  Result<std::optional<CountedChunk>> decode_counting(ChunkKey, std::span<const std::byte> stored,
                                                      std::span<const std::shared_ptr<const Chunk>>) const override {
    TRY(const std::string text, make(stored));
    return std::optional(CountedChunk{{static_cast<std::int64_t>(text.size())}, chunk_of(text)});
  }
  bool is_made() const override { return true; }
  QuickLengths quick_lengths(StreamId) const override { return {}; }
  Result<std::optional<std::vector<std::int64_t>>> lengths(StreamId, std::span<const std::byte>) const override {
    return std::optional<std::vector<std::int64_t>>();
  }
  std::uint64_t stored_bytes(StreamId) const override { return payload_->stored_bytes(0); }
  Result<Chunk> decode(ChunkKey, std::span<const std::byte> stored, std::span<const std::shared_ptr<const Chunk>>,
                       std::span<const std::int64_t>) const override {
    TRY(const std::string text, make(stored));
    return chunk_of(text);
  }

 private:
  static Chunk chunk_of(const std::string& text) {
    Chunk chunk;
    tfile::Buffer& buffer = chunk.owned.emplace_back(text.size());
    std::memcpy(buffer.data(), text.data(), text.size());
    chunk.arrays.push_back(buffer.span());
    return chunk;
  }

  Result<std::string> make(std::span<const std::byte> stored) const {
    const std::stop_token stop = was_made_ ? std::stop_token() : stop_;
    std::string text;
    if (payload_->chunk_count(0) == 0) {
      TRY(text, make_({}, stop));
    } else {
      TRY(const Chunk payload, payload_->decode({}, stored, {}, {}));
      TRY(text, make_(payload.arrays[0], stop));
    }
    was_made_ = true;
    return text;
  }

  const std::shared_ptr<const tfile::StreamSet> payload_;
  const TextOfPayload make_;
  const std::stop_token stop_;
  mutable std::atomic<bool> was_made_ = false;  // what was evicted since is for other readers
};

}  // namespace

std::shared_ptr<const tfile::StreamSet> made_text(std::shared_ptr<const tfile::StreamSet> payload, TextOfPayload make,
                                                  std::stop_token stop) {
  return std::make_shared<const MadeText>(std::move(payload), std::move(make), std::move(stop));
}

}  // namespace tfilefs
