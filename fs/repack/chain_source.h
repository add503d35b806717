// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cache/cluster_cache.h"
#include "error_log.h"
#include "query/named_friends.h"
#include "reply.h"
#include "tfile/source.h"
#include "vfs/chain/chain.h"
#include "vfs/names/chain_names.h"
#include "vfs/names/friend_names.h"
#include "vfs/nodes/loaded_table.h"
#include "view/friends/joined_table.h"

namespace tfilefs {

// Friends whose columns are joined to a table's.
struct WantedFriends {
  std::span<const NamedFriend> named = {};
  bool is_only_table = true;  // else a friend belongs to the table that is called as its own
  // Those that these name as ALIAS.NAME are for expressions alone; they may be friends that the tree names.
  FriendNamingTexts texts = {};
};

// The columns of a table that lies in one file or in many, and those of its friends, read through a cache of its own.
class ChainSource {
 public:
  // `table`: the name in those files that are named without one, with its directories. Blocks. Errors: as
  // Chain::current(); not_found (a file has no such table), unsupported (nothing in that of a file can be read); of a
  // friend, with its alias: those of TableFriend::current(), invalid (it has fewer entries).
  static Result<std::unique_ptr<ChainSource>> open(const CacheOptions&, std::vector<ChainName> files,
                                                   const std::string& table, const tfile::RemoteOptions&,
                                                   const WantedFriends& friends = {});
  ~ChainSource();
  ChainSource(const ChainSource&) = delete;
  ChainSource& operator=(const ChainSource&) = delete;

  const tfile::Table& table() const {
    if (own_) return own_->table();
    if (joined_) return *joined_;
    return *table_->chained;
  }
  // Nodes of it that are as if they were not there, with all below them. Ascending.
  const std::vector<tfile::NodeId>& hidden() const { return hidden_; }
  // The differences between the files; some columns may be left out.
  const std::vector<Difference>& differences() const { return differences_; }
  CachedStreams& streams() const {
    if (own_) return *own_->streams();
    if (joined_) return *streams_;
    return *table_->streams;
  }
  // The table that expressions may name: the table, and the friends that the texts name.
  const tfile::Table& named_table() const { return named_ ? *named_ : table(); }
  CachedStreams& named_streams() const { return named_ ? *named_streams_ : streams(); }
  const FriendsBeside& friends_beside() const { return beside_; }
  // The aliases of friends that the table has, and columns of them that it does not have.
  const std::vector<std::string>& friends() const { return friends_; }
  std::vector<std::string> left_out() const { return joined_ ? joined_->left_out() : std::vector<std::string>(); }

 private:
  ChainSource(const CacheOptions&);
  Result<> check_files() const;
  std::vector<FriendSource> sources_of(const WantedFriends&, const tfile::RemoteOptions&);
  Result<> join(const WantedFriends&);
  void name_friends(const FriendNamingTexts&);
  Result<> take_own_table();

  std::unique_ptr<ClusterCache> cache_;
  ErrorLog errors_;
  MountContext context_;
  std::shared_ptr<Chain> chain_;
  ChainStatePtr state_;
  const ChainedTable* table_ = nullptr;
  std::vector<Difference> differences_;
  std::shared_ptr<const LoadedTable> own_;  // of the only file, in place of the chain's; null: that is used
  std::vector<tfile::NodeId> hidden_;       // of own_
  std::vector<TableStatePtr> friend_states_;
  std::vector<std::string> friends_;
  std::shared_ptr<const JoinedTable> joined_;  // null: no friends
  std::shared_ptr<CachedStreams> streams_;     // of joined_
  std::shared_ptr<const JoinedTable> named_;   // null: expressions name no friends
  std::shared_ptr<CachedStreams> named_streams_;
  FriendsBeside beside_;  // in named_
};

}  // namespace tfilefs
