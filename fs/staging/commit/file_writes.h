// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "reply.h"
#include "tfile/buffer.h"

namespace tfilefs {

// Writes to one file that mostly follow each other, gathered into large ones. Used by one thread; blocks. What was
// written is not on disk before a sync, but on its way there.
class FileWrites {
 public:
  explicit FileWrites(int fd) : fd_(fd) {}
  Result<> write(std::uint64_t offset, tfile::Buffer);
  Result<> flush();

 private:
  const int fd_;
  std::uint64_t offset_ = 0, size_ = 0;  // of gathered_, all together
  std::vector<tfile::Buffer> gathered_;
};

}  // namespace tfilefs
