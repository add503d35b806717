// SPDX-License-Identifier: Apache-2.0
#include "view/levels.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tfilefs {
namespace {

using StepKind = LevelStep::Kind;
using tfile::ErrorKind;

struct Items {
  std::int64_t begin, end;
};

Items items_of(const Levels& levels, std::size_t step, std::int64_t index) {
  const LevelStep& s = levels.steps[step];
  if (s.kind == StepKind::fixed) return {index * s.number, (index + 1) * s.number};
  if (s.kind == StepKind::nullable) return index < s.number ? Items{index, index + 1} : Items{index, index};
  const OffsetsWindow& window = levels.windows[step];
  const auto at = static_cast<std::size_t>(index - window.first);
  return {window.offsets[at], window.offsets[at + 1]};
}

std::int64_t places_below(const Levels& levels, std::size_t step, std::int64_t index) {
  if (step == levels.steps.size() || levels.steps[step].kind == StepKind::date) return 1;
  const Items items = items_of(levels, step, index);
  if (items.begin == items.end) return 1;
  if (step + 1 == levels.steps.size()) return items.end - items.begin;
  std::int64_t sum = 0;
  for (std::int64_t item = items.begin; item < items.end; ++item) sum += places_below(levels, step + 1, item);
  return sum;
}

// The levels of a page, a byte each.
class LevelWriter {
 public:
  LevelWriter(const Levels& levels, std::int64_t places) : levels_(levels), places_(places) {
    repetitions_.reserve(static_cast<std::size_t>(places));
    definitions_.reserve(static_cast<std::size_t>(places));
  }

  // Stops when there are more places than were announced.
  void write(std::size_t step, std::int64_t index, std::uint8_t repetition, std::uint8_t definition,
             std::uint8_t depth) {
    if (step == levels_.steps.size()) return put(repetition, definition);
    const Items items = items_of(levels_, step, index);
    if (items.begin == items.end) return put(repetition, definition);
    const auto inner = static_cast<std::uint8_t>(depth + levels_.steps[step].repeats());
    definition = static_cast<std::uint8_t>(definition + !levels_.steps[step].with_next);
    for (std::int64_t item = items.begin; item < items.end && std::ssize(repetitions_) < places_ + 1; ++item) {
      write(step + 1, item, repetition, definition, inner);
      repetition = inner;
    }
  }

  const std::vector<std::uint8_t>& repetitions() const { return repetitions_; }
  const std::vector<std::uint8_t>& definitions() const { return definitions_; }

 private:
  void put(std::uint8_t repetition, std::uint8_t definition) {
    repetitions_.push_back(repetition);
    definitions_.push_back(definition);
  }

  const Levels& levels_;
  const std::int64_t places_;
  std::vector<std::uint8_t> repetitions_, definitions_;
};

unsigned repetition_width(std::span<const LevelStep> steps) {
  return static_cast<unsigned>(std::bit_width(static_cast<unsigned>(
      std::count_if(steps.begin(), steps.end(), [](const LevelStep& s) { return s.repeats(); }))));
}
unsigned definition_width(std::span<const LevelStep> steps) {
  return static_cast<unsigned>(std::bit_width(static_cast<unsigned>(
      std::count_if(steps.begin(), steps.end(), [](const LevelStep& s) { return !s.with_next; }))));
}

constexpr std::uint64_t groups_of(std::int64_t places) { return (static_cast<std::uint64_t>(places) + 7) / 8; }

// The header of a run of groups of eight bit-packed levels.
std::uint64_t run_header(std::int64_t places) { return groups_of(places) << 1 | 1; }

std::uint64_t varint_size(std::uint64_t value) {
  return (static_cast<std::uint64_t>(std::bit_width(value | 1)) + 6) / 7;
}

// Bytes of one kind of level, without the four of their size.
std::uint64_t packed_size(std::int64_t places, unsigned width) {
  return varint_size(run_header(places)) + groups_of(places) * width;
}

char* write_packed(std::span<const std::uint8_t> levels, unsigned width, char* to) {
  const auto places = static_cast<std::int64_t>(levels.size());
  const auto size = static_cast<std::uint32_t>(packed_size(places, width));
  for (int i = 0; i < 4; ++i) *to++ = static_cast<char>(size >> (8 * i) & 0xff);
  std::uint64_t header = run_header(places);
  for (; header >= 0x80; header >>= 7) *to++ = static_cast<char>(header | 0x80);
  *to++ = static_cast<char>(header);
  for (std::size_t at = 0; at < levels.size(); at += 8) {  // eight levels of `width` bits are `width` bytes
    std::uint64_t bits = 0;
    const std::size_t count = std::min<std::size_t>(8, levels.size() - at);
    for (std::size_t i = 0; i < count; ++i) bits |= std::uint64_t{levels[at + i]} << (i * width);
    for (unsigned i = 0; i < width; ++i) *to++ = static_cast<char>(bits >> (8 * i) & 0xff);
  }
  return to;
}

}  // namespace

std::int64_t places_of(const Levels& levels, std::int64_t entry) { return places_below(levels, 0, entry); }

std::uint64_t levels_size(std::span<const LevelStep> steps, std::int64_t places) {
  std::uint64_t size = 0;
  for (const unsigned width : {repetition_width(steps), definition_width(steps)})
    if (width > 0) size += 4 + packed_size(places, width);
  return size;
}

tfile::Result<void> write_levels(const Levels& levels, std::int64_t begin, std::int64_t end, std::int64_t places,
                                 std::span<char> to) {
  LevelWriter writer(levels, places);
  for (std::int64_t entry = begin; entry < end; ++entry) {
    if (std::ssize(writer.definitions()) > places) break;
    writer.write(0, entry, 0, 0, 0);
  }
  if (std::ssize(writer.definitions()) != places || to.size() != levels_size(levels.steps, places))
    return tfile::fail(ErrorKind::damaged, "lists of entries " + std::to_string(begin) + " to " + std::to_string(end) +
                                               " have " + std::to_string(writer.definitions().size()) +
                                               " places, expected " + std::to_string(places));
  char* at = to.data();
  if (const unsigned width = repetition_width(levels.steps); width > 0)
    at = write_packed(writer.repetitions(), width, at);
  if (const unsigned width = definition_width(levels.steps); width > 0) write_packed(writer.definitions(), width, at);
  return {};
}

bool are_offsets_sound(std::span<const std::int64_t> offsets, std::int64_t limit) {
  return std::is_sorted(offsets.begin(), offsets.end()) &&
         (offsets.empty() || (offsets.front() >= 0 && offsets.back() <= limit));
}

}  // namespace tfilefs
