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

class MadeText final : public tfile::OneChunkEach<tfile::StreamSet>, public tfile::ItemCounter {
 public:
  MadeText(std::shared_ptr<const tfile::StreamSet> payload, TextOfPayload make, std::uint64_t making,
           std::stop_token stop)
      : payload_(std::move(payload)), make_(std::move(make)), making_(making), stop_(std::move(stop)) {}

  std::size_t stream_count() const override { return 1; }
  tfile::StreamShape shape(StreamId) const override {
    return {.chunks = 1,
            .slots = 1,
            .items_from = tfile::ItemsFrom::payloads,
            .stored_bytes = payload_->shape(0).stored_bytes,
            .is_made = true};
  }
  Result<tfile::Locator> locate(ChunkKey) const override { return payload_->locate({}); }
  std::uint64_t decoded_size(ChunkKey) const override { return payload_->decoded_size({}) + making_; }
  std::vector<std::int64_t> lengths(StreamId) const override { return {-1}; }
  const ItemCounter* counter() const override { return this; }
  // Made once, for its size and for the first reader.
  Result<Counted> count(ChunkKey, std::span<const std::byte> stored,
                        std::span<const std::shared_ptr<const Chunk>>) const override {
    TRY(const std::string text, make(stored));
    return Counted{{static_cast<std::int64_t>(text.size())}, chunk_of(text)};
  }
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
  const std::uint64_t making_;
  const std::stop_token stop_;
  mutable std::atomic<bool> was_made_ = false;  // if it is made again after an eviction, it is for other readers
};

}  // namespace

std::shared_ptr<const tfile::StreamSet> made_text(std::shared_ptr<const tfile::StreamSet> payload, TextOfPayload make,
                                                  std::uint64_t making, std::stop_token stop) {
  return std::make_shared<const MadeText>(std::move(payload), std::move(make), making, std::move(stop));
}

}  // namespace tfilefs
