// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "vfs/chain_facts.h"
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

// A table of a chain: what is known of it without its bytes.
struct PlannedTable {
  std::string path, title;
  std::vector<const TableFacts*> of_files;  // by file; null: the file does not have it, or nothing in it
  std::vector<TableSchemaPtr> schemas;      // those that differ, in the order in which they come first
  std::shared_ptr<const ChainTable> table;
  std::vector<Difference> differences;
};

// Which tables a chain of these files has, and how. A named table is the only one. Without a name, `common` has the
// tables that are in each file that has tables; `all` has those that are in any file. Errors: unsupported (under
// `strict`, a difference; the name of the file is in the text; or more entries than can be counted).
Result<std::vector<PlannedTable>> plan_chain(const std::vector<ChainMember>&, ChainPolicy);

// What .chain.json says; and "files" in the schema of a table.
std::string chain_json(const std::vector<ChainMember>&, const std::vector<PlannedTable>&, ChainPolicy);
std::string files_json(const std::vector<ChainMember>&, const PlannedTable&);

}  // namespace tfilefs
