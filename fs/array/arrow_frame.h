// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace tfilefs {

// The frame of messages in an Arrow IPC file (https://arrow.apache.org/docs/format/Columnar.html).
inline constexpr std::string_view kArrowMagic = "ARROW1";
inline constexpr std::uint32_t kArrowContinuation = 0xffffffff;

}  // namespace tfilefs
