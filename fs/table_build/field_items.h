// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "reply.h"
#include "tfile/buffer.h"
#include "tfile/range.h"
#include "tfile/writer.h"

namespace tfilefs {

// The nesting of a field's columns, each after the lists and variants around it.
struct FieldNesting {
  std::vector<std::uint32_t> lists;          // as FieldForm::lists
  std::vector<tfile::VariantPart> variants;  // as FieldForm::variants
};

// The items of each column of a field in some entries: `Items`, found from the outermost column inward.
template <class Items>
struct NestedItems {
  // `of_entries`: of columns that lie in no list or variant.
  NestedItems(const FieldNesting& of_field, Items of_entries)
      : nesting(of_field), entries(of_entries), inside(nesting.lists.size()), alternatives(inside.size()) {
    for (std::size_t i = 0; i < inside.size(); ++i)
      alternatives[i].resize(variant_part(nesting.variants, i).alternatives);
  }
  bool is_outermost(std::size_t column) const { return nesting.lists[column] == tfile::FieldForm::kEachEntry; }
  const Items& of(std::size_t column) const {
    if (is_outermost(column)) return entries;
    const std::uint8_t tag = variant_part(nesting.variants, column).tag;
    return tag == 0 ? inside[nesting.lists[column]] : alternatives[nesting.lists[column]][tag - 1U];
  }

  const FieldNesting& nesting;
  const Items entries;
  // To be set where a column has something in it: its lists, or each alternative of tags.
  std::vector<Items> inside;
  std::vector<std::vector<Items>> alternatives;
};

// The items of some entries of a field, as TableWriter::encode takes them.
struct FieldItems {
  tfile::EntryRange entries;
  std::vector<std::span<const std::byte>> columns;
  std::vector<std::int64_t> cluster_begin, cluster_items;  // as in OfferedPart
  std::vector<tfile::Buffer> memory;                       // has bytes that were copied,
  std::vector<std::shared_ptr<const void>> pins;           // holds the others
  std::uint64_t bytes = 0;                                 // of all columns
  std::optional<Error> refused;                            // why they cannot be encoded
};

// Reads a field from the first entry of a cluster on: each call gives the entries behind those of the call before.
// Blocks.
using ReadItems = std::function<Result<FieldItems>(tfile::EntryRange)>;

}  // namespace tfilefs
