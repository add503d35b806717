// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "staging/overlay/arrow_buffers.h"
#include "tfile/node.h"

namespace tfilefs {

// What one record batch gives to one column: some of its bytes. Used as ArrowBuffers is.
class ArrowPiece {
 public:
  explicit ArrowPiece(std::uint64_t size) : size_(size) {}
  virtual ~ArrowPiece() = default;
  std::uint64_t size() const { return size_; }  // bytes of the column
  // Whole items. Errors: damaged, io.
  virtual Result<> read(ArrowBuffers&, std::uint64_t offset, std::span<std::byte> into) const = 0;
  virtual std::optional<Slices> pin(const ArrowBuffers&, std::uint64_t, std::size_t) const { return std::nullopt; }

 private:
  const std::uint64_t size_;
};
using ArrowPiecePtr = std::unique_ptr<const ArrowPiece>;

// The values of a dictionary: numbers, or texts one after the other.
struct ArrowDictionaryValues {
  std::vector<std::byte> bytes;
  std::vector<std::int64_t> offsets;  // of texts: one more than there are
  std::uint64_t item_size = 0;        // of numbers
  std::uint64_t count = 0;
};

// A stretch of an array: elements [begin, begin + count).
struct ArrowStretch {
  std::uint64_t begin = 0, count = 0;
  std::uint64_t end() const { return begin + count; }
};

// Bytes of a buffer as they are.
ArrowPiecePtr arrow_bytes(const ArrowBufferAt&, std::uint64_t begin, std::uint64_t size);
// Eight bytes of zeros: the first offset of a column.
ArrowPiecePtr arrow_first_offset();
// A byte for each bit.
ArrowPiecePtr arrow_bits(const ArrowBufferAt&, ArrowStretch);
// Offsets behind each of the lists, from `base` for the batch's `first`.
ArrowPiecePtr arrow_offsets(const ArrowBufferAt&, bool wide, ArrowStretch, std::int64_t first, std::int64_t base);
// Numbers by their indices in a dictionary.
ArrowPiecePtr arrow_looked_up(const ArrowBufferAt& indices, tfile::Dtype, ArrowStretch,
                              std::shared_ptr<const ArrowDictionaryValues>);

// Texts that have to be put together: each by itself somewhere.
class ArrowTexts {
 public:
  explicit ArrowTexts(ArrowStretch stretch) : stretch_(stretch) {}
  virtual ~ArrowTexts() = default;
  // Offsets from 0, one more than texts. Errors: damaged, unsupported (more than a batch may have), io.
  Result<std::vector<std::int64_t>> offsets(ArrowBuffers&) const;
  std::uint64_t count() const { return stretch_.count; }

 private:
  friend class TextOffsets;
  friend class TextChars;
  // Lengths of texts [at, at + lengths.size()) of the stretch; and their bytes.
  const std::uint64_t owner_ = ArrowBuffers::new_owner();
  virtual Result<> lengths(ArrowBuffers&, std::uint64_t at, std::span<std::int64_t>) const = 0;
  virtual Result<> chars(ArrowBuffers&, std::span<const std::int64_t> offsets, std::span<std::byte>) const = 0;
  Result<std::shared_ptr<StagedBuffer>> kept_offsets(ArrowBuffers&) const;
  Result<std::shared_ptr<StagedBuffer>> kept_chars(ArrowBuffers&, std::uint64_t size) const;

 protected:
  const ArrowStretch stretch_;
};
// `data`: the buffers that views of long texts lead to.
std::shared_ptr<const ArrowTexts> arrow_text_views(const ArrowBufferAt& views, std::vector<ArrowBufferAt> data,
                                                   ArrowStretch);
std::shared_ptr<const ArrowTexts> arrow_text_indices(const ArrowBufferAt& indices, tfile::Dtype, ArrowStretch,
                                                     std::shared_ptr<const ArrowDictionaryValues>);
ArrowPiecePtr arrow_text_offsets(std::shared_ptr<const ArrowTexts>, std::int64_t base);
ArrowPiecePtr arrow_text_chars(std::shared_ptr<const ArrowTexts>, std::uint64_t size);

// What a batch decompresses to in one buffer, or its texts together: more is refused.
inline constexpr std::uint64_t kArrowMadeMax = 1 << 30;

}  // namespace tfilefs
