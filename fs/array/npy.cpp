// SPDX-License-Identifier: Apache-2.0
#include "array/npy.h"

#include <optional>
#include <string_view>

namespace tfilefs {
namespace {

constexpr std::size_t kAlignment = 64;  // as numpy.lib.format writes it, so that the items can be mapped
constexpr std::size_t kMagicSize = 8;   // "\x93NUMPY" and two bytes of version

void append_bytes(std::string& to, std::size_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

tl::unexpected<tfile::Error> not_a_column(const std::string& why) {
  return tfile::fail(tfile::ErrorKind::invalid, ".npy: " + why);
}

// The text behind a key of the dictionary; empty if the key is not there.
std::string_view value_of(std::string_view dictionary, std::string_view key) {
  const std::size_t at = dictionary.find(key);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = dictionary.find_first_not_of(" :", at + key.size());
  return begin == std::string_view::npos ? std::string_view{} : dictionary.substr(begin);
}

std::optional<tfile::Dtype> dtype_of(std::string_view numpy) {
  for (int i = 0; i <= static_cast<int>(tfile::Dtype::f8); ++i) {
    const auto dtype = static_cast<tfile::Dtype>(i);
    if (tfile::numpy_dtype(dtype) == numpy) return dtype;
  }
  return std::nullopt;
}

// The numbers of a tuple, up to its end.
std::vector<std::uint64_t> numbers_of(std::string_view tuple) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 1; i < tuple.size() && tuple[i] != ')';) {
    if (tuple[i] < '0' || tuple[i] > '9') {
      ++i;
      continue;
    }
    std::uint64_t number = 0;
    for (; i < tuple.size() && tuple[i] >= '0' && tuple[i] <= '9' && number < 1ull << 58; ++i)
      number = number * 10 + static_cast<std::uint64_t>(tuple[i] - '0');
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

tfile::Result<NpyHeader> parse_npy_header(std::span<const std::byte> start) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  if (text.size() < kMagicSize + 4 || !text.starts_with("\x93NUMPY")) return not_a_column("not a NumPy file");
  const int version = text[6];
  const std::size_t prefix = kMagicSize + (version == 1 ? 2 : 4);
  std::size_t size = 0;
  for (std::size_t i = prefix; i > kMagicSize; --i) size = size << 8 | static_cast<unsigned char>(text[i - 1]);
  if (version < 1 || version > 3 || size > text.size() - prefix)
    return not_a_column("header extends beyond the end of the file");
  const std::string_view dictionary = text.substr(prefix, size);

  NpyHeader header;
  header.size = prefix + size;
  std::string_view descr = value_of(dictionary, "'descr'");
  descr = descr.substr(0, descr.find('\'', 1));
  if (!descr.starts_with('\'')) return not_a_column("structured arrays cannot be a column");
  const auto dtype = dtype_of(descr.substr(1));
  if (!dtype) return not_a_column("unsupported dtype " + std::string(descr.substr(1)));
  header.dtype = *dtype;
  if (!value_of(dictionary, "'fortran_order'").starts_with("False"))
    return not_a_column("Fortran order is not supported");
  std::string_view shape = value_of(dictionary, "'shape'");
  if (!shape.starts_with('(')) return not_a_column("header has no shape");
  if (shape.substr(0, shape.find(')')).find('-') != std::string_view::npos) return not_a_column("unsupported shape");
  const std::vector<std::uint64_t> numbers = numbers_of(shape);
  if (numbers.empty()) return not_a_column("a scalar cannot be a column");
  header.length = static_cast<std::int64_t>(numbers[0]);
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    if (numbers[i] == 0 || numbers[i] > 0xffff'ffff) return not_a_column("unsupported shape");
    header.shape.push_back(static_cast<std::uint32_t>(numbers[i]));
  }
  return header;
}

std::string npy_header(tfile::Dtype dtype, const std::vector<std::uint32_t>& shape, std::int64_t length) {
  std::string dictionary = "{'descr': '" + tfile::numpy_dtype(dtype) + "', 'fortran_order': False, 'shape': (" +
                           std::to_string(length) + ",";
  for (std::size_t i = 0; i < shape.size(); ++i) dictionary += (i ? ", " : " ") + std::to_string(shape[i]);
  dictionary += "), }";
  // The padding ends in a newline, which is part of the length.
  const bool version_1 = dictionary.size() + kAlignment < 0x10000;
  const std::size_t prefix = kMagicSize + (version_1 ? 2 : 4);
  const std::size_t total = (prefix + dictionary.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  dictionary.append(total - prefix - dictionary.size() - 1, ' ');
  dictionary.push_back('\n');

  std::string header = "\x93NUMPY";
  header.push_back(version_1 ? 1 : 2);
  header.push_back(0);
  append_bytes(header, dictionary.size(), version_1 ? 2 : 4);
  return header + dictionary;
}

}  // namespace tfilefs
