// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tree/record/tree_record.h"

namespace tfile {

// The baskets of a branch according to its record: arrays of big-endian numbers, still in the record's bytes.
struct BasketArrays {
  struct Numbers {
    std::span<const std::byte> raw;
    std::uint32_t width = 4;  // 4 or 8 bytes each
    std::size_t size() const { return raw.size() / width; }
    std::int64_t at(std::size_t) const;
  };
  std::int64_t write_basket = 0, entry_number = 0;
  Numbers bytes, entry, seek;
  std::vector<EmbeddedBasket> embedded;  // `index` is the slot of fBaskets
};

// Makes the basket tables of a tree's branches. Equal entry boundaries are stored once.
class BasketTables {
 public:
  // Fills `baskets` and `embedded` of the branch with the baskets that have entries, in entry order. If the boundaries
  // contradict each other, the branch gets one lost basket of all its entries, and the result is false.
  bool build(BasketArrays&& arrays, BranchRecord& branch);

 private:
  std::shared_ptr<const std::vector<std::int64_t>> interned(std::vector<std::int64_t>&& boundaries);

  std::unordered_multimap<std::uint64_t, std::shared_ptr<const std::vector<std::int64_t>>> known_;
  std::shared_ptr<const std::vector<std::int64_t>> last_;
};

}  // namespace tfile
