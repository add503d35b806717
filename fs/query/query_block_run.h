// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "query/iteration_space.h"
#include "query/query_block.h"
#include "query/query_program.h"

namespace tfilefs {

// So many iterations of a long entry are evaluated at a time.
inline constexpr std::size_t kPieceIterations = 8 << 10;

// The steps of one block.
struct QueryBlock::Run {
  QueryBlock& block;
  const QueryProgram& program;
  std::span<const BlockItems> items;

  std::size_t entries() const { return static_cast<std::size_t>(block.block_.size()); }
  std::size_t count(std::uint32_t space) const;
  // The slot of the step's space.
  std::span<double> slot(const QueryStep& step, std::uint32_t behind = 0) const;

  Result<> steps() const;

  Result<> step(const QueryStep& step) const;

  Result<> number_places(const QueryStep& step) const;

  Result<> operate(const QueryStep& step) const;

  // A function may take long.
  Result<> call(const QueryStep& step) const;
  void call_some(const QueryStep& step, std::span<double> to, std::size_t begin, std::size_t end) const;

  Result<> spread(const QueryStep& step) const;

  Result<> repeat_first(const QueryStep& step) const;

  Result<> take_lost(const QueryStep& step) const;

  Result<> settle(const QueryStep& step) const;

  // C++ does not compute what stands behind an operator that needs it not.
  Result<> release(const QueryStep& step) const;
  // The iteration of the same number that its entry has in another space.
  std::optional<std::size_t> place_in(std::uint32_t other, const IterationSpace& space, std::size_t iteration) const;

  // ---- items

  Result<> load(const QueryStep& step) const;
  static Result<> missing(std::int64_t place, std::int64_t known);

  // Goes on through the levels behind the first index that is computed.
  void compute_indices(const QueryStep& step, const QueryPath& path) const;

  // ---- of the iterations of an entry

  Result<> reduce(const QueryStep& step) const;
  // The result of the iterations of an entry, as far as they were looked at.
  struct Reduced {
    double number = 0;
    bool is_first = true;  // none counted yet
  };
  void reduce_some(const QueryStep& step, std::size_t begin, std::size_t end, Reduced& made) const;

  // Without a branch for each entry: most lists are short, and a processor would guess their ends wrongly.
  Result<> add_up(const QueryStep& step, std::span<const std::uint32_t> entry_of) const;

  Result<> alternate(const QueryStep& step) const;

  // ---- texts

  Result<> compare(const QueryStep& step) const;
  // As C sees it: it ends before a zero.
  Result<std::string_view> text(const QueryStep& step, const QueryText& text, std::size_t iteration) const;
};

}  // namespace tfilefs
