// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace tfilefs {

// Notices who reads a column in order. Kept for each stream that is read: a few readers can be followed at once. Pure.
class SequenceDetector {
 public:
  // What a read says about the next ones.
  struct Advice {
    bool continues = false;                 // it goes on where another read ended
    std::uint64_t ahead = 0;                // bytes behind it that will be wanted; 0 for a random reader
    std::uint32_t* loaded_until = nullptr;  // of this reader: the caller's note of how far it has loaded ahead
  };
  // A read of [offset, offset + size); `ahead_max` bounds the advice.
  Advice observe(std::uint64_t offset, std::uint64_t size, std::uint64_t ahead_max);

 private:
  struct Run {
    std::uint64_t next = 0;      // where it has got to
    std::uint64_t bytes = 0;     // how far it has come
    std::uint64_t last_use = 0;  // 0: free
    std::uint32_t loaded_until = 0;
  };
  std::array<Run, 4> runs_{};
  std::uint64_t clock_ = 0;
};

}  // namespace tfilefs
