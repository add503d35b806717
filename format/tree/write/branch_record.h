// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "streamer/info/object_append.h"
#include "tree/write/branch_form.h"

namespace tfile {

// The versions in records of trees, as ROOT 6.40 writes them.
inline constexpr std::uint16_t kAttFillVersion = 2;
inline constexpr std::uint32_t kIoFeaturesChecksum =
    0x1AA12F10;  // of ROOT::TIOFeatures, which has no version of its own
inline constexpr std::int32_t kWholeObject = -1, kSplitObject = -2;  // TBranchElement::fID
inline constexpr std::int32_t kStlNode = 4, kStlMemberNode = 41;     // TBranchElement::fType

// The baskets of a branch as its record lists them (docs/format.md, "Trees and branches").
struct BranchBaskets {
  std::vector<std::uint64_t> seek;
  std::vector<std::uint32_t> nbytes;
  std::vector<std::int64_t> first_entry;  // of each basket
  std::int64_t entries = 0;
  std::int64_t tot_bytes = 0, zip_bytes = 0;
  std::int32_t basket_size = 32000;    // fBasketSize: ROOT's default
  std::int64_t largest = 0;            // of a counter and of records: fMaximum; of a TLeafC: the longest text
  std::vector<BranchBaskets> members;  // of records

  // With those of the members.
  std::int64_t all_tot_bytes() const;
  std::int64_t all_zip_bytes() const;

  void add(std::uint64_t address, std::uint32_t size, std::int64_t basket_entries, std::int64_t raw_bytes);
};

// The slots in the arrays of a branch with `baskets` baskets. Like ROOT, at least ten, and one more for the basket
// being filled.
std::int32_t basket_slots(std::size_t baskets);

// Writes a TBranch or TBranchElement in a pointer slot, with its leaves. `leaves`: the places of leaves, by branch
// name. The leaves of this branch are added; that of its counter must be there.
struct LeafPlaces {
  std::unordered_map<std::string, std::size_t> counters;  // identity of the leaf, by name; also of leaves of records
  std::vector<std::size_t> all;                           // in the order written
};
void write_branch(ObjectAppender& out, const WrittenBranch& branch, const BranchBaskets& baskets, int compression,
                  LeafPlaces& leaves);

// The three arrays of baskets at the end of a TBranch, before fFileName. `wide`: of numbers of 8 bytes.
void write_basket_bytes(ObjectAppender& out, const BranchBaskets& baskets);
void write_basket_entries(ObjectAppender& out, const BranchBaskets& baskets, bool wide = true);
void write_basket_seeks(ObjectAppender& out, const BranchBaskets& baskets, bool wide = true);

}  // namespace tfile
