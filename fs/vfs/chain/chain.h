// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mutex.h"
#include "vfs/chain/chain_index.h"
#include "vfs/chain/chain_plan.h"
#include "vfs/chain/live_table.h"
#include "vfs/names/chain_names.h"
#include "vfs/names/chain_options.h"
#include "vfs/nodes/generation.h"
#include "view/chain/chain_streams.h"

namespace tfilefs {

// The place of the files of a chain. Both functions block.
class ChainPlace {
 public:
  virtual ~ChainPlace() = default;
  // The files as they are now, in order. Errors: those of reading directories.
  virtual Result<std::vector<ChainName>> list() const = 0;
  // The file of a name. `path`: of it in the mount, for messages.
  virtual Result<std::shared_ptr<MountedFile>> file(const std::string& name, std::string path) const = 0;
};

// The files that these names stand for (chain_names()), local ones and URLs.
std::unique_ptr<const ChainPlace> make_named_place(MountContext&, std::vector<std::string> names, tfile::RemoteOptions);
std::unique_ptr<const ChainPlace> make_named_place(MountContext&, std::vector<ChainName> names, tfile::RemoteOptions);

class OpenChainFiles;

// A table of a chain, in one state of it.
struct ChainedTable {
  std::string path;
  TableStatePtr shown;  // hidden in it are .file.u4 and .entry.i8
  std::shared_ptr<const ChainTable> chained;
  std::shared_ptr<ChainStreams> streams;
  std::vector<std::string> paths;  // by file: of the table in it
  std::vector<Difference> differences;
};

// One state of a chain, which stays consistent: when one of its files changes, or another joins, a new one takes its
// place.
struct ChainState {
  std::uint64_t serial = 0;  // next_state()
  std::vector<ChainName> names;
  std::vector<ChainMember> members;                 // by name
  std::vector<std::shared_ptr<MountedFile>> files;  // by name
  std::vector<ChainedTable> tables;
  std::string json;
  Provenance from;                                      // of all: the newest times
  std::vector<std::shared_ptr<OpenChainFiles>> opened;  // by table
  std::uint64_t indexed = 0;                            // of one that is as the index says: learned() of it; else 0

  // How much is known of it: another number when more was learned.
  std::uint64_t learned() const;
  const ChainedTable* table(const std::string& path) const;
};
using ChainStatePtr = std::shared_ptr<const ChainState>;

// The friends of a table of a chain, in one state of its files; null: it has none. Rooms above this one know what they
// are.
using FriendsOfTable = std::function<std::shared_ptr<const LiveFriends>(const ChainState&, const PlannedTable&,
                                                                        const std::shared_ptr<const LoadedTable>&)>;

// Many files as one, through all their changes. Thread-safe.
class Chain : public std::enable_shared_from_this<Chain> {
 public:
  // `path`: in the mount; empty for its root. `friends`: null if its tables have none.
  Chain(MountContext&, std::unique_ptr<const ChainPlace>, ChainOptions, std::string path, FriendsOfTable friends,
        ChainAbout about = {});

  // The state now; opens what is new or has changed. With `recent` it answers at once if the files were looked at a
  // moment ago; in a chain of many files a look is recent for longer, and `now` accepts one that is not much older than
  // the request. Errors: those of ChainPlace, of opening a file (with its name), and of plan_chain().
  void current(Freshness, Reply<ChainStatePtr>) EXCLUDES(mutex_);
  ChainStatePtr known() const EXCLUDES(mutex_);  // null: none yet

  // Writes what is known of the files into the index, if there is one and more is known than it says. Blocks.
  void save() EXCLUDES(mutex_);

  MountContext& context() const { return context_; }
  const std::string& path() const { return path_; }
  const ChainAbout& about() const { return about_; }

 private:
  class Look;
  using Clock = std::chrono::steady_clock;
  // The path in the mount of file number `i`.
  std::string path_of(std::size_t i, const std::string& name) const;
  std::vector<IndexedFile> to_index(const ChainState&) const;
  void start_look() EXCLUDES(mutex_);
  void finish_look(Result<ChainStatePtr>, Clock::duration took) EXCLUDES(mutex_);

  // Looking at all files takes no more than this share of the time, however many there are.
  static constexpr int kLookShare = 20;
  static constexpr std::chrono::seconds kHoldsMax{10};

  MountContext& context_;
  const std::unique_ptr<const ChainPlace> place_;
  const ChainOptions options_;
  const std::string path_;
  const ChainAbout about_;
  const FriendsOfTable friends_;
  SchemaSet schemas_;
  std::uint64_t saved_ = 0;  // the state, and how much was known of it, when the index was written

  mutable Mutex mutex_{"Chain::mutex_"};
  ChainStatePtr state_ GUARDED_BY(mutex_);
  Clock::time_point looked_at_ GUARDED_BY(mutex_);
  Clock::duration holds_for_ GUARDED_BY(mutex_){};  // how long that look is as good as one now
  bool looking_ GUARDED_BY(mutex_) = false;
  std::vector<Reply<ChainStatePtr>> asked_ GUARDED_BY(mutex_);    // wait for the look that is under way
  std::vector<Reply<ChainStatePtr>> waiters_ GUARDED_BY(mutex_);  // wait for the next one
};

// The number and name of a file of a chain as a directory entry: "000017-run3.root".
std::string numbered_name(std::size_t number, const std::string& name);

}  // namespace tfilefs
