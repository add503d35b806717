// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "tfile/file.h"
#include "tfile/source.h"
#include "tfile/table.h"

namespace tfile {

// Whether a key of this class has an RNTuple's anchor, be it of a trial format.
bool is_ntuple(std::string_view class_name);

// The table of an RNTuple: `anchor` is the decompressed payload of its key. Reads header, footer and page lists through
// `edges`; pages are then found in `source`. What cannot be read (a trial format, another epoch, an unknown feature,
// damage of header or footer) gives a table with a `reason`; a page list that cannot be read loses its entries. Errors:
// io. Blocks.
Result<std::shared_ptr<const Table>> open_ntuple(std::shared_ptr<const Source> source,
                                                 std::shared_ptr<const Source> edges, const KeyInfo& key,
                                                 std::span<const std::byte> anchor);

}  // namespace tfile
