// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "bytes/payload_bytes.h"
#include "container/key_payload.h"
#include "tfile/buffer.h"
#include "tfile/stream_set.h"

namespace tfile {

// The payload of a key as a stream of one slot of bytes, and a chunk for each block that is compressed by itself: so a
// large one is never in memory as a whole. One that is not compressed has chunks of 1 MiB.
class PayloadBlocks final : public StreamSet {
 public:
  // Reads the headers of the blocks. Errors: damaged, io. Blocks.
  static Result<std::shared_ptr<const PayloadBlocks>> open(std::shared_ptr<const Source>, const KeyInfo&);
  PayloadBlocks(std::shared_ptr<const Source> source, KeyPayload payload)
      : source_(std::move(source)), payload_(std::move(payload)) {}

  std::uint64_t size() const { return payload_.size; }
  std::size_t count() const { return stored_.size(); }
  std::size_t block_at(std::uint64_t position) const;
  std::uint64_t begin_of(std::size_t block) const { return begins_[block]; }
  ByteRange range_of(std::size_t block) const { return {begins_[block], size_of_block(block)}; }
  // Reads and decompresses. Errors: damaged, io. Blocks.
  Result<Buffer> block(std::size_t) const;

  std::size_t stream_count() const override { return 1; }
  StreamShape shape(StreamId) const override;
  EntryRange chunk_entries(ChunkKey) const override;
  Result<Locator> locate(ChunkKey) const override;
  std::uint64_t decoded_size(ChunkKey) const override;
  std::vector<ChunkKey> inputs(ChunkKey) const override { return {}; }
  std::vector<std::int64_t> lengths(StreamId) const override { return {static_cast<std::int64_t>(payload_.size)}; }
  Result<Extents> extents(StreamId) const override;
  Result<Chunk> decode(ChunkKey, std::span<const std::byte> stored, std::span<const std::shared_ptr<const Chunk>>,
                       std::span<const std::int64_t>) const override;

 private:
  Result<> find_blocks();
  // An error tells where the block is in the file.
  Result<Buffer> decoded(std::size_t block, std::span<const std::byte> stored) const;
  std::uint64_t size_of_block(std::size_t block) const { return begins_[block + 1] - begins_[block]; }

  const std::shared_ptr<const Source> source_;
  const KeyPayload payload_;
  std::vector<ByteRange> stored_;         // in the file
  std::vector<std::uint64_t> begins_{0};  // in the payload; the last is its end
};

// Such a payload as addresses, of which only those that were wanted have bytes.
class SparsePayload final : public PayloadBytes {
 public:
  // `most`: of bytes in memory beside those of two blocks. Errors: no_space (addresses).
  static Result<std::shared_ptr<SparsePayload>> open(std::shared_ptr<const PayloadBlocks>, std::uint64_t most);
  SparsePayload(std::shared_ptr<const PayloadBlocks> blocks, std::byte* addresses, std::uint64_t most);
  ~SparsePayload() override;
  SparsePayload(const SparsePayload&) = delete;
  SparsePayload& operator=(const SparsePayload&) = delete;

  std::span<const std::byte> span() const override { return {addresses_, blocks_->size()}; }
  std::unique_ptr<PayloadReader> reader() const override;
  // Blocks. If it fails, failure() says why, or is_full() that it would be too much, and the bytes are zeros.
  bool want(std::size_t position) const override;
  const std::optional<Error>& failure() const { return failure_; }
  bool is_full() const { return is_full_; }
  // Gives the memory of these bytes back: they are zeros from now on, whatever is wanted.
  void let_go(ByteRange);

 private:
  bool fill(std::size_t block) const;
  void release(ByteRange) const;

  const std::shared_ptr<const PayloadBlocks> blocks_;
  std::byte* const addresses_;
  const std::uint64_t most_;
  std::vector<ByteRange> let_go_;
  // While the object is opened, by one thread.
  mutable std::vector<bool> filled_;
  mutable std::uint64_t in_memory_ = 0;
  mutable std::optional<Error> failure_;
  mutable bool is_full_ = false;
};

}  // namespace tfile
