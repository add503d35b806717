// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vfs/chain/chain_facts.h"
#include "view/chain/chain_schema.h"
#include "view/chain/chain_table.h"

namespace tfilefs {

// A file of a chain.
struct ChainMember {
  std::string name;   // as messages show it
  std::string table;  // the name of its table that is chained; empty: all that the files have in common
  FactsPtr facts;     // null: left out, see `reason`
  std::string reason;
};

// Stands for a table without columns; see PlannedTable::missing.
inline constexpr std::string_view kNothingInTable = "nothing in it";

// A table of a chain: what is known of it without its bytes.
struct PlannedTable {
  std::string path, title;
  std::vector<const TableFacts*> of_files;  // by file; null: the file does not have it, or nothing in it
  std::vector<std::string> missing;         // by file: why that is so; else empty
  std::vector<TableSchemaPtr> schemas;      // those that differ, in the order in which they come first
  std::shared_ptr<const ChainTable> table;
  std::vector<Difference> differences;
};

// A table that a chain does not show, since only some of its files have it.
struct LeftOutTable {
  std::string path;
  std::vector<std::size_t> without;  // numbers of the files that do not have it
};

struct ChainPlan {
  std::vector<PlannedTable> tables;
  std::vector<LeftOutTable> left_out;
};

// Plans the tables that a chain of these files has. A named table is the only one. Without a name, `common` has the
// tables that are in each file that has tables; `all` has those that are in any file. Errors: unsupported (under
// `strict`, a difference; the name of the file is in the text; or more entries than can be counted).
Result<ChainPlan> plan_chain(const std::vector<ChainMember>&, ChainPolicy);

// Whether each table that is named is in one of the files for which it is named. Error: not_found, with a file.
Result<> check_named_tables(const std::vector<ChainMember>&);

// The friends that trees of the files name, as the first of them does, and how many of the trees name each.
struct NamedInFiles {
  tfile::FriendName first;
  std::size_t files = 0;
};
std::vector<NamedInFiles> friends_named(const PlannedTable&);

// The text of .chain.json; and "files" in the schema of a table.
std::string chain_json(const std::vector<ChainMember>&, const ChainPlan&, ChainPolicy);
std::string files_json(const std::vector<ChainMember>&, const PlannedTable&);

// The differences between files, in a line for the error log; empty: there are none.
std::string differences_text(const PlannedTable&);
std::string missing_text(const std::vector<ChainMember>&, const PlannedTable&);

}  // namespace tfilefs
