// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "array/arrow_buffers.h"
#include "tfile/node.h"

namespace tfilefs {

// The part of one record batch that belongs to one column. To be used like ArrowBuffers.
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
  std::vector<std::int64_t> offsets;  // of texts: one more than there are texts
  std::uint64_t item_size = 0;        // of numbers
  std::uint64_t count = 0;
};

// A part of an array: elements [begin, begin + count).
struct ArrowStretch {
  std::uint64_t begin = 0, count = 0;
  std::uint64_t end() const { return begin + count; }
};

// Bytes of a buffer, unchanged.
ArrowPiecePtr arrow_bytes(const ArrowBufferAt&, std::uint64_t begin, std::uint64_t size);
// Eight bytes of zeros: the first offset of a column.
ArrowPiecePtr arrow_first_offset();
// Bits, each as a byte.
ArrowPiecePtr arrow_bits(const ArrowBufferAt&, ArrowStretch);
// The end offset of each list, moved so that the batch's offset `first` becomes `base`.
ArrowPiecePtr arrow_offsets(const ArrowBufferAt&, bool wide, ArrowStretch, std::int64_t first, std::int64_t base);
// Numbers looked up in a dictionary by their indices.
ArrowPiecePtr arrow_looked_up(const ArrowBufferAt& indices, tfile::Dtype, ArrowStretch,
                              std::shared_ptr<const ArrowDictionaryValues>);

// Texts that have to be assembled, since each may be stored at a different place.
class ArrowTexts {
 public:
  explicit ArrowTexts(ArrowStretch stretch) : stretch_(stretch) {}
  virtual ~ArrowTexts() = default;
  // Offsets from 0, one more than texts. Errors: damaged, unsupported (too many bytes for a batch), io.
  Result<std::vector<std::int64_t>> offsets(ArrowBuffers&) const;
  std::uint64_t count() const { return stretch_.count; }

 private:
  friend class TextOffsets;
  friend class TextChars;
  // lengths(): of texts [at, at + lengths.size()) of the stretch; chars(): their bytes.
  const std::uint64_t owner_ = ArrowBuffers::new_owner();
  virtual Result<> lengths(ArrowBuffers&, std::uint64_t at, std::span<std::int64_t>) const = 0;
  virtual Result<> chars(ArrowBuffers&, std::span<const std::int64_t> offsets, std::span<std::byte>) const = 0;
  Result<std::shared_ptr<const std::byte>> kept_offsets(ArrowBuffers&) const;
  Result<std::shared_ptr<const std::byte>> kept_chars(ArrowBuffers&, std::uint64_t size) const;

 protected:
  const ArrowStretch stretch_;
};
// `data`: the buffers that the views of long texts refer to.
std::shared_ptr<const ArrowTexts> arrow_text_views(const ArrowBufferAt& views, std::vector<ArrowBufferAt> data,
                                                   ArrowStretch);
std::shared_ptr<const ArrowTexts> arrow_text_indices(const ArrowBufferAt& indices, tfile::Dtype, ArrowStretch,
                                                     std::shared_ptr<const ArrowDictionaryValues>);
ArrowPiecePtr arrow_text_offsets(std::shared_ptr<const ArrowTexts>, std::int64_t base);
ArrowPiecePtr arrow_text_chars(std::shared_ptr<const ArrowTexts>, std::uint64_t size);

// The most bytes that one buffer of a batch decompresses to, or that its texts have together.
inline constexpr std::uint64_t kArrowMadeMax = 1 << 30;

}  // namespace tfilefs
