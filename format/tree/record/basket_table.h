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

// What a branch's record says of its baskets: arrays of big-endian numbers, still in the record's bytes.
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

// Makes the tables of a tree's branches; keeps one copy of equal entry boundaries.
class BasketTables {
 public:
  // Fills `baskets` and `embedded` of the branch: the baskets with entries, in entry order. Where the boundaries
  // contradict each other the branch gets one lost basket of all its entries and `false` is returned.
  bool build(BasketArrays&& arrays, BranchRecord& branch);

 private:
  std::shared_ptr<const std::vector<std::int64_t>> interned(std::vector<std::int64_t>&& boundaries);

  std::unordered_multimap<std::uint64_t, std::shared_ptr<const std::vector<std::int64_t>>> known_;
  std::shared_ptr<const std::vector<std::int64_t>> last_;
};

}  // namespace tfile
