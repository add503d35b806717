// SPDX-License-Identifier: Apache-2.0
#include "view/friends/kept_bits.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

namespace tfilefs {
namespace {

// Keeps them in blocks of any size.
std::unique_ptr<KeptBits> kept_of(const std::vector<bool>& entries, std::mt19937& random) {
  auto bits = std::make_unique<KeptBits>(std::ssize(entries), Budget::Reservation());
  for (std::size_t at = 0; at < entries.size();) {
    const std::size_t size = std::min<std::size_t>(1 + random() % 300, entries.size() - at);
    std::vector<std::uint64_t> words((size + 63) / 64);
    for (std::size_t i = 0; i < size; ++i) words[i / 64] |= std::uint64_t{entries[at + i]} << (i % 64);
    bits->keep({static_cast<std::int64_t>(at), static_cast<std::int64_t>(at + size)}, words);
    at += size;
  }
  bits->finish();
  return bits;
}

void expect_same(const std::vector<bool>& entries, const KeptBits& bits) {
  std::vector<std::int64_t> kept, all, before;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    all.push_back(static_cast<std::int64_t>(i));
    before.push_back(std::ssize(kept));
    if (entries[i]) kept.push_back(static_cast<std::int64_t>(i));
  }
  ASSERT_EQ(bits.entries(), std::ssize(kept));
  EXPECT_EQ(bits.kept_before(all), before);
  std::vector<EntryRun> made;
  std::vector<std::int64_t> found;
  for (std::size_t number = 0; number < bits.block_count(); ++number) {
    const RunBlock block = bits.block(number, made);
    ASSERT_LE(block.runs.size(), MatchedEntries::kBlockRuns);
    for (std::size_t run = 0; run < block.runs.size(); ++run) {
      ASSERT_EQ(block.runs[run].before, std::ssize(found));
      ASSERT_EQ(bits.block_of(std::ssize(found)), number);
      for (std::int64_t i = 0; i < block.count(run); ++i) found.push_back(block.runs[run].friend_entry + i);
    }
    ASSERT_EQ(block.end, std::ssize(found));
  }
  EXPECT_EQ(found, kept);
  for (std::size_t i = 0; i < kept.size(); i += 97) ASSERT_EQ(bits.friend_entry(static_cast<std::int64_t>(i)), kept[i]);
  EXPECT_EQ(bits.friend_entry(bits.entries()), -1);
}

TEST(KeptBits, AreTheEntriesThatWereKept) {
  std::mt19937 random(1);
  for (const std::size_t size : {0u, 1u, 63u, 64u, 65u, 1000u, 30'000u}) {
    for (const unsigned parts : {1u, 2u, 7u, 1000u}) {
      std::vector<bool> entries(size);
      for (std::size_t i = 0; i < size; ++i) entries[i] = random() % parts == 0;
      expect_same(entries, *kept_of(entries, random));
    }
    expect_same(std::vector<bool>(size), *kept_of(std::vector<bool>(size), random));
  }
}

}  // namespace
}  // namespace tfilefs
