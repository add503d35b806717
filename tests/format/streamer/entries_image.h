// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "format/streamer/object_image.h"
#include "streamer/layout/read_program.h"

namespace tfile::test {

// The bytes of a basket's entries, and the end of each entry.
class EntriesImage : public ObjectImage {
 public:
  void end_entry() { offsets_.push_back(static_cast<std::int32_t>(size())); }
  Entries with_offsets() const { return {all(), offsets_, static_cast<std::int64_t>(offsets_.size()) - 1}; }
  Entries without_offsets() const { return {all(), {}, static_cast<std::int64_t>(offsets_.size()) - 1}; }
  const std::vector<std::int32_t>& offsets() const { return offsets_; }

 private:
  std::vector<std::int32_t> offsets_{0};
};

template <class T>
std::vector<T> array_of(const Chunk& chunk, std::size_t slot) {
  const auto bytes = chunk.arrays.at(slot);
  EXPECT_EQ(bytes.size() % sizeof(T), 0u);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

inline std::string text_of(const Chunk& chunk, std::size_t slot) {
  const auto bytes = chunk.arrays.at(slot);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The number of items of each slot in a chunk, from its arrays; for hidden slots, from `counted`.
inline std::vector<std::int64_t> array_items(const Program& program, const Chunk& chunk,
                                             const std::vector<std::int64_t>& counted) {
  std::vector<std::int64_t> items;
  for (std::size_t slot = 0; slot < program.slots.size(); ++slot) {
    const bool hidden = program.slots[slot].kind == Slot::Kind::hidden;
    EXPECT_EQ(chunk.arrays[slot].size() % program.slots[slot].item_size, 0u);
    EXPECT_TRUE(!hidden || chunk.arrays[slot].empty());
    items.push_back(hidden ? counted[slot]
                           : static_cast<std::int64_t>(chunk.arrays[slot].size() / program.slots[slot].item_size));
  }
  return items;
}

// Runs a program over matching entries, as the first chunk of a column. Counting alone must give the sizes of the
// arrays.
inline Chunk run_whole(const Program& program, const Entries& entries) {
  std::vector<std::int64_t> counted;
  const auto counting = run_program(program, entries, {}, &counted);
  EXPECT_TRUE(counting) << counting.error().text;
  if (!counting) return {};
  const std::vector<std::int64_t> first(program.slots.size(), 0);
  auto chunk = run_program(program, entries, first, nullptr);
  EXPECT_TRUE(chunk) << chunk.error().text;
  if (!chunk) return {};
  for (std::size_t slot = 0; slot < program.slots.size(); ++slot)
    counted[slot] += program.slots[slot].kind == Slot::Kind::ends;
  EXPECT_EQ(counted, array_items(program, *chunk, counted));
  return *std::move(chunk);
}

// Entries that contradict the program are damaged, whether they are counted or decoded.
inline void expect_damaged(const Program& program, const Entries& entries) {
  const std::vector<std::int64_t> first(program.slots.size(), 0);
  for (const auto& where : {std::span<const std::int64_t>(), std::span<const std::int64_t>(first)}) {
    std::vector<std::int64_t> items;
    const auto chunk = run_program(program, entries, where, &items);
    ASSERT_FALSE(chunk);
    EXPECT_EQ(chunk.error().kind, ErrorKind::damaged);
  }
}

}  // namespace tfile::test
