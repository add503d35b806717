// SPDX-License-Identifier: Apache-2.0
#include "cache/plans_under_way.h"

#include <utility>

#include "exec/answering.h"

namespace tfilefs {

// If one read cannot go on for lack of memory, only that one fails: dropping its reply answers it with an error.
LoadPlan::~LoadPlan() {
  for (Reply<bool>& then : waiting_) run_caught([&then] { then(true); });
}

bool LoadPlan::covers(tfile::StreamId stream, tfile::EntryRange entries) const {
  return begin_ <= stream && stream < end_ && entries.begin < entries_.end && entries_.begin < entries.end;
}

void LoadPlan::wait(Reply<bool> then) {
  const Lock lock(mutex_);
  waiting_.push_back(std::move(then));
}

std::shared_ptr<LoadPlan> PlansUnderWay::begin(tfile::StreamId begin, tfile::StreamId end, tfile::EntryRange entries) {
  auto plan = std::make_shared<LoadPlan>(begin, end, entries);
  const Lock lock(mutex_);
  std::erase_if(plans_, [](const std::weak_ptr<LoadPlan>& old) { return old.expired(); });
  plans_.push_back(plan);
  return plan;
}

std::shared_ptr<LoadPlan> PlansUnderWay::covering(tfile::StreamId stream, tfile::EntryRange entries) const {
  std::vector<std::shared_ptr<LoadPlan>> others;  // this may be their last owner: destroyed after the lock
  const Lock lock(mutex_);
  for (const std::weak_ptr<LoadPlan>& place : plans_) {
    auto plan = place.lock();
    if (plan && plan->covers(stream, entries)) return plan;
    if (plan) others.push_back(std::move(plan));
  }
  return nullptr;
}

}  // namespace tfilefs
