// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vfs/chain/chain_files.h"
#include "view/chain/table_schema.h"

namespace tfilefs {

// A chain's knowledge of a table of a file.
struct TableFacts {
  std::string path, original;  // as TablePlace
  std::string title;
  std::string reason;     // why it cannot be read; else empty
  TableSchemaPtr schema;  // null for a table that cannot be read, or has no columns
  std::int64_t entries = 0;
  std::vector<std::int64_t> clusters;
  std::vector<std::uint64_t> stored;       // bytes, by column
  std::vector<std::int64_t> lengths;       // items, by column; -1 where they are not known. Empty: none is
  std::vector<tfile::FriendName> friends;  // that it names
  bool has_index = false;                  // as Table::has_index; of an indexed file (chain_index.h) not known
};

// A chain's knowledge of a file, in one state of it.
struct FileFacts {
  tfile::Identity identity;
  Provenance from;
  std::string uuid;  // that the file gives itself
  std::vector<TableFacts> tables;
};
using FactsPtr = std::shared_ptr<const FileFacts>;

// Whether a table that was opened is the one that these facts are of. They may come from an index, and a server may
// send another table under the same identity.
bool holds(const TableFacts&, const LoadedTable&);

// The store of the schemas of files' tables.
struct KeptSchemas {
  SchemaSet& set;
  bool are_shared = false;  // with the tables, which stay open for them
};

// Opens the file, if it is not open, and all its tables; or only the one with this name in the file. Errors: those of
// opening.
void read_facts(MountContext&, MountedFile&, std::string table, KeptSchemas, Reply<FactsPtr>);

}  // namespace tfilefs
