// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <vector>

#include "tfile/buffer.h"
#include "tfile/mutex.h"
#include "tfile/range.h"

namespace tfile {

// Parts of a file, of which those used last are kept up to a number of bytes. Thread-safe.
class KeptBytes {
 public:
  explicit KeptBytes(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // Copies what of the range is kept. Returns the rest, by address.
  std::vector<ByteRange> copy(ByteRange, std::span<std::byte> into);
  void keep(std::uint64_t begin, std::span<const std::byte>);
  std::uint64_t size() const;

 private:
  struct Part {
    Buffer bytes;
    std::list<std::uint64_t>::iterator use;  // its place among begins_
  };
  std::map<std::uint64_t, Part>::iterator part_at(std::uint64_t) REQUIRES(mutex_);
  void drop(std::map<std::uint64_t, Part>::iterator) REQUIRES(mutex_);

  const std::uint64_t bytes_max_;
  mutable Mutex mutex_{"KeptBytes::mutex_", "Heap::mutex_", "a read"};
  // By where they begin. None lies inside another, so they end in the same order.
  std::map<std::uint64_t, Part> parts_ GUARDED_BY(mutex_);
  std::list<std::uint64_t> begins_ GUARDED_BY(mutex_);  // of the parts; the one used last comes first
  std::uint64_t size_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tfile
