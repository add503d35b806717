// SPDX-License-Identifier: Apache-2.0
#include "staging/file_writes.h"

#include <fcntl.h>

#include "staging/file_place.h"

namespace tfilefs {
namespace {

// Where one more call costs next to nothing beside the bytes that it carries.
constexpr std::size_t kWriteSize = 4 << 20;

}  // namespace

Result<> FileWrites::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (offset != offset_ + gathered_.size() || gathered_.size() + bytes.size() > kWriteSize) TRY_VOID(flush());
  if (gathered_.empty()) offset_ = offset;
  if (bytes.size() < kWriteSize) {
    gathered_.insert(gathered_.end(), bytes.begin(), bytes.end());
    return {};
  }
  TRY_VOID(write_all(fd_, offset, bytes));
  ::sync_file_range(fd_, static_cast<off_t>(offset), static_cast<off_t>(bytes.size()), SYNC_FILE_RANGE_WRITE);
  offset_ = offset + bytes.size();
  return {};
}

Result<> FileWrites::flush() {
  if (gathered_.empty()) return {};
  TRY_VOID(write_all(fd_, offset_, gathered_));
  // So that the disk is busy while the next baskets are made, rather than all at once in the sync. No promise: a file
  // system that cannot do it has lost nothing.
  ::sync_file_range(fd_, static_cast<off_t>(offset_), static_cast<off_t>(gathered_.size()), SYNC_FILE_RANGE_WRITE);
  offset_ += gathered_.size();
  gathered_.clear();
  return {};
}

}  // namespace tfilefs
