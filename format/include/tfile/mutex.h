// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>

// Locks whose use is checked: by clang's -Wthread-safety, which std::mutex carries no annotations for, and in debug and
// sanitizer builds by their order. Not installed.
#if defined(__clang__)
#define TFILE_ANNOTATE(x) __attribute__((x))
#else
#define TFILE_ANNOTATE(x)
#endif
#define CAPABILITY(x) TFILE_ANNOTATE(capability(x))
#define SCOPED_CAPABILITY TFILE_ANNOTATE(scoped_lockable)
#define GUARDED_BY(x) TFILE_ANNOTATE(guarded_by(x))
#define REQUIRES(...) TFILE_ANNOTATE(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) TFILE_ANNOTATE(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) TFILE_ANNOTATE(acquire_capability(__VA_ARGS__))
#define RELEASE(...) TFILE_ANNOTATE(release_capability(__VA_ARGS__))

namespace tfile {

class Mutex;

// Ends the process with a line about both locks if `wanted` may not be taken while one is held that this thread holds.
void check_lock_order(const Mutex& wanted);
void note_locked(const Mutex&);
void note_unlocked(const Mutex&);

// A mutex has a name, the names of those that may be taken while it is held ("A::mutex_, B::mutex_"), and where that is
// told of many at once the name of a group that it is of. Where TFILE_CHECKS is defined, taking another one ends
// the process. docs/architecture.md has the table of all. One without a name, of a test, is not checked.
class CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
#ifdef TFILE_CHECKS
  explicit Mutex(const char* name, const char* taken_while_held = "", const char* group = "")
      : name_(name), inner_(taken_while_held), group_(group) {}
  const char* name() const { return name_; }
  const char* taken_while_held() const { return inner_; }
  const char* group() const { return group_; }

  void lock() ACQUIRE() {
    check_lock_order(*this);
    mutex_.lock();
    note_locked(*this);
  }
  void unlock() RELEASE() {
    note_unlocked(*this);
    mutex_.unlock();
  }
#else
  explicit Mutex(const char*, const char* = "", const char* = "") {}

  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }
#endif

 private:
#ifdef TFILE_CHECKS
  const char* const name_ = nullptr;
  const char* const inner_ = "";
  const char* const group_ = "";
#endif
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
  template <class Time>
  void wait_until(Mutex& mutex, Time time) REQUIRES(mutex) {
    condition_.wait_until(mutex, time);
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable_any condition_;
};

}  // namespace tfile
