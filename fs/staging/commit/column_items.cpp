// SPDX-License-Identifier: Apache-2.0
#include "staging/commit/column_items.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "tfile/buffer.h"

namespace tfilefs {

using tfile::EntryRange;
using tfile::fail;
using tfile::InputColumn;
using tfile::Role;

namespace {

constexpr std::uint64_t kOffsetSize = sizeof(std::int64_t);

struct Items {
  std::int64_t begin = 0, end = 0;
};

void add_memory(tfile::Buffer bytes, FieldItems& into) {
  into.bytes += bytes.size();
  into.columns.push_back(bytes.span());
  into.memory.push_back(std::move(bytes));
}

// Adds bytes [begin, end) of a staged column: in place if they are contiguous in memory, else a copy.
Result<> add_bytes(const StagedColumn& column, std::uint64_t begin, std::uint64_t end, FieldItems& into) {
  const std::uint64_t size = end - begin;
  if (size == 0) {
    into.columns.emplace_back();
    return {};
  }
  auto pinned = column.bytes->pin(begin, size);
  if (pinned && pinned->pieces.size() == 1 && pinned->pieces[0].size() == size) {
    into.bytes += size;
    into.columns.push_back(pinned->pieces[0]);
    into.pins.insert(into.pins.end(), pinned->pins.begin(), pinned->pins.end());
    return {};
  }
  tfile::Buffer copy(size, tfile::Use::passing);
  TRY(const std::size_t got, column.bytes->read(begin, copy.span()));
  if (got != size) return fail(ErrorKind::invalid, column.path + ": has become shorter");
  add_memory(std::move(copy), into);
  return {};
}

Result<> add_items(const StagedColumn& column, std::uint64_t size, Items items, FieldItems& into) {
  const auto at = [&](std::int64_t item) { return column.header + static_cast<std::uint64_t>(item) * size; };
  if (items.begin == items.end) {
    into.columns.emplace_back();
    return {};
  }
  if (items.end < items.begin || at(items.end) > column.size || at(items.begin) < column.base) {
    return fail(ErrorKind::invalid, column.path + ": offsets refer to items " + std::to_string(items.begin) + " to " +
                                        std::to_string(items.end) + ", which do not exist");
  }
  return add_bytes(column, at(items.begin), at(items.end), into);
}

std::int64_t offset_at(std::span<const std::byte> offsets, std::size_t i) {
  std::int64_t value = 0;
  std::memcpy(&value, offsets.data() + i * kOffsetSize, kOffsetSize);
  return value;
}

// Whether the offset at which the list begins is committed.
bool begins_at_committed(const StagedColumn& column, std::int64_t list) {
  return column.header + static_cast<std::uint64_t>(list) * kOffsetSize < column.base;
}

// Adds the offsets of the lists `lists`, one more than there are lists.
Result<Items> add_offsets(const StagedColumn& column, Items lists, FieldItems& into) {
  const bool joined = begins_at_committed(column, lists.begin);
  if (!joined) {
    TRY_VOID(add_items(column, kOffsetSize, {lists.begin, lists.end + 1}, into));
  } else {
    FieldItems rest;
    TRY_VOID(add_items(column, kOffsetSize, {lists.begin + 1, lists.end + 1}, rest));
    const std::span<const std::byte> found = rest.columns[0];
    tfile::Buffer all(found.size() + kOffsetSize, tfile::Use::passing);
    std::memcpy(all.data(), &column.committed_end, kOffsetSize);
    if (!found.empty()) std::memcpy(all.data() + kOffsetSize, found.data(), found.size());
    add_memory(std::move(all), into);
  }
  const std::span<const std::byte> offsets = into.columns.back();
  return Items{offset_at(offsets, 0), offset_at(offsets, offsets.size() / kOffsetSize - 1)};
}

}  // namespace

std::uint64_t item_size(const InputColumn& column) {
  std::uint64_t size = tfile::size_of(column.dtype);
  for (const std::uint32_t n : column.shape) size *= n;
  return size;
}

tfile::OfferedEntries staged_entries(std::function<const StagedColumn&(std::uint32_t)> staged,
                                     std::span<const InputColumn> offered) {
  tfile::OfferedEntries entries;
  entries.count = [staged, offered](std::uint32_t i) { return entries_of(staged(i), offered[i]); };
  entries.items = [staged = std::move(staged), offered](std::uint32_t i, std::int64_t first,
                                                        std::span<std::byte> into) {
    const StagedColumn& column = staged(i);
    const auto got =
        column.bytes->read(column.header + static_cast<std::uint64_t>(first) * item_size(offered[i]), into);
    return got && *got == into.size();
  };
  return entries;
}

std::int64_t entries_of(const StagedColumn& staged, const InputColumn& offered) {
  const std::uint64_t payload = staged.size - std::min(staged.size, staged.header);
  const auto items = static_cast<std::int64_t>(payload / std::max<std::uint64_t>(1, item_size(offered)));
  return offered.role == Role::offsets ? std::max<std::int64_t>(0, items - 1) : items;
}

std::int64_t committed_items(const StagedColumn& staged, const InputColumn& offered) {
  StagedColumn before = staged;
  before.size = staged.base;
  return entries_of(before, offered);
}

Result<std::int64_t> list_begin(const StagedColumn& column, std::int64_t list) {
  if (begins_at_committed(column, list)) return column.committed_end;
  FieldItems found;
  TRY_VOID(add_items(column, kOffsetSize, {list, list + 1}, found));
  return offset_at(found.columns[0], 0);
}

namespace {

// The items of alternatives that variants hold. Which these are the index tells, for they come one after the other.
void find_alternatives(std::span<const std::byte> tags, std::span<const std::byte> index, std::vector<Items>& found) {
  for (std::size_t i = 0; i < tags.size() && !found.empty(); ++i) {
    const auto tag = std::to_integer<std::size_t>(tags[i]);
    if (tag == 0 || tag > found.size()) continue;
    Items& items = found[tag - 1];
    const std::int64_t position = offset_at(index, i);
    if (items.begin == items.end) items.begin = position;
    items.end = position + 1;
  }
}

// Reads a field, and knows where its cluster begins: what is noted of each column when it has its first items.
class StagedItems {
 public:
  explicit StagedItems(const FieldColumns& field)
      : field_(field), cluster_begin_(field.staged.size()), cluster_items_(field.staged.size(), -1) {}

  Result<FieldItems> operator()(EntryRange entries) {
    FieldItems made;
    made.entries = entries;
    NestedItems<Items> items(field_, {entries.begin, entries.end});
    for (std::size_t i = 0; i < field_.staged.size(); ++i) {
      TRY(items.inside[i], add_column(i, items.of(i), items.is_outermost(i), made));
      if (i > 0) find_alternatives(made.columns[i - 1], made.columns[i], items.alternatives[i - 1]);
    }
    made.cluster_begin = cluster_begin_;
    made.cluster_items = cluster_items_;
    return made;
  }

 private:
  // Adds the items of one column. Returns those in its lists.
  Result<Items> add_column(std::size_t i, Items items, bool is_outermost, FieldItems& into) {
    static constexpr std::array<std::byte, kOffsetSize> kNoLists{};  // one offset more than there are lists
    const StagedColumn* const staged = field_.staged[i];
    const InputColumn& offered = *field_.offered[i];
    const bool is_list = offered.role == Role::offsets, is_empty = items.begin == items.end;
    Items inside;
    if (!staged || (is_empty && !is_outermost)) {
      if (!is_empty && !is_list)
        return fail(ErrorKind::invalid,
                    offered.path + ": no items are staged for the lists or tags that refer to them");
      into.columns.emplace_back();
      if (is_list) into.columns.back() = kNoLists;
    } else if (is_list) {
      TRY(inside, add_offsets(*staged, items, into));
    } else {
      TRY_VOID(add_items(*staged, item_size(offered), items, into));
    }
    if (!is_empty && cluster_items_[i] == -1) {
      cluster_items_[i] = items.begin;
      if (is_list) cluster_begin_[i] = offset_at(into.columns[i], 0);
    }
    return inside;
  }

  const FieldColumns& field_;
  std::vector<std::int64_t> cluster_begin_, cluster_items_;  // as in OfferedPart; -1: no items yet
};

}  // namespace

ReadItems staged_items(const FieldColumns& field) { return StagedItems(field); }

Result<std::vector<std::uint64_t>> bytes_of_entries(const FieldColumns& field, std::int64_t entries) {
  std::vector<std::uint64_t> sizes;
  // How many items there are; nothing if none were added.
  NestedItems<std::optional<std::int64_t>> counts(field, entries);
  for (std::size_t i = 0; i < field.staged.size(); ++i) {
    const StagedColumn* staged = field.staged[i];
    const InputColumn& offered = *field.offered[i];
    const bool is_list = offered.role == Role::offsets;
    const std::optional<std::int64_t> items = counts.of(i);
    const std::size_t alternatives = counts.alternatives[i].size();
    if (!items) {  // nor to the columns inside
      sizes.push_back(staged ? staged->base : 0);
      continue;
    }
    sizes.push_back(staged ? staged->header + static_cast<std::uint64_t>(*items + is_list) * item_size(offered) : 0);
    if (!staged || sizes.back() <= staged->base) continue;
    if (is_list) {
      TRY(counts.inside[i], list_begin(*staged, *items));
    } else if (alternatives > 0 && field.staged[i + 1]) {
      TRY(counts.alternatives[i], items_of_alternatives(*staged, *field.staged[i + 1], *items, alternatives));
    }
  }
  return sizes;
}

}  // namespace tfilefs
