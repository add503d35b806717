// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/offset_at.h"
#include "tree/write/basket_encode.h"

namespace tfile {
namespace {

using Bytes = std::span<const std::byte>;

// One after the other in one piece of the file. `first`: the stream of the first one.
Part joined(const std::vector<Part>& baskets, std::uint32_t first = 0) {
  Part part;
  std::size_t size = 0;
  for (const Part& basket : baskets) size += basket.stored.size();
  part.stored = Buffer(size, Use::passing);
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < baskets.size(); ++i) {
    const Bytes stored = baskets[i].stored.span();
    std::ranges::copy(stored, part.stored.data() + at);
    Part::Unit unit;
    unit.stream = first + i;
    unit.offset = at;
    unit.size = stored.size();
    part.units.push_back(unit);
    part.raw_bytes += baskets[i].raw_bytes;
    at += stored.size();
  }
  part.entries = baskets.front().entries;
  part.largest = baskets.front().largest;
  return part;
}

// Its keys, which a basket of `branch.members[0]` was made of, in the order of the map's items: as bytes.
std::vector<std::string_view> keys_of(const WrittenBranch& key, std::span<const Bytes> inputs) {
  const Bytes items = inputs.back();
  const auto text = [&](std::uint64_t begin, std::uint64_t end) {
    return std::string_view(reinterpret_cast<const char*>(items.data()) + begin, end - begin);
  };
  std::vector<std::string_view> keys;
  const std::size_t item_size = key.leaves[0].bytes();
  for (std::size_t at = 0; !key.of_texts && at < items.size(); at += item_size)
    keys.push_back(text(at, at + item_size));
  if (!key.of_texts) return keys;
  const Bytes chars = inputs[1];
  const auto begin = [&](std::size_t i) {
    return static_cast<std::uint64_t>(offset_at(chars, i) - offset_at(chars, 0));
  };
  for (std::size_t i = 0; i + 1 < chars.size() / 8; ++i) keys.push_back(text(begin(i), begin(i + 1)));
  return keys;
}

bool has_plain_keys(const WrittenBranch& map) {
  const WrittenBranch& key = map.members[0];
  return map.is_map && (key.kind == WrittenBranch::Kind::items || (key.of_texts && key.depth == 1));
}

// Whoever reads an entry into a map would lose an item whose key is there twice.
Result<> check_keys(const WrittenBranch& map, EntryRange entries, std::span<const Bytes> inputs) {
  std::vector<std::string_view> keys = keys_of(map.members[0], inputs);
  const auto place = [&](std::size_t i) { return keys.begin() + (offset_at(inputs[0], i) - offset_at(inputs[0], 0)); };
  for (std::size_t i = 0; i < static_cast<std::size_t>(entries.size()); ++i) {
    std::sort(place(i), place(i + 1));
    if (std::adjacent_find(place(i), place(i + 1)) == place(i + 1)) continue;
    return fail(ErrorKind::invalid, map.name + ", entry " +
                                        std::to_string(entries.begin + static_cast<std::int64_t>(i)) +
                                        ": duplicate key in a map");
  }
  return {};
}

Result<Part> encode_records(const WrittenBranch& branch, const TreePlace& place, EntryRange entries,
                            std::span<const Bytes> columns) {
  std::vector<Part> baskets;
  TRY(Part counts, encode_basket(branch, place, entries, columns.first(1)));
  baskets.push_back(std::move(counts));
  for (const WrittenBranch& member : branch.members) {
    std::vector<Bytes> inputs;
    for (const std::uint32_t i : member.inputs) inputs.push_back(columns[i]);
    TRY(Part basket, encode_basket(member, place, entries, inputs));
    if (baskets.size() == 1 && has_plain_keys(branch)) TRY_VOID(check_keys(branch, entries, inputs));
    baskets.push_back(std::move(basket));
  }
  return joined(baskets);
}

Result<Part> encode_object(const WrittenBranch& branch, const TreePlace& place, EntryRange entries,
                           std::span<const Bytes> columns) {
  std::vector<Part> baskets;
  for (const WrittenBranch& member : branch.members) {
    std::vector<Bytes> inputs;
    for (const std::uint32_t i : member.inputs) inputs.push_back(columns[i]);
    TRY(Part basket, encode_basket(member, place, entries, inputs));
    baskets.push_back(std::move(basket));
  }
  return joined(baskets, 1);
}

}  // namespace

Result<Part> encode_baskets(const WrittenBranch& branch, const TreePlace& place, EntryRange entries,
                            std::span<const std::span<const std::byte>> columns) try {
  if (branch.kind == WrittenBranch::Kind::records) return encode_records(branch, place, entries, columns);
  if (branch.kind == WrittenBranch::Kind::object) return encode_object(branch, place, entries, columns);
  return encode_basket(branch, place, entries, columns);
} catch (const std::bad_alloc&) {
  return no_memory("no memory for baskets of " + branch.name);
}

}  // namespace tfile
