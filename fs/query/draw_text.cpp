// SPDX-License-Identifier: Apache-2.0
#include "query/draw_text.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace tfilefs {
namespace {

constexpr std::int32_t kBinsOfAxisMax = 10'000'000;
constexpr std::size_t kDrawParts = 5;

tl::unexpected<Error> not_as(const std::string& text, const std::string& wanted) {
  return tfile::fail(ErrorKind::invalid, text + ": expected " + wanted);
}

std::optional<double> number_from(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// At marks that stand in no text or name in quotes.
std::vector<std::string> split_at(std::string_view text, char mark) {
  std::vector<std::string> parts(1);
  char quote = '\0';
  for (const char c : text) {
    if (quote == '\0' && c == mark) {
      parts.emplace_back();
      continue;
    }
    parts.back() += c;
    if (quote != '\0')
      quote = c == quote ? '\0' : quote;
    else if (c == '"' || c == '`')
      quote = c;
  }
  return parts;
}

}  // namespace

Result<> take_bins(const std::string& text, DrawRequest& request) {
  if (text.empty()) return {};
  for (const std::string& part : split_at(text, ',')) {
    const auto bins = number_from(part);
    if (!bins || !(*bins >= 1) || *bins > kBinsOfAxisMax || *bins != static_cast<std::int32_t>(*bins))
      return not_as(text, "numbers of bins up to 10,000,000, such as 100 or 40,40");
    request.bins.push_back(static_cast<std::int32_t>(*bins));
  }
  return {};
}

Result<> take_ranges(const std::string& text, DrawRequest& request) {
  if (text.empty()) return {};
  for (const std::string& part : split_at(text, ',')) {
    if (part.empty()) {
      request.ranges.emplace_back();
      continue;
    }
    const std::size_t colon = part.find(':');
    const auto low = number_from(part.substr(0, colon));
    const auto high = colon == std::string::npos ? std::nullopt : number_from(part.substr(colon + 1));
    if (!low || !high || !(*low < *high)) return not_as(text, "LO:HI of each axis, LO less than HI, such as -1:1,0:50");
    if (!std::isfinite(*high - *low)) return not_as(text, "an axis with a finite length");
    request.ranges.emplace_back(std::pair(*low, *high));
  }
  return {};
}

Result<DrawRequest> parse_drawing(std::string_view text) {
  std::vector<std::string> parts = split_at(text, ';');
  if (parts.size() > kDrawParts) return not_as(std::string(text), "EXPR;CUT;BINS;RANGES;profile");
  parts.resize(kDrawParts);
  DrawRequest request;
  request.expressions = parts[0];
  request.cut = parts[1];
  TRY_VOID(take_bins(parts[2], request));
  TRY_VOID(take_ranges(parts[3], request));
  if (!parts[4].empty() && parts[4] != "profile") return not_as(parts[4], "profile, or nothing");
  request.is_profile = !parts[4].empty();
  return request;
}

}  // namespace tfilefs
