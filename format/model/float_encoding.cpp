// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cmath>
#include <vector>

#include "tfile/writer.h"

namespace tfile {
namespace {

// Bounds of the format (RNTuple Binary Format Specification 1.0, "Column Description").
constexpr std::uint16_t kHalfBits = 16, kTruncatedMin = 10, kTruncatedMax = 31, kQuantizedMin = 1, kQuantizedMax = 32;

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t colon = text.find(':');
    parts.push_back(text.substr(0, colon));
    if (colon == std::string_view::npos) return parts;
    text.remove_prefix(colon + 1);
  }
}

template <class T>
bool read_number(std::string_view text, T& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<FloatEncoding> parse_float_encoding(std::string_view text) {
  using Kind = FloatEncoding::Kind;
  FloatEncoding made;
  if (text.empty()) return made;
  const std::vector<std::string_view> parts = parts_of(text);
  const auto has_bits = [&](std::uint16_t least, std::uint16_t most) {
    return read_number(parts[1], made.bits) && made.bits >= least && made.bits <= most;
  };
  if (parts.size() == 1 && parts[0] == "real16") {
    made.kind = Kind::half;
    made.bits = kHalfBits;
    return made;
  }
  if (parts.size() == 2 && parts[0] == "real32trunc" && has_bits(kTruncatedMin, kTruncatedMax)) {
    made.kind = Kind::truncated;
    return made;
  }
  made.kind = Kind::quantized;
  const bool is_range = parts.size() == 4 && parts[0] == "real32quant" && has_bits(kQuantizedMin, kQuantizedMax) &&
                        read_number(parts[2], made.min) && read_number(parts[3], made.max) && std::isfinite(made.min) &&
                        std::isfinite(made.max) && made.min < made.max;
  if (is_range) return made;
  return fail(ErrorKind::invalid, std::string(text) +
                                      ": unknown encoding, expected real16, real32trunc:BITS (10 to 31), or "
                                      "real32quant:BITS:MIN:MAX (1 to 32)");
}

}  // namespace tfile
