// SPDX-License-Identifier: Apache-2.0
#include "bytes/kept_bytes.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace tfile {

std::vector<FilePiece> pieces_to_keep(const Source::Started& read, const SourceTraits& traits, std::uint64_t file_size,
                                      std::uint64_t size_max) {
  std::vector<FilePiece> pieces;
  for (std::size_t i = 0; i < read.ranges.size(); ++i)
    if (read.ranges[i].size <= size_max && !is_in_memory(read.ranges[i], traits, file_size))
      pieces.push_back({read.ranges[i].begin, read.into[i]});
  return pieces;
}

// The part that holds this byte; else the first one behind it.
std::map<std::uint64_t, KeptBytes::Part>::iterator KeptBytes::part_at(std::uint64_t at) {
  const auto behind = parts_.upper_bound(at);
  if (behind == parts_.begin()) return behind;
  const auto before = std::prev(behind);
  return at < before->first + before->second.bytes.size() ? before : behind;
}

std::vector<ByteRange> KeptBytes::copy(ByteRange range, std::span<std::byte> into) {
  std::vector<ByteRange> missing;
  const Lock lock(mutex_);
  for (std::uint64_t at = range.begin; at < range.end();) {
    const auto found = part_at(at);
    const std::uint64_t begin = found == parts_.end() ? range.end() : std::clamp(found->first, at, range.end());
    if (begin > at) missing.push_back({at, begin - at});
    if (begin == range.end()) break;
    const Buffer& bytes = found->second.bytes;
    const std::uint64_t end = std::min(range.end(), found->first + bytes.size());
    begins_.splice(begins_.begin(), begins_, found->second.use);
    if (!into.empty())
      std::memcpy(into.data() + (begin - range.begin), bytes.data() + (begin - found->first), end - begin);
    at = end;
  }
  return missing;
}

void KeptBytes::keep(std::uint64_t begin, std::span<const std::byte> bytes) {
  if (bytes.empty() || bytes.size() > bytes_max_) return;
  Buffer copy(bytes.size());
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  const Lock lock(mutex_);
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
  const Lock lock(mutex_);
  return size_;
}

}  // namespace tfile
