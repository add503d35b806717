// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "container/payload_blocks.h"
#include "streamer/info/streamer_info.h"
#include "tfile/result.h"

namespace tfile {

// Contents of fewer bytes stay in memory: a reader of them decompresses a block, which has more.
inline constexpr std::size_t kLongArray = 1 << 20;

// Lets go of the contents of histograms and profiles in the payload of an object, wherever in it they are, that take
// kLongArray bytes or more: they are read by a PayloadReader. All other bytes are wanted. Gives how many these are;
// nothing if nothing is let go, or if they are more than File::kKeptOfLarge. Errors: of visit_object(), of the payload.
// Blocks.
Result<std::optional<std::uint64_t>> let_go_of_contents(const StreamerInfos&, std::string_view class_name,
                                                        SparsePayload&, std::uint32_t keylen);

}  // namespace tfile
