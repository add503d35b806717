// SPDX-License-Identifier: Apache-2.0
#include "source/read_together.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "tfile/request.h"

namespace tfile {
namespace {

// For a local source. For a distant one both are at least the bytes that could arrive while a request waits. kGapMin:
// the kernel reads ahead this much anyway. kStretchMin: limit for joined ranges; a single range may be larger.
constexpr std::uint64_t kGapMin = 16 << 10, kStretchMin = 4 << 20;

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
    if (one.range.begin > size || one.range.size > size - one.range.begin)
      one.bytes =
          fail(ErrorKind::damaged, "lies beyond the end of the file", static_cast<std::int64_t>(one.range.begin));
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
      const std::uint64_t in_flight = one->source->traits().bytes_in_flight();
      const std::uint64_t gap_max = std::max(kGapMin, in_flight), stretch_max = std::max(kStretchMin, in_flight);
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

void read_stretches(std::span<Stretch> stretches, std::vector<Buffer>& memory) {
  std::vector<ByteRange> ranges;
  std::vector<std::span<std::byte>> into;
  for (const Stretch& stretch : stretches) {
    ranges.push_back(stretch.range);
    into.push_back(memory.emplace_back(stretch.range.size, Use::passing).span());
  }
  const Result<> all = stretches[0].source->read(ranges, into);
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    for (WantedBytes* part : stretches[i].parts) {
      const auto place = into[i].subspan(part->range.begin - ranges[i].begin, part->range.size);
      // If the request failed, each part is read alone: one bad place must not take its neighbours with it.
      const Result<> one = all ? Result<>() : part->source->read(std::span(&part->range, 1), std::span(&place, 1));
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
  for (std::span<Stretch> left = stretches; !left.empty();) {
    const std::size_t count = parts_of_request<Stretch>(left);
    read_stretches(left.first(count), memory);
    left = left.subspan(count);
  }
  return memory;
}

}  // namespace tfile
