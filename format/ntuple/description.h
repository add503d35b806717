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

// What an RNTuple says of itself, without its page lists.
struct Description {
  HeaderRecords header;
  FooterRecords footer;  // groups in the order of their entries
  SchemaRecords schema;
};

// Whether the storage failed, and may answer next time; else what is stored is damaged, or not understood.
bool is_of_storage(const Error&);

// Reads header and footer. Errors: unsupported (another epoch, a feature that is not known); damaged; io. Blocks.
Result<Description> read_description(const Source& source, const Anchor&);

// The attribute sets of the RNTuple behind a key, as keys of tables in no directory; `anchor`: its decompressed
// payload. A set of a schema that is not known has a `reason`. Errors: as above. Blocks.
Result<DirectoryListing> list_attribute_sets(std::shared_ptr<const Source>, const KeyInfo& key,
                                             std::span<const std::byte> anchor);

}  // namespace tfile
