// SPDX-License-Identifier: Apache-2.0
#include "staging/overlay/staged_block.h"

#include <algorithm>
#include <iterator>

namespace tfilefs {

void BlockRange::include(BlockRange other) {
  if (other.empty()) return;
  if (empty()) {
    *this = other;
  } else {
    begin = std::min(begin, other.begin);
    end = std::max(end, other.end);
  }
}

void BlockRange::cut(std::uint32_t at) { end = std::min(end, at); }

std::vector<BlockPiece> pieces_of(std::uint64_t offset, std::uint64_t size) {
  std::vector<BlockPiece> pieces;
  for (std::uint64_t done = 0; done < size; done += pieces.back().range.size()) {
    const std::uint64_t begin = (offset + done) % kStagedBlockSize;
    const std::uint64_t end = std::min(begin + (size - done), kStagedBlockSize);
    pieces.push_back({(offset + done) / kStagedBlockSize,
                      {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)},
                      done});
  }
  return pieces;
}

void add_part(std::vector<JournaledPart>& parts, JournaledPart part) {
  if (part.begin >= part.end) return;
  // Only the first and the last of the overlapped parts can extend beyond the new one.
  const auto first = std::ranges::upper_bound(parts, part.begin, {}, &JournaledPart::end);
  const auto last = std::ranges::lower_bound(first, parts.end(), part.end, {}, &JournaledPart::begin);
  std::vector<JournaledPart> between;
  if (first != last && first->begin < part.begin) between.push_back({first->begin, part.begin, first->at});
  between.push_back(part);
  if (first != last) {
    const JournaledPart& behind = *std::prev(last);
    if (behind.end > part.end) between.push_back({part.end, behind.end, behind.at + (part.end - behind.begin)});
  }
  const auto at = parts.erase(first, last);
  parts.insert(at, between.begin(), between.end());
}

void cut_parts(std::vector<JournaledPart>& parts, std::uint32_t at) {
  while (!parts.empty() && parts.back().begin >= at) parts.pop_back();
  if (!parts.empty()) parts.back().end = std::min(parts.back().end, at);
}

}  // namespace tfilefs
