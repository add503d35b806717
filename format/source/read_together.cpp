// SPDX-License-Identifier: Apache-2.0
#include "tfile/read_together.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "tfile/beyond_end.h"
#include "tfile/request.h"

namespace tfile {
namespace {

// Limit for joined ranges; a single range may be larger. Of a distant source at least the bytes that could arrive while
// a request waits.
constexpr std::uint64_t kStretchMin = 4 << 20;

// Neighbouring ranges that are read as one.
struct Stretch {
  const Source* source;
  ByteRange range;
  std::vector<WantedBytes*> parts;
};

// The ranges that lie inside their source, by address. The others get an error.
std::vector<WantedBytes*> in_order(std::span<WantedBytes> wanted) {
  std::vector<WantedBytes*> order;
  for (WantedBytes& one : wanted) {
    const std::uint64_t size = one.source->size();
    if (is_beyond_end(one.range, size))
      one.bytes = fail_beyond_end("", one.range, size);
    else if (one.range.size > 0)
      order.push_back(&one);
  }
  std::sort(order.begin(), order.end(), [](const WantedBytes* a, const WantedBytes* b) {
    if (a->source != b->source) return std::less<>()(a->source, b->source);
    return std::tie(a->range.begin, a->range.size) < std::tie(b->range.begin, b->range.size);
  });
  return order;
}

std::vector<Stretch> joined(const std::vector<WantedBytes*>& order) {
  std::vector<Stretch> stretches;
  for (WantedBytes* one : order) {
    if (!stretches.empty() && stretches.back().source == one->source) {
      Stretch& last = stretches.back();
      const std::uint64_t end = std::max(last.range.end(), one->range.end());
      const SourceTraits traits = one->source->traits();
      const std::uint64_t gap_max = traits.gap_free, stretch_max = std::max(kStretchMin, traits.bytes_in_flight());
      const bool near = one->range.begin <= last.range.end() || one->range.begin - last.range.end() <= gap_max;
      if (end == last.range.end() || (near && end - last.range.begin <= stretch_max)) {
        last.range.size = end - last.range.begin;
        last.parts.push_back(one);
        continue;
      }
    }
    stretches.push_back({one->source, one->range, {one}});
  }
  return stretches;
}

ReadRequest request_of(std::span<const Stretch> stretches, std::vector<Buffer>& memory) {
  ReadRequest request{stretches[0].source, {}, {}, {}};
  for (const Stretch& stretch : stretches) {
    request.ranges.push_back(stretch.range);
    request.into.push_back(memory.emplace_back(stretch.range.size, Use::passing).span());
  }
  return request;
}

// If a request of a local source failed, each part is read alone: one bad place must not take its neighbours with it.
// A server that failed for one would fail for each.
void hand_out(std::span<const Stretch> stretches, const ReadRequest& request) {
  const bool alone = !request.result && !request.source->traits().starts_reads;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    for (WantedBytes* part : stretches[i].parts) {
      const auto place = request.into[i].subspan(part->range.begin - request.ranges[i].begin, part->range.size);
      const Result<> one =
          alone ? part->source->read(std::span(&part->range, 1), std::span(&place, 1)) : request.result;
      if (one)
        part->bytes = std::span<const std::byte>(place);
      else
        part->bytes = tl::unexpected<Error>(one.error());
    }
  }
}

}  // namespace

std::vector<Buffer> read_together(std::span<WantedBytes> wanted) {
  std::vector<Stretch> stretches = joined(in_order(wanted));
  std::vector<Buffer> memory;
  std::vector<std::span<Stretch>> parts;
  for (std::span<Stretch> left = stretches; !left.empty(); left = left.subspan(parts.back().size()))
    parts.push_back(left.first(parts_of_request<Stretch>(left)));
  std::vector<ReadRequest> requests;
  for (const std::span<Stretch> part : parts) requests.push_back(request_of(part, memory));
  read_requests(requests);
  for (std::size_t i = 0; i < parts.size(); ++i) hand_out(parts[i], requests[i]);
  return memory;
}

}  // namespace tfile
