// SPDX-License-Identifier: Apache-2.0
#include "vfs/chain_friends.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "tfile/name.h"
#include "vfs/friend_place.h"
#include "vfs/names.h"

namespace tfilefs {
namespace {

using tfile::FriendName;

const FriendName* named_in(const TableFacts& facts, const std::string& alias) {
  const auto at = std::ranges::find(facts.friends, alias, &FriendName::alias);
  return at != facts.friends.end() ? &*at : nullptr;
}

// Aliases in the order in which they come first, and how many files name each.
std::vector<std::pair<std::string, std::size_t>> aliases_in(const PlannedTable& plan) {
  std::vector<std::pair<std::string, std::size_t>> aliases;
  std::map<std::string, std::size_t> known;
  for (const TableFacts* facts : plan.of_files) {
    if (!facts) continue;
    for (const FriendName& each : facts->friends) {
      if (&each != named_in(*facts, each.alias)) continue;
      const auto [at, is_new] = known.emplace(each.alias, aliases.size());
      if (is_new) aliases.emplace_back(each.alias, 0);
      ++aliases[at->second].second;
    }
  }
  return aliases;
}

}  // namespace

std::vector<FriendSource> friends_in_files(MountContext& context, const ChainState& state, const PlannedTable& plan,
                                           const std::string& path) {
  const auto files = static_cast<std::size_t>(std::ranges::count_if(plan.of_files, [](auto* of) { return of; }));
  std::vector<std::string> aliases;
  for (auto& [alias, count] : aliases_in(plan)) {
    if (count == files)
      aliases.push_back(std::move(alias));
    else
      context.errors.add(path, "the friend " + alias + " is left out: only " + std::to_string(count) + " of " +
                                   std::to_string(files) + " trees name it");
  }
  const std::vector<std::string> shown =
      tfile::directory_names(std::vector<std::string_view>(aliases.begin(), aliases.end()));
  std::vector<FriendSource> sources;
  for (std::size_t i = 0; i < aliases.size(); ++i) {
    FriendSource& source = sources.emplace_back();
    std::vector<FriendPlace> places;
    for (std::size_t file = 0; file < plan.of_files.size(); ++file) {
      const TableFacts* facts = plan.of_files[file];
      if (!facts) continue;
      places.push_back(
          {state.files[file], state.names[file].file, state.members[file].facts->from, *named_in(*facts, aliases[i])});
      source.first_entries.push_back(plan.table->first_entries()[file]);
    }
    source.alias = shown[i];
    source.chain = std::make_shared<Chain>(context, make_friends_place(context, std::move(places)), ChainOptions(),
                                           path.substr(1) + "/" + std::string(kFriendsName) + "/" + shown[i]);
  }
  return sources;
}

}  // namespace tfilefs
