// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "cache/cluster_cache.h"
#include "mutex.h"
#include "once.h"
#include "tfile/table.h"
#include "vfs/directory.h"
#include "view/columnar_form.h"

namespace tfilefs {

// A table that was opened, its streams in the cache, and the views of it whose making takes work. Const and
// thread-safe. `label`: what its reading is counted as.
class LoadedTable {
 public:
  LoadedTable(std::shared_ptr<const tfile::Table>, ClusterCache&, TableLabel label);

  const tfile::Table& table() const { return *table_; }
  const std::shared_ptr<const tfile::Table>& shared_table() const { return table_; }
  const std::shared_ptr<CachedStreams>& streams() const { return streams_; }

  // Items of a column; the first answers only where neither storage nor decoding is needed.
  std::optional<std::int64_t> known_length(tfile::ColumnId) const;
  void length(tfile::ColumnId, Reply<std::int64_t>) const;

  // Bytes that a column takes in the file: those of its stream, shared out by decoded size (evenly where a size is not
  // known yet).
  std::uint64_t stored_bytes(tfile::ColumnId) const;

  // A file made of a node: its content when it was first asked for.
  void view(tfile::NodeId, Form, StringsAs, Reply<std::shared_ptr<Content>>) const;

  // The node of which this is ROOT's branch name, escaped, anywhere below another.
  std::optional<tfile::NodeId> find_branch(tfile::NodeId below, std::string_view escaped) const;

 private:
  using TextMaker = void (*)(std::shared_ptr<CachedStreams>, std::shared_ptr<const tfile::Table>, Reply<std::string>);
  void make_text(TextMaker, Reply<std::shared_ptr<Content>>) const;

  ClusterCache& cache_;
  const std::shared_ptr<const tfile::Table> table_;
  const std::shared_ptr<CachedStreams> streams_;

  // The columns of stream s: stream_columns_[stream_begin_[s] .. stream_begin_[s + 1]).
  std::vector<std::uint32_t> stream_begin_;
  std::vector<tfile::ColumnId> stream_columns_;

  // Made when a branch is first looked for: all nodes with a branch name, sorted by it, and the parent of each node.
  void index_branches() const;
  bool is_below(tfile::NodeId node, tfile::NodeId above) const;
  mutable std::once_flag branches_once_;
  mutable std::vector<tfile::NodeId> by_branch_, parents_;

  mutable Mutex mutex_;
  mutable std::map<std::pair<tfile::NodeId, Form>, Once<std::shared_ptr<Content>>> views_ GUARDED_BY(mutex_);
};

}  // namespace tfilefs
