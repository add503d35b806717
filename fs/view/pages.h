// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cache/cluster_cache.h"
#include "tfile/table.h"
#include "view/levels.h"

namespace tfilefs {

struct ItemSpan {
  std::int64_t begin = 0, end = 0;
};

// A part of a leaf that a reader takes at once: whole entries.
struct Page {
  ItemSpan entries;
  std::int64_t places = 0;      // values, and missing ones
  std::vector<ItemSpan> lists;  // by step: of steps with offsets, the lists of the page
  ItemSpan values;
  ItemSpan chars;                             // of a string: the bytes of its values
  std::shared_ptr<const tfile::Error> error;  // why its contents are not known; it then has one place per entry
};

// The properties that decide how a leaf is cut into pages; leaves with equal ones share the pages.
struct PageShape {
  std::vector<LevelStep> steps;
  std::optional<tfile::ColumnId> chars_offsets;  // of a string
  std::int64_t chars = 0;                        // bytes of all strings
  std::int64_t value_size = 1;                   // bytes; not used for a leaf with lists
  friend auto operator<=>(const PageShape&, const PageShape&) = default;
};

struct LeafPages {
  std::vector<Page> pages;
  std::vector<std::size_t> group_begin;  // per group of entries its first page, then the number of pages
  std::vector<ItemSpan> counts;          // of lists that were counted: per group, the smallest and the largest size
};
using LeafPagesPtr = std::shared_ptr<const LeafPages>;

// Cuts a leaf into pages of about a megabyte within groups of entries (`bounds`: the first entry of each, then the
// end). If there are lists or strings among the steps, their offsets (or sizes) are read for that, once. Entries whose
// offsets cannot be read or contradict each other become pages with an error. Errors: unsupported (too many pages to
// keep in memory); if sizes are read instead of offsets, those of reading, and damaged (they do not add up).
void cut_into_pages(std::shared_ptr<CachedStreams>, std::shared_ptr<const tfile::Table>, PageShape,
                    std::shared_ptr<const std::vector<std::int64_t>> bounds, Reply<LeafPagesPtr>);

}  // namespace tfilefs
