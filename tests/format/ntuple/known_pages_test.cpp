// SPDX-License-Identifier: Apache-2.0
#include "ntuple/write/known_pages.h"

#include <gtest/gtest.h>

#include <vector>

#include "format/source/memory_source.h"
#include "ntuple/write/part_encode.h"

namespace tfile {
namespace {

using test::MemorySource;

constexpr std::uint64_t kSize = KnownPages::kSharedMin;

Part::Unit page(std::uint64_t content, std::uint64_t size, std::uint64_t address = 0, ColumnNumber column = 0) {
  Part::Unit unit;
  unit.stream = column;
  unit.size = size;
  unit.hash = {content, ~content};
  unit.address = address;
  return unit;
}

std::uint64_t address_of(KnownPages& known, std::uint64_t content, std::uint64_t size) {
  return known.address_of(page(content, size), std::vector<std::byte>(size + kChecksumSize), nullptr);
}

TEST(KnownPages, SmallOnesAreKnownInTheirCluster) {
  KnownPages known;
  known.add(page(1, kSize - 1, 100));
  known.add(page(2, kSize, 200));
  EXPECT_EQ(address_of(known, 1, kSize - 1), 100u);
  EXPECT_EQ(address_of(known, 2, kSize), 200u);
  EXPECT_EQ(address_of(known, 2, kSize + 1), 0u);
  known.end_cluster();
  EXPECT_EQ(address_of(known, 1, kSize - 1), 0u);
  EXPECT_EQ(address_of(known, 2, kSize), 200u);
}

TEST(KnownPages, TheLastOnesStay) {
  KnownPages known;
  for (std::uint64_t i = 1; i <= 2 * KnownPages::kSharedMax; ++i) {
    known.add(page(i, kSize, i));
    const std::uint64_t recent = i < KnownPages::kSharedMax / 2 ? 1 : i + 1 - KnownPages::kSharedMax / 2;
    ASSERT_EQ(address_of(known, recent, kSize), recent);
  }
  EXPECT_EQ(address_of(known, KnownPages::kSharedMax - 1, kSize), 0u);
}

// The file: a page of ones with its checksum, then one of twos.
class FormerPages : public testing::Test {
 protected:
  FormerPages() : bytes(2 * kStored, std::byte{1}) {
    std::fill(bytes.begin() + kStored, bytes.end(), std::byte{2});
    known.add_former(7, {kStored, kSize});
    known.add_former(7, {0, kSize});
    known.add_former(8, {0, kSize});
  }
  std::uint64_t of(ColumnNumber column, unsigned char number) {
    const MemorySource file(bytes);
    return known.address_of(page(number, kSize, 0, column), std::vector(kStored, std::byte{number}), &file);
  }

  static constexpr std::uint64_t kStored = kSize + kChecksumSize;
  std::vector<std::byte> bytes;
  KnownPages known;
};

TEST_F(FormerPages, AreComparedInTheFile) {
  EXPECT_EQ(of(7, 2), kStored);
  EXPECT_EQ(of(7, 2), kStored);
  EXPECT_EQ(of(9, 2), 0u);
}

TEST_F(FormerPages, AreNotReadAgainIfTheyDiffer) {
  EXPECT_EQ(of(7, 1), 0u);  // the first that was added is the last of the file
  EXPECT_EQ(of(7, 2), 0u);
}

TEST_F(FormerPages, OfTheSameChecksumNeedTheSameBytes) {
  bytes[kStored] = std::byte{3};
  EXPECT_EQ(of(7, 2), 0u);
}

TEST_F(FormerPages, ThatCannotBeReadAreNotThere) {
  bytes.resize(2 * kStored - 1);
  EXPECT_EQ(of(7, 2), 0u);
}

TEST(KnownPages, SmallFormerPagesAreNotShared) {
  KnownPages known;
  known.add_former(0, {0, kSize - 1});
  const std::vector<std::byte> bytes(kSize + kChecksumSize);
  const MemorySource file(bytes);
  EXPECT_EQ(known.address_of(page(0, kSize - 1), std::span(bytes).first(kSize - 1 + kChecksumSize), &file), 0u);
}

}  // namespace
}  // namespace tfile
