// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "exec/arena.h"
#include "exec/io_pools.h"
#include "exec/lanes.h"
#include "exec/thread_pool.h"

namespace tfilefs {

// What runs the work of a mount: docs/architecture.md, "Threads".
struct Executors {
  Executors(unsigned threads, unsigned io_threads, unsigned job_threads)
      : io_pools(io_threads), job_pool(job_threads), planner(1), makers(std::max(2u, threads)), arena(threads) {}

  // What was taken is run, and the threads are gone. Tasks of the arena can still be run then. Not from one of them.
  void stop() {
    job_pool.stop();
    planner.stop();
    io_pools.stop();
    lanes.stop();
    makers.stop();
    arena.stop();
  }

  IoPools io_pools;
  ThreadPool job_pool;  // opening, listing, looking: what may block, and is no read of a column
  Lanes lanes;          // commits of a file, and what waits for them; writes that wait for memory
  ThreadPool planner;   // what is to be loaded ahead: it never blocks, and readers wait for it
  ThreadPool makers;    // of views: long work on few bytes, which takes none of those that read columns wait for
  Arena arena;
};

}  // namespace tfilefs
