// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace tfilefs {

// While one lives, its thread, which may block, reads and decodes by itself what it asks the cache for, of a local
// file: to hand a few kilobytes from thread to thread takes longer than to decode them.
class InPlace {
 public:
  InPlace() : before_(std::exchange(is_on_, true)) {}
  ~InPlace() { is_on_ = before_; }
  InPlace(const InPlace&) = delete;
  InPlace& operator=(const InPlace&) = delete;

  static bool is_on() { return is_on_; }
  // Ends it before the guard does: by what got the answer, and goes on with other work. Whether there was one.
  static bool end() { return std::exchange(is_on_, false); }

 private:
  static inline thread_local bool is_on_ = false;
  const bool before_;
};

}  // namespace tfilefs
