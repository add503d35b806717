// SPDX-License-Identifier: Apache-2.0
#include "container/payload_blocks.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "compression/frame.h"
#include "tfile/beyond_end.h"

namespace tfile {
namespace {

constexpr std::uint64_t kPlainBlock = 1 << 20;

ByteRange common(ByteRange one, ByteRange other) {
  const std::uint64_t begin = std::max(one.begin, other.begin), end = std::min(one.end(), other.end());
  return {begin, begin < end ? end - begin : 0};
}

class BlockReader final : public PayloadReader {
 public:
  explicit BlockReader(std::shared_ptr<const PayloadBlocks> blocks) : blocks_(std::move(blocks)) {}

  Result<std::span<const std::byte>> read(ByteRange range) override {
    if (is_beyond_end(range, blocks_->size()))
      return fail(ErrorKind::invalid, "range is beyond the end of the payload");
    if (range.size == 0) return std::span<const std::byte>();
    const std::size_t first = blocks_->block_at(range.begin);
    if (first == blocks_->block_at(range.end() - 1)) {
      TRY(const auto block, bytes_of(first));
      return block.subspan(range.begin - blocks_->begin_of(first), range.size);
    }
    joined_.resize(range.size);
    for (std::uint64_t at = range.begin; at < range.end();) {
      const std::size_t index = blocks_->block_at(at);
      TRY(auto block, bytes_of(index));
      block = block.subspan(at - blocks_->begin_of(index));
      block = block.first(std::min<std::uint64_t>(block.size(), range.end() - at));
      std::memcpy(joined_.data() + (at - range.begin), block.data(), block.size());
      at += block.size();
    }
    return std::span<const std::byte>(joined_);
  }

 private:
  Result<std::span<const std::byte>> bytes_of(std::size_t block) {
    if (last_ != block) {
      last_.reset();
      bytes_ = Buffer();  // before the next one takes as much
      TRY(bytes_, blocks_->block(block));
      last_ = block;
    }
    return std::as_const(bytes_).span();
  }

  const std::shared_ptr<const PayloadBlocks> blocks_;
  std::optional<std::size_t> last_;
  Buffer bytes_;
  std::vector<std::byte> joined_;
};

}  // namespace

Result<std::shared_ptr<const PayloadBlocks>> PayloadBlocks::open(std::shared_ptr<const Source> source,
                                                                 const KeyInfo& key) {
  TRY(KeyPayload payload, payload_of(*source, key));
  auto blocks = std::make_shared<PayloadBlocks>(std::move(source), std::move(payload));
  TRY_VOID(blocks->find_blocks());
  return std::shared_ptr<const PayloadBlocks>(std::move(blocks));
}

Result<> PayloadBlocks::find_blocks() {
  std::vector<std::byte> key(payload_.keylen);
  TRY_VOID(read_range(*source_, {payload_.record.begin, key.size()}, key));
  if (!payload_.is_bare) TRY_VOID(check_told(payload_, key));
  std::uint64_t at = payload_.record.begin + payload_.keylen;
  const std::uint64_t end = payload_.record.end();
  const bool is_plain = end - at == payload_.size;
  while (at < end) {
    std::uint64_t stored = std::min(kPlainBlock, end - at), decoded = stored;
    if (!is_plain) {
      std::array<std::byte, kBlockHeaderBytes> header;
      if (end - at < header.size())
        return fail(
            ErrorKind::damaged,
            "compressed block: " + std::to_string(end - at) + " bytes for a header of " + std::to_string(header.size()),
            static_cast<std::int64_t>(at));
      TRY_VOID(read_range(*source_, {at, header.size()}, header));
      TRY(const BlockSizes sizes, block_sizes(header, at - payload_.record.begin - payload_.keylen));
      stored = sizes.stored, decoded = sizes.decoded;
    }
    if (stored > end - at || decoded > payload_.size - begins_.back())
      return fail(ErrorKind::damaged,
                  "compressed block of " + std::to_string(stored) + " bytes for " + std::to_string(decoded) +
                      ", with " + std::to_string(end - at) + " for " + std::to_string(payload_.size - begins_.back()) +
                      " left of the payload",
                  static_cast<std::int64_t>(at));
    stored_.push_back({at, stored});
    begins_.push_back(begins_.back() + decoded);
    at += stored;
  }
  if (begins_.back() != payload_.size)
    return fail(ErrorKind::damaged, "compressed blocks hold " + std::to_string(begins_.back()) + " bytes, expected " +
                                        std::to_string(payload_.size));
  return {};
}

std::size_t PayloadBlocks::block_at(std::uint64_t position) const {
  const auto behind = std::ranges::upper_bound(begins_, position);
  return static_cast<std::size_t>(behind - begins_.begin() - 1);
}

Result<Buffer> PayloadBlocks::block(std::size_t block) const {
  Buffer stored(stored_[block].size, Use::passing);
  TRY_VOID(read_range(*source_, stored_[block], stored.span()));
  return decoded(block, stored.span());
}

Result<Buffer> PayloadBlocks::decoded(std::size_t block, std::span<const std::byte> stored) const {
  auto content = decompress(stored, size_of_block(block));
  if (!content && content.error().offset < 0) content.error().offset = static_cast<std::int64_t>(stored_[block].begin);
  return content;
}

StreamShape PayloadBlocks::shape(StreamId) const {
  return {.chunks = count(), .slots = 1, .stored_bytes = payload_.record.size};
}

EntryRange PayloadBlocks::chunk_entries(ChunkKey key) const { return {key.index, std::int64_t{key.index} + 1}; }

Result<Locator> PayloadBlocks::locate(ChunkKey key) const {
  if (key.index >= count()) return Locator{};
  return Locator{source_.get(), stored_[key.index], {}};
}

std::uint64_t PayloadBlocks::decoded_size(ChunkKey key) const {
  return key.index < count() ? size_of_block(key.index) : 0;
}

Result<Extents> PayloadBlocks::extents(StreamId) const {
  ExtentSum sum(1);
  for (std::size_t block = 0; block < count(); ++block) {
    const auto bytes = static_cast<std::int64_t>(size_of_block(block));
    sum.add({&bytes, 1});
  }
  return sum.take();
}

Result<Chunk> PayloadBlocks::decode(ChunkKey key, std::span<const std::byte> stored,
                                    std::span<const std::shared_ptr<const Chunk>>,
                                    std::span<const std::int64_t>) const {
  if (key.index >= count())
    return fail(ErrorKind::damaged,
                "payload of " + std::to_string(count()) + " blocks, expected block " + std::to_string(key.index));
  TRY(Buffer content, decoded(key.index, stored));
  Chunk chunk;
  chunk.owned.push_back(std::move(content));
  chunk.arrays.push_back(chunk.owned.back().span());
  return chunk;
}

Result<std::shared_ptr<SparsePayload>> SparsePayload::open(std::shared_ptr<const PayloadBlocks> blocks,
                                                           std::uint64_t most) {
  void* const addresses = mmap(nullptr, std::max<std::uint64_t>(blocks->size(), 1), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (addresses == MAP_FAILED) return fail(ErrorKind::no_space, "cannot reserve addresses for a payload");
  // Huge pages would make the bytes that are let go come back with their neighbours.
  (void)madvise(addresses, std::max<std::uint64_t>(blocks->size(), 1), MADV_NOHUGEPAGE);
  return std::make_shared<SparsePayload>(std::move(blocks), static_cast<std::byte*>(addresses), most);
}

SparsePayload::SparsePayload(std::shared_ptr<const PayloadBlocks> blocks, std::byte* addresses, std::uint64_t most)
    : blocks_(std::move(blocks)),
      addresses_(addresses),
      most_(most + 2 * File::kLargeObject),
      filled_(blocks_->count()) {}

SparsePayload::~SparsePayload() { munmap(addresses_, std::max<std::uint64_t>(blocks_->size(), 1)); }

std::unique_ptr<PayloadReader> SparsePayload::reader() const { return std::make_unique<BlockReader>(blocks_); }

bool SparsePayload::want(std::size_t position) const {
  const std::uint64_t size = blocks_->size();
  if (position >= size) return true;
  const std::size_t last = blocks_->block_at(std::min(position + kWantedAhead, size) - 1);
  for (std::size_t block = blocks_->block_at(position); block <= last; ++block) {
    if (!filled_[block] && !fill(block)) return false;
  }
  return true;
}

bool SparsePayload::fill(std::size_t block) const {
  const ByteRange place = blocks_->range_of(block);
  is_full_ = is_full_ || in_memory_ + place.size > most_;
  if (is_full_ || failure_) return false;
  const auto bytes = blocks_->block(block);
  if (!bytes) {
    failure_ = bytes.error();
    return false;
  }
  std::memcpy(addresses_ + place.begin, bytes->data(), bytes->size());
  filled_[block] = true;
  in_memory_ += place.size;
  for (const ByteRange& gone : let_go_) release(common(gone, place));
  return true;
}

void SparsePayload::let_go(ByteRange range) {
  let_go_.push_back(range);
  if (range.size == 0) return;
  const std::size_t last = blocks_->block_at(range.end() - 1);
  for (std::size_t block = blocks_->block_at(range.begin); block <= last; ++block)
    if (filled_[block]) release(common(range, blocks_->range_of(block)));
}

void SparsePayload::release(ByteRange range) const {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = (range.begin + page - 1) / page * page, end = range.end() / page * page;
  if (begin >= end) return;
  madvise(addresses_ + begin, end - begin, MADV_DONTNEED);
  in_memory_ -= end - begin;
}

}  // namespace tfile
