// SPDX-License-Identifier: Apache-2.0
#include "vfs/open_retries.h"

#include <chrono>

namespace tfilefs {

namespace {
// The thread comes back at once, but on a busy machine that takes a moment.
constexpr std::chrono::seconds kKeptFor{1};
}  // namespace

void OpenRetries::expect(pid_t thread, InodeNumber number, std::uint64_t generation) {
  const Lock lock(mutex_);
  forget_late();
  expected_[{thread, number}] = {generation, clock_.now() + kKeptFor};
}

bool OpenRetries::awaits(pid_t thread) {
  const Lock lock(mutex_);
  forget_late();
  const auto first = expected_.lower_bound({thread, 0});
  return first != expected_.end() && first->first.first == thread;
}

void OpenRetries::renew(pid_t thread) {
  const Lock lock(mutex_);
  for (auto one = expected_.lower_bound({thread, 0}); one != expected_.end() && one->first.first == thread; ++one)
    one->second.until = clock_.now() + kKeptFor;
}

// Those that did not come back.
void OpenRetries::forget_late() {
  std::erase_if(expected_, [now = clock_.now()](const auto& one) { return one.second.until < now; });
}

bool OpenRetries::take(pid_t thread, InodeNumber number, std::uint64_t generation) {
  const Lock lock(mutex_);
  const auto found = expected_.find({thread, number});
  if (found == expected_.end()) return false;
  const bool is_good = generation >= found->second.generation && clock_.now() <= found->second.until;
  expected_.erase(found);
  return is_good;
}

}  // namespace tfilefs
