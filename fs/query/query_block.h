// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "cache/budget.h"
#include "query/iteration_space.h"
#include "query/query.h"
#include "reply.h"
#include "tfile/range.h"

namespace tfilefs {

// The most that a long entry may take whose lists of lists cannot be gone through in pieces, and where it is counted.
struct BlockMemory {
  std::uint64_t most = 64 << 20;
  std::shared_ptr<Budget> budget = nullptr;

  // The memory of a cache that others use as well.
  static BlockMemory of(std::shared_ptr<Budget> shared) { return {shared->size() / 4, std::move(shared)}; }
};

// Evaluates a query for blocks of entries, one after the other, on some memory that it keeps. For one thread at a time.
class QueryBlock {
 public:
  QueryBlock(const Query& query, BlockMemory memory, std::stop_token stop)
      : query_(query), memory_(std::move(memory)), stop_(std::move(stop)) {}

  // `items`: of each input of the query, those of the block, and for offsets one more. `take` finds the numbers here,
  // of the whole block, or of an entry with many iterations some thousand of them at a time. Errors: unsupported (the
  // block takes more memory than one that is kept, and has more than one entry), is_refusal() (the entry takes more
  // than it may), damaged (an input has not the items that others say), ECANCELED (stopped), those of `take`.
  using TakePiece = std::function<Result<>()>;
  Result<> evaluate(tfile::EntryRange block, std::span<const BlockItems> items, const TakePiece& take);

  // For `take`: the number of iterations, for each its entry in the block (ascending), and the numbers of an output.
  std::size_t iterations() const { return spaces_[1].count(); }
  std::span<const std::uint32_t> entries() const { return spaces_[1].entries(); }
  std::span<const double> values(std::size_t output) const;

  // A bit for each entry of the block, the first one in the lowest bit: whether any of its iterations gives a number
  // other than 0.
  std::vector<std::uint64_t> passing(std::size_t output) const;

 private:
  struct Run;
  class Pieces;
  using Inputs = std::span<const BlockItems>;
  Result<bool> are_pieces_needed(Inputs) const;
  std::uint64_t bytes_of_slots() const;
  Result<> fill_spaces(Inputs);
  Result<Budget::Reservation> memory_for(std::uint64_t bytes) const;
  void forget();

  const Query query_;
  const BlockMemory memory_;
  const std::stop_token stop_;
  tfile::EntryRange block_;
  std::vector<IterationSpace> spaces_;
  std::vector<std::vector<double>> slots_;
  std::vector<std::vector<std::uint8_t>> lost_;  // by space: iterations in which a computed index was none of its list
  std::vector<std::vector<std::uint8_t>> held_;  // those that are set aside
  std::vector<std::int64_t> places_;
  std::vector<double> spare_;
};

}  // namespace tfilefs
