// SPDX-License-Identifier: Apache-2.0
#include "tfile/node.h"

#include <array>
#include <charconv>

namespace tfile {
namespace {

struct DtypeName {
  std::string_view suffix;
  std::size_t size;
};

// In the order of Dtype.
constexpr std::array<DtypeName, 11> kDtypes{{{"b1", 1},
                                             {"i1", 1},
                                             {"u1", 1},
                                             {"i2", 2},
                                             {"u2", 2},
                                             {"i4", 4},
                                             {"u4", 4},
                                             {"i8", 8},
                                             {"u8", 8},
                                             {"f4", 4},
                                             {"f8", 8}}};
static_assert(static_cast<std::size_t>(Dtype::f8) + 1 == kDtypes.size());

const DtypeName& entry(Dtype dtype) { return kDtypes[static_cast<std::size_t>(dtype)]; }

std::optional<Dtype> dtype_of(std::string_view suffix) {
  for (std::size_t i = 0; i < kDtypes.size(); ++i) {
    if (kDtypes[i].suffix == suffix) return static_cast<Dtype>(i);
  }
  return std::nullopt;
}

// Parses "x3x4" to {3, 4}. Accepts only what typed_suffix writes: no sign, no leading zero, nothing else.
std::optional<std::vector<std::uint32_t>> parse_shape(std::string_view text) {
  std::vector<std::uint32_t> shape;
  while (!text.empty()) {
    if (text.front() != 'x') return std::nullopt;
    text.remove_prefix(1);
    if (text.empty() || text.front() < '0' || text.front() > '9' ||
        (text.front() == '0' && text.size() > 1 && text[1] != 'x'))
      return std::nullopt;
    std::uint32_t extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc()) return std::nullopt;
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return shape;
}

}  // namespace

std::size_t size_of(Dtype dtype) { return entry(dtype).size; }

std::string_view type_suffix(Dtype dtype) { return entry(dtype).suffix; }

std::string numpy_dtype(Dtype dtype) {
  std::string text(entry(dtype).size == 1 ? "|" : "<");
  text += entry(dtype).suffix;
  return text;
}

std::string_view role_name(Role role) {
  switch (role) {
    case Role::values:
      return "values";
    case Role::offsets:
      return "offsets";
    case Role::chars:
      return "chars";
    case Role::tags:
      return "tags";
    case Role::index:
      return "index";
    case Role::raw:
      return "raw";
  }
  return "values";
}

std::size_t Column::item_size() const {
  std::size_t size = size_of(dtype);
  for (const std::uint32_t extent : shape) size *= extent;
  return size;
}

std::string typed_suffix(Dtype dtype, const std::vector<std::uint32_t>& shape) {
  std::string text = ".";
  text += type_suffix(dtype);
  for (const std::uint32_t extent : shape) text += "x" + std::to_string(extent);
  return text;
}

std::optional<TypedName> parse_typed_name(std::string_view file_name) {
  const std::size_t dot = file_name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return std::nullopt;
  const std::string_view suffix = file_name.substr(dot + 1);
  if (suffix.size() < 2) return std::nullopt;
  const std::optional<Dtype> dtype = dtype_of(suffix.substr(0, 2));
  if (!dtype) return std::nullopt;
  auto shape = parse_shape(suffix.substr(2));
  if (!shape) return std::nullopt;
  return TypedName{std::string(file_name.substr(0, dot)), *dtype, *std::move(shape)};
}

}  // namespace tfile
