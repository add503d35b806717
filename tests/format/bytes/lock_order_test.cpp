// SPDX-License-Identifier: Apache-2.0
#ifdef TFILE_CHECKS

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>

#include "tfile/mutex.h"

namespace tfile {
namespace {

TEST(LockOrder, IsThatWhichALockSays) {
  Mutex outer{"Outer::mutex_", "Inner::mutex_, a read"}, inner{"Inner::mutex_"}, read{"Source::mutex_", "", "a read"};
  Mutex heap{"Heap::mutex_"}, unnamed;
  const Lock first(outer);
  {
    const Lock second(inner);
    const Lock third(heap);  // under any lock
    const Lock fourth(unnamed);
  }
  const Lock second(read);
}

TEST(LockOrder, LocksGoInAnyOrder) {
  Mutex outer{"Outer::mutex_", "Inner::mutex_"}, inner{"Inner::mutex_"}, other{"Other::mutex_"};
  outer.lock();
  inner.lock();
  outer.unlock();
  inner.unlock();
  const Lock nothing_is_held(other);
}

TEST(LockOrder, WhoWaitsHoldsNothing) {
  Mutex mutex{"Outer::mutex_", "Inner::mutex_"}, inner{"Inner::mutex_"};
  Condition never;
  const Lock lock(mutex);
  never.wait_for(mutex, std::chrono::milliseconds(1));
  const Lock another(inner);
}

void take(Mutex& first, Mutex& second) {
  const Lock outer(first);
  const Lock inner(second);
}

TEST(LockOrder, AnotherOneEndsTheProcess) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  Mutex outer{"Outer::mutex_", "Inner::mutex_"}, inner{"Inner::mutex_"}, part{"Inner"};
  EXPECT_DEATH(take(inner, outer), "lock order: Outer::mutex_ may not be taken while this is held: Inner::mutex_");
  EXPECT_DEATH(take(outer, part), "Inner may not be taken while this is held: Outer::mutex_");
  EXPECT_DEATH(take(outer, outer), "Outer::mutex_ is taken twice by one thread");
  EXPECT_DEATH(std::unique_lock(outer, std::adopt_lock), "Outer::mutex_ is not held by the thread that unlocks it");
}

void take_many(int count) {
  Mutex mutex;
  const Lock lock(mutex);
  if (count > 1) take_many(count - 1);
}

TEST(LockOrder, ManyAreTooMany) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(take_many(40), "one too many");
}

}  // namespace
}  // namespace tfile

#endif
