// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "exec/io_pools.h"
#include "exec/serial_queues.h"
#include "exec/started_reads.h"
#include "exec/thread_pool.h"
#include "exec/timers.h"

namespace tfilefs {

// The threads that run the work of a mount: docs/architecture.md, "Threads".
struct Executors {
  Executors(unsigned threads, unsigned io_threads, unsigned job_threads)
      : io_pools(io_threads), job_pool(job_threads), planner(1), view_workers(std::max(2u, threads)), coders(threads) {}

  // Runs all jobs that were accepted, and joins the threads. Chunks can still be decoded then. Must not be
  // called from one of the threads.
  void stop() {
    timers.stop();
    job_pool.stop();
    planner.stop();
    io_pools.stop();
    started_reads.stop();
    serial_queues.stop();
    view_workers.stop();
    coders.finish();
  }

  IoPools io_pools;
  StartedReads started_reads;
  ThreadPool job_pool;         // opening, listing, asking for status: work that may block, and is no read of a column
  SerialQueues serial_queues;  // commits, and changes that wait for one, by file; writes that wait for memory
  ThreadPool planner;          // finds what to load ahead; never blocks, and readers wait for it
  ThreadPool view_workers;     // of views: long work on few bytes, kept off the threads that serve reads of columns
  // Decode chunks and answer the requests that they complete, and encode; a job never blocks. A reader's chunk
  // overtakes prefetch.
  ThreadPool coders;
  Timers timers;
};

}  // namespace tfilefs
