// SPDX-License-Identifier: Apache-2.0
#include "object/value_sum.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "bytes/endian.h"

namespace tfile {
namespace {

// TParameter<T>, in fBits.
constexpr std::uint32_t kMultiplied = 1 << 16, kMaximum = 1 << 17, kMinimum = 1 << 18, kFirstOne = 1 << 19,
                        kLastOne = 1 << 20, kIsConstant = 1 << 21;

// Two values of a parameter, by the mode of the first.
template <class T>
T merged_value(T a, T b, std::uint32_t mode) {
  if (mode & kMultiplied) return static_cast<T>(a * b);
  if (mode & kMaximum) return std::max(a, b);
  if (mode & kMinimum) return std::min(a, b);
  if (mode & kLastOne) return b;
  return (mode & kFirstOne) ? a : static_cast<T>(a + b);
}

bool merged_truth(bool a, bool b, std::uint32_t mode) {
  if (mode & (kMultiplied | kMinimum)) return a && b;
  if (mode & kLastOne) return b;
  return (mode & kFirstOne) && !(mode & kMaximum) ? a : a || b;
}

// Sums and products of integers are those of the unsigned type: they wrap around, as those of ROOT do.
template <class Stored, class Computed = Stored>
void merge_value(std::byte* to, const std::byte* from, std::uint32_t mode) {
  const auto a = load_big<Stored>(to), b = load_big<Stored>(from);
  if constexpr (std::is_same_v<Stored, Computed>) {
    store_big(to, merged_value(a, b, mode));
  } else {
    const bool is_computed = !(mode & (kMaximum | kMinimum | kLastOne | kFirstOne));
    store_big(to, is_computed
                      ? static_cast<Stored>(merged_value(static_cast<Computed>(a), static_cast<Computed>(b), mode))
                      : merged_value(a, b, mode));
  }
}

// The numbers of both, each once, as TEventList has them.
std::vector<std::int64_t> union_of(std::span<const std::byte> a, std::span<const std::byte> b) {
  std::vector<std::int64_t> entries;
  const auto numbers = [](std::span<const std::byte> bytes) {
    std::vector<std::int64_t> read;
    for (std::size_t at = 0; at + sizeof(std::int64_t) <= bytes.size(); at += sizeof(std::int64_t))
      read.push_back(load_big<std::int64_t>(bytes.data() + at));
    return read;
  };
  std::ranges::set_union(numbers(a), numbers(b), std::back_inserter(entries));
  return entries;
}

// As operator|| of TCut.
std::string either(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return std::string(a.empty() ? b : a);
  return "(" + std::string(a) + ")||(" + std::string(b) + ")";
}

}  // namespace

Result<> add_parameter(SummedPayload& to, const std::string& path, const SummedPayload& from, bool is_sum) {
  const ObjectMembers own = to.members.at(path), others = from.members.at(path);
  const std::span<std::byte> value = to.bytes_of(own, "fVal"), bits = to.bytes_of(own, "fBits");
  const StoredNumbers* const other = others.numbers("fVal");
  if (other == nullptr || value.size() != other->bytes.size() || bits.size() != sizeof(std::uint32_t) ||
      other->packing != nullptr)
    return fail(ErrorKind::damaged, "parameter: fVal of " + std::to_string(value.size()) + " and " +
                                        std::to_string(other == nullptr ? 0 : other->bytes.size()) +
                                        " bytes, fBits of " + std::to_string(bits.size()));
  const auto flags = load_big<std::uint32_t>(bits.data()), mode = is_sum ? 0 : flags;
  if (!std::ranges::equal(value, other->bytes)) store_big(bits.data(), flags & ~kIsConstant);
  std::byte* const at = value.data();
  const std::byte* const given = other->bytes.data();
  switch (other->dtype) {
    case Dtype::b1:
      *at = std::byte{merged_truth(*at != std::byte{0}, *given != std::byte{0}, mode)};
      return {};
    case Dtype::i4:
      return merge_value<std::int32_t, std::uint32_t>(at, given, mode), Result<>();
    case Dtype::i8:
      return merge_value<std::int64_t, std::uint64_t>(at, given, mode), Result<>();
    case Dtype::u4:
      return merge_value<std::uint32_t>(at, given, mode), Result<>();
    case Dtype::u8:
      return merge_value<std::uint64_t>(at, given, mode), Result<>();
    case Dtype::f4:
      return merge_value<float>(at, given, mode), Result<>();
    case Dtype::f8:
      return merge_value<double>(at, given, mode), Result<>();
    default:
      return fail(ErrorKind::unsupported, "parameters of this type cannot be added");
  }
}

Result<> add_statistic(SummedPayload& to, const std::string& path, const SummedPayload& from) {
  const ObjectMembers own = to.members.at(path), others = from.members.at(path);
  const auto number = [](const ObjectMembers& of, const char* name) { return of.number(name).value_or(0); };
  if (number(others, "fN") == 0) return {};
  const bool is_first = number(own, "fN") == 0;
  const double weights = number(own, "fW"), other_weights = number(others, "fW"), sum = weights + other_weights;
  if (!is_first && (weights == 0 || other_weights == 0 || sum == 0))
    return fail(ErrorKind::unsupported, "its weights add up to zero");
  // The sum of the squares of distances from the mean: those of both, and the distance of the means.
  const double apart = is_first ? 0 : other_weights / weights * number(own, "fM") - number(others, "fM");
  const double between = is_first ? 0 : weights / (other_weights * sum) * apart * apart;
  to.set_double(own, "fM2", number(own, "fM2") + number(others, "fM2") + between);
  constexpr std::array kSums{"fN", "fW", "fW2", "fM"};
  TRY_VOID(add_members(to, path, from, kSums));
  if (own.number("fMin")) {
    to.set_double(own, "fMin", std::min(number(own, "fMin"), number(others, "fMin")));
    to.set_double(own, "fMax", std::max(number(own, "fMax"), number(others, "fMax")));
  }
  return {};
}

Result<> add_event_list(SummedPayload& to, const std::string& path, const SummedPayload& from) {
  const ObjectMembers own = to.members.at(path), others = from.members.at(path);
  const StoredNumbers* const mine = own.numbers("fList");
  const StoredNumbers* const other = others.numbers("fList");
  const StoredNumbers* const count = own.numbers("fN");
  const StoredNumbers* const room = own.numbers("fSize");
  const bool is_known = mine && other && count && room && mine->dtype == Dtype::i8 && other->dtype == Dtype::i8 &&
                        count->bytes.size() == sizeof(std::int32_t) && room->bytes.size() == sizeof(std::int32_t);
  if (!is_known) return fail(ErrorKind::unsupported, "its entries are not stored in the form that ROOT writes now");
  if (other->count() == 0) return {};
  const std::size_t both = mine->count() + other->count();
  if (both > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    return fail(ErrorKind::unsupported, "too many entries");
  const std::vector<std::int64_t> entries = union_of(mine->bytes, other->bytes);
  std::vector<std::byte> stored(1 + entries.size() * sizeof(std::int64_t), std::byte{1});  // behind the flag
  for (std::size_t i = 0; i < entries.size(); ++i) store_big(stored.data() + 1 + i * sizeof(std::int64_t), entries[i]);
  PayloadChanges changes(to);
  changes.set_i4(count->bytes, static_cast<std::int32_t>(entries.size()));
  changes.set_i4(room->bytes, static_cast<std::int32_t>(both));
  const std::size_t flag = to.position_of(mine->bytes) - 1;
  changes.replace(std::span(to.payload).subspan(flag, 1 + mine->bytes.size()), std::move(stored));
  if (mine->count() != 0) changes.set_text(own.text("fTitle"), either(own.text("fTitle"), others.text("fTitle")));
  return changes.apply();
}

}  // namespace tfile
