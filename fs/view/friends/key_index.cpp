// SPDX-License-Identifier: Apache-2.0
#include "view/friends/key_index.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "view/chain/number_types.h"

namespace tfilefs {
std::int64_t as_key(long double number) {
  using Limits = std::numeric_limits<std::int64_t>;
  constexpr long double kBeyond = 9223372036854775808.0L;  // 2^63
  if (std::isnan(number)) return Limits::min();  // as ROOT's own conversion gives: it equals no number of an event
  if (number >= kBeyond) return Limits::max();
  if (number < -kBeyond) return Limits::min();
  return static_cast<std::int64_t>(number);
}

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
  const std::size_t count = numbers.size() / size_of(dtype), before = into.size();
  if (dtype == Dtype::f4 || dtype == Dtype::f8) {
    std::vector<double> floats(count);
    widen(numbers.data(), dtype, std::as_writable_bytes(std::span(floats)).data(), Dtype::f8, count);
    std::ranges::transform(floats, std::back_inserter(into), as_key);
    return;
  }
  into.resize(before + count);
  const Dtype bits = dtype == Dtype::u8 ? Dtype::i8 : dtype;  // beyond the type, numbers wrap around
  widen(numbers.data(), bits, std::as_writable_bytes(std::span(into).subspan(before)).data(), Dtype::i8, count);
}

void add_as_numbers(std::span<const std::byte> numbers, tfile::Dtype dtype, std::vector<long double>& into) {
  using tfile::Dtype;
  if (dtype == Dtype::f4 || dtype == Dtype::f8) {
    std::vector<double> floats(numbers.size() / size_of(dtype));
    widen(numbers.data(), dtype, std::as_writable_bytes(std::span(floats)).data(), Dtype::f8, floats.size());
    into.insert(into.end(), floats.begin(), floats.end());
    return;
  }
  std::vector<std::int64_t> integers;
  add_as_integers(numbers, dtype, integers);
  const bool has_sign = dtype != Dtype::u8;
  std::ranges::transform(integers, std::back_inserter(into), [&](std::int64_t number) {
    return has_sign ? static_cast<long double>(number) : static_cast<long double>(static_cast<std::uint64_t>(number));
  });
}

}  // namespace tfilefs
