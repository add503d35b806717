// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "cache/cluster_cache.h"
#include "exec/answering.h"
#include "reply.h"

namespace tfilefs {

// Runs a job that may block: opening a file, reading a directory.
inline void run_job(ClusterCache& cache, std::function<void()> job) {
  cache.exec().job_pool.run(std::move(job), Urgency::awaited);
}

// The same for one that waits for this origin: each server has threads of its own, as many files are opened at once,
// and a server that does not answer holds up nothing else.
inline void run_job(ClusterCache& cache, tfile::ServerId origin, std::function<void()> job) {
  if (origin == tfile::kLocalOrigin) return run_job(cache, std::move(job));
  cache.exec().io_pools.run(origin, std::move(job), Urgency::awaited);
}

// Answers with the result of `job`, which runs on a thread that may block.
template <class T, class Job>
void answer_blocking(ClusterCache& cache, Job job, Reply<T> reply) {
  run_job(cache, answering(std::move(job), std::move(reply)));
}
template <class T, class Job>
void answer_blocking(ClusterCache& cache, tfile::ServerId origin, Job job, Reply<T> reply) {
  run_job(cache, origin, answering(std::move(job), std::move(reply)));
}

// The same for a job that reads an open file, and waits for nothing else.
template <class T, class Job>
void answer_reading(ClusterCache& cache, tfile::ServerId origin, Job job, Reply<T> reply) {
  cache.exec().io_pools.run(origin, answering(std::move(job), std::move(reply)), Urgency::awaited);
}

// The same for a job that may wait for a commit, or is one: it runs in the queue `of` the file that is committed.
template <class T, class Job>
void answer_committing(ClusterCache& cache, const void* of, Job job, Reply<T> reply) {
  cache.exec().serial_queues.run(of, answering(std::move(job), std::move(reply)));
}

// As answer_blocking, once so many bytes of the mount's memory are reserved: the description of a file may be large.
// Further errors: is_refusal().
template <class T, class Job>
void answer_blocking_within(ClusterCache& cache, tfile::ServerId origin, std::uint64_t bytes, Job job, Reply<T> reply) {
  struct Request final : Budget::Request {
    Request(ClusterCache& cache_, tfile::ServerId origin_, std::uint64_t bytes_, Job job_, Reply<T> reply_)
        : cache(cache_), origin(origin_), bytes(bytes_), job(std::move(job_)), reply(std::move(reply_)) {}
    std::uint64_t prepare() override { return bytes; }
    void retreat() override {}
    void claim(Budget::Reservation granted) override { memory = std::move(granted); }
    void start() override {
      auto vnode = [job = std::move(job), memory = std::make_shared<Budget::Reservation>(std::move(memory))]() mutable {
        auto result = result_of(job);
        *memory = {};
        return result;
      };
      answer_blocking(cache, origin, std::move(vnode), std::move(reply));
    }
    void denied(const Error& error) override { reply(tl::unexpected<Error>(error)); }

    ClusterCache& cache;
    const tfile::ServerId origin;
    const std::uint64_t bytes;
    Job job;
    Reply<T> reply;
    Budget::Reservation memory;
  };
  cache.budget()->reserve(std::make_shared<Request>(cache, origin, bytes, std::move(job), std::move(reply)),
                          Budget::IfFull::wait);
}

}  // namespace tfilefs
