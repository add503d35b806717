// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "bytes/cursor.h"
#include "fuzz/stream_body.h"
#include "ntuple/column_type.h"
#include "ntuple/page_decode.h"

namespace tfile::fuzz {

// More take no other way; to clear their bytes would take nearly all of the time.
inline constexpr std::uint64_t kElementsMax = 1 << 16;

// Decodes the bytes as a page of any encoding. Input, little-endian: code and bits of the column (u1 each), number type
// of the field (u1), elements (u4), the base of ends and variants (i8), the range of quantised reals (two f8); then the
// page.
class PageOfBytes {
 public:
  explicit PageOfBytes(std::span<const std::byte> input) {
    Cursor in(input);
    const std::uint8_t type = in.u1("type"), bits = in.u1("bits");
    dtype_ = static_cast<Dtype>(in.u1("dtype") % (static_cast<int>(Dtype::f8) + 1));
    elements_ = std::min<std::uint64_t>(in.little<std::uint32_t>("elements"), kElementsMax);
    base_ = in.little<std::int64_t>("base");
    const auto min = in.little<double>("min"), max = in.little<double>("max");
    page_ = in.take(in.left(), "page");
    if (const auto encoding = page_encoding(type, bits, min, max); encoding && !in.failed()) decode(*encoding);
  }

 private:
  void decode(const PageEncoding& encoding) const {
    // A page of the right size allows more checks.
    if (page_.size() != page_size(encoding, elements_)) return refuse(encoding);
    if (is_index(encoding)) return decode_index(encoding);
    if (encoding.type == ColumnType::switch_) return decode_variant();
    std::vector<std::byte> out(elements_ * size_of(dtype_)), again(out.size());
    require(decode_numbers(encoding, page_, elements_, dtype_, out).has_value(), "any bits are numbers");
    // Elements do not depend on those after them, except in split encodings.
    const bool is_split = encoding.type >= ColumnType::split_int16 && encoding.type <= ColumnType::split_real64;
    const std::uint64_t fewer = is_split ? elements_ : elements_ / 2;
    again.resize(fewer * size_of(dtype_));
    require(decode_numbers(encoding, page_.first(page_size(encoding, fewer)), fewer, dtype_, again).has_value(),
            "any bits are numbers");
    require(again.empty() || std::memcmp(again.data(), out.data(), again.size()) == 0, "a page decodes to one thing");
  }

  void refuse(const PageEncoding& encoding) const {
    std::vector<std::byte> out(elements_ * 8), tags(elements_);
    require(!decode_numbers(encoding, page_, elements_, Dtype::f8, out), "a page of another size is refused");
    require(!decode_ends(encoding, page_, elements_, 0, out), "a page of another size is refused");
    if (encoding.type == ColumnType::switch_)
      require(!decode_switch(page_, elements_, {}, tags, out), "a page of another size is refused");
  }

  void decode_index(const PageEncoding& encoding) const {
    std::vector<std::int64_t> ends(elements_);
    if (!decode_ends(encoding, page_, elements_, base_, std::as_writable_bytes(std::span(ends)))) return;
    require(base_ >= 0, "ends are counted from what can be");
    std::int64_t last = base_;
    for (const std::int64_t end : ends) {
      require(end >= last, "ends never fall");
      last = end;
    }
  }

  void decode_variant() const {
    const std::int64_t base = base_ < 0 ? 0 : base_;
    const std::int64_t bases[] = {base, 0, base};
    std::vector<std::byte> tags(elements_);
    std::vector<std::int64_t> positions(elements_);
    if (!decode_switch(page_, elements_, bases, tags, std::as_writable_bytes(std::span(positions)))) return;
    for (std::uint64_t i = 0; i < elements_; ++i) {
      const auto tag = std::to_integer<std::size_t>(tags[i]);
      require(tag <= std::size(bases), "an alternative is one of those that there are");
      require(tag == 0 ? positions[i] == 0 : positions[i] >= bases[tag - 1], "an item is one of its alternative's");
    }
  }

  Dtype dtype_ = Dtype::u1;
  std::uint64_t elements_ = 0;
  std::int64_t base_ = 0;
  std::span<const std::byte> page_;
};

inline void page_body(std::span<const std::byte> input) { PageOfBytes{input}; }

}  // namespace tfile::fuzz
