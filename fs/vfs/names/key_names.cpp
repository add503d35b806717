// SPDX-License-Identifier: Apache-2.0
#include "vfs/names/key_names.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "tfile/name.h"
#include "vfs/names/name_index.h"

namespace tfilefs {

KeyNames names_of_keys(std::span<const tfile::KeyInfo> keys) {
  KeyNames names;
  std::vector<std::uint32_t> newest_of(keys.size());  // by the first key of each name
  NameIndex index(keys.size());
  const auto original = [&](std::uint32_t i) { return keys[i].name; };
  std::vector<std::uint32_t> firsts;
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    const std::uint32_t first = index.add(i, original);
    if (first == i) {
      newest_of[i] = i;
      firsts.push_back(i);
      continue;
    }
    std::uint32_t& newest = newest_of[first];
    const bool newer = keys[i].cycle > keys[newest].cycle;
    names.older.push_back({first, newer ? std::exchange(newest, i) : i});
  }
  std::vector<std::string_view> originals;
  originals.reserve(firsts.size());
  for (const std::uint32_t first : firsts) {
    names.newest.push_back(newest_of[first]);
    originals.push_back(keys[newest_of[first]].name);
  }
  for (KeyNames::OlderCycle& cycle : names.older) cycle.newest = newest_of[cycle.newest];
  std::stable_sort(names.older.begin(), names.older.end());
  std::vector<std::string> shown = tfile::directory_names(originals);
  names.shown.resize(keys.size());
  for (std::size_t i = 0; i < names.newest.size(); ++i) names.shown[names.newest[i]] = std::move(shown[i]);
  return names;
}

}  // namespace tfilefs
