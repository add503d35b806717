// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace tfilefs {

// Numbers of types and messages as in Arrow's Schema.fbs and Message.fbs, and the frame of messages in an IPC file
// (https://arrow.apache.org/docs/format/Columnar.html).
enum class ArrowType : std::uint8_t {
  integer = 2,
  floating = 3,
  utf8 = 5,
  boolean = 6,
  date = 8,
  time = 9,
  timestamp = 10,
  list = 12,
  record = 13,
  fixed_list = 16,
  duration = 18,
  large_binary = 19,
  large_utf8 = 20,
  large_list = 21,
  utf8_view = 24
};
enum class ArrowHeader : std::uint8_t { schema = 1, dictionary = 2, batch = 3 };

inline constexpr std::string_view kArrowMagic = "ARROW1";
inline constexpr std::uint32_t kArrowContinuation = 0xffffffff;

}  // namespace tfilefs
