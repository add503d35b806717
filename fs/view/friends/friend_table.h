// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "view/chain/chain_schema.h"
#include "view/chain/composed_table.h"

namespace tfilefs {

// How entries of a friend become entries of the table whose friend it is.
enum class FriendRows : std::uint8_t {
  same,  // the friend's own, from the first on; it may have fewer
  some,  // some of the friend's; only entries behind all others have none
  any,   // each has one or none: each column is a list of 0 or 1
};

// A friend as a table with as many entries as the one whose friend it is. `same` has the streams of the friend. It says
// what the columns are and where they come from; FriendStreams reads them. Const.
class FriendTable final : public ComposedTable {
 public:
  // `own`: the friend itself; whole. `of`: the table whose friend it is. Values of one of several classes are left out,
  // except of `same`: they are counted by tags, not by lists.
  FriendTable(std::shared_ptr<const tfile::Table> own, const tfile::Table& of, FriendRows);
  // A column that has fewer entries than its table, and how many of these are chosen.
  struct ShortColumn {
    tfile::ColumnId column = 0;
    std::int64_t entries = 0, chosen = 0;
  };
  // Entries that are chosen of a table, as a table like it. `clusters`: its own. `short_columns`: those that have an
  // item or a list for each of their entries, ascending. Values of one of several classes are left out.
  static std::shared_ptr<const FriendTable> of_chosen(std::shared_ptr<const tfile::Table> own, std::int64_t entries,
                                                      std::vector<std::int64_t> clusters,
                                                      std::vector<ShortColumn> short_columns = {});
  // `.match.i8`: the friend's entry of each entry, or -1.
  static std::shared_ptr<const FriendTable> of_matches(const tfile::Table& of);

  const tfile::Table& own() const { return *own_; }
  // Nodes that it does not have, with what they are: lists whose items are not decoded, and what cannot be read.
  const std::vector<std::pair<std::string, std::string>>& left_out() const { return left_out_; }
  const ItemSource& source(tfile::ColumnId id) const { return chained_[id].sources[0]; }
  std::size_t count_ids() const { return counted_.size(); }

  // The count that a CountId of chained() means.
  struct Counted {
    enum class Of : std::uint8_t { entries, matched, some_matched, items };
    Of of = Of::entries;
    std::int64_t matched = 0;          // of some_matched
    std::int64_t own_end = INT64_MAX;  // entries of the friend behind it have no items
    // For items: the friend's offsets columns that lead from entries to them, outermost first.
    std::vector<tfile::ColumnId> lists;
  };
  const Counted& counted(CountId id) const { return counted_[id]; }

  std::size_t stream_count() const override;
  tfile::StreamShape shape(tfile::StreamId) const override;
  tfile::EntryRange chunk_entries(tfile::ChunkKey) const override;
  std::vector<std::int64_t> lengths(tfile::StreamId) const override;
  std::vector<tfile::Sibling> siblings_of(tfile::StreamId) const override { return siblings; }

 private:
  explicit FriendTable(const tfile::Table& of);
  explicit FriendTable(std::shared_ptr<const tfile::Table> own) : own_(std::move(own)) {}
  void lay_out(FriendRows);
  void find_counted(const ChainSchema&, FriendRows);
  void find_short();
  const ShortColumn* short_column(tfile::ColumnId own) const;

  std::shared_ptr<const tfile::Table> own_;  // null: of_matches()
  bool has_own_streams_ = false;
  std::vector<ShortColumn> short_columns_;
  std::vector<Counted> counted_;
  std::vector<std::pair<std::string, std::string>> left_out_;
};

}  // namespace tfilefs
