// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mutex.h"
#include "once.h"
#include "vfs/chain/chain.h"
#include "vfs/chain/live_table.h"
#include "vfs/names/friend_source.h"
#include "vfs/nodes/loaded_table.h"

namespace tfilefs {

// A friend of a table in one state of that table: the friend's files may change. Thread-safe.
class TableFriend final : public LiveTable, public std::enable_shared_from_this<TableFriend> {
 public:
  // `of`: the table whose friend it is. `path`: of the friend in the mount, for messages.
  TableFriend(MountContext&, FriendSource, std::shared_ptr<const LoadedTable> of, std::string path);

  const std::string& alias() const { return source_.alias; }

  // Opens the friend, and matches its entries with those of the table, once for each state of its files. Errors, which
  // are logged with the friend's path: io (also for a file that is not there), those of opening and reading,
  // unsupported (a key that is no column), is_refusal() (an index that does not fit into memory).
  void current(Freshness, Reply<TableStatePtr>) const override EXCLUDES(mutex_);

 private:
  class Making;
  Error logged(Error) const;

  MountContext& context_;
  const FriendSource source_;
  const std::shared_ptr<const LoadedTable> of_;
  const std::string path_;

  mutable Mutex mutex_{"TableFriend::mutex_"};
  // The states of which it is made: of its own chain, and of those before it.
  mutable std::vector<ChainStatePtr> states_ GUARDED_BY(mutex_);
  mutable Once<TableStatePtr> made_ GUARDED_BY(mutex_);
};

// The friends of a table, by alias; each alias is there once. Const.
class TableFriends final : public LiveFriends, public std::enable_shared_from_this<TableFriends> {
 public:
  // `path`: of the table in the mount. Of sources with the same alias, the first is shown.
  TableFriends(MountContext&, const std::vector<FriendSource>&, const std::shared_ptr<const LoadedTable>& of,
               const std::string& path);
  std::shared_ptr<const LiveTable> find(std::string_view alias) const override;

  std::shared_ptr<const Directory> directory(MountContext&, const Provenance& from) const override;
  void find_column(MountContext&, std::string_view name, Reply<FoundEntry>) const override;
  std::vector<std::string> aliases() const override;
  void joined(std::string_view alias, Reply<Joined>) const override;

 private:
  std::vector<std::shared_ptr<const TableFriend>> all_;
};

// The friends of a table of a ROOT file: those that the tree names, and, in the file that was mounted, those that the
// user has named. Null: none.
std::shared_ptr<const ShownFriends> friends_in_file(const std::shared_ptr<const Generation>&,
                                                    const std::shared_ptr<const LoadedTable>&);

}  // namespace tfilefs
