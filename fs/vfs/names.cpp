// SPDX-License-Identifier: Apache-2.0
#include "vfs/names.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <charconv>

#include "vfs/name_index.h"

namespace tfilefs {

std::uint64_t hash_of_name(std::string_view name) { return XXH3_64bits(name.data(), name.size()); }

std::optional<CycleName> parse_cycle(std::string_view name) {
  const std::size_t semicolon = name.rfind(';');
  if (semicolon == std::string_view::npos) return std::nullopt;
  const std::string_view digits = name.substr(semicolon + 1);
  CycleName result{name.substr(0, semicolon)};
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), result.cycle);
  if (error != std::errc() || end != digits.end() || digits.front() == '0') return std::nullopt;
  return result;
}

std::optional<std::string_view> without_suffix(std::string_view name, std::string_view suffix) {
  if (name.size() <= suffix.size() || !name.ends_with(suffix)) return std::nullopt;
  return name.substr(0, name.size() - suffix.size());
}

}  // namespace tfilefs
