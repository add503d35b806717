// SPDX-License-Identifier: Apache-2.0
#include "far/xrootd_watch.h"

#include <condition_variable>
#include <iterator>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace tfile {
namespace {

// Time-outs are seconds. The shortest pause before a request is sent again is a quarter of one.
constexpr std::chrono::milliseconds kPeriod{100};

class Watch {
 public:
  bool add(WatchLook look) {
    const std::lock_guard lock(mutex_);
    if (!start()) return false;
    added_.push_back(std::move(look));
    wake_.notify_one();
    return true;
  }

  void let_go(std::shared_ptr<void> object) {
    const std::lock_guard lock(mutex_);
    (void)start();  // without a thread, the next one lets it go
    leaving_.push_back(std::move(object));
    wake_.notify_one();
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      wake_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  bool start() {
    if (thread_.joinable() || stopped_) return true;
    try {
      thread_ = std::thread([this] { run(); });
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  void run() {
    std::vector<WatchLook> looks;
    std::unique_lock lock(mutex_);
    while (!stopped_) {
      std::move(added_.begin(), added_.end(), std::back_inserter(looks));
      added_.clear();
      std::vector<std::shared_ptr<void>> leaving = std::exchange(leaving_, {});
      lock.unlock();
      leaving.clear();
      const auto now = std::chrono::steady_clock::now();
      std::erase_if(looks, [&](const WatchLook& look) { return !look(now); });
      lock.lock();
      if (looks.empty())
        wake_.wait(lock, [this] { return stopped_ || !added_.empty() || !leaving_.empty(); });
      else
        wake_.wait_for(lock, kPeriod, [this] { return stopped_; });
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<WatchLook> added_;
  std::vector<std::shared_ptr<void>> leaving_;
  std::thread thread_;
  bool stopped_ = false;
};

Watch& the_watch() {
  // Never destroyed, since callbacks of the client library may still come. Only its thread ends with the process,
  // before the client library does, which was loaded earlier.
  static Watch* const watch = new Watch;
  struct Ending {
    ~Ending() { watch->stop(); }
  };
  static const Ending ending;
  return *watch;
}

}  // namespace

bool watch(WatchLook look) { return the_watch().add(std::move(look)); }
void let_go_later(std::shared_ptr<void> object) { the_watch().let_go(std::move(object)); }

}  // namespace tfile
