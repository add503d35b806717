// SPDX-License-Identifier: Apache-2.0
#include "fs/failing_allocations.h"

#include <atomic>
#include <climits>
#include <cstdlib>
#include <new>

#include "fs/sanitized.h"

namespace {

struct Counters {
  std::atomic<int> before = INT_MAX, failures = 0, failed = 0;
  // Whether the allocation that is made now fails.
  bool fails() {
    if (failures <= 0 || --before >= 0 || failures-- <= 0) return false;
    ++failed;
    return true;
  }
};
thread_local Counters own;
Counters of_all;

}  // namespace

#ifndef TFILEFS_SANITIZED
// Not inlined: the compiler would see free() of what some operator new has given, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (own.fails() || of_all.fails()) throw std::bad_alloc();
  if (void* const memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace tfilefs {

FailingAllocations::FailingAllocations(int number, int more, Of of) {
  own.failed = of_all.failed = 0;
  Counters& counters = of == Of::all_threads ? of_all : own;
  counters.before = number;
  counters.failures = 1 + more;
}

FailingAllocations::~FailingAllocations() { own.failures = of_all.failures = 0; }

bool FailingAllocations::happened() const { return own.failed + of_all.failed > 0; }

bool FailingAllocations::is_possible() {
#ifdef TFILEFS_SANITIZED
  return false;
#else
  return true;
#endif
}

}  // namespace tfilefs
