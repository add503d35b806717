// SPDX-License-Identifier: Apache-2.0
#include "cache/decoder.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>

namespace tfilefs {

// oneTBB starts one worker less than there are cores, counting on a main thread that helps. Ours never does, so one
// more is allowed.
struct Decoder::Arena {
  explicit Arena(unsigned threads)
      : control(tbb::global_control::max_allowed_parallelism, threads + 1), arena(static_cast<int>(threads), 0) {
    arena.initialize();
  }
  tbb::global_control control;
  tbb::task_arena arena;
};

Decoder::Decoder(unsigned threads) : arena_(std::make_unique<Arena>(std::max(1u, threads))) {}

Decoder::~Decoder() { stop(); }

// A task reaches its thread through queue_ and mutex_ alone, which ThreadSanitizer sees; what oneTBB (not instrumented)
// carries is a pointer to this decoder, which was whole before.
void Decoder::run(std::function<void()> task, Urgency urgency, const void* owner) {
  {
    Lock lock(mutex_);
    queue_.push(std::move(task), urgency, owner);
    ++tokens_;
  }
  arena_->arena.enqueue([this] { run_one(); });
}

void Decoder::promote(const void* owner) {
  Lock lock(mutex_);
  queue_.promote(owner);
}

void Decoder::run_one() {
  std::function<void()> task;
  {
    Lock lock(mutex_);
    task = queue_.pop();
  }
  task();
  task = nullptr;  // what it owns goes before stop() may return
  Lock lock(mutex_);
  if (--tokens_ == 0) idle_.notify_all();
}

void Decoder::stop() {
  Lock lock(mutex_);
  while (tokens_ > 0) idle_.wait(mutex_);
}

}  // namespace tfilefs
