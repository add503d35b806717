// SPDX-License-Identifier: Apache-2.0
#include "vfs/names/path_pattern.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace tfilefs {
namespace {

constexpr std::string_view kSpecial = "*?[{";
constexpr std::string_view kAnyDirectories = "**";

// A row of braces is a product: 10 braces of 10 texts would be more patterns than any list of files is long.
constexpr std::size_t kAlternativesMax = 10'000;

// The position of the first of the characters that no backslash precedes; npos if there is none.
std::size_t find_unescaped(std::string_view text, std::string_view characters, std::size_t from = 0) {
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (characters.find(text[i]) != std::string_view::npos)
      return i;
  }
  return std::string_view::npos;
}

// The texts of the brace that opens at `open`, and the position behind it; none if it has no comma or no end.
struct Brace {
  std::vector<std::string_view> texts;
  std::size_t end = 0;
};
Brace brace_at(std::string_view text, std::size_t open) {
  Brace brace;
  std::size_t begin = open + 1, depth = 0;
  for (std::size_t at = open; (at = find_unescaped(text, "{},", at)) != std::string_view::npos; ++at) {
    if (text[at] == '{') ++depth;
    if (depth == 1 && text[at] != '{') {
      brace.texts.push_back(text.substr(begin, at - begin));
      begin = at + 1;
    }
    if (text[at] != '}' || --depth > 0) continue;
    brace.end = at + 1;
    return brace.texts.size() > 1 ? brace : Brace{};
  }
  return {};
}

// The same with the first brace from `from` on replaced by each of its texts; empty if there is none.
std::vector<std::pair<std::string, std::size_t>> with_first_brace_replaced(const std::string& text, std::size_t from) {
  for (std::size_t at = from; (at = find_unescaped(text, "{", at)) != std::string::npos; ++at) {
    const Brace brace = brace_at(text, at);
    std::vector<std::pair<std::string, std::size_t>> replaced;
    for (const std::string_view one : brace.texts)
      replaced.emplace_back(text.substr(0, at) + std::string(one) + text.substr(brace.end), at);
    if (!replaced.empty()) return replaced;
  }
  return {};
}

}  // namespace

bool has_pattern(std::string_view text) { return find_unescaped(text, kSpecial) != std::string_view::npos; }

std::string as_pattern(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (c == '\\' || kSpecial.find(c) != std::string_view::npos || c == '}' || c == ',') pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    plain += text[i];
  }
  return plain;
}

// Each step replaces one brace of one text. Those that are done stay in their place among the others.
Result<std::vector<std::string>> without_braces(const std::string& pattern) {
  std::vector<std::string> done;
  std::vector<std::pair<std::string, std::size_t>> open{{pattern, 0}};  // the next one is the last
  while (!open.empty()) {
    const auto [text, from] = std::move(open.back());
    open.pop_back();
    auto replaced = with_first_brace_replaced(text, from);
    if (replaced.empty()) done.push_back(text);
    std::move(replaced.rbegin(), replaced.rend(), std::back_inserter(open));
    if (done.size() + open.size() > kAlternativesMax)
      return tfile::fail(ErrorKind::invalid,
                         "the braces expand to more than " + std::to_string(kAlternativesMax) + " patterns");
  }
  return done;
}

bool matches(const std::string& pattern, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) == 0;
}

std::vector<std::string> names_in(std::string_view path) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) names.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

Result<PathPattern> PathPattern::parse(const std::string& pattern) {
  TRY(const std::vector<std::string> alternatives, without_braces(pattern));
  PathPattern made;
  for (const std::string& one : alternatives) {
    std::vector<std::string> names = names_in(one);
    const auto is_twice = [](const std::string& a, const std::string& b) { return a == b && a == kAnyDirectories; };
    names.erase(std::unique(names.begin(), names.end(), is_twice), names.end());
    made.alternatives_.push_back(std::move(names));
  }
  return made;
}

namespace {

// The patterns of names that may come next, behind a part of a path.
class Places {
 public:
  explicit Places(const std::vector<std::string>& patterns) : patterns_(patterns), at_(patterns.size() + 1) {
    reach(0);
  }

  void go_on(const std::string& name) {
    const std::vector<bool> before = std::exchange(at_, std::vector<bool>(at_.size()));
    is_below_ |= before.back();
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
      if (!before[i]) continue;
      const bool is_any = patterns_[i] == kAnyDirectories;
      if (matches(is_any ? "*" : patterns_[i], name)) reach(is_any ? i : i + 1);
    }
  }

  PathFit fit() const { return {std::find(at_.begin(), at_.end() - 1, true) != at_.end() - 1, at_.back(), is_below_}; }

 private:
  void reach(std::size_t i) {
    at_[i] = true;
    if (i < patterns_.size() && patterns_[i] == kAnyDirectories) reach(i + 1);
  }

  const std::vector<std::string>& patterns_;
  std::vector<bool> at_;  // by pattern; the last one: behind all
  bool is_below_ = false;
};

}  // namespace

PathFit PathPattern::fit(std::string_view path) const {
  PathFit fit;
  if (alternatives_.empty()) fit.below = true;
  const std::vector<std::string> names = names_in(path);
  for (const std::vector<std::string>& patterns : alternatives_) {
    Places places(patterns);
    for (const std::string& name : names) places.go_on(name);
    const PathFit one = places.fit();
    fit.leads |= one.leads;
    fit.matches |= one.matches;
    fit.below |= one.below;
  }
  return fit;
}

PatternedPath split_at_pattern(std::string_view path) {
  const std::size_t first = find_unescaped(path, kSpecial);
  const std::size_t slash = first == std::string_view::npos ? first : path.substr(0, first).rfind('/');
  const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
  return {std::string(path.substr(0, begin)), std::string(path.substr(begin))};
}

}  // namespace tfilefs
