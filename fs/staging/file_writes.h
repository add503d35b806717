// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reply.h"

namespace tfilefs {

// Writes to one file that mostly follow each other, gathered into large ones. Used by one thread; blocks. What was
// written is not on disk before a sync, but on its way there.
class FileWrites {
 public:
  explicit FileWrites(int fd) : fd_(fd) {}
  Result<> write(std::uint64_t offset, std::span<const std::byte>);
  Result<> flush();

 private:
  const int fd_;
  std::uint64_t offset_ = 0;  // of gathered_
  std::vector<std::byte> gathered_;
};

}  // namespace tfilefs
