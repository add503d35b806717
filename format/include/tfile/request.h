// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tfile/source.h"

namespace tfile {

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

}  // namespace tfile
