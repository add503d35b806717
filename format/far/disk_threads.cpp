// SPDX-License-Identifier: Apache-2.0
#include "far/disk_threads.h"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace tfile {
namespace {

constexpr std::uint64_t kQueuedMax = 64 << 20;
constexpr int kEndSeconds = 5;

// One thread, which does what it is given in order. Never destroyed: it may be at work when the process ends.
class DiskThread {
 public:
  bool start(std::uint64_t bytes, std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    if (bytes > 0 && bytes_ + bytes > kQueuedMax) return false;
    if (!is_running_ && !make_thread()) return false;
    is_running_ = true;
    bytes_ += bytes;
    queue_.push_back({bytes, std::move(work)});
    changed_.notify_all();
    return true;
  }
  bool wait(int seconds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(seconds), [this] { return queue_.empty() && !is_busy_; });
  }

 private:
  struct Work {
    std::uint64_t bytes = 0;
    std::function<void()> run;
  };
  bool make_thread() {
    try {
      std::thread([this] { run(); }).detach();
      return true;
    } catch (const std::system_error&) {
      return false;  // the next work tries again
    }
  }
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> queue_;  // guarded by mutex_, as is what follows
  std::uint64_t bytes_ = 0;
  bool is_running_ = false, is_busy_ = false;
};

void DiskThread::run() {
  // A limit on the size of files must not end the process (SIGXFSZ), and its other signals are for other threads.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !queue_.empty(); });
    Work work = std::move(queue_.front());
    queue_.pop_front();
    is_busy_ = true;
    lock.unlock();
    work.run();
    work.run = nullptr;
    lock.lock();
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
