// SPDX-License-Identifier: Apache-2.0
#include "remote/xrootd/xrootd_requests.h"

#include <algorithm>

namespace tfile {
namespace {

// The union of the ranges, as stretches by address with gaps between them.
std::vector<ByteRange> stretches_of(std::span<const ByteRange> ranges) {
  std::vector<ByteRange> sorted;
  for (const ByteRange& range : ranges)
    if (range.size > 0) sorted.push_back(range);
  std::ranges::sort(sorted, {}, &ByteRange::begin);
  std::vector<ByteRange> stretches;
  for (const ByteRange& range : sorted) {
    if (!stretches.empty() && range.begin <= stretches.back().end())
      stretches.back().size = std::max(stretches.back().end(), range.end()) - stretches.back().begin;
    else
      stretches.push_back(range);
  }
  return stretches;
}

std::vector<ByteRange> cut(const std::vector<ByteRange>& stretches, const XrootdLimits& limits) {
  std::vector<ByteRange> chunks;
  for (const auto& [begin, size] : stretches) {
    const std::uint64_t most = size <= limits.chunk_max ? limits.chunk_max : limits.request_max;
    for (std::uint64_t done = 0; done < size; done += most)
      chunks.push_back({begin + done, std::min(most, size - done)});
  }
  return chunks;
}

// A chunk that is too long for a vector is a request of its own. The others fill vectors.
std::vector<XrootdRequest> packed(const std::vector<ByteRange>& chunks, const XrootdLimits& limits) {
  std::vector<XrootdRequest> requests;
  bool open = false;
  for (const ByteRange& chunk : chunks) {
    const bool vectored = chunk.size <= limits.chunk_max;
    const bool fits = open && vectored && requests.back().chunks.size() < limits.chunks_max &&
                      requests.back().size + chunk.size <= limits.request_max;
    if (!fits) requests.emplace_back();
    requests.back().chunks.push_back(chunk);
    requests.back().size += chunk.size;
    open = vectored;
  }
  return requests;
}

struct Place {
  ByteRange chunk;
  XrootdRequest* request;
  std::uint64_t from;
};

std::vector<Place> places_of(std::vector<XrootdRequest>& requests) {
  std::vector<Place> places;
  for (XrootdRequest& request : requests) {
    std::uint64_t from = 0;
    for (const ByteRange& chunk : request.chunks) {
      places.push_back({chunk, &request, from});
      from += chunk.size;
    }
  }
  return places;
}

}  // namespace

std::uint64_t xrootd_request_max(std::uint64_t bytes_per_second, std::chrono::milliseconds timeout) {
  const double seconds = std::chrono::duration<double>(timeout).count() / kXrootdRequestsAtOnce;
  const double bytes = seconds * static_cast<double>(bytes_per_second);
  return static_cast<std::uint64_t>(
      std::clamp(bytes, static_cast<double>(kXrootdRequestMin), static_cast<double>(kXrootdRequestMax)));
}

std::vector<XrootdRequest> xrootd_requests(std::span<const ByteRange> ranges, const XrootdLimits& told) {
  XrootdLimits limits = told;
  limits.chunk_max = std::min(told.chunk_max, told.request_max);
  std::vector<XrootdRequest> requests = packed(cut(stretches_of(ranges), limits), limits);
  const std::vector<Place> places = places_of(requests);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].size == 0) continue;
    auto place = std::ranges::upper_bound(places, ranges[i].begin, {}, [](const Place& p) { return p.chunk.end(); });
    for (; place != places.end() && place->chunk.begin < ranges[i].end(); ++place) {
      const std::uint64_t begin = std::max(place->chunk.begin, ranges[i].begin);
      const std::uint64_t end = std::min(place->chunk.end(), ranges[i].end());
      place->request->copies.push_back(
          {place->from + (begin - place->chunk.begin), i, begin - ranges[i].begin, end - begin});
    }
  }
  return requests;
}

}  // namespace tfile
