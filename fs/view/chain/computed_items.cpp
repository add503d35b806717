// SPDX-License-Identifier: Apache-2.0
#include "view/chain/computed_items.h"

#include <cstring>

#include "tfile/buffer.h"
#include "view/chain/number_types.h"

namespace tfilefs {
namespace {

using Kind = ItemSource::Kind;

template <class T>
T number_at(std::string_view bytes, std::size_t i) {
  T number;
  std::memcpy(&number, bytes.data() + i * sizeof number, sizeof number);
  return number;
}

template <class T, class At>
void fill(std::span<std::byte> into, At at) {
  for (std::size_t i = 0; i < into.size() / sizeof(T); ++i) {
    const T number = at(i);
    std::memcpy(into.data() + i * sizeof number, &number, sizeof number);
  }
}

}  // namespace

NumberRange numbers_covering(std::uint64_t begin, std::uint64_t end, std::size_t number_size) {
  const std::uint64_t first = begin / number_size;
  return {first, (end + number_size - 1) / number_size - first};
}

void shift_numbers(std::span<std::byte> numbers, std::int64_t by) {
  const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size());
  fill<std::int64_t>(numbers, [&](std::size_t i) { return wrapping_sum(number_at<std::int64_t>(bytes, i), by); });
}

Slices computed_items(const ItemSource& source, const ItemsWanted& wanted, std::span<const std::string_view> inputs) {
  const tfile::Dtype dtype = wanted.column->dtype;
  const NumberRange numbers = numbers_covering(wanted.begin, wanted.end, size_of(dtype));
  auto buffer = std::make_shared<tfile::Buffer>(numbers.count * size_of(dtype));
  const std::span<std::byte> into = buffer->span();
  const auto local = [&](std::size_t i) { return static_cast<std::int64_t>(numbers.first + i); };
  switch (source.kind) {
    case Kind::widened:
      widen(std::as_bytes(std::span(inputs[0])).data(), source.column.dtype, into.data(), dtype, numbers.count);
      break;
    case Kind::ends:
      fill<std::int64_t>(
          into, [&](std::size_t i) { return wrapping_sum(number_at<std::int64_t>(inputs[0], i), wanted.before[0]); });
      break;
    case Kind::steps:
      fill<std::int64_t>(into, [&](std::size_t i) {
        return wrapping_sum(wanted.before[0], (local(i) + 1) * static_cast<std::int64_t>(source.step));
      });
      break;
    case Kind::index:
      fill<std::int64_t>(into, [&](std::size_t i) {
        const auto tag = static_cast<std::size_t>(number_at<std::int8_t>(inputs[1], i));
        const bool is_known = tag >= 1 && tag <= wanted.before.size();
        return wrapping_sum(number_at<std::int64_t>(inputs[0], i), is_known ? wanted.before[tag - 1] : 0);
      });
      break;
    case Kind::file_number:
      fill<std::uint32_t>(into, [&](std::size_t) { return static_cast<std::uint32_t>(wanted.file); });
      break;
    default:  // entry_number
      fill<std::int64_t>(into, local);
  }
  return one_slice(std::move(buffer), wanted.begin - numbers.first * size_of(dtype), wanted.end - wanted.begin);
}

}  // namespace tfilefs
