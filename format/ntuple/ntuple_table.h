// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "tfile/file.h"
#include "tfile/range.h"
#include "tfile/result.h"
#include "tfile/source.h"
#include "tfile/table.h"

namespace tfile {

// Whether a key of this class has the anchor of an RNTuple, even in a trial format.
bool is_ntuple(std::string_view class_name);
bool is_trial_ntuple(std::string_view class_name);

// The table of an RNTuple. `anchor`: the decompressed payload of its key. Reads header, footer and page lists through
// `edges`; later, pages are read from `source`. An RNTuple that cannot be read (a trial format, another epoch, an
// unknown feature, damage of header or footer) gives a table with a `reason`. An unreadable page list means that its
// entries are lost. Errors: io. Blocks.
Result<std::shared_ptr<const Table>> open_ntuple(std::shared_ptr<const Source> source,
                                                 std::shared_ptr<const Source> edges, const KeyInfo& key,
                                                 std::span<const std::byte> anchor);

// A stretch of the file that belongs to an RNTuple, and its content: "header", "footer", "page list of clusters 0 to
// 4", or the name of the field whose page it is.
struct NtupleBlock {
  ByteRange range;
  bool is_page = false;
  std::string_view holds;
};

// Calls `see` for each block of the RNTuple with this anchor; the pages of a column come one after the other.
// Unreadable blocks are left out. Errors: io. Blocks.
Result<> each_block(std::shared_ptr<const Source>, std::span<const std::byte> anchor,
                    const std::function<void(const NtupleBlock&)>& see);

}  // namespace tfile
