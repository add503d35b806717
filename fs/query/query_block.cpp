// SPDX-License-Identifier: Apache-2.0
#include "query/query_block.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tfilefs {

using tfile::fail;
using Step = QueryStep::Kind;

namespace {

// So many of a long entry are evaluated at a time, and so much memory of a block is kept for the next.
constexpr std::size_t kPieceIterations = 8 << 10;
constexpr std::uint64_t kBlockBytes = 8 << 20;

}  // namespace

// The steps of one block.
struct QueryBlock::Run {
  QueryBlock& block;
  const QueryProgram& program;
  std::span<const BlockItems> items;

  std::size_t entries() const { return static_cast<std::size_t>(block.block_.size()); }
  std::size_t count(std::uint32_t space) const {
    return space == kSpaceOfEntries ? entries() : block.spaces_[space].count();
  }
  // Of the space of the step.
  std::span<double> slot(const QueryStep& step, std::uint32_t behind = 0) const {
    std::vector<double>& values = block.slots_[step.slot + behind];
    const std::size_t size = count(step.space);
    if (values.size() < size) values.resize(size);
    return std::span(values).first(size);
  }

  Result<> steps() const {
    for (const QueryStep& each : program.steps) {
      if (block.stop_.stop_requested()) return cancelled();
      if (each.kind != Step::enter) TRY_VOID(step(each));
    }
    return {};
  }

  Result<> step(const QueryStep& step) const {
    switch (step.kind) {
      case Step::number:
        std::ranges::fill(slot(step), step.number);
        return {};
      case Step::entry:
      case Step::iteration:
      case Step::iterations:
        return number_places(step);
      case Step::load:
        return load(step);
      case Step::spread:
        return spread(step);
      case Step::repeat_first:
        return repeat_first(step);
      case Step::settle:
      case Step::hold:
      case Step::release_where:
      case Step::release_where_not:
      case Step::release_where_none:
        return take_lost(step);
      case Step::operation:
      case Step::operation_with_number:
      case Step::choose:
        return operate(step);
      case Step::call_one:
      case Step::call_plain:
      case Step::call_two:
      case Step::call_several:
        return call(step);
      case Step::alternate:
        return alternate(step);
      case Step::equal_texts:
      case Step::unequal_texts:
      case Step::found_text:
        return compare(step);
      default:
        return reduce(step);
    }
  }

  Result<> number_places(const QueryStep& step) const {
    const std::span<double> to = slot(step);
    const IterationSpace& space = block.spaces_[step.owner];
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (step.kind == Step::entry)
        to[i] = static_cast<double>(block.block_.begin + static_cast<std::int64_t>(i));
      else if (step.kind == Step::iterations)
        to[i] = static_cast<double>(space.count_of_entry(i));
      else
        to[i] = static_cast<double>(space.skipped() + i - space.firsts()[space.entries()[i]]);
    }
    return {};
  }

  Result<> operate(const QueryStep& step) const {
    const std::span<double> to = slot(step);
    if (step.kind == Step::operation_with_number) {
      compute(step.op, to, step.number);
    } else if (step.kind == Step::choose) {
      choose(to, slot(step, 1), slot(step, 2));
    } else if (step.op == tfile::Operator::negate) {
      negate(to);
    } else if (step.op == tfile::Operator::no) {
      negate_truth(to);
    } else {
      compute(step.op, to, slot(step, 1));
    }
    return {};
  }

  // A function may take long.
  Result<> call(const QueryStep& step) const {
    const std::span<double> to = slot(step);
    for (std::size_t at = 0; at < to.size(); at += kPieceIterations) {
      if (block.stop_.stop_requested()) return cancelled();
      call_some(step, to, at, std::min(to.size(), at + kPieceIterations));
    }
    return {};
  }
  void call_some(const QueryStep& step, std::span<double> to, std::size_t begin, std::size_t end) const {
    if (step.kind == Step::call_one) {
      step.call.loop(to.subspan(begin, end - begin));
    } else if (step.kind == Step::call_plain) {
      for (std::size_t i = begin; i < end; ++i) to[i] = step.call.one(to[i]);
    } else if (step.kind == Step::call_two) {
      const std::span<const double> second = slot(step, 1);
      for (std::size_t i = begin; i < end; ++i) to[i] = step.call.two(to[i], second[i]);
    } else {
      std::vector<double> arguments(step.count);
      for (std::size_t i = begin; i < end; ++i) {
        for (std::uint32_t k = 0; k < step.count; ++k) arguments[k] = block.slots_[step.slot + k][i];
        to[i] = step.call.several(arguments);
      }
    }
  }

  Result<> spread(const QueryStep& step) const {
    if (block.spaces_[step.space].is_plain()) return {};
    const std::span<const std::uint32_t> entries = block.spaces_[step.space].entries();
    std::vector<double>& values = block.slots_[step.slot];
    block.spare_.resize(std::max(block.spare_.size(), entries.size()));
    for (std::size_t i = 0; i < entries.size(); ++i) block.spare_[i] = values[entries[i]];
    values.swap(block.spare_);
    return {};
  }

  Result<> repeat_first(const QueryStep& step) const {
    const IterationSpace& space = block.spaces_[step.space];
    const std::span<double> to = slot(step);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = to[space.firsts()[space.entries()[i]]];
    return {};
  }

  Result<> take_lost(const QueryStep& step) const {
    if (step.kind == Step::settle) return settle(step);
    if (step.kind != Step::hold) return release(step);
    block.held_.push_back(std::exchange(block.lost_[step.space], {}));
    return {};
  }

  Result<> settle(const QueryStep& step) const {
    std::vector<std::uint8_t>& lost = block.lost_[step.space];
    const std::span<double> to = slot(step);
    for (std::size_t i = 0; i < std::min(lost.size(), to.size()); ++i) {
      if (lost[i] != 0) to[i] = step.number;
    }
    lost.clear();
    return {};
  }

  // C++ does not compute what stands behind an operator that needs it not.
  Result<> release(const QueryStep& step) const {
    const IterationSpace& space = block.spaces_[step.space];
    const auto is_computed = [&](std::size_t i) {
      if (step.kind == Step::release_where_none) return !place_in(step.owner, space, i);
      const std::size_t at = step.owner == kSpaceOfEntries && !space.is_plain() ? space.entries()[i] : i;
      return (block.slots_[step.slot][at] != 0) == (step.kind == Step::release_where);
    };
    std::vector<std::uint8_t> before = std::move(block.held_.back()), &lost = block.lost_[step.space];
    block.held_.pop_back();
    before.resize(std::max(before.size(), lost.size()));
    for (std::size_t i = 0; i < lost.size(); ++i) {
      if (lost[i] != 0 && is_computed(i)) before[i] = 1;
    }
    lost = std::move(before);
    return {};
  }
  // The iteration of the same number that its entry has in another space.
  std::optional<std::size_t> place_in(std::uint32_t other, const IterationSpace& space, std::size_t iteration) const {
    const std::uint32_t entry = space.entries()[iteration];
    const std::span<const std::uint32_t> firsts = block.spaces_[other].firsts();
    const std::size_t place = firsts[entry] + (iteration - space.firsts()[entry]);
    return place < firsts[entry + 1] ? std::optional(place) : std::nullopt;
  }

  // ---- items

  Result<> load(const QueryStep& step) const {
    const QueryPath& path = program.spaces[step.owner].paths[step.path];
    const BlockItems& column = items[step.input];
    const std::span<double> to = slot(step);
    const auto size = static_cast<std::int64_t>(tfile::size_of(step.dtype));
    const std::int64_t known = static_cast<std::int64_t>(column.bytes.size()) / size;
    // Arrays are items of more than one number.
    const std::int64_t first = column.first * (program.item_sizes[step.input] / size);
    if (path.levels.empty() && path.entries >= block.block_.end) {
      if (block.block_.begin < first || block.block_.end - first > known)
        return missing(block.block_.end - first, known);
      load_numbers(step.dtype, column.bytes.data() + (block.block_.begin - first) * size, to);
      return {};
    }
    const std::span<const std::int64_t> places = block.spaces_[step.owner].places(step.path);
    if (block.spaces_[step.owner].is_run(step.path)) {
      const std::int64_t begin = places.empty() ? first : places.front();
      const auto count = static_cast<std::int64_t>(places.size());
      if (begin < first || begin - first > known - count) return missing(begin - first + count - 1, known);
      load_numbers(step.dtype, column.bytes.data() + (begin - first) * size, to);
      return {};
    }
    block.places_.assign(places.begin(), places.end());
    compute_indices(step, path);
    for (std::int64_t& place : block.places_) {
      if (place < 0) continue;
      place -= first;
      if (place < 0 || place >= known) return missing(place, known);
    }
    gather_numbers(step.dtype, column.bytes.data(), block.places_, to);
    return {};
  }
  static Result<> missing(std::int64_t place, std::int64_t known) {
    return fail(ErrorKind::damaged, "a column has " + std::to_string(known) +
                                        " items of the entries that are looked at, and no item " +
                                        std::to_string(place) + " of them, which its lists have");
  }

  // Goes on through the levels behind the first index that is computed.
  void compute_indices(const QueryStep& step, const QueryPath& path) const {
    auto level = std::ranges::find_if(path.levels,
                                      [](const auto& each) { return each.index.kind == PathIndex::Kind::computed; });
    if (level == path.levels.end()) return;
    std::vector<std::uint8_t>& lost = block.lost_[step.owner];
    lost.resize(std::max(lost.size(), block.places_.size()));
    for (; level != path.levels.end(); ++level) {
      const bool is_fixed = level->index.kind == PathIndex::Kind::fixed;
      for (std::size_t i = 0; i < block.places_.size(); ++i) {
        std::int64_t& place = block.places_[i];
        const double index = is_fixed ? level->index.at : std::trunc(block.slots_[level->index.at][i]);
        const auto [begin, size] = elements_at(items, *level, place);
        const bool is_there = place >= 0 && index >= 0 && index < static_cast<double>(size);
        place = is_there ? begin + static_cast<std::int64_t>(index) : -1;
        if (!is_there) lost[i] = 1;
      }
    }
  }

  // ---- of the iterations of an entry

  Result<> reduce(const QueryStep& step) const {
    const std::span<const std::uint32_t> firsts = block.spaces_[step.owner].firsts();
    block.spare_.resize(std::max(block.spare_.size(), entries()));
    if (step.kind == Step::sum) return add_up(step, block.spaces_[step.owner].entries());
    for (std::size_t entry = 0; entry < entries(); ++entry) {
      Reduced made;
      reduce_some(step, firsts[entry], firsts[entry + 1], made);
      block.spare_[entry] = made.number;
    }
    block.slots_[step.slot].swap(block.spare_);
    return {};
  }
  // What the iterations of an entry give, as far as they were looked at.
  struct Reduced {
    double number = 0;
    bool is_first = true;  // none counted yet
  };
  void reduce_some(const QueryStep& step, std::size_t begin, std::size_t end, Reduced& made) const {
    const std::vector<double>&values = block.slots_[step.slot], &conditions = block.slots_[step.slot + 1];
    const bool has_condition = step.kind == Step::least_if || step.kind == Step::most_if;
    const bool is_least = step.kind == Step::least || step.kind == Step::least_if;
    for (std::size_t i = begin; i < end; ++i) {
      if (step.kind == Step::sum) {
        made.number += values[i];
        continue;
      }
      if (has_condition && conditions[i] == 0) continue;
      if (made.is_first || (is_least ? values[i] < made.number : values[i] > made.number)) made.number = values[i];
      made.is_first = false;
    }
  }

  // Without a branch for each entry: most lists are short, and a processor would guess their ends wrongly.
  Result<> add_up(const QueryStep& step, std::span<const std::uint32_t> entry_of) const {
    const double* const values = block.slots_[step.slot].data();
    double* const sums = block.spare_.data();
    std::fill_n(sums, entries(), 0);
    for (std::size_t i = 0; i < entry_of.size(); ++i) sums[entry_of[i]] += values[i];
    block.slots_[step.slot].swap(block.spare_);
    return {};
  }

  Result<> alternate(const QueryStep& step) const {
    const IterationSpace& own = block.spaces_[step.space];
    const std::vector<double>& primary = block.slots_[step.slot];
    const std::span<const double> other = slot(step, 1);
    block.spare_.resize(std::max(block.spare_.size(), other.size()));
    for (std::size_t i = 0; i < other.size(); ++i) {
      const auto place = place_in(step.owner, own, i);
      block.spare_[i] = place ? primary[*place] : other[i];
    }
    block.slots_[step.slot].swap(block.spare_);
    return {};
  }

  // ---- texts

  Result<> compare(const QueryStep& step) const {
    const std::span<double> to = slot(step);
    for (std::size_t i = 0; i < to.size(); ++i) {
      std::array<std::string_view, 2> both;
      for (std::uint32_t k = 0; k < 2; ++k) {
        TRY(both[k], text(step, program.texts[step.texts + k], i));
      }
      if (step.kind == Step::found_text)
        to[i] = both[0].find(both[1]) != std::string_view::npos ? 1 : 0;
      else
        to[i] = (both[0] == both[1]) == (step.kind == Step::equal_texts) ? 1 : 0;
    }
    return {};
  }
  // As C sees it: it ends before a zero.
  Result<std::string_view> text(const QueryStep& step, const QueryText& text, std::size_t iteration) const {
    if (text.chars < 0) return std::string_view(text.constant);
    const QuerySpace& space = program.spaces[step.owner];
    const bool is_spread = step.space != kSpaceOfEntries && space.paths[text.path].is_of_entry();
    const std::size_t at = is_spread ? block.spaces_[step.owner].entries()[iteration] : iteration;
    QueryPath::Level level;
    level.offsets = text.offsets;
    level.size = text.size;
    const auto [begin, size] = elements_at(items, level, block.spaces_[step.owner].places(text.path)[at]);
    const BlockItems& chars = items[static_cast<std::size_t>(text.chars)];
    const std::int64_t place = begin - chars.first * program.item_sizes[static_cast<std::size_t>(text.chars)];
    if (size == 0) return std::string_view();
    if (place < 0 || place + size > static_cast<std::int64_t>(chars.bytes.size()))
      return fail(ErrorKind::damaged, "a text ends at character " + std::to_string(place + size) + " of " +
                                          std::to_string(chars.bytes.size()));
    const std::string_view found(reinterpret_cast<const char*>(chars.bytes.data()) + place,
                                 static_cast<std::size_t>(size));
    return found.substr(0, found.find('\0'));
  }
};

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
