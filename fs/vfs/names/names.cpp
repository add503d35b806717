// SPDX-License-Identifier: Apache-2.0
#include "vfs/names/names.h"

#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "vfs/names/name_index.h"

namespace tfilefs {

std::uint64_t hash_of_name(std::string_view name) { return XXH3_64bits(name.data(), name.size()); }

bool is_reserved(std::string_view name) {
  constexpr std::string_view kReserved[] = {
      kControlName, kHeaderName,  kMapName,         kStreamerInfoName, kClassesName, kOriginalName, kSchemaName,
      kAwkwardName, kPendingName, kOptionIndexName, kAttributesName,   kFriendsName, kKeysName};
  return std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved);
}

std::optional<CycleName> parse_cycle(std::string_view name) {
  const std::size_t semicolon = name.rfind(';');
  if (semicolon == std::string_view::npos) return std::nullopt;
  const std::string_view digits = name.substr(semicolon + 1);
  CycleName result{name.substr(0, semicolon)};
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), result.cycle);
  if (error != std::errc() || end != digits.end() || digits.front() == '0') return std::nullopt;
  return result;
}

std::optional<LogAxes> parse_log_plot(std::string_view name) {
  constexpr std::string_view kBegin = "plot.log", kEnd = ".svg";
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd) || name.size() <= kBegin.size() + kEnd.size())
    return std::nullopt;
  name.remove_prefix(kBegin.size());
  name.remove_suffix(kEnd.size());
  LogAxes axes;
  for (const auto& [letter, axis] : {std::pair('x', &axes.x), std::pair('y', &axes.y), std::pair('z', &axes.z)}) {
    *axis = name.starts_with(letter);
    if (*axis) name.remove_prefix(1);
  }
  if (!name.empty()) return std::nullopt;
  return axes;
}

std::optional<std::string_view> without_suffix(std::string_view name, std::string_view suffix) {
  if (name.size() <= suffix.size() || !name.ends_with(suffix)) return std::nullopt;
  return name.substr(0, name.size() - suffix.size());
}

}  // namespace tfilefs
