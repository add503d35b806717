// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tfile/table.h"

namespace tfilefs {

// A level around a value: the lists of an offsets column, or an array of so many elements.
struct ListLevel {
  std::optional<tfile::ColumnId> offsets;
  std::uint32_t size = 0;  // of an array
  bool is_match = false;   // the friend's entry of an entry, or none: it has no index
  friend bool operator==(const ListLevel&, const ListLevel&) = default;
};

// The column, or record, that a name in an expression stands for.
struct NamedColumn {
  enum class What : std::uint8_t { number, text, list, record };  // of a list only the size can be asked
  What what = What::number;
  tfile::ColumnId column = 0;     // of a text its characters, of a list its offsets, of a record none
  std::vector<ListLevel> levels;  // outermost first; of a text or list without its own
};

// Friends beside a table: each is a record that is called as its alias.
struct FriendsBeside {
  std::vector<tfile::NodeId> records = {};
  std::vector<tfile::NodeId> matched = {};  // of those that have no entry for some: their columns are optional
  std::vector<std::pair<std::string, std::string>> lost = {};  // those that cannot be joined, with the reason
};

// How many entries a column has: those of the table, or fewer, if it belongs to a branch that is shorter.
std::int64_t entries_of_column(const tfile::Table&, tfile::ColumnId);

// The columns of a table by the names that TTree::Draw takes: of branches and leaves, with their parents or without
// ("event.fTracks.fPx", "fTracks.fPx", "fPx"), and of columns as paths of a mount name them, with dots ("jets._0.pt").
// Pure.
class TableNames {
 public:
  explicit TableNames(const tfile::Table&, FriendsBeside friends = {});

  // The whole name counts more than its end, and that more than a name with parents left out; of several the first in
  // the table. Without its alias, a column of a friend counts less than those of the table. Null: there is none.
  const NamedColumn* find(std::string_view name) const;
  // The name that is most like this one; "" if none is.
  std::string nearest(std::string_view name) const;

  const tfile::Table& table() const { return table_; }
  // Why a name has no friend before its first dot that it would have; null: it would not.
  const std::pair<std::string, std::string>* lost_friend(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& lost_friends() const { return friends_.lost; }

 private:
  struct Named {
    std::vector<std::string> parts;
    std::string branch;  // its full name, if it differs
    bool is_of_friend = false;
    NamedColumn column;
  };
  class Walk;

  std::vector<std::uint32_t> that_may_be(std::string_view name, std::string_view last_part) const;

  const tfile::Table& table_;
  const FriendsBeside friends_;
  std::vector<Named> all_;  // in the order of the table
  std::vector<std::uint32_t> by_last_part_, by_branch_;
};

}  // namespace tfilefs
