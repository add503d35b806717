// SPDX-License-Identifier: Apache-2.0
#include "remote/disk/disk_threads.h"

#include <pthread.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <system_error>
#include <thread>
#include <utility>

#include "tfile/mutex.h"

namespace tfile {
namespace {

constexpr std::uint64_t kQueuedMax = 64 << 20;
constexpr int kEndSeconds = 5;

// One thread, which does what it is given in order. Never destroyed: it may be at work when the process ends.
class DiskThread {
 public:
  bool start(std::uint64_t bytes, std::function<void()> work) {
    const Lock lock(mutex_);
    if (bytes > 0 && bytes_ + bytes > kQueuedMax) return false;
    if (!is_running_ && !make_thread()) return false;
    is_running_ = true;
    bytes_ += bytes;
    queue_.push_back({bytes, std::move(work)});
    changed_.notify_all();
    return true;
  }
  bool wait(int seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    const Lock lock(mutex_);
    while (!is_idle() && std::chrono::steady_clock::now() < end) changed_.wait_until(mutex_, end);
    return is_idle();
  }

 private:
  struct Work {
    std::uint64_t bytes = 0;
    std::function<void()> run;
  };
  bool is_idle() const REQUIRES(mutex_) { return queue_.empty() && !is_busy_; }
  bool make_thread() {
    try {
      std::thread([this] { run(); }).detach();
      return true;
    } catch (const std::system_error&) {
      return false;  // the next work tries again
    }
  }
  void run();

  Mutex mutex_{"DiskThread::mutex_", "", "a read"};
  Condition changed_;
  std::deque<Work> queue_ GUARDED_BY(mutex_);
  std::uint64_t bytes_ GUARDED_BY(mutex_) = 0;
  bool is_running_ GUARDED_BY(mutex_) = false;
  bool is_busy_ GUARDED_BY(mutex_) = false;
};

void DiskThread::run() {
  // A limit on the size of files must not end the process (SIGXFSZ), and its other signals are for other threads.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (;;) {
    Work work;
    {
      const Lock lock(mutex_);
      while (queue_.empty()) changed_.wait(mutex_);
      work = std::move(queue_.front());
      queue_.pop_front();
      is_busy_ = true;
    }
    work.run();
    work.run = nullptr;
    const Lock lock(mutex_);
    is_busy_ = false;
    bytes_ -= work.bytes;
    changed_.notify_all();
  }
}

DiskThread& reads() {
  static DiskThread* const one = new DiskThread;
  return *one;
}

DiskThread& writes() {
  static DiskThread* const one = [] {
    auto* const made = new DiskThread;
    std::atexit([] { static_cast<void>(wait_for_disk_writes(kEndSeconds)); });
    return made;
  }();
  return *one;
}

}  // namespace

bool start_disk_read(std::function<void()> work) { return reads().start(0, std::move(work)); }

bool start_disk_write(std::uint64_t bytes, std::function<void()> work) {
  return writes().start(bytes, std::move(work));
}

bool wait_for_disk_writes(int seconds) { return writes().wait(seconds); }

}  // namespace tfile
