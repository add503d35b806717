// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <vector>

#include "tfile/beyond_end.h"
#include "tfile/buffer.h"
#include "tfile/mutex.h"
#include "tfile/source.h"

namespace tfile {

// Bytes of a file, and where they lie.
struct FilePiece {
  std::uint64_t begin = 0;
  std::span<const std::byte> bytes;
  std::uint64_t end() const { return begin + bytes.size(); }
};

// A read without what is held, and without `done`. `copy(range, into)` fills in what is held of a range and returns the
// rest, by address. If a range does not lie in the file, it is all that is missing: to read it tells what is wrong.
template <class Copy>
Source::Started missing_of(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into,
                           std::uint64_t file_size, const Copy& copy) {
  Source::Started missing;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const ByteRange whole = ranges[i];
    if (is_beyond_end(whole, file_size)) return {{whole}, {into[i]}, {}};
    if (whole.size == 0) continue;
    for (const ByteRange range : copy(whole, into[i])) {
      missing.ranges.push_back(range);
      missing.into.push_back(into[i].subspan(range.begin - whole.begin, range.size));
    }
  }
  return missing;
}

// The rest of each read, as `rest_of` tells; reads without a rest are answered.
template <class RestOf>
std::vector<Source::Started> left_of(std::span<Source::Started> reads, const RestOf& rest_of) {
  std::vector<Source::Started> left;
  for (Source::Started& read : reads) {
    Source::Started rest = rest_of(read);
    if (rest.ranges.empty())
      rest.done({});
    else
      left.push_back(std::move(rest));
  }
  return left;
}

// Whether the source has the range in memory: its first and last bytes.
inline bool is_in_memory(ByteRange range, const SourceTraits& traits, std::uint64_t file_size) {
  return range.end() <= traits.begin_held || file_size - range.begin <= traits.end_held;
}

// The pieces that a read brings from the source, but for those in memory, and for ranges of more than `size_max`.
std::vector<FilePiece> pieces_to_keep(const Source::Started& read, const SourceTraits&, std::uint64_t file_size,
                                      std::uint64_t size_max = UINT64_MAX);

// Parts of a file, of which those used last are kept up to a number of bytes. Thread-safe.
class KeptBytes {
 public:
  explicit KeptBytes(std::uint64_t bytes_max = UINT64_MAX) : bytes_max_(bytes_max) {}

  bool has(ByteRange range) { return copy(range, {}).empty(); }
  // Copies what of the range is kept, unless `into` is empty. Returns the rest, by address.
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
