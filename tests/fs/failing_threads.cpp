// SPDX-License-Identifier: Apache-2.0
#include "fs/failing_threads.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <memory>

#include "fs/sanitized.h"

namespace {

std::atomic<int> threads_alive = 0;
std::atomic<int> threads_max = -1;  // negative: as many as there may be

}  // namespace

#ifndef TFILEFS_SANITIZED
namespace {

struct Begun {
  void* (*function)(void*);
  void* argument;
};

void* run_thread(void* given) {
  const std::unique_ptr<Begun> begun(static_cast<Begun*>(given));
  void* const result = begun->function(begun->argument);
  --threads_alive;
  return result;
}

}  // namespace

// Takes the place of the C library's function, for all libraries of the process.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                              void* argument) noexcept {
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  const int max = threads_max;
  if (++threads_alive > max && max >= 0) {
    --threads_alive;
    return EAGAIN;
  }
  auto begun = std::make_unique<Begun>(Begun{function, argument});
  const int failed = real(thread, attributes, run_thread, begun.get());
  if (failed != 0)
    --threads_alive;
  else
    (void)begun.release();
  return failed;
}
#endif

namespace tfilefs {

FailingThreads::FailingThreads(int more) { threads_max = threads_alive + more; }
FailingThreads::~FailingThreads() { threads_max = -1; }

bool FailingThreads::is_possible() {
#ifdef TFILEFS_SANITIZED
  return false;
#else
  return true;
#endif
}

}  // namespace tfilefs
