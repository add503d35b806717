// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>

// std::mutex carries no thread-safety annotations: with it clang's -Wthread-safety could not check which lock is held.
#if defined(__clang__)
#define TFILEFS_ANNOTATE(x) __attribute__((x))
#else
#define TFILEFS_ANNOTATE(x)
#endif
#define CAPABILITY(x) TFILEFS_ANNOTATE(capability(x))
#define SCOPED_CAPABILITY TFILEFS_ANNOTATE(scoped_lockable)
#define GUARDED_BY(x) TFILEFS_ANNOTATE(guarded_by(x))
#define REQUIRES(...) TFILEFS_ANNOTATE(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) TFILEFS_ANNOTATE(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) TFILEFS_ANNOTATE(acquire_capability(__VA_ARGS__))
#define RELEASE(...) TFILEFS_ANNOTATE(release_capability(__VA_ARGS__))

namespace tfilefs {

class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class SCOPED_CAPABILITY Lock {
 public:
  explicit Lock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Lock() RELEASE() { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits with a Mutex held; use in a loop over its condition.
class Condition {
 public:
  void wait(Mutex& mutex) REQUIRES(mutex) { condition_.wait(mutex); }
  template <class Duration>
  void wait_for(Mutex& mutex, Duration duration) REQUIRES(mutex) {
    condition_.wait_for(mutex, duration);
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable_any condition_;
};

}  // namespace tfilefs
