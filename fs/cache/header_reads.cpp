// SPDX-License-Identifier: Apache-2.0
#include "cache/header_reads.h"

#include <algorithm>
#include <set>
#include <utility>

#include "cache/attached_set.h"
#include "cache/fetch_plan.h"
#include "tfile/beyond_end.h"
#include "tfile/request.h"

namespace tfilefs {
namespace {

using tfile::ChunkKey;
using tfile::StreamId;

// A header takes a hundred bytes in a basket of tens of kilobytes. Reading through to the next header costs more than a
// read of its own, unless it is in the same page.
constexpr std::uint64_t kHeaderGapMax = 4096;

// As much as the opening reads of the file's end: most columns of a wide table are no longer. On a fast line more
// arrives in a round trip.
constexpr std::uint64_t kPayloadMin = 256 << 10;

using Locators = std::vector<Result<tfile::Locator>>;
using BytesOfEach = std::vector<Result<std::vector<std::byte>>>;

// Plans the reads of what is not embedded; `bytes` gets the rest, and the errors.
std::vector<FetchRange> plan_of(const Locators& locators, BytesOfEach& bytes) {
  std::vector<FetchWish> wishes;
  for (std::size_t i = 0; i < locators.size(); ++i) {
    if (!locators[i]) {
      bytes[i] = tl::unexpected<Error>(locators[i].error());
    } else if (!locators[i]->source) {
      bytes[i]->assign(locators[i]->embedded.begin(), locators[i]->embedded.end());
    } else if (tfile::is_beyond_end(locators[i]->range, locators[i]->source->size())) {
      bytes[i] = tfile::fail_beyond_end("basket: ", locators[i]->range, locators[i]->source->size());
    } else {
      wishes.push_back({locators[i]->source, locators[i]->range, i});
    }
  }
  return plan_fetch(std::move(wishes), [](const tfile::Source& source) {
    const tfile::SourceTraits traits = source.traits();
    const std::uint64_t gap = traits.starts_reads ? traits.gap_free : kHeaderGapMax;
    return tfile::JoinLimits{.gap_max = gap, .gap_free = gap};
  });
}

// The bytes at each locator, or an error where they cannot be read. `of`: the stream of each.
BytesOfEach read_all(const Locators& locators, SetCounts& counts, std::span<const StreamId> of) {
  BytesOfEach bytes(locators.size(), std::vector<std::byte>());
  const auto plan = plan_of(locators, bytes);
  const auto parts = requests_of(plan);
  std::vector<tfile::Buffer> buffers;
  std::vector<tfile::ReadRequest> requests;
  for (const std::span<const FetchRange> part : parts) {
    tfile::ReadRequest& request = requests.emplace_back(tfile::ReadRequest{part[0].source, {}, {}, {}});
    for (const FetchRange& range : part) {
      request.ranges.push_back(range.range);
      request.into.push_back(buffers.emplace_back(range.range.size).span());
    }
  }
  const Stopwatch reading;
  tfile::read_requests(requests);
  std::vector<SetCounts::Share> shares;
  std::uint64_t calls = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const tfile::ReadRequest& request = requests[i];
    calls += request.source->traits().starts_reads ? 1 : read_calls(parts[i]);
    for (std::size_t n = 0; n < parts[i].size(); ++n) {
      for (const FetchWish& wish : parts[i][n].wishes) {
        if (!request.result) {
          bytes[wish.id] = tl::unexpected<Error>(request.result.error());
          continue;
        }
        shares.push_back({of[wish.id], wish.range.size});
        const auto place = request.into[n].subspan(wish.range.begin - request.ranges[n].begin, wish.range.size);
        bytes[wish.id]->assign(place.begin(), place.end());
      }
    }
  }
  counts.add_reads(calls, planned_bytes(plan), reading.elapsed_ns(), shares);
  return bytes;
}

// The source of the stream's first chunk; null if it is in none.
const tfile::Source* source_of(const tfile::StreamSet& streams, StreamId stream) {
  if (streams.chunk_count(stream) == 0) return nullptr;
  const auto first = streams.locate({stream, 0});
  return first ? first->source : nullptr;
}

// Adds the items of the chunks from `begin` on, as their headers tell them.
void add_headers(const tfile::ItemCounter& counter, StreamId stream, std::size_t begin, HeaderReads::Headers headers,
                 tfile::ExtentSum& sum) {
  for (std::size_t i = 0; i < headers.size() && sum.is_open(); ++i) {
    if (!headers[i]) return sum.stop(headers[i].error());
    const auto counted = counter.count({stream, static_cast<std::uint32_t>(begin + i)}, *headers[i], {});
    counted ? sum.add(counted->items) : sum.stop(counted.error());
  }
}

// All headers were added. `first`: that of the first chunk.
Result<ExtentsPtr> counted(const tfile::ItemCounter& counter, StreamId stream, tfile::ExtentSum sum,
                           std::span<const std::byte> first) {
  const bool is_whole = sum.is_open();
  if (is_whole) counter.note_counted(stream, sum.end(), first);
  return held(sum.take());
}

}  // namespace

Result<ExtentsPtr> held(Result<Extents> extents) {
  if (!extents) return tl::unexpected<Error>(std::move(extents).error());
  return std::make_shared<const Extents>(*std::move(extents));
}

bool is_remote(const tfile::StreamSet& streams, StreamId stream) {
  const tfile::Source* const source = source_of(streams, stream);
  return source && source->traits().starts_reads;
}

tfile::ServerId origin_of(const tfile::StreamSet& streams, StreamId stream) {
  const tfile::Source* const source = source_of(streams, stream);
  return source ? source->origin() : tfile::kLocalOrigin;
}

void HeaderReads::add_locator(StreamId stream, Result<tfile::Locator> locator) {
  locators_.push_back(std::move(locator));
  streams_.push_back(stream);
}

void HeaderReads::add(StreamId stream, std::size_t begin, std::size_t end) {
  places_[stream] = {locators_.size(), end - begin};
  for (std::size_t i = begin; i < end; ++i)
    add_locator(stream, set_.streams->counter()->header_locator({stream, static_cast<std::uint32_t>(i)}));
}

void HeaderReads::add_all(StreamId stream) { add(stream, 0, set_.streams->chunk_count(stream)); }

void HeaderReads::add_with_payload(StreamId stream) {
  const std::size_t first = locators_.size();
  add_all(stream);
  const tfile::Source* const source = source_of(*set_.streams, stream);
  if (!source) return;
  std::uint64_t left = std::max(kPayloadMin, 2 * source->traits().bytes_in_flight());
  std::size_t whole = 0;
  for (; first + whole < locators_.size(); ++whole) {
    auto chunk = set_.streams->locate({stream, static_cast<std::uint32_t>(whole)});
    if (!chunk || chunk->range.size > left) break;
    left -= chunk->range.size;
    locators_[first + whole] = std::move(chunk);
  }
  add_inputs(stream, whole);
}

void HeaderReads::add_inputs(StreamId stream, std::size_t chunks) {
  std::set<std::pair<StreamId, std::uint32_t>> added;
  for (std::size_t i = 0; i < chunks; ++i)
    for (const ChunkKey input : set_.streams->inputs({stream, static_cast<std::uint32_t>(i)}))
      if (added.insert({input.stream, input.index}).second) add_locator(input.stream, set_.streams->locate(input));
}

void HeaderReads::read() { bytes_ = read_all(locators_, *set_.counts, streams_); }

HeaderReads::Headers HeaderReads::of(StreamId stream) const {
  const auto found = places_.find(stream);
  return found == places_.end() ? Headers() : Headers(bytes_).subspan(found->second.first, found->second.second);
}

Result<ExtentsPtr> HeaderReads::extents(StreamId stream) const {
  const tfile::ItemCounter& counter = *set_.streams->counter();
  const Headers headers = of(stream);
  tfile::ExtentSum sum(set_.streams->slot_count(stream));
  add_headers(counter, stream, 0, headers, sum);
  const bool has_first = !headers.empty() && headers.front();
  return counted(counter, stream, std::move(sum), has_first ? *headers.front() : std::vector<std::byte>());
}

Result<ExtentsPtr> extents_from_headers(const AttachedSet& set, StreamId stream, const std::stop_token& stop) {
  const tfile::ItemCounter& counter = *set.streams->counter();
  const tfile::StreamShape shape = set.streams->shape(stream);
  tfile::ExtentSum sum(shape.slots);
  std::vector<std::byte> first;
  for (std::size_t begin = 0; begin < shape.chunks && sum.is_open(); begin += kHeaderBatch) {
    if (stop.stop_requested()) return cancelled();
    HeaderReads reads(set);
    reads.add(stream, begin, std::min(shape.chunks, begin + kHeaderBatch));
    reads.read();
    const HeaderReads::Headers headers = reads.of(stream);
    if (begin == 0 && headers.front()) first = *headers.front();
    add_headers(counter, stream, begin, headers, sum);
  }
  return counted(counter, stream, std::move(sum), first);
}

}  // namespace tfilefs
