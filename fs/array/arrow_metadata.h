// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "array/arrow.h"
#include "tfile/node.h"
#include "tfile/result.h"

namespace tfilefs {

// The metadata of an Arrow IPC file written by another program: pure functions over hostile bytes. Errors: damaged;
// unsupported (a type that columns do not have), with the field's name.

// A field. Times, dates and durations are shown as the integers that store them.
struct ArrowSourceField {
  enum class Kind : std::uint8_t { number, boolean, text, text_view, list, fixed_list, record };
  struct Dictionary {
    std::int64_t id = 0;
    tfile::Dtype index = tfile::Dtype::i4;
  };
  std::string name;
  Kind kind = Kind::number;
  tfile::Dtype dtype = tfile::Dtype::u1;  // of number
  bool wide = false;                      // offsets have 8 bytes, not 4
  std::uint32_t list_size = 0;            // of fixed_list
  std::optional<Dictionary> dictionary;   // the column holds indices, and a dictionary the values
  std::vector<ArrowSourceField> children;
};

// The place of a message, with its body behind it.
struct ArrowBlock {
  std::uint64_t offset = 0, metadata_size = 0, body_size = 0;
};

struct ArrowFooter {
  std::vector<ArrowSourceField> fields;
  std::vector<ArrowBlock> dictionaries, batches;
};
tfile::Result<ArrowFooter> parse_arrow_footer(std::span<const std::byte>);

enum class ArrowCodec : std::uint8_t { none, lz4, zstd };

// A record batch, or a dictionary: rows, and its arrays' nodes and buffers in the order of the fields, outer before
// inner.
struct ArrowBatch {
  std::optional<std::int64_t> dictionary;  // its id
  std::int64_t rows = 0;
  std::vector<ArrowNode> nodes;            // no length is negative
  std::vector<ArrowBuffer> buffers;        // no size or offset is negative
  std::vector<std::int64_t> view_buffers;  // for each array of views, how many buffers follow it
  ArrowCodec codec = ArrowCodec::none;
};
// `message`: the range that its block gives, with its frame.
tfile::Result<ArrowBatch> parse_arrow_batch(std::span<const std::byte> message);

// The end of a file: the length of the footer (i4) and the magic. And its beginning.
inline constexpr std::size_t kArrowEndSize = 10, kArrowBeginSize = 8;
bool begins_as_arrow(std::span<const std::byte> begin);
std::optional<std::uint32_t> arrow_footer_size(std::span<const std::byte> end);  // nothing: not a whole Arrow file

}  // namespace tfilefs
