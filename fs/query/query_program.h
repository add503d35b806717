// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "query/query.h"
#include "query/vector_loops.h"
#include "tfile/expression.h"
#include "tfile/node.h"

namespace tfilefs {

// Longer and deeper than anyone writes.
inline constexpr tfile::ExpressionForm kQueryForm{200, 10'000, false, true, true};

// An index of a level: all of its elements, one after the other; one of them; or the one whose number is in a slot.
struct PathIndex {
  enum class Kind : std::uint8_t { each, fixed, computed };
  Kind kind = Kind::each;
  std::uint32_t at = 0;
  friend bool operator==(const PathIndex&, const PathIndex&) = default;
};

// The way from an entry to items of a column: a level, and which of its elements.
struct QueryPath {
  struct Level {
    std::int32_t offsets = -1;  // input; -1: an array
    std::uint32_t size = 0;     // of the array
    PathIndex index;
    friend bool operator==(const Level&, const Level&) = default;
  };
  std::vector<Level> levels;
  std::int64_t entries = 0;  // that the column has; behind them there is nothing
  // Without an index that goes through elements or is computed, there is one item for each entry, or none.
  bool is_of_entry() const;
  friend bool operator==(const QueryPath&, const QueryPath&) = default;
};

// The iterations that expressions share: for each entry, the elements of all paths. If paths have other numbers of
// elements, the shortest counts. Space 0 is that of the entries, and has no paths.
struct QuerySpace {
  std::vector<QueryPath> paths;
  std::uint32_t along =
      0;  // the space that it is gone through along with: its own number, or that of an Alt$ around it
};

// A text of a comparison: a constant, or a column.
struct QueryText {
  std::string constant;
  std::int32_t chars = -1;    // input; -1: it is the constant
  std::int32_t offsets = -1;  // -1: an array
  std::uint32_t size = 0;     // of the array
  std::uint32_t path = 0;
};

// A step computes a vector with a number for each iteration of its space, in a slot. Operands are in this slot and
// those behind it.
struct QueryStep {
  enum class Kind : std::uint8_t {
    enter,  // the `count` steps behind it end in one that makes of the iterations of an entry one number
    number,
    entry,               // of the table
    iteration,           // of the entry
    iterations,          // how many the entry has in the space `owner`
    load,                // the items of `input` at the path of the space `owner`
    spread,              // numbers of entries, to the iterations
    repeat_first,        // that of the first iteration of an entry, in all of them
    settle,              // `number` where a load of the space met an index beyond its list
    hold,                // what settle knows of the space is set aside
    release_where,       // and comes back; what was met meanwhile counts where `slot`, of the space `owner`, is not 0
    release_where_not,   // the same where it is 0
    release_where_none,  // the same where the space `owner` has not so many iterations
    operation,
    operation_with_number,
    call_one,      // `loop`
    call_plain,    // `one`
    call_two,      // `two`
    call_several,  // `several`, with `count` arguments
    choose,
    sum,  // this and the next four: of the iterations that an entry has in the space `owner`
    least,
    most,
    least_if,  // the second operand is the condition
    most_if,
    alternate,  // the first operand, of the space `owner`, where it has so many iterations; else the second
    equal_texts,
    unequal_texts,
    found_text  // whether the second is in the first
  };
  Kind kind = Kind::number;
  tfile::Operator op = {};
  std::uint32_t slot = 0;
  std::uint32_t space = 0;
  std::uint32_t owner = 0;
  std::uint32_t path = 0;
  std::uint32_t input = 0;
  tfile::Dtype dtype = tfile::Dtype::f8;
  double number = 0;
  union {
    ForEachNumber loop;
    double (*one)(double);
    double (*two)(double, double);
    double (*several)(std::span<const double>);
  } call{};
  std::uint32_t count = 0;  // of arguments, or of steps
  std::uint32_t texts = 0;  // the first of two in QueryProgram::texts
};

struct QueryProgram {
  struct Output {
    std::string text;
    std::uint32_t slot = 0;
    bool is_integer = false;
  };
  std::vector<Output> outputs;
  std::vector<Query::Input> inputs;
  std::vector<std::uint32_t> item_sizes;  // of the inputs
  std::vector<std::int64_t> lengths;      // of the inputs: how many entries they have
  std::vector<QuerySpace> spaces;         // the second one is that of the outputs
  std::vector<QueryStep> steps;
  std::vector<QueryText> texts;
  std::uint32_t slots = 0;
  std::int64_t entries = 0;
};
inline constexpr std::uint32_t kSpaceOfEntries = 0, kSpaceOfOutputs = 1;

}  // namespace tfilefs
