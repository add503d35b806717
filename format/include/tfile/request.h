// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tfile/source.h"

namespace tfile {

// When ranges that lie near each other are read as one. A range more costs a call, a request, or a look into a cache; a
// gap costs its bytes. Sizes are in one unit, whatever that is.
struct JoinLimits {
  std::uint64_t gap_max = 0;          // gaps up to this are read through, if most of what is read is wanted
  std::uint64_t gap_free = 16 << 10;  // up to this always: the kernel's own read-ahead would read them
  // Ranges are not joined to one beyond this, where one more costs nothing beside its bytes. A single one may be
  // larger.
  std::uint64_t range_max = 4u << 20;
};

// Ranges that are read as one.
class JoinedRange {
 public:
  explicit JoinedRange(ByteRange first = {}) : range_(first), wanted_(first.size) {}

  const ByteRange& range() const { return range_; }
  // Adds a range that begins where the last one did, or behind that; false if it is not to be read with them.
  bool add(ByteRange next, const JoinLimits& limits);

 private:
  ByteRange range_;
  std::uint64_t wanted_, unwanted_ = 0;  // what the ranges cover, and the sizes of larger gaps
};

// Those of the parts, from the first on, that are read as one. They are sorted by address; `range_of` tells where a
// part lies. Pure.
template <class Part, class RangeOf>
std::span<const Part> parts_of_range(std::span<const Part> parts, const JoinLimits& limits, const RangeOf& range_of) {
  JoinedRange joined(range_of(parts[0]));
  std::size_t count = 1;
  while (count < parts.size() && joined.add(range_of(parts[count]), limits)) ++count;
  return parts.first(count);
}

// How many of `parts` the next request reads: one at least, all of one source, and no more ranges nor bytes than its
// traits allow. A part has a `source` and a `range`; they are sorted by both. Pure.
template <class Part>
std::size_t parts_of_request(std::span<const Part> parts) {
  const SourceTraits traits = parts[0].source->traits();
  const std::size_t most = std::min(parts.size(), traits.ranges_max);
  std::uint64_t bytes = parts[0].range.size;
  std::size_t count = 1;
  for (; count < most && parts[count].source == parts[0].source; ++count) {
    if (parts[count].range.size > traits.request_max - std::min(bytes, traits.request_max)) break;
    bytes += parts[count].range.size;
  }
  return count;
}

// Error: damaged, if the range ends past the end of the source.
Result<> check_range(const Source&, ByteRange);

// A further range of a request takes some bytes of it, and some hundred bytes of the answer. It costs no round trip.
inline constexpr std::uint64_t kRangeCost = 1 << 10;

// One vectored read, and its result.
struct ReadRequest {
  const Source* source = nullptr;
  std::vector<ByteRange> ranges;
  std::vector<std::span<std::byte>> into;
  Result<> result;
};

// Reads them all. Those of sources that start reads are under way at once, the others are read one after the other.
// Blocks.
void read_requests(std::span<ReadRequest>);

// The same for one: Source::read() of a source that starts reads.
Result<> start_and_wait(const Source&, std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into);

// One read, as Source::start_reads() takes it.
std::vector<Source::Started> one_read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into,
                                      Source::ReadDone done);

// Starts it alone, by Source::start_read().
void start_alone(const Source&, Source::Started);

}  // namespace tfile
