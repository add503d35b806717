// SPDX-License-Identifier: Apache-2.0
#include "exec/arena.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/version.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "exec/answering.h"
#include "start_thread.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TFILEFS_TSAN 1
#include <sanitizer/tsan_interface.h>
#endif
#endif

namespace tfilefs {
namespace {

// Debian's oneTBB is not instrumented: ThreadSanitizer does not see that all writes before a token is enqueued are
// visible to the thread that runs it. These two functions tell it.
void submitted([[maybe_unused]] void* arena) {
#ifdef TFILEFS_TSAN
  __tsan_release(arena);
#endif
}
void received([[maybe_unused]] void* arena) {
#ifdef TFILEFS_TSAN
  __tsan_acquire(arena);
#endif
}

// How many threads can be made at the moment, up to `wanted`. oneTBB ends the process where it can have no thread.
unsigned threads_to_have(unsigned wanted) {
  std::promise<void> over;
  const std::shared_future<void> waits = over.get_future().share();
  std::vector<std::thread> tried;
  tried.reserve(wanted);
  tried.emplace_back([waits] { waits.wait(); });  // throws if there is none
  for (std::thread more; tried.size() < wanted && start_thread(more, [waits] { waits.wait(); });)
    tried.push_back(std::move(more));
  over.set_value();
  for (std::thread& thread : tried) thread.join();
  return static_cast<unsigned>(tried.size());
}

// Tasks that wait for each other, so that each has a thread.
class Meeting {
 public:
  explicit Meeting(unsigned count) : missing_(count) {}
  void join() {
    // Threads that were there a moment ago are there soon: it takes some tens of microseconds. If not, it is no error
    // here, and the first chunks are not held up for long.
    constexpr std::chrono::milliseconds kPatience{20};
    if (--missing_ == 0) all_.set_value();
    (void)met_.wait_for(kPatience);
  }

 private:
  std::atomic<unsigned> missing_;
  std::promise<void> all_;
  const std::shared_future<void> met_ = all_.get_future().share();
};

}  // namespace

// oneTBB starts one worker less than there are cores, because it expects the main thread to help. Ours never does, so
// one more is allowed.
struct Arena::Tbb {
  explicit Tbb(unsigned threads)
      : control(tbb::global_control::max_allowed_parallelism, threads + 1), arena(static_cast<int>(threads), 0) {
    arena.initialize();
  }
  tbb::global_control control;
  tbb::task_arena arena;
};

Arena::Arena(unsigned wanted) {
  const unsigned threads = threads_to_have(std::max(1u, wanted));
  tbb_ = std::make_unique<Tbb>(threads);
  // Threads are made now, while it is known that they can be, and stay.
  const auto meeting = std::make_shared<Meeting>(threads);
  for (unsigned i = 0; i < threads; ++i) run([meeting] { meeting->join(); }, Urgency::awaited);
}

Arena::~Arena() { stop(); }

// A task reaches its thread through queue_ and mutex_; oneTBB carries only a pointer to this arena.
void Arena::run(std::function<void()> task, Urgency urgency, const void* owner) {
  {
    Lock lock(mutex_);
    queue_.push(std::move(task), urgency, owner);
    ++tokens_;
  }
  submitted(this);
  tbb_->arena.enqueue([this] {
    received(this);
    run_one();
  });
}

void Arena::promote(const void* owner) {
  Lock lock(mutex_);
  queue_.promote(owner);
}

void Arena::run_one() {
  std::function<void()> task;
  {
    Lock lock(mutex_);
    task = queue_.pop();
  }
  run_caught(task);
  task = nullptr;  // its objects must be gone before stop() returns
  Lock lock(mutex_);
  if (--tokens_ == 0) idle_.notify_all();
}

void Arena::stop() {
  Lock lock(mutex_);
  while (tokens_ > 0) idle_.wait(mutex_);
}

std::string tbb_version() { return TBB_runtime_version(); }

}  // namespace tfilefs
