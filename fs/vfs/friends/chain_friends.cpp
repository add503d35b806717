// SPDX-License-Identifier: Apache-2.0
#include "vfs/friends/chain_friends.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "tfile/name.h"
#include "vfs/friends/friend_place.h"
#include "vfs/friends/table_friends.h"
#include "vfs/names/names.h"

namespace tfilefs {
namespace {

using tfile::FriendName;

const FriendName* named_in(const TableFacts& facts, const std::string& alias) {
  const auto at = std::ranges::find(facts.friends, alias, &FriendName::alias);
  return at != facts.friends.end() ? &*at : nullptr;
}

// The friends that the trees of a chain's table name, each of them in all files: the friend of the chain is made of
// those of its files, each beside the entries of its own. Looks at no file. `path`: of the table in the mount.
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
    source.chain = make_chain(context, make_friends_place(context, std::move(places)), options,
                              path.substr(1) + "/" + std::string(kFriendsName) + "/" + shown[i]);
  }
  return sources;
}

FriendsOfTable friends_of_chain(MountContext& context, ChainPolicy policy, std::vector<FriendSource> named) {
  return [&context, policy, named = std::move(named)](
             const ChainState& state, const PlannedTable& plan,
             const std::shared_ptr<const LoadedTable>& of) -> std::shared_ptr<const LiveFriends> {
    std::vector<FriendSource> sources = named;
    std::ranges::move(friends_in_files(context, state, plan, of->path(), policy), std::back_inserter(sources));
    if (sources.empty()) return nullptr;
    return std::make_shared<const TableFriends>(context, sources, of, of->path());
  };
}

}  // namespace

std::shared_ptr<Chain> make_chain(MountContext& context, std::unique_ptr<const ChainPlace> place,
                                  const ChainOptions& options, std::string path, ChainAbout about,
                                  std::vector<FriendSource> friends) {
  auto of_tables = friends_of_chain(context, options.policy, std::move(friends));
  return std::make_shared<Chain>(context, std::move(place), options, std::move(path), std::move(of_tables),
                                 std::move(about));
}

}  // namespace tfilefs
