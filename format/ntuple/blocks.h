// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "tfile/range.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

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
