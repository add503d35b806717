// SPDX-License-Identifier: Apache-2.0
#include "repack/chain_source.h"

#include <algorithm>
#include <utility>

#include "path_name.h"
#include "repack/left_out_nodes.h"
#include "tfile/buffer.h"
#include "vfs/chain/chain_files.h"
#include "vfs/friends/chain_friends.h"
#include "vfs/names/names.h"
#include "view/friends/friend_table.h"
#include "waited.h"

namespace tfilefs {

ChainSource::ChainSource(const CacheOptions& options)
    : cache_(std::make_unique<ClusterCache>(options)), context_{*cache_, errors_, {}} {}

ChainSource::~ChainSource() {
  cache_->settle();
  named_streams_.reset();
  named_.reset();
  streams_.reset();
  joined_.reset();
  own_.reset();
  friend_states_.clear();
  table_ = nullptr;
  state_.reset();
  chain_.reset();
  context_.recent.clear();
  cache_.reset();
}

Result<std::unique_ptr<ChainSource>> ChainSource::open(const CacheOptions& options, std::vector<ChainName> files,
                                                       const std::string& table, const tfile::RemoteOptions& remote,
                                                       const WantedFriends& friends) {
  std::unique_ptr<ChainSource> source(new ChainSource(options));
  for (ChainName& file : files) {
    if (file.table.empty()) file.table = table;
  }
  source->chain_ = make_chain(source->context_, make_named_place(source->context_, std::move(files), remote),
                              ChainOptions(), "", ChainAbout(), source->sources_of(friends, remote));
  TRY(source->state_,
      waited<ChainStatePtr>([&](auto reply) { source->chain_->current(Freshness::now, std::move(reply)); }));
  if (source->state_->tables.empty()) return tfile::fail(ErrorKind::not_found, table + ": no readable table");
  source->table_ = &source->state_->tables.front();
  TRY_VOID(source->check_files());
  source->differences_ = source->table_->differences;
  if (!friends.named.empty()) TRY_VOID(source->join(friends));
  source->name_friends(friends.texts);
  TRY_VOID(source->take_own_table());
  return source;
}

std::vector<FriendSource> ChainSource::sources_of(const WantedFriends& friends, const tfile::RemoteOptions& remote) {
  std::vector<FriendSource> sources;
  for (const NamedFriend& each : friends.named) {
    auto place = make_named_place(context_, std::vector<std::string>{each.source}, remote);
    auto chain = make_chain(context_, std::move(place), ChainOptions(), std::string(kFriendsName) + "/" + each.alias);
    sources.push_back({each.alias, std::move(chain), each.key});
  }
  return sources;
}

namespace {

// Matched by position, a friend must have an entry for each of the table.
Result<> check_entries(const TableState& state, const tfile::Table& of) {
  const auto* shown = dynamic_cast<const FriendTable*>(&state.loaded->table());
  if (state.hidden || !shown || shown->own().entries >= of.entries) return {};
  return tfile::fail(ErrorKind::invalid, "has " + std::to_string(shown->own().entries) + " entries, the table has " +
                                             std::to_string(of.entries));
}

}  // namespace

Result<> ChainSource::join(const WantedFriends& wanted) {
  std::vector<JoinedTable::Part> parts{{"", table_->chained, table_->streams}};
  for (const NamedFriend& each : wanted.named) {
    const auto found = table_->shown->friends->find(each.alias);
    auto state = waited<TableStatePtr>([&](auto reply) { found->current(Freshness::now, std::move(reply)); });
    const bool may_be_of_another = !wanted.is_only_table && !state && state.error().kind == ErrorKind::unsupported;
    if (may_be_of_another) continue;
    Result<> fits;
    if (state && !wanted.is_only_table && (*state)->loaded->table().name != name_in_path(table_->path)) continue;
    if (state) fits = check_entries(**state, *table_->chained);
    if (!state || !fits) {
      Error error = !state ? std::move(state).error() : std::move(fits).error();
      error.text = "friend " + each.alias + ": " + error.text;
      return tl::unexpected<Error>(std::move(error));
    }
    friends_.push_back(each.alias);
    const LoadedTable& loaded = *(*state)->loaded;
    parts.push_back({each.alias, std::shared_ptr<const tfile::Table>(*state, &loaded.table()), loaded.streams()});
    friend_states_.push_back(*std::move(state));
  }
  if (parts.size() == 1) return {};
  joined_ = std::make_shared<const JoinedTable>(std::move(parts));
  streams_ = joined_streams(joined_);
  return {};
}

// The same friend may stand there twice: with its alias and "_" in front of the names, and as a record.
void ChainSource::name_friends(const FriendNamingTexts& texts) {
  const FriendsPtr friends = table_->shown->friends;
  if (!friends) return;
  std::vector<JoinedTable::Part> parts;
  if (joined_)
    parts.push_back({"", joined_, streams_});
  else
    parts.push_back({"", table_->chained, table_->streams});
  std::vector<bool> is_matched{false};
  for (const std::string& alias : friends_named(texts, *table_->chained, friends->aliases())) {
    auto found = waited<ShownFriends::Joined>([&](auto reply) { friends->joined(alias, std::move(reply)); });
    if (!found) {
      beside_.lost.emplace_back(alias, std::move(found).error().text);
      continue;
    }
    parts.push_back({alias, std::move(found->table), std::move(found->streams), false, true});
    is_matched.push_back(found->is_matched);
  }
  if (parts.size() == 1 && beside_.lost.empty()) return;
  named_ = std::make_shared<const JoinedTable>(std::move(parts));
  named_streams_ = joined_streams(named_);
  for (std::size_t i = 1; i < is_matched.size(); ++i) {
    beside_.records.push_back(named_->records()[i]);
    if (is_matched[i]) beside_.matched.push_back(named_->records()[i]);
  }
}

// If there is one file, its table says the same as the chain's, and for a wide one each takes tens of megabytes.
Result<> ChainSource::take_own_table() {
  if (state_->files.size() != 1 || joined_ || named_ || table_->paths[0].empty())
    return {};  // empty: it has no columns
  TRY(const GenerationPtr now,
      waited<GenerationPtr>([&](auto reply) { state_->files[0]->current(Freshness::recent, std::move(reply)); }));
  TRY(const TablePlace place, table_at(*now, table_->paths[0]));
  TRY(WholeTable whole, waited<WholeTable>([&](auto reply) { load_whole(now, place, std::move(reply)); }));
  auto hidden = nodes_left_out(whole.loaded->table(), *table_->chained);
  if (!hidden) return {};
  hidden_ = *std::move(hidden);
  own_ = std::move(whole.loaded);
  table_ = nullptr;
  state_.reset();
  chain_.reset();
  tfile::give_back_free_buffers();
  return {};
}

// A chain goes on without files that do not have the table. Here that would lose their entries.
Result<> ChainSource::check_files() const {
  for (std::size_t i = 0; i < state_->members.size(); ++i) {
    if (!table_->paths[i].empty()) continue;
    const ChainMember& file = state_->members[i];
    const auto is_meant = [&](const TableFacts& facts) {
      return facts.path == file.table || facts.original == file.table;
    };
    const auto found = std::ranges::find_if(file.facts->tables, is_meant);
    if (found == file.facts->tables.end())
      return tfile::fail(ErrorKind::not_found, file.name + ": no table " + file.table);
    if (found->entries != 0)
      return tfile::fail(ErrorKind::unsupported, file.name + ": no column of table " + file.table + " can be read");
  }
  return {};
}

}  // namespace tfilefs
