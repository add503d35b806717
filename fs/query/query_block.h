// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "query/iteration_space.h"
#include "query/query.h"
#include "reply.h"
#include "tfile/range.h"

namespace tfilefs {

// Evaluates a query for blocks of entries, one after the other, on memory that it keeps. For one thread at a time.
class QueryBlock {
 public:
  explicit QueryBlock(const Query& query) : query_(query) {}

  // `items`: of each input of the query, those of the block, and for offsets one more. Errors: unsupported (more
  // iterations than kIterationsMax), damaged (an input has not the items that others say).
  Result<> evaluate(tfile::EntryRange block, std::span<const BlockItems> items);

  // After that: the number of iterations, for each its entry in the block (ascending), and the numbers of an output.
  std::size_t iterations() const { return spaces_[1].count(); }
  std::span<const std::uint32_t> entries() const { return spaces_[1].entries(); }
  std::span<const double> values(std::size_t output) const;

  // A bit for each entry of the block, the first one in the lowest bit: whether any of its iterations gives a number
  // other than 0.
  std::vector<std::uint64_t> passing(std::size_t output) const;

 private:
  struct Run;
  const Query query_;
  tfile::EntryRange block_;
  std::vector<IterationSpace> spaces_;
  std::vector<std::vector<double>> slots_;
  std::vector<std::vector<std::uint8_t>> lost_;  // by space: iterations in which a computed index was none of its list
  std::vector<std::vector<std::uint8_t>> held_;  // those that are set aside
  std::vector<std::int64_t> places_;
  std::vector<double> spare_;
};

}  // namespace tfilefs
