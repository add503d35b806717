// SPDX-License-Identifier: Apache-2.0
#include "remote/xrootd/xrootd_watch.h"

#include <iterator>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "tfile/mutex.h"

namespace tfile {
namespace {

using Clock = std::chrono::steady_clock;

// Time-outs are seconds. The shortest pause before a request is sent again is a quarter of one.
constexpr std::chrono::milliseconds kPeriod{100};

class Watch {
 public:
  bool add(WatchLook look) {
    const Lock lock(mutex_);
    if (!start()) return false;
    added_.push_back(std::move(look));
    wake_.notify_one();
    return true;
  }

  void let_go(std::shared_ptr<void> object) {
    const Lock lock(mutex_);
    (void)start();  // without a thread, the next one lets it go
    leaving_.push_back(std::move(object));
    wake_.notify_one();
  }

  void stop() {
    {
      const Lock lock(mutex_);
      stopped_ = true;
      wake_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  bool start() REQUIRES(mutex_) {
    if (thread_.joinable() || stopped_) return true;
    try {
      thread_ = std::thread([this] { run(); });
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  void run() {
    for (std::vector<WatchLook> looks; wait(looks);) {
      const auto now = Clock::now();
      std::erase_if(looks, [&](const WatchLook& look) { return !look(now); });
    }
  }

  // Until something is to be done: objects are let go, and `looks` has what was added. False: it is over.
  bool wait(std::vector<WatchLook>& looks) {
    std::vector<std::shared_ptr<void>> leaving;  // they go without the mutex
    const auto end = Clock::now() + kPeriod;
    const Lock lock(mutex_);
    while (!stopped_ && looks.empty() && added_.empty() && leaving_.empty()) wake_.wait(mutex_);
    while (!stopped_ && !looks.empty() && Clock::now() < end) wake_.wait_until(mutex_, end);
    std::move(added_.begin(), added_.end(), std::back_inserter(looks));
    added_.clear();
    leaving.swap(leaving_);
    return !stopped_;
  }

  Mutex mutex_{"Watch::mutex_", "", "a read"};
  Condition wake_;
  std::vector<WatchLook> added_ GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<void>> leaving_ GUARDED_BY(mutex_);
  std::thread thread_;  // begun with the mutex, joined when no other can begin
  bool stopped_ GUARDED_BY(mutex_) = false;
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
