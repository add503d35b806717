// SPDX-License-Identifier: Apache-2.0
#include "far/kept_bytes.h"

#include <cstring>
#include <iterator>
#include <utility>

namespace tfile {

bool KeptBytes::copy(ByteRange range, std::span<std::byte> into) {
  const std::lock_guard lock(mutex_);
  auto found = parts_.upper_bound(range.begin);
  if (found == parts_.begin()) return false;
  const auto& [begin, part] = *--found;
  if (range.end() > begin + part.bytes.size()) return false;
  begins_.splice(begins_.begin(), begins_, part.use);
  std::memcpy(into.data(), part.bytes.data() + (range.begin - begin), range.size);
  return true;
}

void KeptBytes::keep(std::uint64_t begin, std::span<const std::byte> bytes) {
  if (bytes.empty() || bytes.size() > bytes_max_) return;
  Buffer copy(bytes.size());
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  const std::lock_guard lock(mutex_);
  const std::uint64_t end = begin + bytes.size();
  auto next = parts_.lower_bound(begin);
  if (next != parts_.begin())
    if (const auto before = std::prev(next); before->first + before->second.bytes.size() >= end) return;
  if (next != parts_.end() && next->first == begin && next->second.bytes.size() >= bytes.size()) return;
  while (next != parts_.end() && next->first + next->second.bytes.size() <= end)
    drop(std::exchange(next, std::next(next)));
  begins_.push_front(begin);
  parts_.emplace(begin, Part{std::move(copy), begins_.begin()});
  size_ += bytes.size();
  while (size_ > bytes_max_) drop(parts_.find(begins_.back()));
}

void KeptBytes::drop(std::map<std::uint64_t, Part>::iterator part) {
  size_ -= part->second.bytes.size();
  begins_.erase(part->second.use);
  parts_.erase(part);
}

std::uint64_t KeptBytes::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

}  // namespace tfile
