// SPDX-License-Identifier: Apache-2.0
#include "vfs/chain/chain_friends.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "tfile/name.h"
#include "vfs/chain/friend_place.h"
#include "vfs/names/names.h"

namespace tfilefs {
namespace {

using tfile::FriendName;

const FriendName* named_in(const TableFacts& facts, const std::string& alias) {
  const auto at = std::ranges::find(facts.friends, alias, &FriendName::alias);
  return at != facts.friends.end() ? &*at : nullptr;
}

}  // namespace

std::vector<FriendSource> friends_in_files(MountContext& context, const ChainState& state, const PlannedTable& plan,
                                           const std::string& path, ChainPolicy policy) {
  const auto files = static_cast<std::size_t>(std::ranges::count_if(plan.of_files, [](auto* of) { return of; }));
  std::vector<std::string> aliases;
  for (NamedInFiles& each : friends_named(plan)) {
    if (each.files == files)
      aliases.push_back(std::move(each.first.alias));
    else
      context.errors.add(path, "the friend " + each.first.alias + " is left out: only " + std::to_string(each.files) +
                                   " of " + std::to_string(files) + " trees name it");
  }
  const std::vector<std::string> shown =
      tfile::directory_names(std::vector<std::string_view>(aliases.begin(), aliases.end()));
  ChainOptions options;
  options.policy = policy;
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
    source.chain = std::make_shared<Chain>(context, make_friends_place(context, std::move(places)), options,
                                           path.substr(1) + "/" + std::string(kFriendsName) + "/" + shown[i]);
  }
  return sources;
}

}  // namespace tfilefs
