// SPDX-License-Identifier: Apache-2.0
#include "cache/prefetch.h"

#include <algorithm>

namespace tfilefs {
namespace {

// A file is usually read from its start to its end: a first read there that is as large as the kernel's read-ahead
// (128 KiB by default, less the first time) is taken for the beginning of a run. A header that is looked at is not.
constexpr std::uint64_t kOpeningRead = 64 << 10;

}  // namespace

SequenceDetector::Advice SequenceDetector::observe(std::uint64_t offset, std::uint64_t size, std::uint64_t ahead_max) {
  ++clock_;
  const std::uint64_t end = offset + size;
  // The kernel sends the requests of one reader on several threads, so neighbours may arrive in either order.
  const std::uint64_t slack = 2 * size;
  for (Run& run : runs_) {
    if (run.last_use == 0 || offset > run.next + slack || end + slack < run.next ||
        offset + size <= run.next - std::min(run.next, run.bytes))
      continue;
    if (end > run.next) {
      run.bytes += end - run.next;
      run.next = end;
    }
    run.last_use = clock_;
    // As far ahead as it has come, at least a few reads: a short run wastes little, a long one opens quickly.
    const bool established = run.bytes > 2 * size || run.bytes >= 4 * kOpeningRead;
    return {true, established ? std::min(ahead_max, std::max(2 * run.bytes, 4 * size)) : 0, &run.loaded_until};
  }
  Run& oldest = *std::min_element(runs_.begin(), runs_.end(), [](auto& a, auto& b) { return a.last_use < b.last_use; });
  oldest = Run{end, size, clock_, 0};
  const bool opening = offset == 0 && size >= kOpeningRead;
  return {false, opening ? std::min(ahead_max, 4 * size) : 0, &oldest.loaded_until};
}

}  // namespace tfilefs
