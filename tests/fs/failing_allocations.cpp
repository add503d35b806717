// SPDX-License-Identifier: Apache-2.0
#include "fs/failing_allocations.h"

#include <climits>
#include <cstdlib>
#include <new>

#include "fs/sanitized.h"

namespace {

thread_local int allocations_before = INT_MAX, failures = 0, failed = 0;

}  // namespace

#ifndef TFILEFS_SANITIZED
// Not inlined: the compiler would see free() of what some operator new has given, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (failures > 0 && --allocations_before < 0) {
    --failures;
    ++failed;
    throw std::bad_alloc();
  }
  if (void* const memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace tfilefs {

FailingAllocations::FailingAllocations(int number, int more) {
  failed = 0;
  allocations_before = number;
  failures = 1 + more;
}

FailingAllocations::~FailingAllocations() { failures = 0; }

bool FailingAllocations::happened() const { return failed > 0; }

bool FailingAllocations::is_possible() {
#ifdef TFILEFS_SANITIZED
  return false;
#else
  return true;
#endif
}

}  // namespace tfilefs
