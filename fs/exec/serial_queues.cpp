// SPDX-License-Identifier: Apache-2.0
#include "exec/serial_queues.h"

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

bool SerialQueues::run(const void* name, std::function<void()> job) {
  std::vector<std::thread> done;
  {
    const Lock lock(mutex_);
    if (!add(name, std::move(job))) return false;
    done.swap(done_threads_);
  }
  join_all(done);
  return true;
}

bool SerialQueues::run_in_one_of(const void* names, std::size_t count, std::function<void()> job) {
  std::vector<std::thread> done;
  {
    const Lock lock(mutex_);
    const auto* const first = static_cast<const char*>(names);
    const void* least = first;
    for (std::size_t i = 1; i < count; ++i) {
      if (jobs_of(first + i) < jobs_of(least)) least = first + i;
    }
    if (!add(least, std::move(job))) return false;
    done.swap(done_threads_);
  }
  join_all(done);
  return true;
}

std::size_t SerialQueues::jobs_of(const void* name) const {
  const auto found = queues_.find(name);
  return found == queues_.end() ? 0 : found->second.jobs.size() + (found->second.is_running ? 1 : 0);
}

bool SerialQueues::add(const void* name, std::function<void()> job) {
  if (stopping_) return false;
  Queue& queue = queues_[name];
  if (!queue.thread.joinable() && !start_thread(queue.thread, [this, name] { work(name); })) {
    queues_.erase(name);
    return false;
  }
  queue.jobs.push_back(std::move(job));
  return true;
}

void SerialQueues::work(const void* name) {
  for (;;) {
    std::function<void()> job;
    {
      const Lock lock(mutex_);
      Queue& queue = queues_[name];
      queue.is_running = !queue.jobs.empty();
      if (!queue.is_running) {
        done_threads_.push_back(std::move(queue.thread));
        queues_.erase(name);
        ended_.notify_all();
        return;
      }
      job = std::move(queue.jobs.front());
      queue.jobs.pop_front();
    }
    run_caught(job);
  }
}

void SerialQueues::stop() {
  std::vector<std::thread> done;
  {
    const Lock lock(mutex_);
    stopping_ = true;
    while (!queues_.empty()) ended_.wait(mutex_);
    done.swap(done_threads_);
  }
  join_all(done);
}

}  // namespace tfilefs
