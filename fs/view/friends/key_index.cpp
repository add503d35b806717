// SPDX-License-Identifier: Apache-2.0
#include "view/friends/key_index.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "view/chain/number_types.h"

namespace tfilefs {
namespace {

constexpr long double kWholeEnd = 9223372036854775808.0L;   // 2^63: one more than an i8 holds
constexpr long double kAboveEnd = 18446744073709551616.0L;  // 2^64, and a u8

// The kinds of both parts, and the number of an entry below them: no file has 2^59 entries.
constexpr int kKindBits = 2, kKindsShift = 60;
constexpr std::uint64_t kEntryMask = (std::uint64_t{1} << kKindsShift) - 1;

std::vector<std::int64_t> as_integers(std::span<const std::byte> numbers, tfile::Dtype dtype) {
  using tfile::Dtype;
  std::vector<std::int64_t> integers(numbers.size() / size_of(dtype));
  const Dtype bits = dtype == Dtype::u8 ? Dtype::i8 : dtype;
  widen(numbers.data(), bits, std::as_writable_bytes(std::span(integers)).data(), Dtype::i8, integers.size());
  return integers;
}

std::vector<double> as_floats(std::span<const std::byte> numbers, tfile::Dtype dtype) {
  std::vector<double> floats(numbers.size() / size_of(dtype));
  widen(numbers.data(), dtype, std::as_writable_bytes(std::span(floats)).data(), tfile::Dtype::f8, floats.size());
  return floats;
}

bool is_float(tfile::Dtype dtype) { return dtype == tfile::Dtype::f4 || dtype == tfile::Dtype::f8; }

}  // namespace

KeyPart KeyPart::of(std::uint64_t number) {
  return {static_cast<std::int64_t>(number), number > std::uint64_t{INT64_MAX} ? Kind::above : Kind::whole};
}

KeyPart KeyPart::of(long double number) {
  if (std::isnan(number)) return {0, Kind::none};
  const bool is_whole = std::trunc(number) == number;
  if (is_whole && number >= -kWholeEnd && number < kWholeEnd) return of(static_cast<std::int64_t>(number));
  if (is_whole && number >= kWholeEnd && number < kAboveEnd) return of(static_cast<std::uint64_t>(number));
  return {std::bit_cast<std::int64_t>(static_cast<double>(number)), Kind::real};
}

KeyPart KeyPart::cut(long double number) {
  const long double whole = std::trunc(number);
  if (!(whole >= -kWholeEnd && whole < kWholeEnd)) return {0, Kind::none};
  return of(static_cast<std::int64_t>(whole));
}

KeyIndex::Key KeyIndex::Entry::key() const { return {major, minor, kinds_and_entry & ~kEntryMask}; }

// With its sign, which a stored one may have.
std::int64_t KeyIndex::Entry::entry() const {
  constexpr int kAbove = 64 - kKindsShift;
  return static_cast<std::int64_t>(kinds_and_entry << kAbove) >> kAbove;
}

KeyIndex::Key KeyIndex::key_of(const EntryKey& key) {
  const auto kinds =
      static_cast<std::uint64_t>(key.major.kind) << kKindBits | static_cast<std::uint64_t>(key.minor.kind);
  return {key.major.bits, key.minor.bits, kinds << kKindsShift};
}

KeyIndex::Entry KeyIndex::entry_of(const Key& key, std::int64_t entry) {
  return {key.major, key.minor, key.kinds | (static_cast<std::uint64_t>(entry) & kEntryMask)};
}

KeyIndex::KeyIndex(const tfile::EntryIndex& stored) {
  constexpr auto kEntriesEnd = std::int64_t{1} << (kKindsShift - 1);
  entries_.reserve(stored.major.size());
  for (std::size_t i = 0; i < stored.major.size(); ++i) {
    const std::int64_t entry = stored.entry[i];
    const bool may_be = entry >= -kEntriesEnd && entry < kEntriesEnd;
    entries_.push_back(entry_of({stored.major[i], stored.minor[i], 0}, may_be ? entry : -1));
  }
}

void KeyIndex::add(const EntryKey& key) {
  const std::int64_t entry = added_++;
  if (key.major.kind == KeyPart::Kind::none || key.minor.kind == KeyPart::Kind::none) return;
  entries_.push_back(entry_of(key_of(key), entry));
}

void KeyIndex::sort() {
  if (!std::ranges::is_sorted(entries_)) std::ranges::sort(entries_);
}

std::int64_t KeyIndex::find(const EntryKey& wanted, std::size_t& behind) const {
  if (wanted.major.kind == KeyPart::Kind::none || wanted.minor.kind == KeyPart::Kind::none) return -1;
  const Key key = key_of(wanted);
  const bool follows =
      behind > 0 && behind < entries_.size() && entries_[behind].key() == key && entries_[behind - 1].key() < key;
  const auto found = follows ? entries_.begin() + static_cast<std::ptrdiff_t>(behind)
                             : std::ranges::lower_bound(entries_, key, {}, &Entry::key);
  if (found == entries_.end() || found->key() != key) return -1;
  behind = static_cast<std::size_t>(found - entries_.begin()) + 1;
  return found->entry();
}

void add_as_parts(std::span<const std::byte> numbers, tfile::Dtype dtype, bool cuts, std::vector<KeyPart>& into) {
  if (is_float(dtype)) {
    std::ranges::transform(as_floats(numbers, dtype), std::back_inserter(into), [&](double number) {
      return cuts ? KeyPart::cut(static_cast<long double>(number)) : KeyPart::of(static_cast<long double>(number));
    });
    return;
  }
  const bool has_sign = dtype != tfile::Dtype::u8;
  std::ranges::transform(as_integers(numbers, dtype), std::back_inserter(into), [&](std::int64_t number) {
    return has_sign ? KeyPart::of(number) : KeyPart::of(static_cast<std::uint64_t>(number));
  });
}

void add_as_numbers(std::span<const std::byte> numbers, tfile::Dtype dtype, std::vector<long double>& into) {
  if (is_float(dtype)) {
    const std::vector<double> floats = as_floats(numbers, dtype);
    into.insert(into.end(), floats.begin(), floats.end());
    return;
  }
  const bool has_sign = dtype != tfile::Dtype::u8;
  std::ranges::transform(as_integers(numbers, dtype), std::back_inserter(into), [&](std::int64_t number) {
    return has_sign ? static_cast<long double>(number) : static_cast<long double>(static_cast<std::uint64_t>(number));
  });
}

}  // namespace tfilefs
