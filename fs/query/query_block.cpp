// SPDX-License-Identifier: Apache-2.0
#include "query/query_block.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "query/query_block_run.h"

namespace tfilefs {

using tfile::fail;
using Step = QueryStep::Kind;

namespace {

// So much memory of a block is kept for the next.
constexpr std::uint64_t kBlockBytes = 8 << 20;

}  // namespace

// The steps of one entry, for some of its iterations at a time.
class QueryBlock::Pieces {
 public:
  Pieces(QueryBlock& block, Inputs items)
      : block_(block), program_(block.query_.program()), run_{block, program_, items}, made_(program_.steps.size()) {}

  Result<> outputs(const TakePiece& take) {
    TRY_VOID(reduce_all({0, program_.steps.size()}));
    return each_piece(kSpaceOfOutputs, {0, program_.steps.size()}, take);
  }

 private:
  struct Steps {
    std::size_t begin, end;
  };
  std::size_t last_of(std::size_t enter) const { return enter + program_.steps[enter].count; }
  std::size_t count_of(std::uint32_t space) const {
    return static_cast<std::size_t>(*IterationSpace::count_of(program_.spaces[space], block_.block_.begin, run_.items));
  }

  // The numbers of the entry that others are computed with, each once.
  Result<> reduce_all(Steps steps) {
    for (std::size_t i = steps.begin; i < steps.end; ++i) {
      if (program_.steps[i].kind != Step::enter) continue;
      TRY_VOID(reduce(i));
      i = last_of(i);
    }
    return {};
  }
  Result<> reduce(std::size_t enter) {
    const QueryStep& last = program_.steps[last_of(enter)];
    const Steps inside{enter + 1, last_of(enter)};
    if (last.kind == Step::iterations) return {};
    TRY_VOID(reduce_all(inside));
    Run::Reduced made;
    TRY_VOID(each_piece(last.owner, inside, [&]() -> Result<> {
      run_.reduce_some(last, 0, block_.spaces_[last.owner].count(), made);
      return {};
    }));
    made_[enter] = made.number;
    return {};
  }

  Result<> each_piece(std::uint32_t space, Steps steps, const TakePiece& take) {
    const std::size_t count = count_of(space);
    const std::vector<std::uint32_t> spaces = along(space);
    for (std::size_t at = 0; at == 0 || at < count; at += kPieceIterations) {
      for (const std::uint32_t each : spaces) fill(each, at);
      TRY_VOID(run(steps));
      TRY_VOID(take());
    }
    for (const std::uint32_t each : spaces) block_.spaces_[each] = {};
    return {};
  }
  std::vector<std::uint32_t> along(std::uint32_t space) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < program_.spaces.size(); ++i) {
      if (program_.spaces[i].along == space) found.push_back(i);
    }
    return found;
  }
  void fill(std::uint32_t space, std::size_t from) {
    const std::size_t count = count_of(space), begin = std::min(from, count);
    const std::size_t size = std::min(kPieceIterations, count - begin);
    block_.spaces_[space].fill_piece(program_.spaces[space], block_.block_.begin, run_.items, begin, size, count);
  }

  Result<> run(Steps steps) {
    for (std::size_t i = steps.begin; i < steps.end; ++i) {
      const QueryStep& step = program_.steps[i];
      if (block_.stop_.stop_requested()) return cancelled();
      if (step.kind == Step::enter) {
        i = last_of(i);
        const QueryStep& last = program_.steps[i];
        const bool is_count = last.kind == Step::iterations;
        run_.slot(last)[0] = is_count ? static_cast<double>(count_of(last.owner)) : made_[i - step.count];
        continue;
      }
      if (step.kind == Step::repeat_first && repeat_first(step, i)) continue;
      TRY_VOID(run_.step(step));
    }
    return {};
  }
  // False in the first piece.
  bool repeat_first(const QueryStep& step, std::size_t number) {
    const std::span<double> to = run_.slot(step);
    const bool is_first = block_.spaces_[step.space].skipped() == 0;
    if (is_first && !to.empty()) made_[number] = to[0];
    if (!is_first) std::ranges::fill(to, made_[number]);
    return !is_first;
  }

  QueryBlock& block_;
  const QueryProgram& program_;
  const Run run_;
  std::vector<double> made_;  // by the number of the step that enters
};

Result<> QueryBlock::evaluate(tfile::EntryRange block, Inputs items, const TakePiece& take) {
  const QueryProgram& program = query_.program();
  block_ = block;
  spaces_.resize(program.spaces.size());
  lost_.assign(program.spaces.size(), {});  // an error may have left some
  held_.clear();
  slots_.resize(program.slots);
  TRY(const bool is_long, are_pieces_needed(items));
  if (is_long) return Pieces(*this, items).outputs(take);
  auto done = fill_spaces(items);
  Budget::Reservation held;
  if (done) {
    std::uint64_t bytes = bytes_of_slots();
    for (const IterationSpace& each : spaces_) bytes += each.bytes();
    if (bytes > kBlockBytes && block.size() > 1)
      done = fail(ErrorKind::unsupported, "too large for one block");
    else if (bytes > kBlockBytes)
      done = memory_for(bytes).map([&](Budget::Reservation made) { held = std::move(made); });
  }
  if (done) done = Run{*this, program, items}.steps();
  if (done) done = take();
  if (!done || held.bytes() > 0) forget();
  return done;
}

// Whether it is an entry that would take more memory whole than is kept, and its pieces can be computed.
Result<bool> QueryBlock::are_pieces_needed(Inputs items) const {
  const QueryProgram& program = query_.program();
  if (block_.size() != 1) return false;
  std::uint64_t bytes = 0, longest = 0;
  for (std::size_t i = kSpaceOfOutputs; i < program.spaces.size(); ++i) {
    const auto count = IterationSpace::count_of(program.spaces[i], block_.begin, items);
    if (!count) return false;
    if (*count > kIterationsMax)
      return fail(ErrorKind::unsupported, "more than " + std::to_string(kIterationsMax) + " iterations");
    bytes += *count * (sizeof(std::uint32_t) + sizeof(std::int64_t) * program.spaces[i].paths.size());
    longest = std::max(longest, *count);
  }
  return bytes + longest * program.slots * sizeof(double) > kBlockBytes / 4;
}

// How much they will have.
std::uint64_t QueryBlock::bytes_of_slots() const {
  std::vector<std::size_t> sizes(slots_.size());
  for (const QueryStep& step : query_.program().steps) {
    const bool is_of_entries = step.space == kSpaceOfEntries;
    const std::size_t count = is_of_entries ? static_cast<std::size_t>(block_.size()) : spaces_[step.space].count();
    sizes[step.slot] = std::max(sizes[step.slot], count);
  }
  return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}) * sizeof(double);
}

Result<> QueryBlock::fill_spaces(Inputs items) {
  const QueryProgram& program = query_.program();
  const std::uint64_t limit = block_.size() > 1 ? kBlockBytes : std::max(memory_.most, kBlockBytes);
  std::uint64_t bytes = 0;
  for (std::size_t i = kSpaceOfOutputs; i < spaces_.size(); ++i) {
    if (stop_.stop_requested()) return cancelled();
    // While it is filled: entries, counts, and of each path its places, twice.
    const std::uint64_t each = 4 * sizeof(std::uint32_t) + (program.spaces[i].paths.size() + 1) * sizeof(std::int64_t);
    const std::uint64_t fitting = (limit - std::min(limit, bytes)) / each;
    const std::size_t most = std::min(kIterationsMax, static_cast<std::size_t>(fitting));
    const auto done = spaces_[i].fill(program.spaces[i], block_, items, most);
    if (!done && block_.size() == 1 && done.error().kind == ErrorKind::unsupported && most < kIterationsMax)
      return fail(ErrorKind::too_large, "more than " + std::to_string(limit >> 20) + " MB needed at once");
    if (!done) return done;
    bytes += spaces_[i].bytes();
  }
  return {};
}

Result<Budget::Reservation> QueryBlock::memory_for(std::uint64_t bytes) const {
  const std::uint64_t most = std::max(memory_.most, kBlockBytes);
  if (bytes > most) return tl::unexpected<Error>(refusal(bytes, "a quarter of the memory", most));
  return memory_.budget ? memory_.budget->take(bytes) : Budget::Reservation();
}

void QueryBlock::forget() {
  spaces_.clear();
  slots_.clear();
  held_.clear();
  lost_.clear();
  places_ = {};
  spare_ = {};
}

std::span<const double> QueryBlock::values(std::size_t output) const {
  return std::span(slots_[query_.program().outputs[output].slot]).first(iterations());
}

std::vector<std::uint64_t> QueryBlock::passing(std::size_t output) const {
  constexpr std::size_t kBits = 64;
  std::vector<std::uint64_t> bits((static_cast<std::size_t>(block_.size()) + kBits - 1) / kBits);
  const std::span<const double> numbers = values(output);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::uint32_t entry = entries()[i];
    bits[entry / kBits] |= static_cast<std::uint64_t>(numbers[i] != 0) << entry % kBits;
  }
  return bits;
}

}  // namespace tfilefs
