// SPDX-License-Identifier: Apache-2.0
#include "http/request_path.h"

#include <algorithm>

namespace tfilefs {
namespace {

constexpr std::string_view kHexDigits = "0123456789ABCDEF";
constexpr std::size_t kNamesMax = 512;  // of a path; no mount shows one so deep

// -1: no digit.
int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

bool is_unreserved(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         std::string_view("-._~").find(c) != std::string_view::npos;
}

// "http://HOST/PATH", as a request to a proxy has it, and any server must take.
std::string_view without_origin(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (target.starts_with(scheme)) return target.substr(std::min(target.find('/', scheme.size()), target.size()));
  }
  return target;
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_value(text[i + 2]) : -1;
    if (low < 0) return std::nullopt;
    plain += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return plain;
}

std::optional<RequestPath> parse_request_path(std::string_view target) {
  target = without_origin(target);
  if (!target.starts_with('/')) return std::nullopt;
  RequestPath path;
  path.ends_in_slash = target.ends_with('/');
  while (!target.empty()) {
    target.remove_prefix(1);
    const std::size_t end = std::min(target.find('/'), target.size());
    auto name = percent_decoded(target.substr(0, end));
    target.remove_prefix(end);
    constexpr std::string_view kNotInNames("/\0", 2);
    if (!name || name->find_first_of(kNotInNames) != std::string::npos || *name == "." || *name == "..")
      return std::nullopt;
    if (name->empty()) continue;
    if (path.names.size() == kNamesMax) return std::nullopt;
    path.names.push_back(*std::move(name));
  }
  return path;
}

std::string percent_encoded(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (is_unreserved(c)) {
      text += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      text += {'%', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
    }
  }
  return text;
}

std::string url_path(const std::vector<std::string>& names, bool is_directory) {
  std::string path;
  for (const std::string& name : names) path += "/" + percent_encoded(name);
  return is_directory ? path + "/" : path;
}

}  // namespace tfilefs
