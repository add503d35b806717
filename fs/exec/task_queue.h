// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <iterator>

namespace tfilefs {

enum class Urgency : std::uint8_t { awaited, ahead };  // a request waits for it, or it is prefetch

// Jobs in two classes: those that a request waits for go first. But the jobs of a commit are in the second class, and
// writers wait for them. So one job in kShare is taken from it, however many readers wait. Not thread-safe.
class TaskQueue {
 public:
  using Job = std::function<void()>;

  // `owner` names the jobs that `promote` moves together; nullptr for none.
  void push(Job job, Urgency urgency, const void* owner) {
    (urgency == Urgency::awaited ? awaited_ : ahead_).push_back({std::move(job), owner});
  }
  bool empty() const { return awaited_.empty() && ahead_.empty(); }
  Job pop() {
    auto& from = awaited_.empty() || (!ahead_.empty() && ++passed_ % kShare == 0) ? ahead_ : awaited_;
    Job job = std::move(from.front().job);
    from.pop_front();
    return job;
  }
  // A request waits for the owner's jobs now.
  void promote(const void* owner) {
    const auto rest =
        std::stable_partition(ahead_.begin(), ahead_.end(), [&](const Item& i) { return i.owner != owner; });
    std::move(rest, ahead_.end(), std::back_inserter(awaited_));
    ahead_.erase(rest, ahead_.end());
  }

 private:
  struct Item {
    Job job;
    const void* owner;
  };
  static constexpr unsigned kShare = 4;
  std::deque<Item> awaited_, ahead_;
  unsigned passed_ = 0;
};

}  // namespace tfilefs
