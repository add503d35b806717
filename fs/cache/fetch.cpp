// SPDX-License-Identifier: Apache-2.0
#include "cache/fetch.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "exec/answering.h"
#include "exec/when_all.h"
#include "read_done.h"

namespace tfilefs {
namespace {

// For a source that does not tell how it answers, as a local one. A request ends after kRequestBytes, so that its bytes
// are decoded while the next is read. It ends after kApartBytes already if the next range does not adjoin, and would
// take another call anyway. For a distant source both are at least the bytes that arrive while a request waits.
constexpr std::uint64_t kRequestBytes = 8 << 20, kApartBytes = 1 << 20;

// One part of a request: it is decoded as soon as it has arrived.
struct Part {
  std::span<const FetchRange> ranges;
  Budget::Reservation memory;
  std::uint64_t calls = 0;  // of the source
  bool is_told = false;
  std::vector<tfile::ByteRange> from = {};
  std::vector<std::span<std::byte>> into = {};
  std::vector<std::shared_ptr<Fetched>> buffers = {};
  std::optional<Stopwatch> time = {};
};

// The memory that a part is read into.
Result<> take_memory(Part& part) {
  return tried([&] {
    part.time.emplace();
    for (const FetchRange& range : part.ranges) {
      auto fetched = std::make_shared<Fetched>();
      fetched->memory = part.memory.split(range.range.size);
      fetched->bytes = tfile::Buffer(range.range.size, tfile::Use::passing);
      part.from.push_back(range.range);
      part.into.push_back(fetched->bytes.span());
      part.buffers.push_back(std::move(fetched));
    }
  });
}

// A long request is read in several parts, so that decoding begins with the first.
std::vector<std::span<const FetchRange>> parts_of(std::span<const FetchRange> request) {
  const tfile::SourceTraits traits = request[0].source->traits();
  const std::uint64_t in_flight = traits.bytes_in_flight(), answer = traits.answer_bytes;
  const std::uint64_t whole = answer > 0 ? answer : std::max(kRequestBytes, in_flight);
  const std::uint64_t apart = answer > 0 ? answer : std::max(kApartBytes, in_flight);
  std::vector<std::span<const FetchRange>> parts;
  for (std::size_t begin = 0, end; begin < request.size(); begin = end) {
    std::uint64_t bytes = 0;
    for (end = begin; end < request.size() && bytes < whole; ++end) {
      if (bytes >= apart && request[end - 1].range.end() != request[end].range.begin) break;
      bytes += request[end].range.size;
    }
    parts.push_back(request.subspan(begin, end - begin));
  }
  return parts;
}

// The requests of a plan. Whoever reads one holds this; when all have let go, the parts that were not read have failed.
class Fetch {
 public:
  Fetch(const FetchOrder& order, Budget::Reservation memory, std::shared_ptr<FetchSink> sink) : sink_(std::move(sink)) {
    const bool is_started = order.plan[0].source->traits().starts_reads;
    for (const std::span<const FetchRange> request : requests_of(order.plan)) {
      const auto parts = parts_of(request);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool begins = i == 0 || !is_started;  // a thread reads each part by itself
        if (begins) requests_.emplace_back();
        requests_.back().push_back({parts[i], memory.split(planned_bytes(parts[i])), begins ? 1u : 0u});
      }
    }
  }
  ~Fetch() { drop_rest(); }
  Fetch(const Fetch&) = delete;
  Fetch& operator=(const Fetch&) = delete;

  std::size_t requests() const { return requests_.size(); }
  // No part is being read any more: those that were not are told why.
  void drop_rest() {
    for (std::vector<Part>& request : requests_)
      for (Part& part : request)
        if (!part.is_told) tell(part, is_refused ? no_thread() : tl::unexpected<Error>(dropped_error()));
  }
  bool is_refused = false;  // by the threads, all of them

  // Any thread; each request is taken once.
  void read_requests() {
    for (std::size_t i; (i = next_++) < requests_.size();) read(requests_[i].front());
  }
  void start_request(std::size_t number, const std::shared_ptr<Fetch>& self, Reply<void> reply);

 private:
  void read(Part&);
  void tell(Part&, const Result<>&);

  const std::shared_ptr<FetchSink> sink_;
  std::vector<std::vector<Part>> requests_;
  std::atomic<std::size_t> next_ = 0;
};

void Fetch::tell(Part& part, const Result<>& result) {
  part.is_told = true;
  FetchedPart fetched{part.ranges, std::move(part.buffers), part.calls, part.time ? part.time->elapsed_ns() : 0};
  if (fetched.bytes.size() != part.ranges.size()) fetched.bytes.clear();
  for (const FetchRange& range : part.ranges)
    for (std::size_t i = 0; !result && i < range.wishes.size(); ++i) sink_->fail(range.wishes[i].id, result.error());
  run_caught([&] { sink_->take(fetched); });
}

void Fetch::read(Part& part) {
  if (const Result<> taken = take_memory(part); !taken) return tell(part, taken);
  part.calls = read_calls(part.ranges);
  const tfile::Source& source = *part.ranges[0].source;
  const Result<> all = result_of([&] { return source.read(part.from, part.into); });
  // One bad place must not fail its neighbours: after an error each wish is read by itself.
  for (std::size_t i = 0; !all && i < part.ranges.size(); ++i) {
    for (const FetchWish& wish : part.ranges[i].wishes) {
      ++part.calls;
      const auto place = part.into[i].subspan(wish.range.begin - part.ranges[i].range.begin, wish.range.size);
      const Result<> one = result_of([&] { return source.read(std::span(&wish.range, 1), std::span(&place, 1)); });
      if (!one) sink_->fail(wish.id, one.error());
    }
  }
  tell(part, {});
}

// By the source itself, which answers each part. Where something throws on the way, the parts that it does not answer
// are told when this ends.
void Fetch::start_request(std::size_t number, const std::shared_ptr<Fetch>& self, Reply<void> reply) {
  struct Answers {
    explicit Answers(Reply<void> reply_of_all) : reply(std::move(reply_of_all)) {}
    ~Answers() { reply({}); }  // however its parts fared, the next request is started
    Reply<void> reply;
  };
  const auto answers = std::make_shared<Answers>(std::move(reply));
  std::vector<tfile::Source::Started> reads;
  for (Part& part : requests_[number]) {
    if (const Result<> taken = take_memory(part); !taken) {
      tell(part, taken);
      continue;
    }
    auto done = [self, &part, answers](const Result<>& result) { self->tell(part, result); };
    reads.push_back({part.from, part.into, read_done(Reply<void>(std::move(done)))});
  }
  if (!reads.empty()) requests_[number].front().ranges[0].source->start_reads(std::move(reads));
}

// On threads that read. Each takes one request after the other.
void read_on_threads(Executors& exec, const FetchOrder& order, const FetchSink* sink, std::size_t at_once,
                     const std::shared_ptr<Fetch>& fetch) {
  const tfile::ServerId origin = order.plan[0].source->origin();
  std::size_t taken = 0;
  for (std::size_t i = 0; i < at_once; ++i) {
    run_caught([&] {
      taken += exec.io_pools.run(
          origin, [fetch] { fetch->read_requests(); }, order.urgency, sink);
    });
  }
  fetch->is_refused = taken == 0;
}

// The answer to one request starts the next.
void start_reads(Executors& exec, std::size_t at_once, const std::shared_ptr<Fetch>& fetch) {
  fetch->is_refused = !exec.started_reads.begin(1);
  if (fetch->is_refused) return;
  auto end = [&exec, fetch](const Result<void>&) {
    fetch->drop_rest();
    exec.started_reads.end();
  };
  when_all(
      fetch->requests(), at_once,
      [fetch](std::size_t number, Reply<void> done) { fetch->start_request(number, fetch, std::move(done)); },
      Reply<void>(std::move(end)));
}

}  // namespace

void fetch(Executors& exec, const FetchOrder& order, Budget::Reservation memory, std::shared_ptr<FetchSink> sink) {
  const FetchSink* const owner = sink.get();
  const auto fetch = std::make_shared<Fetch>(order, std::move(memory), std::move(sink));
  const tfile::Source& source = *order.plan[0].source;
  const tfile::SourceTraits traits = source.traits();
  const std::size_t at_once = std::clamp<std::size_t>(traits.requests_max, 1, fetch->requests());
  run_caught([&] {
    if (traits.starts_reads) return start_reads(exec, at_once, fetch);
    if (order.in_place && source.origin() == tfile::kLocalOrigin) return fetch->read_requests();
    read_on_threads(exec, order, owner, at_once, fetch);
  });
}

}  // namespace tfilefs
