// SPDX-License-Identifier: Apache-2.0
#include "container/edge_source.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "format/source/memory_source.h"

namespace tfile {
namespace {

std::shared_ptr<test::MemorySource> numbered(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 2654435761u >> 24);
  return std::make_shared<test::MemorySource>(std::move(bytes));
}

std::vector<std::byte> bytes_at(const Source& source, std::uint64_t begin, std::size_t size) {
  std::vector<std::byte> bytes(size);
  EXPECT_TRUE(read_range(source, {begin, size}, bytes));
  return bytes;
}

TEST(EdgeSource, OneCallReadsBothEnds) {
  const auto whole = numbered(1 << 20);
  const auto edges = EdgeSource::over(whole);
  ASSERT_TRUE(edges);
  EXPECT_EQ(whole->calls(), 1u);
  const std::uint64_t held = whole->bytes_read();
  EXPECT_LT(held, 100'000u);
  EXPECT_GE((*edges)->memory(), held);
  for (const std::uint64_t begin : {0ul, 300ul, (1ul << 20) - 50'000, (1ul << 20) - 100})
    EXPECT_EQ(bytes_at(**edges, begin, 100), bytes_at(*whole, begin, 100)) << begin;
  EXPECT_EQ(whole->calls(), 5u) << "those of the comparison, and no other";
}

TEST(EdgeSource, WhatLiesBetweenIsReadAsEver) {
  const auto whole = numbered(1 << 20);
  const auto edges = EdgeSource::over(whole).value();
  for (const std::uint64_t begin : {4050ul, 500'000ul, (1ul << 20) - (64 << 10) - 50})
    EXPECT_EQ(bytes_at(*edges, begin, 100), bytes_at(*whole, begin, 100)) << begin;
  std::vector<std::byte> bytes(100);
  EXPECT_EQ(read_range(*edges, {(1 << 20) - 50, 100}, bytes).error().kind, ErrorKind::damaged);
  EXPECT_EQ(read_range(*edges, {~std::uint64_t{0} - 10, 100}, bytes).error().kind, ErrorKind::damaged);
}

TEST(EdgeSource, SmallFilesAreHeldWhole) {
  for (const std::size_t size : {0u, 1u, 4096u, 4097u, 60'000u}) {
    const auto whole = numbered(size);
    const auto edges = EdgeSource::over(whole).value();
    EXPECT_EQ(whole->calls(), size == 0 ? 0u : 1u);
    EXPECT_EQ(whole->bytes_read(), size);
    EXPECT_EQ(bytes_at(*edges, 0, std::min<std::size_t>(size, 4096)).size(), std::min<std::size_t>(size, 4096));
    EXPECT_LE(whole->calls(), 1u);
  }
}

TEST(EdgeSource, OneRangeARequestIsEnough) {
  const auto whole = numbered(4 << 20);
  whole->told.ranges_max = 1;
  ASSERT_TRUE(EdgeSource::over(whole));
  EXPECT_EQ(whole->calls(), 2u);
}

TEST(EdgeSource, ASourceThatHoldsItsEndsIsNotAskedForThem) {
  const auto whole = numbered(4 << 20);
  whole->told.begin_held = 4096;
  whole->told.end_held = 100'000;
  ASSERT_TRUE(EdgeSource::over(whole));
  EXPECT_EQ(whole->calls(), 0u);
}

TEST(EdgeSource, MoreIsHeldAfterOneCall) {
  const auto whole = numbered(4 << 20);
  const auto edges = EdgeSource::over(whole).value();
  ASSERT_TRUE(edges->hold({{2'000'000, 1000}, {1'000'000, 500}, {(4 << 20) - 10, 20}, {100, 10}, {5, 0}}));
  EXPECT_EQ(whole->calls(), 2u);
  EXPECT_EQ(bytes_at(*edges, 1'000'100, 400), bytes_at(*whole, 1'000'100, 400));
  EXPECT_EQ(bytes_at(*edges, 2'000'000, 1000), bytes_at(*whole, 2'000'000, 1000));
  EXPECT_EQ(whole->calls(), 4u) << "those of the comparison, and no other";
}

}  // namespace
}  // namespace tfile
