// SPDX-License-Identifier: Apache-2.0
#include "repack/name_filter.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "letter_case.h"
#include "told_names.h"
#include "vfs/names/path_pattern.h"
#include "word_distance.h"

namespace tfilefs {
namespace {

// The parts between commas that are not inside of braces.
std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : list) {
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (c == ',' && depth <= 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  std::erase(parts, "");
  return parts;
}

Result<std::vector<std::string>> patterns_of(const std::vector<std::string>& lists) {
  std::vector<std::string> patterns;
  for (const std::string& list : lists) {
    for (const std::string& part : split(list)) {
      TRY(std::vector<std::string> plain, without_braces(part));
      std::ranges::move(plain, std::back_inserter(patterns));
    }
  }
  return patterns;
}

bool matches_any(const std::vector<std::string>& patterns, const std::string& name) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) { return matches(pattern, name); });
}

}  // namespace

Result<NameFilter> NameFilter::parse(const std::vector<std::string>& taken, const std::vector<std::string>& dropped) {
  NameFilter filter;
  TRY(filter.taken_, patterns_of(taken));
  TRY(filter.dropped_, patterns_of(dropped));
  return filter;
}

bool NameFilter::takes(const std::string& name) const {
  return (taken_.empty() || matches_any(taken_, name)) && !matches_any(dropped_, name);
}

std::vector<std::string> NameFilter::idle(std::span<const std::string> names) const {
  std::vector<std::string> found;
  for (const std::vector<std::string>* patterns : {&taken_, &dropped_}) {
    for (const std::string& pattern : *patterns) {
      if (std::ranges::none_of(names, [&](const std::string& name) { return matches(pattern, name); }))
        found.push_back(pattern);
    }
  }
  return found;
}

std::string meant_name(const std::string& pattern, std::span<const std::string> names) {
  const std::string small = lower_case(pattern);
  const auto meant =
      std::ranges::find_if(names, [&](const std::string& name) { return matches(small, lower_case(name)); });
  if (meant != names.end()) return ", did you mean " + *meant + "?";
  // Each comparison takes the product of the lengths.
  constexpr std::size_t kNameSizeMax = 64, kNamesMax = 20'000;
  NearestName nearest(small, std::max<std::size_t>(1, small.size() / 3));
  for (std::size_t i = 0; i < std::min(names.size(), kNamesMax) && small.size() <= kNameSizeMax; ++i)
    if (names[i].size() <= kNameSizeMax) nearest.look_at(lower_case(names[i]), names[i]);
  if (!nearest.found().empty()) return ", did you mean " + nearest.found() + "?";
  ToldNames told(8);
  std::set<std::string_view> seen;  // a column has the name of its branch, and tables share names
  for (const std::string& name : names)
    if (seen.insert(name).second) told.add(name);
  return told.size() == 0 ? "" : "; there are " + told.text();
}

}  // namespace tfilefs
