// SPDX-License-Identifier: Apache-2.0
#include "query/query_block_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace tfilefs {

using tfile::fail;
using Step = QueryStep::Kind;

std::size_t QueryBlock::Run::count(std::uint32_t space) const {
  return space == kSpaceOfEntries ? entries() : block.spaces_[space].count();
}

std::span<double> QueryBlock::Run::slot(const QueryStep& step, std::uint32_t behind) const {
  std::vector<double>& values = block.slots_[step.slot + behind];
  const std::size_t size = count(step.space);
  if (values.size() < size) values.resize(size);
  return std::span(values).first(size);
}

Result<> QueryBlock::Run::steps() const {
  for (const QueryStep& each : program.steps) {
    if (block.stop_.stop_requested()) return cancelled();
    if (each.kind != Step::enter) TRY_VOID(step(each));
  }
  return {};
}

Result<> QueryBlock::Run::step(const QueryStep& step) const {
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

Result<> QueryBlock::Run::number_places(const QueryStep& step) const {
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

Result<> QueryBlock::Run::operate(const QueryStep& step) const {
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

Result<> QueryBlock::Run::call(const QueryStep& step) const {
  const std::span<double> to = slot(step);
  for (std::size_t at = 0; at < to.size(); at += kPieceIterations) {
    if (block.stop_.stop_requested()) return cancelled();
    call_some(step, to, at, std::min(to.size(), at + kPieceIterations));
  }
  return {};
}

void QueryBlock::Run::call_some(const QueryStep& step, std::span<double> to, std::size_t begin, std::size_t end) const {
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

Result<> QueryBlock::Run::spread(const QueryStep& step) const {
  if (block.spaces_[step.space].is_plain()) return {};
  const std::span<const std::uint32_t> entries = block.spaces_[step.space].entries();
  std::vector<double>& values = block.slots_[step.slot];
  block.spare_.resize(std::max(block.spare_.size(), entries.size()));
  for (std::size_t i = 0; i < entries.size(); ++i) block.spare_[i] = values[entries[i]];
  values.swap(block.spare_);
  return {};
}

Result<> QueryBlock::Run::repeat_first(const QueryStep& step) const {
  const IterationSpace& space = block.spaces_[step.space];
  const std::span<double> to = slot(step);
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = to[space.firsts()[space.entries()[i]]];
  return {};
}

Result<> QueryBlock::Run::take_lost(const QueryStep& step) const {
  if (step.kind == Step::settle) return settle(step);
  if (step.kind != Step::hold) return release(step);
  block.held_.push_back(std::exchange(block.lost_[step.space], {}));
  return {};
}

Result<> QueryBlock::Run::settle(const QueryStep& step) const {
  std::vector<std::uint8_t>& lost = block.lost_[step.space];
  const std::span<double> to = slot(step);
  for (std::size_t i = 0; i < std::min(lost.size(), to.size()); ++i) {
    if (lost[i] != 0) to[i] = step.number;
  }
  lost.clear();
  return {};
}

Result<> QueryBlock::Run::release(const QueryStep& step) const {
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

std::optional<std::size_t> QueryBlock::Run::place_in(std::uint32_t other, const IterationSpace& space,
                                                     std::size_t iteration) const {
  const std::uint32_t entry = space.entries()[iteration];
  const std::span<const std::uint32_t> firsts = block.spaces_[other].firsts();
  const std::size_t place = firsts[entry] + (iteration - space.firsts()[entry]);
  return place < firsts[entry + 1] ? std::optional(place) : std::nullopt;
}

Result<> QueryBlock::Run::load(const QueryStep& step) const {
  const QueryPath& path = program.spaces[step.owner].paths[step.path];
  const BlockItems& column = items[step.input];
  const std::span<double> to = slot(step);
  const auto size = static_cast<std::int64_t>(tfile::size_of(step.dtype));
  const std::int64_t known = static_cast<std::int64_t>(column.bytes.size()) / size;
  // Arrays are items of more than one number.
  const std::int64_t first = column.first * (program.item_sizes[step.input] / size);
  if (path.levels.empty() && path.entries >= block.block_.end) {
    if (block.block_.begin < first || block.block_.end - first > known) return missing(block.block_.end - first, known);
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

Result<> QueryBlock::Run::missing(std::int64_t place, std::int64_t known) {
  return fail(ErrorKind::damaged, "a column has " + std::to_string(known) +
                                      " items of the entries that are looked at, and no item " + std::to_string(place) +
                                      " of them, which its lists have");
}

void QueryBlock::Run::compute_indices(const QueryStep& step, const QueryPath& path) const {
  auto level =
      std::ranges::find_if(path.levels, [](const auto& each) { return each.index.kind == PathIndex::Kind::computed; });
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

Result<> QueryBlock::Run::reduce(const QueryStep& step) const {
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

void QueryBlock::Run::reduce_some(const QueryStep& step, std::size_t begin, std::size_t end, Reduced& made) const {
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

Result<> QueryBlock::Run::add_up(const QueryStep& step, std::span<const std::uint32_t> entry_of) const {
  const double* const values = block.slots_[step.slot].data();
  double* const sums = block.spare_.data();
  std::fill_n(sums, entries(), 0);
  for (std::size_t i = 0; i < entry_of.size(); ++i) sums[entry_of[i]] += values[i];
  block.slots_[step.slot].swap(block.spare_);
  return {};
}

Result<> QueryBlock::Run::alternate(const QueryStep& step) const {
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

Result<> QueryBlock::Run::compare(const QueryStep& step) const {
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

Result<std::string_view> QueryBlock::Run::text(const QueryStep& step, const QueryText& text,
                                               std::size_t iteration) const {
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

}  // namespace tfilefs
