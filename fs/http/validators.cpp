// SPDX-License-Identifier: Apache-2.0
#include "http/validators.h"

#include <time.h>

#include <algorithm>
#include <array>

#include "http/header_text.h"

namespace tfilefs {
namespace {

// A weak tag says that the bytes may differ. It counts where only a state that is shown anew is asked for.
enum class Comparison : std::uint8_t { strong, weak };

bool names_tag(std::string_view header, const std::string& etag, Comparison comparison) {
  if (trimmed(header) == "*") return true;
  constexpr std::string_view kWeak = "W/";
  return std::ranges::any_of(list_items(header), [&](std::string_view each) {
    if (each.starts_with(kWeak)) {
      if (comparison == Comparison::strong) return false;
      each.remove_prefix(kWeak.size());
    }
    return !etag.empty() && each == etag;
  });
}

}  // namespace

std::string http_date(std::time_t time) {
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  constexpr std::array<const char*, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::array<char, 32> rest;
  std::string text = std::string(kDays[static_cast<std::size_t>(parts.tm_wday)]) + ", ";
  text.append(rest.data(), std::strftime(rest.data(), rest.size(), "%d ", &parts));
  text += kMonths[static_cast<std::size_t>(parts.tm_mon)];
  text.append(rest.data(), std::strftime(rest.data(), rest.size(), " %Y %H:%M:%S GMT", &parts));
  return text;
}

std::optional<std::time_t> parse_http_date(std::string_view text) {
  const std::string whole(trimmed(text));
  // As it is written today, and in two older ways.
  for (const char* form : {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"}) {
    std::tm parts{};
    const char* const end = ::strptime(whole.c_str(), form, &parts);
    if (end && *end == '\0') return ::timegm(&parts);
  }
  return std::nullopt;
}

Verdict verdict(const Conditions& given, const Validators& now) {
  if (given.if_match) {
    if (!names_tag(*given.if_match, now.etag, Comparison::strong)) return Verdict::failed;
  } else if (given.if_unmodified_since) {
    const auto since = parse_http_date(*given.if_unmodified_since);
    if (since && now.modified > *since) return Verdict::failed;
  }
  if (given.if_none_match) {
    if (names_tag(*given.if_none_match, now.etag, Comparison::weak)) return Verdict::not_modified;
  } else if (given.if_modified_since && !now.etag.empty()) {
    const auto since = parse_http_date(*given.if_modified_since);
    if (since && now.modified <= *since) return Verdict::not_modified;
  }
  return Verdict::send;
}

bool may_send_range(const Conditions& given, const Validators& state, std::time_t now) {
  if (!given.if_range) return true;
  const std::string_view header = trimmed(*given.if_range);
  if (header.starts_with('"') || header.starts_with("W/"))
    return header != "*" && names_tag(header, state.etag, Comparison::strong);
  const auto since = parse_http_date(header);
  return since && *since == state.modified && now > state.modified + 1;
}

}  // namespace tfilefs
