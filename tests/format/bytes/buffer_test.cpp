// SPDX-License-Identifier: Apache-2.0
#include "tfile/buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace tfile {
namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

std::size_t resident_bytes() {
  std::size_t pages = 0, resident = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%zu %zu", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident * 4096;
}

void fill(Buffer& buffer, int seed) { std::memset(buffer.data(), seed & 0xff, buffer.size()); }
bool holds(const Buffer& buffer, int seed) {
  for (std::size_t i = 0; i < buffer.size(); i += 61)
    if (buffer.data()[i] != static_cast<std::byte>(seed & 0xff)) return false;
  return buffer.size() == 0 || buffer.data()[buffer.size() - 1] == static_cast<std::byte>(seed & 0xff);
}

TEST(Buffer, BuffersOfAllSizesDoNotOverlap) {
  std::mt19937 random(1);
  std::vector<std::pair<Buffer, int>> live;
  for (int i = 0; i < 3000; ++i) {
    if (live.size() > 40) {
      const std::size_t victim = random() % live.size();
      ASSERT_TRUE(holds(live[victim].first, live[victim].second));
      std::swap(live[victim], live.back());
      live.pop_back();
    }
    const std::size_t sizes[] = {0,        1,       random() % 5000, random() % 200'000, random() % 3'000'000,
                                 32 << 10, 1 << 20, 4 << 20};
    live.emplace_back(Buffer(sizes[random() % 8]), i);
    fill(live.back().first, i);
  }
  for (const auto& [buffer, seed] : live) EXPECT_TRUE(holds(buffer, seed));
}

TEST(Buffer, FromManyThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      std::vector<Buffer> live(10);
      for (int i = 0; i < 2000; ++i) {
        Buffer& place = live[random() % live.size()];
        if (!holds(place, t)) ++wrong;
        place = Buffer(random() % 300'000);
        fill(place, t);
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// Sanitizers use an allocator of their own, which keeps freed memory.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TFILE_TEST_OTHER_ALLOCATOR 1
#endif
#endif

TEST(Buffer, WhatIsFreedGoesBackToTheSystem) {
  if (kSanitized) GTEST_SKIP() << "sanitizers keep freed memory aside to catch its use";
#ifdef TFILE_TEST_OTHER_ALLOCATOR
  GTEST_SKIP() << "a sanitizer's allocator keeps what is freed";
#endif
  const std::size_t before = resident_bytes();
  // 400 MB; every eighth buffer stays, so that the rest is scattered over all slabs.
  std::vector<Buffer> kept;
  for (int i = 0; i < 8000; ++i) {
    Buffer buffer(50'000);
    fill(buffer, i);
    kept.push_back(std::move(buffer));
  }
  for (int i = 0; i < 8000; ++i)
    if (i % 8) kept[static_cast<std::size_t>(i)] = Buffer();
  EXPECT_LT(resident_bytes(), before + 1000 * 54'000 + (50 << 20));
}

TEST(Buffer, WhereBuffersTakeLittleFewFreedOnesAreKept) {
  if (kSanitized) GTEST_SKIP() << "sanitizers keep freed memory aside to catch its use";
#ifdef TFILE_TEST_OTHER_ALLOCATOR
  GTEST_SKIP() << "a sanitizer's allocator keeps what is freed";
#endif
  give_back_free_buffers();
  const std::size_t before = resident_bytes();
  scale_free_buffers(16 << 20);
  std::vector<Buffer> buffers;
  for (int i = 0; i < 2000; ++i) {
    buffers.emplace_back(i % 50 == 0 ? 2'000'000 : 50'000);
    fill(buffers.back(), i);
  }
  buffers.clear();
  EXPECT_LT(resident_bytes(), before + (9 << 20));
  scale_free_buffers(1 << 30);
}

TEST(Buffer, AnImpossibleSizeThrows) { EXPECT_THROW(Buffer(~std::size_t{0} - 100), std::bad_alloc); }

}  // namespace
}  // namespace tfile
