// SPDX-License-Identifier: Apache-2.0
#include "tfile/read_together.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "tfile/beyond_end.h"
#include "tfile/request.h"

namespace tfile {
namespace {

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

// A stretch of a distant source may be as long as what could arrive while a request waits.
JoinLimits limits_of(const SourceTraits& traits) {
  JoinLimits limits{.gap_max = traits.gap_free, .gap_free = traits.gap_free};
  limits.range_max = std::max(limits.range_max, traits.bytes_in_flight());
  return limits;
}

std::vector<Stretch> joined(const std::vector<WantedBytes*>& order) {
  std::vector<Stretch> stretches;
  JoinedRange last;
  for (WantedBytes* one : order) {
    if (stretches.empty() || stretches.back().source != one->source ||
        !last.add(one->range, limits_of(one->source->traits()))) {
      last = JoinedRange(one->range);
      stretches.push_back({one->source, {}, {}});
    }
    stretches.back().range = last.range();
    stretches.back().parts.push_back(one);
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
