// SPDX-License-Identifier: Apache-2.0
#include "tfile/name.h"

#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tfile {
namespace {

constexpr std::size_t kHashSuffixSize = 1 + 8;  // "~" and 8 hex digits

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

std::string escape_characters(std::string_view name) {
  if (name.empty()) return "%";
  std::string out;
  out.reserve(name.size());
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '/') {
      out += "%2F";
    } else if (c == '\0') {
      out += "%00";
    } else if (c == '%' && i + 2 < name.size() && is_hex(name[i + 1]) && is_hex(name[i + 2])) {
      out += "%25";
    } else if (c == '.' && i == 0) {
      out += "%2E";
    } else {
      out += c;
    }
  }
  return out;
}

// The files of the layout beside `values`.
constexpr std::pair<std::string_view, std::string_view> kLayoutFiles[] = {
    {"offsets", ".i8"}, {"chars", ".u1"}, {"raw", ".u1"}, {"tags", ".i1"}, {"index", ".i8"}};

// The byte that is escaped only at the beginning of a name: of a leading dot, and of a name of the layout.
char escaped_at_start(std::string_view escape) {
  static constexpr std::pair<std::string_view, char> kFirst[] = {{"%2E", '.'}, {"%63", 'c'}, {"%69", 'i'}, {"%6F", 'o'},
                                                                 {"%72", 'r'}, {"%74", 't'}, {"%76", 'v'}};
  const auto found = std::ranges::find(kFirst, escape, &std::pair<std::string_view, char>::first);
  return found == std::end(kFirst) ? '\0' : found->second;
}

std::string hash_suffix(std::string_view original) {
  const auto low = static_cast<std::uint32_t>(XXH64(original.data(), original.size(), 0));
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "~";
  for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[(low >> shift) & 15];
  return text;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The longest beginning of `escaped` with at most `size` bytes that splits neither a UTF-8 character nor an escape.
// Invalid UTF-8 may be cut anywhere.
std::string_view cut(std::string_view escaped, std::size_t size) {
  if (escaped.size() <= size) return escaped;
  std::size_t end = size;
  for (int back = 0; back < 3 && end > 0 && is_continuation(escaped[end]); ++back) --end;
  if (is_continuation(escaped[end])) end = size;
  for (std::size_t back = 1; back <= 2 && back <= end; ++back) {
    if (escaped[end - back] == '%') {
      end -= back;
      break;
    }
  }
  return escaped.substr(0, end);
}

// `name` as escape_name gives it, but always with the hash, followed by `more`.
std::string hashed_name(std::string_view name, std::size_t size_max, std::string_view more) {
  const std::size_t tail = kHashSuffixSize + more.size();
  std::string out(cut(escape_characters(name), size_max > tail ? size_max - tail : 0));
  out += hash_suffix(name);
  out += more;
  return out;
}

}  // namespace

std::string escape_name(std::string_view name, std::size_t size_max) {
  std::string escaped = escape_characters(name);
  return escaped.size() <= size_max ? escaped : hashed_name(name, size_max, "");
}

bool is_layout_name(std::string_view name, std::string_view suffix) {
  return name == "values" || std::ranges::any_of(kLayoutFiles, [&](const auto& file) {
           return file.first == name && file.second == suffix;
         });
}

std::string escape_first_byte(std::string_view name) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  const auto first = static_cast<unsigned char>(name.front());
  return std::string{'%', kDigits[first >> 4], kDigits[first & 15]} + std::string(name.substr(1));
}

std::string member_component(std::string_view name, std::string_view suffix) {
  return is_layout_name(name, suffix) ? escape_first_byte(name)
                                      : escape_name(name, kNameMax - std::min(suffix.size(), kNameMax));
}

std::string unescape_name(std::string_view component) {
  if (component == "%") return {};
  std::string name;
  name.reserve(component.size());
  for (std::size_t i = 0; i < component.size(); ++i) {
    const std::string_view escape = component.substr(i, 3);
    const char at_start = i == 0 ? escaped_at_start(escape) : '\0';
    const char meant = escape == "%2F" ? '/' : escape == "%25" ? '%' : at_start;
    if (meant != '\0' || escape == "%00") {
      name += meant;
      i += 2;
    } else {
      name += component[i];
    }
  }
  return name;
}

std::vector<std::string> directory_names(std::span<const std::string_view> names,
                                         std::span<const std::string> suffixes) {
  std::vector<std::string> result;
  result.reserve(names.size());
  std::unordered_set<std::string> taken;
  std::unordered_map<std::string, std::size_t> tries;  // by hashed name: many equal names do not take quadratic time
  taken.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string_view suffix = i < suffixes.size() ? std::string_view(suffixes[i]) : std::string_view();
    const std::size_t size_max = kNameMax > suffix.size() ? kNameMax - suffix.size() : 0;
    std::string path = escape_name(names[i], size_max);
    path += suffix;
    if (!taken.insert(path).second) {
      path = hashed_name(names[i], size_max, "");
      path += suffix;
      std::size_t& number = tries[path];
      if (number == 0) number = 1;
      while (!taken.insert(path).second) {
        path = hashed_name(names[i], size_max, "~" + std::to_string(++number));
        path += suffix;
      }
    }
    result.push_back(std::move(path));
  }
  return result;
}

}  // namespace tfile
