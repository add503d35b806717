// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tfile/range.h"

namespace tfile {

inline constexpr std::uint64_t kXrootdRequestMin = 2'000'000, kXrootdRequestMax = 8'000'000;
inline constexpr std::size_t kXrootdRequestsAtOnce = 8;

// The most that one request to an XRootD server may hold.
struct XrootdLimits {
  std::size_t chunks_max = 1024;        // readv_iov_max of a server that does not tell
  std::uint64_t chunk_max = 2'097'136;  // readv_ior_max: 2 MiB, less the header of a chunk
  // A server with its own settings sends this, with the headers of 1,024 chunks, in one frame of 2 MiB.
  std::uint64_t request_max = kXrootdRequestMin;
};

// The size of requests over a line. The client library tells that a request is answered, and nothing before: so the
// line must bring eight of them, which are under way at once, within the time-out. More than 8 MB gain nothing, as
// requests are sent without waiting. Pure.
std::uint64_t xrootd_request_max(std::uint64_t bytes_per_second, std::chrono::milliseconds timeout);

// One request: a read if it has one chunk, else a vectored read. The answer's bytes lie one chunk after the other.
struct XrootdRequest {
  struct Copy {
    std::size_t from;         // in the answer
    std::size_t range, into;  // the wanted range, and where in it
    std::size_t size;
  };
  std::vector<ByteRange> chunks;  // by address; they neither touch nor overlap
  std::uint64_t size = 0;
  std::vector<Copy> copies;  // how the answer fills the wanted ranges
};

// The requests that bring all ranges, each byte once: ranges that touch or overlap are read as one, for the client
// library fails a vectored read in which a chunk is there twice. Empty ranges are left out. Pure.
std::vector<XrootdRequest> xrootd_requests(std::span<const ByteRange> ranges, const XrootdLimits&);

}  // namespace tfile
