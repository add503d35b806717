// SPDX-License-Identifier: Apache-2.0
#include "tfile/mutex.h"

#ifdef TFILE_CHECKS

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

// A function of the sanitizers' runtime; null in other builds.
extern "C" [[gnu::weak]] void __sanitizer_print_stack_trace();

namespace tfile {
namespace {

// Buffers come and go under any lock.
constexpr std::string_view kUnderAny = "Heap::mutex_";

// More than are ever held at once: the longest row of the table and those that stand in none.
constexpr std::size_t kHeldMax = 32;

struct HeldLocks {
  std::array<const Mutex*, kHeldMax> locks;
  std::size_t size = 0;

  std::span<const Mutex*> all() { return std::span(locks).first(size); }
};
thread_local HeldLocks held;

bool names(std::string_view list, std::string_view name) {
  constexpr std::string_view kBetween = ", ";
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(kBetween), list.size());
    if (list.substr(0, end) == name) return true;
    list.remove_prefix(std::min(end + kBetween.size(), list.size()));
  }
  return false;
}

bool may_be_taken(const Mutex& wanted, const Mutex& held_one) {
  if (!wanted.name() || !held_one.name() || wanted.name() == kUnderAny) return true;
  const std::string_view inner = held_one.taken_while_held();
  return names(inner, wanted.name()) || names(inner, wanted.group());
}

const char* shown(const Mutex& mutex) { return mutex.name() ? mutex.name() : "a lock without a name"; }

[[noreturn]] void end_with(const Mutex& wanted, const char* what, const char* other = "") {
  std::fprintf(stderr, "lock order: %s %s%s\n", shown(wanted), what, other);
  if (__sanitizer_print_stack_trace) __sanitizer_print_stack_trace();
  std::abort();
}

}  // namespace

void check_lock_order(const Mutex& wanted) {
  for (const Mutex* const other : held.all()) {
    if (other == &wanted) end_with(wanted, "is taken twice by one thread");
    if (!may_be_taken(wanted, *other)) end_with(wanted, "may not be taken while this is held: ", shown(*other));
  }
}

void note_locked(const Mutex& mutex) {
  if (held.size == kHeldMax) end_with(mutex, "is one too many for the list of those that a thread holds");
  held.locks[held.size++] = &mutex;
}

// Locks may go in another order than they came in.
void note_unlocked(const Mutex& mutex) {
  const auto all = held.all();
  const auto found = std::ranges::find(all, &mutex);
  if (found == all.end()) end_with(mutex, "is not held by the thread that unlocks it");
  std::ranges::copy(found + 1, all.end(), found);
  --held.size;
}

}  // namespace tfile

#endif
