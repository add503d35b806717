// SPDX-License-Identifier: Apache-2.0
#include "vfs/chain/named_chains.h"

#include <algorithm>
#include <utility>

#include "vfs/names/path_pattern.h"

namespace tfilefs {

std::optional<std::string> pattern_of_chain(std::string_view name) {
  constexpr std::string_view kName = ".chain";
  if (name == kName) return "";
  if (!name.starts_with(kName) || name.size() <= kName.size() + 1 || name[kName.size()] != '=') return std::nullopt;
  return std::string(name.substr(kName.size() + 1));
}

Result<ChainedNames> ChainedNames::of(const std::string& pattern) {
  ChainedNames names;
  if (pattern.empty()) return names;
  TRY(names.patterns_, without_braces(pattern));
  return names;
}

bool ChainedNames::has(const std::string& name) const {
  if (patterns_.empty()) return name.ends_with(".root") && !name.starts_with('.');
  return std::ranges::any_of(patterns_, [&](const std::string& each) { return matches(each, name); });
}

std::shared_ptr<Chain> NamedChains::get(const std::string& path, const std::function<std::shared_ptr<Chain>()>& make) {
  const Lock lock(mutex_);
  std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
  std::weak_ptr<Chain>& known = known_[path];
  if (auto chain = known.lock()) return chain;
  auto made = make();
  known = made;
  return made;
}

}  // namespace tfilefs
