// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace tfilefs {

// Notices readers that read a column in order: upward, downward, or in equal steps. Kept for each column that is read.
// A few readers can be followed at once. Pure.
class SequenceDetector {
 public:
  // The next reads, as a read tells them.
  struct Advice {
    bool continues = false;   // it goes on where another read ended
    std::uint64_t ahead = 0;  // bytes beyond it that will be wanted; 0 for a random reader
    std::uint64_t run = 0;    // bytes read without a break so far, in the direction in which it goes on
    std::int64_t step = 0;    // from one read's begin to the next's, where they leave gaps; 0: without gaps, upward;
                              // -1: without gaps, downward
    std::uint64_t* loaded_until = nullptr;  // of this reader: the caller's note of how far (byte) it has loaded ahead
  };
  // A read of [offset, offset + size); `ahead_max` bounds the advice.
  Advice observe(std::uint64_t offset, std::uint64_t size, std::uint64_t ahead_max);

 private:
  // The range that a reader has read without a break, [low, high), grown at either end; and where its last read began.
  struct Run {
    std::uint64_t low = 0, high = 0;
    std::uint64_t up = 0, down = 0;  // bytes by which it grew of late, upward and downward
    std::uint64_t last = 0;
    std::int64_t step = 0;    // between its last two reads, where they left a gap
    std::uint32_t steps = 0;  // how often in a row; 0: there was no gap
    std::uint64_t last_use = 0;
    std::uint64_t loaded_until = 0;
  };
  static bool grow(Run&, std::uint64_t offset, std::uint64_t size);
  static Advice advice_for(Run&, std::uint64_t size, std::uint64_t ahead_max);
  Run* strided(std::uint64_t offset, std::uint64_t size);
  Run& begin_run(std::uint64_t offset, std::uint64_t size);

  static constexpr std::size_t kRuns = 4;
  std::vector<Run> runs_;
  std::uint64_t clock_ = 0;
};

}  // namespace tfilefs
