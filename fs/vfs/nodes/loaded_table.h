// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/cluster_cache.h"
#include "mutex.h"
#include "once.h"
#include "query/named_friends.h"
#include "query/query.h"
#include "summary/summarize_column.h"
#include "tfile/table.h"
#include "vfs/nodes/directory.h"
#include "view/column_lengths.h"
#include "view/columnar_form.h"
#include "view/known_ranges.h"

namespace tfilefs {

struct Generation;
struct MountContext;
class ErrorLog;
class KeptBits;
class ShownFriends;
using FriendsPtr = std::shared_ptr<const ShownFriends>;

// Answers with the size of a content once that is made.
Reply<std::shared_ptr<Content>> size_of(Reply<std::uint64_t>);

// To a table that nobody uses: that of its Once, and the one that was taken to look at it.
constexpr long kOwnReferences = 2;

// A table that was opened, its streams in the cache, and those of its views that take work to make. Const and
// thread-safe. `label`: the table that its reads are counted for. `origin`: of the file that it is read from. `ranges`:
// where it keeps what its Parquet files say of its columns.
class LoadedTable : public std::enable_shared_from_this<LoadedTable> {
 public:
  LoadedTable(std::shared_ptr<const tfile::Table>, ClusterCache&, TableLabel label,
              tfile::ServerId origin = tfile::kLocalOrigin, TableRanges ranges = {});
  // With the streams of another table, and perhaps its views.
  class KeptViews;
  LoadedTable(std::shared_ptr<const tfile::Table>, ClusterCache&, std::shared_ptr<CachedStreams>, std::string path = {},
              tfile::ServerId origin = tfile::kLocalOrigin, std::shared_ptr<KeptViews> = {},
              std::vector<std::string> chosen_by = {}, TableRanges ranges = {});

  const tfile::Table& table() const { return *table_; }
  const std::shared_ptr<CachedStreams>& streams() const { return streams_; }
  const std::string& path() const { return path_; }  // its label's
  // The expressions that chose its entries, one after the other.
  const std::vector<std::string>& chosen_by() const { return chosen_by_; }
  // Whether its entries or columns come from friends.
  bool uses_friends() const { return uses_friends_; }

  // Items of a column; known_length() answers only if neither storage nor decoding is needed.
  std::optional<std::int64_t> known_length(tfile::ColumnId) const;
  void length(tfile::ColumnId, Reply<std::int64_t>) const;

  // Stored bytes of a column: those of its stream, divided among its columns by decoded size (evenly as long as a size
  // is not known).
  std::uint64_t stored_bytes(tfile::ColumnId) const;
  // The stored size of all columns at a node and below.
  std::uint64_t stored_below(tfile::NodeId) const;

  // Directories of the table are listed, so all of them may be entered next: the first look into one looks into all.
  void expect_looks() const { ahead_ = kAllBranches; }

  // A table in which everything at this node and below is known, and the number of the node there: this table, one of
  // just this branch, or the whole one.
  struct Settled {
    std::shared_ptr<const LoadedTable> loaded;
    tfile::NodeId node = 0;
    const tfile::Table& table() const { return loaded->table(); }
  };
  void settled(tfile::NodeId, Reply<Settled>) const;

  // The same of an unresolved node, for those who ask for its directory. The first entries of its branch are read on
  // the first call.
  void resolve_branch(tfile::NodeId, Reply<Settled>) const;

  // The size of such a file, which is remembered longer than its content.
  void view_size(tfile::NodeId, ViewKind, StringsAs, Reply<std::uint64_t>) const;
  // The size, if the file was made before; never reads.
  std::optional<std::uint64_t> known_view_size(tfile::NodeId, ViewKind) const;

  // Branches that were tried, and nothing refers to now, are made again from what the trial has shown. Whether nothing
  // refers to the others either, nor to the whole table.
  bool release_idle() const;

  // Columns that are left out of views, with the reason, because the storage cannot be read to find out what they are.
  std::vector<std::pair<std::string, std::string>> unread() const;

  // A file made of a node: its content, made on the first call, and again if many others were made since. As long as a
  // part of the storage cannot be read, each call tries the storage again. Once more can be read, contents made before
  // are stale.
  void view(tfile::NodeId, ViewKind, StringsAs, Reply<std::shared_ptr<Content>>) const;

  // The lengths that the texts of the table say: those known without decoding when the first text was made, so that
  // each text is the same whenever it is made.
  using LengthsPtr = std::shared_ptr<const ColumnLengths>;
  void lengths_in_texts(Reply<LengthsPtr>) const;

  // The summary of a column's values: read on the first call, and then remembered.
  void summary(tfile::ColumnId, Reply<SummaryPtr>) const;

  // The ranges that all Parquet files of the table say of its columns; null: none.
  RangesByColumnPtr fixed_ranges() const { return ranges_.all ? ranges_.all->fixed(ranges_.table) : nullptr; }

  // The cut of `.where=CUT` and the expressions of `.draw=TEXT` (drawing_in_memory()), bound to the columns, here and
  // below also to those of friends, which are those of the table before entries were chosen of it: on a queue of their
  // own, for a wide table has many names, on the first call; then remembered, for the last ones. Errors: invalid (one
  // line, with the place in the text).
  void cut(const std::string& expression, const FriendsPtr&, Reply<Query>) const;
  void drawing(const std::string& text, const FriendsPtr&, Reply<Query>) const;

  // The entries of which any iteration of an expression is not 0, as a whole table: read on the first call, and then
  // remembered, for the last expressions. What of the table it does not have is said in `errors`, the first time.
  // Errors: those of choose_entries().
  void chosen(const std::string& expression, const FriendsPtr&, ErrorLog& errors,
              Reply<std::shared_ptr<const LoadedTable>>) const;

  // The table with further columns, which are computed; whole. What is no expression of its columns is left out, and
  // told to `leave_out`, with the reason, the first time. Without any it is this table.
  using LeaveOut = std::function<void(const std::string& name, const std::string& reason)>;
  void defined(const NamedExpressions&, const FriendsPtr&, LeaveOut, Reply<std::shared_ptr<const LoadedTable>>) const;
  // The column alone that one of its aliases stands for; the same of an alias that is no expression of the columns.
  void aliased(const tfile::TableAlias&, const FriendsPtr&, LeaveOut, Reply<std::shared_ptr<const LoadedTable>>) const;

  // The file in memory of what is drawn of the table (`text`: draw_object()), made on the first call, and then
  // remembered, for the last ones. Errors: those of draw_object().
  void drawn(MountContext&, const std::string& text, const Provenance& from, const FriendsPtr&,
             Reply<std::shared_ptr<const Generation>>) const;

  // The node below another whose ROOT branch name, escaped, is this one.
  std::optional<tfile::NodeId> find_branch(tfile::NodeId below, std::string_view escaped) const;

 private:
  using LoadedPtr = std::shared_ptr<const LoadedTable>;
  // More than a table has.
  static constexpr std::size_t kAllBranches = SIZE_MAX / 4;
  template <class Resolve>
  void look(Resolve, Reply<LoadedPtr>) const;
  void whole(Reply<LoadedPtr>) const;
  LoadedPtr keep(LoadedPtr whole) const;
  using ViewKey = std::pair<tfile::NodeId, ViewKind>;
  static std::uint64_t packed(ViewKey key) {
    return std::uint64_t{key.first} << 8 | static_cast<std::uint8_t>(key.second);
  }
  // The result of own_cut() and the like is of a whole table, perhaps beside friends; `of`: it without them.
  void own_cut(const std::string& expression, Reply<Query>) const;
  void own_drawing(const std::string& text, Reply<Query>) const;
  void own_chosen(const std::string& expression, const LoadedPtr& of, ErrorLog&, Reply<LoadedPtr>) const;
  using Bind = std::function<Result<Query>(const QueryScope&)>;
  void bound(const std::string& key, Bind, Reply<Query>) const;
  // Runs a job that looks at all names of the table, not while another one does.
  template <class T, class Job>
  void answer_binding(Job, Reply<T>) const;
  // The columns alone that expressions stand for, and those behind the columns of this table.
  Result<LoadedPtr> computed(const NamedExpressions&, const LeaveOut&, const std::stop_token&) const;
  Result<LoadedPtr> with_defined(const LoadedTable& of, const NamedExpressions&, const LeaveOut&,
                                 const std::stop_token&) const;
  // This whole table, and beside it those friends that the texts name. One that cannot be joined is missing, and an
  // expression that names it says why. `friends`: of the table before entries were chosen of it; null: none.
  void beside_friends(const FriendsPtr& friends, const FriendNamingTexts&, Reply<LoadedPtr>) const;
  struct Joining;
  void beside_named(const FriendsPtr&, std::vector<std::string> named, Reply<LoadedPtr>) const;
  void join_friends(Joining, Reply<LoadedPtr>) const;
  Result<LoadedPtr> with_friends(const Joining&) const;
  // next(table, of, reply), with this table beside friends, and it without them.
  template <class T, class Next>
  void with_named(const FriendsPtr&, FriendNamingTexts, Reply<T>, Next) const;
  template <class T>
  using ByText = std::deque<std::pair<std::string, Once<T>>>;
  void own_aliased(const tfile::TableAlias&, LeaveOut, Reply<LoadedPtr>) const;
  Once<LoadedPtr> once_made(const std::string& key) const;
  Once<Query> once_bound(const std::string& key) const;
  Once<std::shared_ptr<const Generation>> once_drawn(const std::string& text) const;
  void own_view(ViewKey, StringsAs, Reply<std::shared_ptr<Content>>) const;
  void note_made(ViewKey, const Content&) const;
  std::optional<std::uint64_t> noted_size(ViewKey) const;
  void drop_view(ViewKey) const;
  bool is_settled(tfile::NodeId) const;
  LoadedPtr known_whole() const;
  std::optional<Settled> known_settled(tfile::NodeId) const;
  tfile::NodeId same_node(const tfile::Table& whole, tfile::NodeId) const;

  ClusterCache& cache_;
  const std::shared_ptr<const tfile::Table> table_;
  const std::shared_ptr<CachedStreams> streams_;
  const std::string path_;
  const tfile::ServerId origin_;
  const std::vector<std::string> chosen_by_;
  const TableRanges ranges_;
  // These are set before the table is shared.
  bool uses_friends_ = false;
  FriendsBeside friends_beside_;
  std::vector<std::shared_ptr<const KeptBits>> kept_;  // what each of chosen_by_ has kept of those before

  std::vector<tfile::ColumnId> by_stream_;  // the columns in order of their streams

  // Built when a branch is first looked up: all nodes with a branch name, sorted by it, and the parent of each node.
  void index_branches() const;
  bool is_below(tfile::NodeId node, tfile::NodeId above) const;
  mutable std::once_flag branches_once_;
  mutable std::vector<tfile::NodeId> by_branch_;
  struct Above {
    tfile::NodeId parent = 0;
    std::uint32_t place = 0;  // among the children of the parent
  };
  mutable std::vector<Above> above_;  // of each node

  mutable Mutex mutex_{"LoadedTable::mutex_", "PieceCache::mutex_, Budget::mutex_"};
  const std::shared_ptr<KeptViews> kept_views_;  // of this table and of those resolved from it
  mutable std::map<ViewKey, Once<std::shared_ptr<Content>>> views_ GUARDED_BY(mutex_);  // those that are kept
  // The sizes of all that were made. A listing of a wide table asks for some ten thousand.
  mutable std::unordered_map<std::uint64_t, std::uint64_t> view_sizes_ GUARDED_BY(mutex_);
  mutable Once<LengthsPtr> lengths_in_texts_;
  mutable std::map<tfile::ColumnId, Once<SummaryPtr>> summaries_ GUARDED_BY(mutex_);
  mutable std::map<std::string, Once<LoadedPtr>> aliased_ GUARDED_BY(mutex_);  // by the alias
  mutable ByText<LoadedPtr> made_ GUARDED_BY(mutex_);                          // of this one, by key
  mutable ByText<Query> bound_ GUARDED_BY(mutex_);                             // the same
  mutable ByText<std::shared_ptr<const Generation>> drawn_ GUARDED_BY(mutex_);
  mutable std::map<tfile::NodeId, Once<LoadedPtr>> resolved_ GUARDED_BY(mutex_);
  mutable Once<LoadedPtr> whole_ GUARDED_BY(mutex_);
  mutable LoadedPtr unread_whole_ GUARDED_BY(mutex_);  // the last one, if something in it is unread
  mutable std::uint64_t wholes_ GUARDED_BY(mutex_) = 0;
  struct Making {
    explicit Making(std::uint64_t number_) : number(number_) {}
    const std::uint64_t number;
    std::atomic<bool> is_over = false;  // another one has taken its place
  };
  class UnreadContent;
  mutable std::shared_ptr<Making> making_;      // of a whole table with unread parts; set before the table is shared
  mutable std::atomic<std::size_t> ahead_ = 0;  // how many more branches the next trial tries
};

}  // namespace tfilefs
