// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "ntuple/anchor.h"
#include "ntuple/schema_records.h"
#include "tfile/file.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// The metadata of an RNTuple, without its page lists.
struct Description {
  HeaderRecords header;
  FooterRecords footer;  // groups in the order of their entries
  SchemaRecords schema;
};

// Whether the storage failed and may work the next time. All other errors come from damaged or unknown data.
bool is_of_storage(const Error&);

// Reads header and footer. Errors: unsupported (another epoch, an unknown feature); damaged; io. Blocks.
Result<Description> read_description(const Source& source, const Anchor&);

// The attribute sets of a key's RNTuple, as keys of tables that are in no directory. `anchor`: the decompressed payload
// of the key. A set with an unknown schema has a `reason`. Errors: as above. Blocks.
Result<DirectoryListing> list_attribute_sets(std::shared_ptr<const Source>, const KeyInfo& key,
                                             std::span<const std::byte> anchor);

}  // namespace tfile
