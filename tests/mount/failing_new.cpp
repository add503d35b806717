// SPDX-License-Identifier: Apache-2.0
// Preloaded into the program under test. Allocation number FAILING_NEW of the process, counted from 0, throws
// std::bad_alloc. At its end the process writes how many there were into the file that COUNT_NEW names.
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <new>

namespace {

std::atomic<long> allocations = 0;

long number_that_fails() {
  const char* const number = std::getenv("FAILING_NEW");
  return number ? std::atol(number) : -1;
}

struct AtTheEnd {
  ~AtTheEnd() {
    if (const char* const path = std::getenv("COUNT_NEW")) std::ofstream(path) << allocations;
  }
} at_the_end;

}  // namespace

[[gnu::noinline, gnu::visibility("default")]] void* operator new(std::size_t size) {
  static const long fails = number_that_fails();
  if (allocations++ != fails)
    if (void* const memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline, gnu::visibility("default")]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline, gnu::visibility("default")]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
