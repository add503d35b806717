// SPDX-License-Identifier: Apache-2.0
#include "table_build/file_writes.h"

#include <fcntl.h>
#include <sys/uio.h>

#include <cerrno>
#include <utility>

#include "tfile/local_file.h"

namespace tfilefs {
namespace {

// For a write of this size the cost of the call is negligible.
constexpr std::uint64_t kWriteSize = 4 << 20;
constexpr std::size_t kPartsMax = 1024;  // IOV_MAX

Result<> write_parts(int fd, std::uint64_t offset, const std::vector<tfile::Buffer>& buffers) {
  std::vector<iovec> parts;
  for (const tfile::Buffer& buffer : buffers) parts.push_back({const_cast<std::byte*>(buffer.data()), buffer.size()});
  if (const int number = tfile::write_all(fd, offset, parts); number != 0) return tfile::system_error("write", number);
  return {};
}

}  // namespace

Result<> FileWrites::write(std::uint64_t offset, tfile::Buffer bytes) {
  if (offset != offset_ + size_ || gathered_.size() == kPartsMax) TRY_VOID(flush());
  if (gathered_.empty()) offset_ = offset;
  size_ += bytes.size();
  gathered_.push_back(std::move(bytes));
  return size_ < kWriteSize ? Result<>() : flush();
}

Result<> FileWrites::flush() {
  if (gathered_.empty()) return {};
  TRY_VOID(write_parts(fd_, offset_, gathered_));
  // Starts writing to the disk, so that it is busy while the next parts are made, rather than all at once in the sync.
  // A failure does not matter.
  ::sync_file_range(fd_, static_cast<off_t>(offset_), static_cast<off_t>(size_), SYNC_FILE_RANGE_WRITE);
  offset_ += size_;
  size_ = 0;
  gathered_.clear();
  return {};
}

}  // namespace tfilefs
