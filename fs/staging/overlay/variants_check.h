// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reply.h"

namespace tfilefs {

struct StagedColumn;

// The findings in the staged tags and index of a variant, whose items are the variants: one per entry, or per item of
// a list.
struct VariantsSeen {
  std::uint64_t index_file = 0;       // StagedNode::identity of the index
  std::uint64_t base = 0;             // bytes of the tags that were committed
  std::uint64_t tags = 0, index = 0;  // bytes of the files up to which it was looked
  struct Alternative {
    std::uint8_t tag = 0;               // as stored: above 127 it is negative
    std::int64_t at = 0;                // the first item that has the tag
    std::int64_t first = 0, next = 0;   // its index, and one more than that of the last
    std::optional<std::int64_t> wrong;  // the first item whose index is not one more than that of the one before it
    std::int64_t wanted = 0;            // the index that it should have
  };
  std::vector<Alternative> alternatives;  // whose tags there are, but for 0
};

// Continues from what was seen, if these files have only grown since. Blocks. Errors: io.
Result<VariantsSeen> look_at_variants(const StagedColumn& tags, const StagedColumn& index, VariantsSeen seen);

// Says that this variant should have item number `wanted` of its alternative.
std::string wrong_index(const StagedColumn& tags, std::int64_t variant, std::int64_t wanted);

// The number of variants before the first staged one that has the tag and an index of `items` or more; all, if there
// is none. Blocks. Errors: io.
Result<std::int64_t> variants_within(const StagedColumn& tags, const StagedColumn& index, std::uint8_t tag,
                                     std::int64_t items);

// For the first `variants` variants: how many items each alternative then has, by its tag from 1 to `alternatives`;
// nothing for those that no staged one holds. Blocks. Errors: io.
Result<std::vector<std::optional<std::int64_t>>> items_of_alternatives(const StagedColumn& tags,
                                                                       const StagedColumn& index, std::int64_t variants,
                                                                       std::size_t alternatives);

}  // namespace tfilefs
