// SPDX-License-Identifier: Apache-2.0
#include "exec/lanes.h"

#include <utility>

#include "exec/answering.h"
#include "start_thread.h"
#include "tfile/check.h"

namespace tfilefs {
namespace {

void join_all(std::vector<std::thread>& threads) {
  for (std::thread& thread : threads) {
    TFILE_DCHECK(thread.get_id() != std::this_thread::get_id());
    thread.join();
  }
}

}  // namespace

bool Lanes::run(const void* name, std::function<void()> job) {
  std::vector<std::thread> done;
  {
    const Lock lock(mutex_);
    if (stopping_) return false;
    done.swap(done_threads_);
    Lane& lane = lanes_[name];
    if (!lane.thread.joinable() && !start_thread(lane.thread, [this, name] { work(name); })) {
      lanes_.erase(name);
      done.swap(done_threads_);
      return false;
    }
    lane.jobs.push_back(std::move(job));
  }
  join_all(done);
  return true;
}

void Lanes::work(const void* name) {
  for (;;) {
    std::function<void()> job;
    {
      const Lock lock(mutex_);
      Lane& lane = lanes_[name];
      if (lane.jobs.empty()) {
        done_threads_.push_back(std::move(lane.thread));
        lanes_.erase(name);
        ended_.notify_all();
        return;
      }
      job = std::move(lane.jobs.front());
      lane.jobs.pop_front();
    }
    run_caught(job);
  }
}

void Lanes::stop() {
  std::vector<std::thread> done;
  {
    const Lock lock(mutex_);
    stopping_ = true;
    while (!lanes_.empty()) ended_.wait(mutex_);
    done.swap(done_threads_);
  }
  join_all(done);
}

}  // namespace tfilefs
