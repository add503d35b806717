// SPDX-License-Identifier: Apache-2.0
#include "staging/commit/column_items.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "tfile/buffer.h"

namespace tfilefs {

using tfile::EntryRange;
using tfile::fail;
using tfile::OfferedColumn;
using tfile::Role;

namespace {

constexpr std::uint64_t kOffsetSize = sizeof(std::int64_t);

struct Items {
  std::int64_t begin = 0, end = 0;
};

// Adds bytes [begin, end) of a staged column: in place if they are contiguous in memory, else a copy.
Result<> add_bytes(const StagedColumn& column, std::uint64_t begin, std::uint64_t end, ColumnItems& into) {
  const std::uint64_t size = end - begin;
  into.bytes += size;
  if (size == 0) {
    into.columns.emplace_back();
    return {};
  }
  auto pinned = column.bytes->pin(begin, size);
  if (pinned && pinned->pieces.size() == 1 && pinned->pieces[0].size() == size) {
    into.columns.push_back(pinned->pieces[0]);
    into.pins.insert(into.pins.end(), pinned->pins.begin(), pinned->pins.end());
    return {};
  }
  auto copy = std::make_shared<tfile::Buffer>(size, tfile::Use::passing);
  TRY(const std::size_t got, column.bytes->read(begin, copy->span()));
  if (got != size) return fail(ErrorKind::invalid, column.path + ": shorter than it was");
  into.columns.push_back(copy->span());
  into.pins.push_back(std::move(copy));
  return {};
}

Result<> add_items(const StagedColumn& column, std::uint64_t size, Items items, ColumnItems& into) {
  const auto at = [&](std::int64_t item) { return column.header + static_cast<std::uint64_t>(item) * size; };
  if (items.begin == items.end) {
    into.columns.emplace_back();
    return {};
  }
  if (items.end < items.begin || at(items.end) > column.size || at(items.begin) < column.base) {
    return fail(ErrorKind::invalid, column.path + ": offsets lead to items " + std::to_string(items.begin) + " to " +
                                        std::to_string(items.end) + ", which are not there");
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
Result<Items> add_offsets(const StagedColumn& column, Items lists, ColumnItems& into) {
  const bool joined = begins_at_committed(column, lists.begin);
  if (!joined) {
    TRY_VOID(add_items(column, kOffsetSize, {lists.begin, lists.end + 1}, into));
  } else {
    ColumnItems rest;
    TRY_VOID(add_items(column, kOffsetSize, {lists.begin + 1, lists.end + 1}, rest));
    const std::span<const std::byte> found = rest.columns[0];
    auto all = std::make_shared<tfile::Buffer>(found.size() + kOffsetSize, tfile::Use::passing);
    std::memcpy(all->data(), &column.committed_end, kOffsetSize);
    if (!found.empty()) std::memcpy(all->data() + kOffsetSize, found.data(), found.size());
    into.columns.push_back(all->span());
    into.bytes += all->size();
    into.pins.push_back(std::move(all));
  }
  const std::span<const std::byte> offsets = into.columns.back();
  return Items{offset_at(offsets, 0), offset_at(offsets, offsets.size() / kOffsetSize - 1)};
}

}  // namespace

std::uint64_t item_size(const OfferedColumn& column) {
  std::uint64_t size = tfile::size_of(column.dtype);
  for (const std::uint32_t n : column.shape) size *= n;
  return size;
}

std::int64_t entries_of(const StagedColumn& staged, const OfferedColumn& offered) {
  const std::uint64_t payload = staged.size - std::min(staged.size, staged.header);
  const auto items = static_cast<std::int64_t>(payload / std::max<std::uint64_t>(1, item_size(offered)));
  return offered.role == Role::offsets ? std::max<std::int64_t>(0, items - 1) : items;
}

std::int64_t committed_items(const StagedColumn& staged, const OfferedColumn& offered) {
  StagedColumn before = staged;
  before.size = staged.base;
  return entries_of(before, offered);
}

Result<std::int64_t> list_begin(const StagedColumn& column, std::int64_t list) {
  if (begins_at_committed(column, list)) return column.committed_end;
  ColumnItems found;
  TRY_VOID(add_items(column, kOffsetSize, {list, list + 1}, found));
  return offset_at(found.columns[0], 0);
}

Result<ColumnItems> items_of(const FieldColumns& field, EntryRange entries) {
  ColumnItems made;
  std::vector<Items> inside(field.staged.size());  // of each offsets column: the items of its lists
  for (std::size_t i = 0; i < field.staged.size(); ++i) {
    const StagedColumn* staged = field.staged[i];
    const OfferedColumn& offered = *field.offered[i];
    const bool is_top = field.lists[i] == tfile::FieldForm::kEachEntry;
    const Items items = is_top ? Items{entries.begin, entries.end} : inside[field.lists[i]];
    if (!staged) {
      if (items.begin != items.end && offered.role != Role::offsets)
        return fail(ErrorKind::invalid, offered.path + ": nothing is staged for the items that lists name");
      made.columns.emplace_back();
      if (offered.role != Role::offsets) continue;
      static constexpr std::array<std::byte, kOffsetSize> kNoLists{};  // one offset more than there are lists
      made.columns.back() = kNoLists;
    } else if (offered.role != Role::offsets) {
      TRY_VOID(add_items(*staged, item_size(offered), items, made));
    } else {
      TRY(inside[i], add_offsets(*staged, items, made));
    }
  }
  return made;
}

Result<std::vector<std::uint64_t>> bytes_of_entries(const FieldColumns& field, std::int64_t entries) {
  std::vector<std::uint64_t> sizes;
  // Of each offsets column: how many items its lists have; nothing if no lists were added to it.
  std::vector<std::optional<std::int64_t>> inside(field.staged.size());
  for (std::size_t i = 0; i < field.staged.size(); ++i) {
    const StagedColumn* staged = field.staged[i];
    const OfferedColumn& offered = *field.offered[i];
    const bool is_list = offered.role == Role::offsets;
    const bool is_top = field.lists[i] == tfile::FieldForm::kEachEntry;
    const std::optional<std::int64_t> items = is_top ? std::optional(entries) : inside[field.lists[i]];
    if (!items) {  // nor to the columns inside
      sizes.push_back(staged ? staged->base : 0);
      continue;
    }
    sizes.push_back(staged ? staged->header + static_cast<std::uint64_t>(*items + is_list) * item_size(offered) : 0);
    if (is_list && staged && sizes.back() > staged->base) {
      TRY(inside[i], list_begin(*staged, *items));
    }
  }
  return sizes;
}

}  // namespace tfilefs
