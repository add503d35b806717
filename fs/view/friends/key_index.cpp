// SPDX-License-Identifier: Apache-2.0
#include "view/friends/key_index.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace tfilefs {
namespace {

template <class T>
std::int64_t as_integer(T number) {
  using Limits = std::numeric_limits<std::int64_t>;
  if constexpr (std::is_floating_point_v<T>) {
    constexpr double kBeyond = 9223372036854775808.0;  // 2^63
    if (std::isnan(number)) return 0;
    if (static_cast<double>(number) >= kBeyond) return Limits::max();
    if (static_cast<double>(number) < -kBeyond) return Limits::min();
  }
  return static_cast<std::int64_t>(number);
}

template <class T>
void add_numbers(std::span<const std::byte> bytes, std::vector<std::int64_t>& into) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T number;
    std::memcpy(&number, bytes.data() + at, sizeof number);
    into.push_back(as_integer(number));
  }
}

}  // namespace

KeyIndex::KeyIndex(const tfile::EntryIndex& stored) {
  entries_.reserve(stored.major.size());
  for (std::size_t i = 0; i < stored.major.size(); ++i)
    entries_.push_back({{stored.major[i], stored.minor[i]}, stored.entry[i]});
}

void KeyIndex::sort() {
  if (!std::ranges::is_sorted(entries_)) std::ranges::sort(entries_);
}

std::int64_t KeyIndex::find(EntryKey key, std::size_t& behind) const {
  const bool follows =
      behind > 0 && behind < entries_.size() && entries_[behind].key == key && entries_[behind - 1].key < key;
  const auto found = follows ? entries_.begin() + static_cast<std::ptrdiff_t>(behind)
                             : std::ranges::lower_bound(entries_, key, {}, &Entry::key);
  if (found == entries_.end() || found->key != key) return -1;
  behind = static_cast<std::size_t>(found - entries_.begin()) + 1;
  return found->entry;
}

void add_as_integers(std::span<const std::byte> numbers, tfile::Dtype dtype, std::vector<std::int64_t>& into) {
  using tfile::Dtype;
  switch (dtype) {
    case Dtype::b1:
    case Dtype::u1:
      return add_numbers<std::uint8_t>(numbers, into);
    case Dtype::i1:
      return add_numbers<std::int8_t>(numbers, into);
    case Dtype::i2:
      return add_numbers<std::int16_t>(numbers, into);
    case Dtype::u2:
      return add_numbers<std::uint16_t>(numbers, into);
    case Dtype::i4:
      return add_numbers<std::int32_t>(numbers, into);
    case Dtype::u4:
      return add_numbers<std::uint32_t>(numbers, into);
    case Dtype::i8:
      return add_numbers<std::int64_t>(numbers, into);
    case Dtype::u8:
      return add_numbers<std::uint64_t>(numbers, into);
    case Dtype::f4:
      return add_numbers<float>(numbers, into);
    case Dtype::f8:
      return add_numbers<double>(numbers, into);
  }
}

}  // namespace tfilefs
