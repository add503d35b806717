// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "ntuple/description.h"
#include "ntuple/field_nodes.h"
#include "ntuple/page_table.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// Reads the page lists of all cluster groups, a few megabytes per call. A damaged list means that its entries are lost.
// Errors: of the storage; damaged (more than any RNTuple has). Blocks.
Result<PageTable> read_page_lists(std::shared_ptr<const Source> file, std::uint64_t max_key_size, const Description&,
                                  const FieldNodes&);

}  // namespace tfile
