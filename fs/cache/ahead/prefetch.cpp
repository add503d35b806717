// SPDX-License-Identifier: Apache-2.0
#include "cache/ahead/prefetch.h"

#include <algorithm>
#include <cstdlib>

namespace tfilefs {
namespace {

// A file is usually read from start to end. A first read at the start that is as large as the kernel's read-ahead (128
// KiB by default, less the first time) is taken for the beginning of a run. A read of a header is smaller.
constexpr std::uint64_t kOpeningRead = 64 << 10;

// A second equal step may be chance; a third hardly.
constexpr std::uint32_t kStepsSure = 2;

// Most reads that are loaded ahead of a reader in steps. Their number doubles with each read that came true, as a
// window of bytes does.
constexpr std::uint64_t kStepsAheadMax = 64;

}  // namespace

// True if the read touches an end of the run. The kernel sends the requests of one reader on several threads, so
// neighbours may arrive in either order.
bool SequenceDetector::grow(Run& run, std::uint64_t offset, std::uint64_t size) {
  const std::uint64_t end = offset + size, slack = 2 * size;
  const bool at_high = offset <= run.high + slack && end + slack >= run.high && end > run.low;
  const bool at_low = end + slack >= run.low && offset <= run.low + slack && offset < run.high;
  const bool downward = run.down > run.up;
  if (downward ? !at_low && !(at_high && end > run.high) : !at_high && !(at_low && offset < run.low)) return false;
  if (end > run.high) {
    run.up += end - run.high;
    run.down /= 2;
    run.high = end;
  } else if (offset < run.low) {
    run.down += run.low - offset;
    run.up /= 2;
    run.low = offset;
  }
  run.step = 0;
  run.steps = 0;
  return true;
}

// The run whose next step is this read.
SequenceDetector::Run* SequenceDetector::strided(std::uint64_t offset, std::uint64_t size) {
  for (Run& run : runs_) {
    const auto step = static_cast<std::int64_t>(offset - run.last);
    if (run.step != 0 && static_cast<std::uint64_t>(std::abs(step - run.step)) <= size) return &run;
  }
  return nullptr;
}

// For a read that continues no run; it may be the first step from the read before it.
SequenceDetector::Run& SequenceDetector::begin_run(std::uint64_t offset, std::uint64_t size) {
  const auto younger = [](const Run& a, const Run& b) { return a.last_use < b.last_use; };
  const auto youngest = std::max_element(runs_.begin(), runs_.end(), younger);
  Run run;
  run.low = run.last = offset;
  run.high = offset + size;
  run.up = size;
  run.last_use = clock_;
  if (youngest != runs_.end()) {
    run.step = static_cast<std::int64_t>(offset - youngest->last);
    run.steps = 1;
  }
  if (runs_.size() < kRuns) return runs_.emplace_back(run);
  return *std::min_element(runs_.begin(), runs_.end(), younger) = run;
}

SequenceDetector::Advice SequenceDetector::advice_for(Run& run, std::uint64_t size, std::uint64_t ahead_max) {
  Advice advice{.continues = true, .loaded_until = &run.loaded_until};
  if (run.steps > 0) {
    if (run.steps < kStepsSure) return advice;
    advice.step = run.step;
    const std::uint64_t reads = std::min<std::uint64_t>(kStepsAheadMax, std::uint64_t{2} << std::min(run.steps, 16u));
    advice.ahead = std::min(ahead_max, reads * size);
    return advice;
  }
  const std::uint64_t far = advice.run = std::max(run.up, run.down);
  advice.step = run.down > run.up ? -1 : 0;
  // A short run may end at any page, so its window is small. A long one gets a large window quickly.
  if (far >= 4 * kOpeningRead)
    advice.ahead = std::min(ahead_max, std::max(2 * far, 4 * size));
  else if (far > 2 * size)
    advice.ahead = std::min(ahead_max, std::max(size, far / 4));
  return advice;
}

SequenceDetector::Advice SequenceDetector::observe(std::uint64_t offset, std::uint64_t size, std::uint64_t ahead_max) {
  ++clock_;
  for (Run& run : runs_) {
    if (!grow(run, offset, size)) continue;
    run.last_use = clock_;
    run.last = offset;
    return advice_for(run, size, ahead_max);
  }
  if (Run* run = strided(offset, size)) {
    ++run->steps;
    run->last_use = clock_;
    run->last = run->low = offset;
    run->high = offset + size;
    run->up = size;
    run->down = 0;
    Advice advice = advice_for(*run, size, ahead_max);
    advice.continues = false;  // it is in another chunk
    return advice;
  }
  Run& run = begin_run(offset, size);
  const bool opening = offset == 0 && size >= kOpeningRead;
  return {.ahead = opening ? std::min(ahead_max, 4 * size) : 0, .loaded_until = &run.loaded_until};
}

}  // namespace tfilefs
