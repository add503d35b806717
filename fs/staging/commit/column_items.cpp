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
using tfile::VariantPart;

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
  if (got != size) return fail(ErrorKind::invalid, column.path + ": has become shorter");
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
  ColumnItems found;
  TRY_VOID(add_items(column, kOffsetSize, {list, list + 1}, found));
  return offset_at(found.columns[0], 0);
}

namespace {

// What the items of a column contain: those of lists, or of each alternative.
struct Inside {
  Items items;
  std::vector<Items> alternatives;
};

// The items of alternatives that variants hold. Which these are the index tells, for they come one after the other.
std::vector<Items> alternatives_in(std::span<const std::byte> tags, std::span<const std::byte> index,
                                   std::size_t alternatives) {
  std::vector<Items> found(alternatives);
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const auto tag = std::to_integer<std::size_t>(tags[i]);
    if (tag == 0 || tag > alternatives) continue;
    Items& items = found[tag - 1];
    const std::int64_t position = offset_at(index, i);
    if (items.begin == items.end) items.begin = position;
    items.end = position + 1;
  }
  return found;
}

// Adds the items of one column, and finds what they contain.
Result<Inside> add_column(const StagedColumn* staged, const InputColumn& offered, Items items, bool is_top,
                          ColumnItems& into) {
  static constexpr std::array<std::byte, kOffsetSize> kNoLists{};  // one offset more than there are lists
  const bool is_list = offered.role == Role::offsets;
  Inside inside;
  into.first.push_back(items.begin == items.end ? -1 : items.begin);
  if (!staged || (items.begin == items.end && !is_top)) {
    if (items.begin != items.end && !is_list)
      return fail(ErrorKind::invalid, offered.path + ": no items are staged for the lists or tags that refer to them");
    into.columns.emplace_back();
    if (is_list) into.columns.back() = kNoLists;
  } else if (is_list) {
    TRY(inside.items, add_offsets(*staged, items, into));
  } else {
    TRY_VOID(add_items(*staged, item_size(offered), items, into));
  }
  return inside;
}

}  // namespace

Result<ColumnItems> items_of(const FieldColumns& field, EntryRange entries) {
  ColumnItems made;
  std::vector<Inside> inside(field.staged.size());
  for (std::size_t i = 0; i < field.staged.size(); ++i) {
    const bool is_top = field.lists[i] == tfile::FieldForm::kEachEntry;
    const std::uint8_t tag = variant_part(field.variants, i).tag;
    Items items{entries.begin, entries.end};
    if (!is_top) items = tag == 0 ? inside[field.lists[i]].items : inside[field.lists[i]].alternatives[tag - 1];
    TRY(inside[i], add_column(field.staged[i], *field.offered[i], items, is_top, made));
    const std::size_t alternatives = i == 0 ? 0 : variant_part(field.variants, i - 1).alternatives;
    if (alternatives > 0)
      inside[i - 1].alternatives = alternatives_in(made.columns[i - 1], made.columns[i], alternatives);
  }
  return made;
}

Result<std::vector<std::uint64_t>> bytes_of_entries(const FieldColumns& field, std::int64_t entries) {
  std::vector<std::uint64_t> sizes;
  // Of each offsets column: how many items its lists have; of tags: how many each alternative has. Nothing if none were
  // added to it.
  using Count = std::optional<std::int64_t>;
  std::vector<Count> inside(field.staged.size());
  std::vector<std::vector<Count>> alternatives(field.staged.size());
  for (std::size_t i = 0; i < field.staged.size(); ++i) {
    const StagedColumn* staged = field.staged[i];
    const InputColumn& offered = *field.offered[i];
    const VariantPart part = variant_part(field.variants, i);
    const bool is_list = offered.role == Role::offsets;
    const bool is_top = field.lists[i] == tfile::FieldForm::kEachEntry;
    Count items = entries;
    if (!is_top) items = part.tag == 0 ? inside[field.lists[i]] : alternatives[field.lists[i]][part.tag - 1];
    alternatives[i].resize(part.alternatives);
    if (!items) {  // nor to the columns inside
      sizes.push_back(staged ? staged->base : 0);
      continue;
    }
    sizes.push_back(staged ? staged->header + static_cast<std::uint64_t>(*items + is_list) * item_size(offered) : 0);
    if (!staged || sizes.back() <= staged->base) continue;
    if (is_list) {
      TRY(inside[i], list_begin(*staged, *items));
    } else if (part.alternatives > 0 && field.staged[i + 1]) {
      TRY(alternatives[i], items_of_alternatives(*staged, *field.staged[i + 1], *items, part.alternatives));
    }
  }
  return sizes;
}

}  // namespace tfilefs
