// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "vfs/chain/chain_facts.h"

namespace tfilefs {

// A chain's knowledge of its files, in a file of its own: a later mount opens no file that has not changed. It
// ends with a checksum of what comes before, and takes the place of the one before as a whole. Equal schemas are in it
// once.
struct IndexedFile {
  std::string name, table;  // as in ChainName; of a URL without what gives access
  FactsPtr facts;
};

// Blocks. Errors: not_found; damaged (another file, or one that was cut: to be made anew); invalid (no regular file);
// denied (others than the user and root may have written it); those of reading.
Result<std::vector<IndexedFile>> read_index(const std::string& path, SchemaSet&);
// Blocks. Errors: invalid (there is something else at that place); those of writing.
Result<> write_index(const std::string& path, const std::vector<IndexedFile>&);

}  // namespace tfilefs
