// SPDX-License-Identifier: Apache-2.0
#include "vfs/page_copies.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace tfilefs {
namespace {

constexpr InodeId kFile = 3;
constexpr HandleId kHandle = 7;
constexpr std::size_t kPage = 4096;

using Bytes = std::vector<std::byte>;
using Pieces = std::vector<std::pair<std::size_t, std::size_t>>;

Bytes bytes_of(std::size_t size, unsigned value = 0) { return Bytes(size, static_cast<std::byte>(value)); }

class Copies : public testing::Test {
 protected:
  PageCopies copies_;

  void read(std::uint64_t offset, const Bytes& bytes) {
    const std::span<const std::byte> all = bytes, some[] = {all.first(bytes.size() / 3), all.subspan(bytes.size() / 3)};
    copies_.note_read(kFile, offset, some);
  }
  Pieces written(std::uint64_t offset, const Bytes& bytes) {
    Pieces pieces;
    for (const PageCopies::Piece& piece : copies_.note_write(kFile, offset, bytes))
      pieces.emplace_back(piece.begin, piece.size);
    return pieces;
  }
};

TEST_F(Copies, WhatIsNotWatchedIsWrittenAsAWhole) {
  read(0, bytes_of(kPage));
  EXPECT_EQ(written(0, bytes_of(kPage)), (Pieces{{0, kPage}}));
  copies_.watch(kFile, kHandle);
  EXPECT_EQ(written(0, bytes_of(kPage)), (Pieces{{0, kPage}})) << "it was read before";
  read(0, bytes_of(kPage));
  EXPECT_EQ(written(0, bytes_of(kPage)), Pieces());
  copies_.watch(kFile, kHandle + 1);
  copies_.release(kHandle);
  EXPECT_EQ(written(0, bytes_of(kPage)), Pieces());
  copies_.release(kHandle + 1);
  EXPECT_EQ(written(0, bytes_of(kPage)), (Pieces{{0, kPage}}));
}

TEST_F(Copies, ChangesAreThoseSinceThePageWasReadOrWritten) {
  copies_.watch(kFile, kHandle);
  read(kPage, bytes_of(2 * kPage));
  Bytes now = bytes_of(2 * kPage);
  for (const std::size_t at : {std::size_t{5}, std::size_t{7}, std::size_t{8}, kPage - 1, kPage, kPage + 100})
    now[at] = std::byte{1};
  EXPECT_EQ(written(kPage, now), (Pieces{{5, 4}, {kPage - 1, 2}, {kPage + 100, 1}}));
  EXPECT_EQ(written(kPage, now), Pieces());
  now[5] = std::byte{0};
  EXPECT_EQ(written(kPage, now), (Pieces{{5, 1}}));
  read(kPage, bytes_of(2 * kPage));
  EXPECT_EQ(written(kPage, now), (Pieces{{7, 2}, {kPage - 1, 2}, {kPage + 100, 1}}));
}

TEST_F(Copies, BehindTheEndOfAFileThereAreZeros) {
  copies_.watch(kFile, kHandle);
  read(0, bytes_of(kPage, 9));
  read(0, bytes_of(100, 9));
  Bytes now = bytes_of(200, 9);
  EXPECT_EQ(written(0, now), (Pieces{{100, 100}}));
}

// A program that puts back through its mapping what it had overwritten with write(2), or cut off, has changed it.
TEST_F(Copies, OwnWritesChangeThem) {
  copies_.watch(kFile, kHandle);
  read(0, bytes_of(2 * kPage, 1));
  copies_.note_own_write(kFile, kPage - 2, bytes_of(5, 2));
  EXPECT_EQ(written(0, bytes_of(2 * kPage, 1)), (Pieces{{kPage - 2, 5}}));
  copies_.note_size(kFile, 100);
  copies_.note_size(kFile, 2 * kPage);
  EXPECT_EQ(written(0, bytes_of(kPage, 1)), (Pieces{{100, kPage - 100}}));
  EXPECT_EQ(written(kPage, bytes_of(kPage, 1)), (Pieces{{0, kPage}}));
  read(0, bytes_of(2 * kPage, 1));
  copies_.note_size(kFile, kPage);
  EXPECT_EQ(written(0, bytes_of(2 * kPage, 1)), (Pieces{{kPage, kPage}}));
  read(0, bytes_of(2 * kPage, 1));
  copies_.note_append(kFile, kPage + 7);
  EXPECT_EQ(written(0, bytes_of(2 * kPage, 1)), (Pieces{{kPage, kPage}}));
}

TEST_F(Copies, PagesBeyondTheLimitAreWrittenAsAWhole) {
  copies_.watch(kFile, kHandle);
  constexpr std::uint64_t kMost = 4096;
  for (std::uint64_t page = 0; page <= kMost; ++page) read(page * kPage, bytes_of(kPage));
  EXPECT_EQ(written((kMost - 1) * kPage, bytes_of(kPage)), Pieces());
  EXPECT_EQ(written(kMost * kPage, bytes_of(kPage)), (Pieces{{0, kPage}}));
}

}  // namespace
}  // namespace tfilefs
