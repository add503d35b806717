// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tfile/node.h"

namespace tfilefs {

// The framing of an Arrow IPC file (format version V5, https://arrow.apache.org/docs/format/Columnar.html): magic, the
// schema's message, one record batch's message and body, the end of stream, the footer.

// Dates are seconds and nanoseconds: timestamps since 1970, of no time zone and of UTC, in eight bytes.
struct ArrowField {
  enum class Kind : std::uint8_t { number, boolean, string, binary, list, fixed_list, record, seconds, nanoseconds };
  std::string name;  // UTF-8
  Kind kind = Kind::number;
  tfile::Dtype dtype = tfile::Dtype::u1;  // of number
  std::int32_t list_size = 0;             // of fixed_list
  bool nullable = false;
  std::vector<ArrowField> children;
};

struct ArrowNode {
  std::int64_t length = 0, nulls = 0;
};

struct ArrowBuffer {
  std::int64_t offset = 0, size = 0;  // bytes, within the body
};

inline constexpr std::uint64_t kArrowAlignment = 64;  // of buffers, and of the body in the file

// All bytes before the body: a multiple of kArrowAlignment, and of a page of memory where the size of the body is one.
// `body_size` is a multiple of kArrowAlignment, too.
struct ArrowHead {
  std::string bytes;
  std::int64_t batch_offset = 0;  // where the record batch's message begins
  std::int32_t batch_message_size = 0;
};
ArrowHead arrow_head(std::span<const ArrowField>, std::int64_t rows, std::span<const ArrowNode>,
                     std::span<const ArrowBuffer>, std::int64_t body_size);

// All bytes after the body.
std::string arrow_tail(std::span<const ArrowField>, const ArrowHead&, std::int64_t body_size);

}  // namespace tfilefs
