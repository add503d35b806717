// SPDX-License-Identifier: Apache-2.0
#include "array/arrow_pieces.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace tfilefs {

using tfile::Dtype;
using tfile::fail;

namespace {

constexpr std::uint64_t kOffsetSize = sizeof(std::int64_t);
constexpr std::uint64_t kViewSize = 16;   // the length, and the text or its place
constexpr std::uint64_t kInlineMax = 12;  // of a text inside its view
constexpr std::size_t kAtATime = 4096;    // items that are handled together

template <class T>
T load(std::span<const std::byte> bytes, std::uint64_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

class Bytes final : public ArrowPiece {
 public:
  Bytes(const ArrowBufferAt& buffer, std::uint64_t begin, std::uint64_t size)
      : ArrowPiece(size), buffer_(buffer), begin_(begin) {}
  Result<> read(ArrowBuffers& buffers, std::uint64_t offset, std::span<std::byte> into) const override {
    return buffers.read(buffer_, begin_ + offset, into);
  }
  std::optional<Slices> pin(const ArrowBuffers& buffers, std::uint64_t offset, std::size_t bytes) const override {
    return buffers.pin(buffer_, begin_ + offset, bytes);
  }

 private:
  const ArrowBufferAt buffer_;
  const std::uint64_t begin_;
};

class FirstOffset final : public ArrowPiece {
 public:
  FirstOffset() : ArrowPiece(kOffsetSize) {}
  Result<> read(ArrowBuffers&, std::uint64_t, std::span<std::byte> into) const override {
    std::fill(into.begin(), into.end(), std::byte{0});
    return {};
  }
};

class Bits final : public ArrowPiece {
 public:
  Bits(const ArrowBufferAt& buffer, ArrowStretch stretch)
      : ArrowPiece(stretch.count), buffer_(buffer), begin_(stretch.begin) {}
  Result<> read(ArrowBuffers& buffers, std::uint64_t offset, std::span<std::byte> into) const override {
    const std::uint64_t first = begin_ + offset;
    std::vector<std::byte> bits((first + into.size() + 7) / 8 - first / 8);
    TRY_VOID(buffers.read(buffer_, first / 8, bits));
    for (std::size_t i = 0; i < into.size(); ++i) {
      const std::uint64_t bit = first % 8 + i;
      into[i] = bits[bit / 8] >> bit % 8 & std::byte{1};
    }
    return {};
  }

 private:
  const ArrowBufferAt buffer_;
  const std::uint64_t begin_;
};

class Offsets final : public ArrowPiece {
 public:
  Offsets(const ArrowBufferAt& buffer, bool wide, ArrowStretch stretch, std::int64_t change)
      : ArrowPiece(stretch.count * kOffsetSize), buffer_(buffer), wide_(wide), begin_(stretch.begin), change_(change) {}
  Result<> read(ArrowBuffers& buffers, std::uint64_t offset, std::span<std::byte> into) const override {
    const std::uint64_t width = wide_ ? 8 : 4, count = into.size() / kOffsetSize;
    std::vector<std::byte> stored(count * width);
    TRY_VOID(buffers.read(buffer_, (begin_ + offset / kOffsetSize + 1) * width, stored));
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::int64_t value = wide_ ? load<std::int64_t>(stored, i * width) : load<std::int32_t>(stored, i * width);
      // No check for damage here: the commit checks the resulting offsets.
      const auto moved =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(value) + static_cast<std::uint64_t>(change_));
      std::memcpy(into.data() + i * kOffsetSize, &moved, kOffsetSize);
    }
    return {};
  }

 private:
  const ArrowBufferAt buffer_;
  const bool wide_;
  const std::uint64_t begin_;
  const std::int64_t change_;
};

std::uint64_t index_at(std::span<const std::byte> bytes, Dtype dtype, std::uint64_t i) {
  switch (dtype) {
    case Dtype::i1:
      return static_cast<std::uint64_t>(load<std::int8_t>(bytes, i));
    case Dtype::u1:
      return load<std::uint8_t>(bytes, i);
    case Dtype::i2:
      return static_cast<std::uint64_t>(load<std::int16_t>(bytes, 2 * i));
    case Dtype::u2:
      return load<std::uint16_t>(bytes, 2 * i);
    case Dtype::i4:
      return static_cast<std::uint64_t>(load<std::int32_t>(bytes, 4 * i));
    case Dtype::u4:
      return load<std::uint32_t>(bytes, 4 * i);
    default:
      return load<std::uint64_t>(bytes, 8 * i);
  }
}

// Indices of a stretch, each checked to be that of an existing value.
class Indices {
 public:
  Indices(const ArrowBufferAt& buffer, Dtype dtype, std::uint64_t begin)
      : buffer_(buffer), dtype_(dtype), begin_(begin) {}
  Result<std::vector<std::uint64_t>> read(ArrowBuffers& buffers, std::uint64_t at, std::size_t count,
                                          std::uint64_t values) const {
    const std::uint64_t width = tfile::size_of(dtype_);
    std::vector<std::byte> stored(count * width);
    TRY_VOID(buffers.read(buffer_, (begin_ + at) * width, stored));
    std::vector<std::uint64_t> found(count);
    for (std::size_t i = 0; i < count; ++i) {
      found[i] = index_at(stored, dtype_, i);
      if (found[i] >= values)
        return fail(ErrorKind::damaged, "Arrow: index " + std::to_string(found[i]) + " of item " +
                                            std::to_string(begin_ + at + i) + ", its dictionary has " +
                                            std::to_string(values));
    }
    return found;
  }

 private:
  const ArrowBufferAt buffer_;
  const Dtype dtype_;
  const std::uint64_t begin_;
};

using ValuesPtr = std::shared_ptr<const ArrowDictionaryValues>;

class LookedUp final : public ArrowPiece {
 public:
  LookedUp(const ArrowBufferAt& indices, Dtype dtype, ArrowStretch stretch, ValuesPtr values)
      : ArrowPiece(stretch.count * values->item_size),
        indices_(indices, dtype, stretch.begin),
        values_(std::move(values)) {}
  Result<> read(ArrowBuffers& buffers, std::uint64_t offset, std::span<std::byte> into) const override {
    const std::uint64_t each = values_->item_size;
    TRY(const auto found, indices_.read(buffers, offset / each, into.size() / each, values_->count));
    for (std::size_t i = 0; i < found.size(); ++i)
      std::memcpy(into.data() + i * each, values_->bytes.data() + found[i] * each, each);
    return {};
  }

 private:
  const Indices indices_;
  const ValuesPtr values_;
};

class TextIndices final : public ArrowTexts {
 public:
  TextIndices(const ArrowBufferAt& indices, Dtype dtype, ArrowStretch stretch, ValuesPtr values)
      : ArrowTexts(stretch), indices_(indices, dtype, stretch.begin), values_(std::move(values)) {}

 private:
  Result<> lengths(ArrowBuffers& buffers, std::uint64_t at, std::span<std::int64_t> into) const override {
    TRY(const auto found, indices_.read(buffers, at, into.size(), values_->count));
    for (std::size_t i = 0; i < found.size(); ++i)
      into[i] = values_->offsets[found[i] + 1] - values_->offsets[found[i]];
    return {};
  }
  Result<> chars(ArrowBuffers& buffers, std::span<const std::int64_t> offsets,
                 std::span<std::byte> into) const override {
    for (std::uint64_t at = 0; at < count(); at += kAtATime) {
      const std::size_t n = std::min<std::uint64_t>(kAtATime, count() - at);
      TRY(const auto found, indices_.read(buffers, at, n, values_->count));
      for (std::size_t i = 0; i < n; ++i) {
        const auto size = static_cast<std::size_t>(offsets[at + i + 1] - offsets[at + i]);
        std::memcpy(into.data() + offsets[at + i], values_->bytes.data() + values_->offsets[found[i]], size);
      }
    }
    return {};
  }

  const Indices indices_;
  const ValuesPtr values_;
};

class TextViews final : public ArrowTexts {
 public:
  TextViews(const ArrowBufferAt& views, std::vector<ArrowBufferAt> data, ArrowStretch stretch)
      : ArrowTexts(stretch), views_(views), data_(std::move(data)) {}

 private:
  Result<std::vector<std::byte>> read_views(ArrowBuffers& buffers, std::uint64_t at, std::size_t n) const {
    std::vector<std::byte> views(n * kViewSize);
    TRY_VOID(buffers.read(views_, (stretch_.begin + at) * kViewSize, views));
    return views;
  }
  Result<> lengths(ArrowBuffers& buffers, std::uint64_t at, std::span<std::int64_t> into) const override {
    TRY(const auto views, read_views(buffers, at, into.size()));
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = load<std::int32_t>(views, i * kViewSize);
    return {};
  }
  Result<> chars(ArrowBuffers& buffers, std::span<const std::int64_t> offsets,
                 std::span<std::byte> into) const override {
    for (std::uint64_t at = 0; at < count(); at += kAtATime) {
      const std::size_t n = std::min<std::uint64_t>(kAtATime, count() - at);
      TRY(const auto views, read_views(buffers, at, n));
      for (std::size_t i = 0; i < n; ++i) {
        const auto to = into.subspan(static_cast<std::size_t>(offsets[at + i]),
                                     static_cast<std::size_t>(offsets[at + i + 1] - offsets[at + i]));
        if (to.size() <= kInlineMax) {
          std::memcpy(to.data(), views.data() + i * kViewSize + 4, to.size());
          continue;
        }
        const auto buffer = load<std::uint32_t>(views, i * kViewSize + 8),
                   begin = load<std::uint32_t>(views, i * kViewSize + 12);
        if (buffer >= data_.size())
          return fail(ErrorKind::damaged, "Arrow: string " + std::to_string(at + i) + " is in buffer " +
                                              std::to_string(buffer) + " of " + std::to_string(data_.size()));
        TRY_VOID(buffers.read(data_[buffer], begin, to));
      }
    }
    return {};
  }

  const ArrowBufferAt views_;
  const std::vector<ArrowBufferAt> data_;
};

}  // namespace

Result<std::vector<std::int64_t>> ArrowTexts::offsets(ArrowBuffers& buffers) const {
  std::vector<std::int64_t> all(count() + 1);
  std::array<std::int64_t, kAtATime> some;
  std::uint64_t sum = 0;
  for (std::uint64_t at = 0; at < count(); at += kAtATime) {
    const auto part = std::span(some).first(std::min<std::uint64_t>(kAtATime, count() - at));
    TRY_VOID(lengths(buffers, at, part));
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] < 0)
        return fail(ErrorKind::damaged,
                    "Arrow: string " + std::to_string(at + i) + " has " + std::to_string(part[i]) + " bytes");
      sum += static_cast<std::uint64_t>(part[i]);
      if (sum > kArrowMadeMax)
        return fail(ErrorKind::unsupported, "Arrow: a record batch with more than 1 GiB of strings");
      all[at + i + 1] = static_cast<std::int64_t>(sum);
    }
  }
  return all;
}

Result<std::shared_ptr<const std::byte>> ArrowTexts::kept_offsets(ArrowBuffers& buffers) const {
  return buffers.made(owner_, 0, (count() + 1) * kOffsetSize, [&](std::span<std::byte> into) -> Result<> {
    TRY(const auto all, offsets(buffers));
    std::memcpy(into.data(), all.data(), into.size());
    return {};
  });
}

Result<std::shared_ptr<const std::byte>> ArrowTexts::kept_chars(ArrowBuffers& buffers, std::uint64_t size) const {
  return buffers.made(owner_, 1, size, [&](std::span<std::byte> into) -> Result<> {
    TRY(const auto all, offsets(buffers));
    if (static_cast<std::uint64_t>(all.back()) != into.size())
      return fail(ErrorKind::damaged, "Arrow: strings have " + std::to_string(all.back()) + " bytes, before they had " +
                                          std::to_string(into.size()));
    return chars(buffers, all, into);
  });
}

class TextOffsets final : public ArrowPiece {
 public:
  TextOffsets(std::shared_ptr<const ArrowTexts> texts, std::int64_t base)
      : ArrowPiece(texts->count() * kOffsetSize), texts_(std::move(texts)), base_(base) {}
  Result<> read(ArrowBuffers& buffers, std::uint64_t offset, std::span<std::byte> into) const override {
    TRY(const auto kept, texts_->kept_offsets(buffers));
    for (std::size_t at = 0; at < into.size(); at += kOffsetSize) {
      std::int64_t value = 0;
      std::memcpy(&value, kept.get() + offset + kOffsetSize + at, kOffsetSize);
      value += base_;
      std::memcpy(into.data() + at, &value, kOffsetSize);
    }
    return {};
  }

 private:
  const std::shared_ptr<const ArrowTexts> texts_;
  const std::int64_t base_;
};

class TextChars final : public ArrowPiece {
 public:
  TextChars(std::shared_ptr<const ArrowTexts> texts, std::uint64_t size) : ArrowPiece(size), texts_(std::move(texts)) {}
  Result<> read(ArrowBuffers& buffers, std::uint64_t offset, std::span<std::byte> into) const override {
    TRY(const auto kept, texts_->kept_chars(buffers, size()));
    std::memcpy(into.data(), kept.get() + offset, into.size());
    return {};
  }

 private:
  const std::shared_ptr<const ArrowTexts> texts_;
};

ArrowPiecePtr arrow_bytes(const ArrowBufferAt& buffer, std::uint64_t begin, std::uint64_t size) {
  return std::make_unique<Bytes>(buffer, begin, size);
}
ArrowPiecePtr arrow_first_offset() { return std::make_unique<FirstOffset>(); }
ArrowPiecePtr arrow_bits(const ArrowBufferAt& buffer, ArrowStretch stretch) {
  return std::make_unique<Bits>(buffer, stretch);
}
ArrowPiecePtr arrow_offsets(const ArrowBufferAt& buffer, bool wide, ArrowStretch stretch, std::int64_t first,
                            std::int64_t base) {
  return std::make_unique<Offsets>(buffer, wide, stretch, base - first);
}
ArrowPiecePtr arrow_looked_up(const ArrowBufferAt& indices, Dtype dtype, ArrowStretch stretch, ValuesPtr values) {
  return std::make_unique<LookedUp>(indices, dtype, stretch, std::move(values));
}
std::shared_ptr<const ArrowTexts> arrow_text_views(const ArrowBufferAt& views, std::vector<ArrowBufferAt> data,
                                                   ArrowStretch stretch) {
  return std::make_shared<TextViews>(views, std::move(data), stretch);
}
std::shared_ptr<const ArrowTexts> arrow_text_indices(const ArrowBufferAt& indices, Dtype dtype, ArrowStretch stretch,
                                                     ValuesPtr values) {
  return std::make_shared<TextIndices>(indices, dtype, stretch, std::move(values));
}
ArrowPiecePtr arrow_text_offsets(std::shared_ptr<const ArrowTexts> texts, std::int64_t base) {
  return std::make_unique<TextOffsets>(std::move(texts), base);
}
ArrowPiecePtr arrow_text_chars(std::shared_ptr<const ArrowTexts> texts, std::uint64_t size) {
  return std::make_unique<TextChars>(std::move(texts), size);
}

}  // namespace tfilefs
