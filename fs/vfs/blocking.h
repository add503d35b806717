// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "cache/cluster_cache.h"
#include "reply.h"

namespace tfilefs {

// What `job` returns (a Result<T>), or an error for what it throws: a lack of memory, or a bug. A thread that runs jobs
// of others has nobody above it who could catch.
template <class Job>
auto result_of(Job&& job) -> decltype(job()) {
  try {
    return job();
  } catch (const std::bad_alloc&) {
    return tfile::fail(ErrorKind::io, "out of memory", -1, ENOMEM);
  } catch (const std::exception& error) {
    return tfile::fail(ErrorKind::io, std::string("internal error: ") + error.what());
  }
}

// Answers `reply` with what `job` returns (a Result<T>), run on a thread that may block.
template <class T, class Job>
void answer_blocking(ClusterCache& cache, Job job, Reply<T> reply) {
  // std::function wants to be copied, a Reply can not be.
  auto shared = std::make_shared<std::pair<Job, Reply<T>>>(std::move(job), std::move(reply));
  cache.run_blocking([shared] { shared->second(result_of(shared->first)); });
}

// The same when so many bytes of the mount's memory are there for it: what a file says about itself may be much.
// Errors besides: is_refusal().
template <class T, class Job>
void answer_blocking_within(ClusterCache& cache, std::uint64_t bytes, Job job, Reply<T> reply) {
  struct Request final : Budget::Request {
    Request(ClusterCache& cache_, std::uint64_t bytes_, Job job_, Reply<T> reply_)
        : cache(cache_), bytes(bytes_), job(std::move(job_)), reply(std::move(reply_)) {}
    std::uint64_t prepare() override { return bytes; }
    void retreat() override {}
    void claim(Budget::Reservation granted) override { memory = std::move(granted); }
    void start() override {
      auto held = [job = std::move(job), memory = std::make_shared<Budget::Reservation>(std::move(memory))]() mutable {
        auto result = result_of(job);
        *memory = {};
        return result;
      };
      answer_blocking(cache, std::move(held), std::move(reply));
    }
    void denied(const Error& error) override { reply(tl::unexpected<Error>(error)); }

    ClusterCache& cache;
    const std::uint64_t bytes;
    Job job;
    Reply<T> reply;
    Budget::Reservation memory;
  };
  cache.budget()->reserve(std::make_shared<Request>(cache, bytes, std::move(job), std::move(reply)),
                          Budget::Patience::wait);
}

}  // namespace tfilefs
