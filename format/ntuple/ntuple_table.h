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

// Whether a key of this class has the anchor of an RNTuple, even in a trial format.
bool is_ntuple(std::string_view class_name);

// The table of an RNTuple. `anchor`: the decompressed payload of its key. Reads header, footer and page lists through
// `edges`; later, pages are read from `source`. An RNTuple that cannot be read (a trial format, another epoch, an
// unknown feature, damage of header or footer) gives a table with a `reason`. An unreadable page list means that its
// entries are lost. Errors: io. Blocks.
Result<std::shared_ptr<const Table>> open_ntuple(std::shared_ptr<const Source> source,
                                                 std::shared_ptr<const Source> edges, const KeyInfo& key,
                                                 std::span<const std::byte> anchor);

}  // namespace tfile
