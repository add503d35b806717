// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>
#include <vector>

#include "tree/write/basket_encode.h"

namespace tfile {
namespace {

using Bytes = std::span<const std::byte>;

// One after the other in one piece of the file.
Part joined(const std::vector<Part>& baskets) {
  Part part;
  std::size_t size = 0;
  for (const Part& basket : baskets) size += basket.stored.size();
  part.stored = Buffer(size, Use::passing);
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < baskets.size(); ++i) {
    const Bytes stored = baskets[i].stored.span();
    std::ranges::copy(stored, part.stored.data() + at);
    Part::Unit unit;
    unit.stream = i;
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

Result<Part> encode_records(const WrittenBranch& branch, const TreePlace& place, EntryRange entries,
                            std::span<const Bytes> columns) {
  std::vector<Part> baskets;
  TRY(Part counts, encode_basket(branch, place, entries, columns.first(1)));
  baskets.push_back(std::move(counts));
  for (const WrittenBranch& member : branch.members) {
    std::vector<Bytes> inputs;
    for (const std::uint32_t i : member.inputs) inputs.push_back(columns[i]);
    TRY(Part basket, encode_basket(member, place, entries, inputs));
    baskets.push_back(std::move(basket));
  }
  return joined(baskets);
}

}  // namespace

Result<Part> encode_baskets(const WrittenBranch& branch, const TreePlace& place, EntryRange entries,
                            std::span<const std::span<const std::byte>> columns) try {
  if (branch.kind != WrittenBranch::Kind::records) return encode_basket(branch, place, entries, columns);
  return encode_records(branch, place, entries, columns);
} catch (const std::bad_alloc&) {
  return fail(ErrorKind::no_space, "no memory for baskets of " + branch.name);
}

}  // namespace tfile
