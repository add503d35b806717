// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "mutex.h"
#include "vfs/nodes/directory.h"
#include "vfs/nodes/generation.h"
#include "vfs/nodes/shown_friends.h"

namespace tfilefs {

class LoadedTable;
class LiveFriends;

// Directories of a table that were entered, as long as they are in use. Thread-safe.
class EnteredDirectories {
 public:
  using Key = std::pair<bool, tfile::NodeId>;  // whether of the hidden columns, node
  template <class Make>
  std::shared_ptr<const Directory> get(const Key& key, Make make) EXCLUDES(mutex_) {
    {
      const Lock lock(mutex_);
      if (auto known = known_[key].lock()) return known;
    }
    std::shared_ptr<const Directory> made = make();
    const Lock lock(mutex_);
    known_[key] = made;
    return made;
  }

 private:
  Mutex mutex_{"EnteredDirectories::mutex_"};
  std::map<Key, std::weak_ptr<const Directory>> known_ GUARDED_BY(mutex_);
};

struct TableState;

// States of the tables that are made of it, as long as they are in use. Thread-safe.
class MadeStates {
 public:
  // The one of this table, or else the one that make() gives.
  template <class Make>
  std::shared_ptr<const TableState> get(const std::shared_ptr<const LoadedTable>& table, Make make) EXCLUDES(mutex_) {
    const Lock lock(mutex_);
    std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
    std::weak_ptr<const TableState>& known = known_[table.get()];
    std::shared_ptr<const TableState> state = known.lock();
    if (!state) known = state = make();
    return state;
  }

 private:
  Mutex mutex_{"MadeStates::mutex_"};
  std::map<const LoadedTable*, std::weak_ptr<const TableState>> known_ GUARDED_BY(mutex_);
};

// One state of a table that is made of other files than the one it is in: a table of a chain, a friend.
struct TableState {
  std::uint64_t serial = 0;                   // next_state()
  std::shared_ptr<const LoadedTable> loaded;  // its columns
  std::shared_ptr<const LoadedTable> hidden;  // columns that are found by name alone, with a dot in front; or null
  Provenance from;
  Xattrs xattrs;
  std::shared_ptr<const LiveFriends> friends;                 // null: none
  std::shared_ptr<const LiveFriends> friends_in_expressions;  // of the table before entries were chosen of it
  mutable EnteredDirectories entered;
  mutable MadeStates made;
};
using TableStatePtr = std::shared_ptr<const TableState>;

// A number that no other state in this process has, from 1.
std::uint64_t next_state();

// Such a table through all changes of its files.
class LiveTable {
 public:
  virtual ~LiveTable() = default;
  // Errors: those of looking at its files; not_found, if it is there no more.
  virtual void current(Freshness, Reply<TableStatePtr>) const = 0;
};

// The friends of such a table. Const.
class LiveFriends : public ShownFriends {
 public:
  virtual std::shared_ptr<const LiveTable> find(std::string_view alias) const = 0;  // null: none
};

// A state as the mount shows it: shape_table(). `path`: of the table in the mount.
void shape_state(MountContext&, TableStatePtr, const std::string& path, Reply<TableStatePtr>);

// The nodes of such a table, and the files made of them, in one state of it; node 0 is the table. What is entered is of
// the state that is now; a file of an older state is opened no more (stale), and those that are open go on as far as
// their files have not changed. It is for the user who mounts, and root: others would have to be asked for by each
// file.
std::shared_ptr<const Vnodes> make_live_table(MountContext&, std::shared_ptr<const LiveTable>, TableStatePtr);

}  // namespace tfilefs
