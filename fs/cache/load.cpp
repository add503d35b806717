// SPDX-License-Identifier: Apache-2.0
#include "cache/load.h"

#include <algorithm>
#include <deque>
#include <map>
#include <new>

#include "cache/fetch_plan.h"
#include "damage.h"
#include "exec/answering.h"
#include "exec/in_place.h"
#include "exec/trampoline.h"
#include "noting_source.h"
#include "on_behalf.h"
#include "read_done.h"
#include "tfile/beyond_end.h"

namespace tfilefs {
namespace {

using tfile::ChunkKey;

// Tasks of about 100 KB stored, as ROOT's parallel unzip groups its baskets (Amadio, Canal, Piparo, Wenzel, CHEP 2018,
// "Increasing parallelism in the ROOT I/O subsystem"): a small basket decodes faster than a task is passed to a thread.
constexpr std::uint64_t kTaskStoredBytes = 100'000;

// A range that a reader waits for is read as a whole before its first chunk is decoded. A range that no reader waits
// for may be longer, which takes fewer calls. ROOT closes a cluster at 30 MB and somewhat more.
constexpr std::uint64_t kAwaitedRangeMax = 4 << 20, kAheadRangeMax = 40 << 20;

// For a source that does not tell how it answers, as a local one. A request ends after kRequestBytes, so that its bytes
// are decoded while the next is read. It ends after kApartBytes already if the next range does not adjoin, and would
// take another call anyway. For a distant source both are at least the bytes that arrive while a request waits.
constexpr std::uint64_t kRequestBytes = 8 << 20, kApartBytes = 1 << 20;

// No estimate is larger than this, so that sums of sizes claimed by a file cannot overflow.
constexpr std::uint64_t kSizeClaimMax = std::uint64_t{1} << 48;

// One chunk of a load, from its stored bytes to the result.
struct Unit {
  ChunkKey key;
  bool kept = true;                       // a chunk for the cache; else its items are only counted
  std::vector<std::uint32_t> inputs;      // units whose chunks this one needs
  std::vector<std::uint32_t> dependents;  // units that need the chunk of this one
  Result<tfile::Locator> locator;
  ExtentsPtr extents;
  std::uint64_t decoded_size = 0;

  bool claimed = false;
  std::atomic<bool> urgent = false;         // a reader waits for it
  std::atomic<const Unit*> task = nullptr;  // the first unit of its decode task, once there is one
  std::atomic<std::size_t> missing = 0;     // bytes and inputs that must come before it can be decoded
  std::span<const std::byte> stored;
  std::shared_ptr<const void> stored_owner;
  Budget::Reservation memory;

  ChunkPtr chunk;
  std::optional<Error> error;
  std::vector<std::int64_t> items;
  std::optional<tfile::Chunk> unplaced;  // of a unit whose items are counted

  // Its size in the file; never 0.
  std::uint64_t stored_size() const { return locator ? std::max<std::uint64_t>(1, locator->range.size) : 1; }
};

std::uint64_t array_bytes(const tfile::Chunk& chunk) {
  std::uint64_t sum = 0;
  for (const auto array : chunk.arrays) sum += array.size();
  return sum;
}

// Bytes as they were fetched. The last unit that decodes from them frees them, and gives them back to the budget.
struct Fetched {
  Budget::Reservation memory;
  tfile::Buffer bytes;
};

// The reads of one origin. Any thread may take a request; each is taken once. Its parts have memory of their own, and
// each is decoded as soon as it has arrived.
struct Fetch {
  struct Part {
    std::span<const FetchRange> ranges;
    Budget::Reservation memory;
  };
  std::vector<std::vector<Part>> requests;
  std::atomic<std::size_t> next = 0;
};

// One part that is under way.
struct Reading {
  explicit Reading(std::span<const FetchRange> part) : ranges(part) {}

  std::span<const FetchRange> ranges;
  std::vector<std::shared_ptr<Fetched>> buffers;  // fewer than ranges where there was no memory for all
  std::vector<tfile::ByteRange> from;
  std::vector<std::span<std::byte>> into;
  Stopwatch time;
};

// Takes memory for a part. Throws if there is none.
void take_memory(Reading& reading, Fetch::Part& part) {
  for (const FetchRange& range : part.ranges) {
    auto fetched = std::make_shared<Fetched>();
    fetched->memory = part.memory.split(range.range.size);
    fetched->bytes = tfile::Buffer(range.range.size, tfile::Use::passing);
    reading.from.push_back(range.range);
    reading.into.push_back(fetched->bytes.span());
    reading.buffers.push_back(std::move(fetched));
  }
}

// A long request is read in several, so that decoding begins with the first.
std::vector<std::span<const FetchRange>> decoded_parts(std::span<const FetchRange> request) {
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

class Load : public Budget::Request, public ChunkWaiter, public std::enable_shared_from_this<Load> {
 public:
  Load(std::shared_ptr<AttachedSet> set, std::span<const ChunkKey> keys, bool kept, Urgency urgency);

  // Called once, at the end, or with the error that kept the load from beginning.
  std::function<void(Load&, const Error*)> finish;
  std::stop_token stop;  // of items that are counted: only this caller waits for them

  void run() {
    const bool waits = urgency_ == Urgency::awaited;
    set_->core->budget->reserve(shared_from_this(), waits ? Budget::IfFull::wait : Budget::IfFull::fail);
  }
  std::span<const std::uint32_t> wanted() const { return wanted_; }
  Unit& unit(std::uint32_t position) { return units_[position]; }

  std::uint64_t prepare() override;
  void retreat() override;
  void claim(Budget::Reservation) override;
  void claim_units();
  void start() override;
  void denied(const Error& error) override { end(&error); }
  void arrived(std::size_t position, const Result<ChunkPtr>&) override;
  void promote(std::size_t position) override;

 private:
  std::uint32_t add(ChunkKey, bool kept);
  std::vector<FetchRange> plan(const std::function<bool(const Unit&)>& wanted) const;
  Result<> begin_fetch(std::span<const FetchRange>);
  bool is_in_place() const { return in_place_ && InPlace::is_on(); }
  bool run_fetch(const std::shared_ptr<Fetch>&, std::size_t at_once);
  void fetch(Fetch&);
  bool start_fetch(const std::shared_ptr<Fetch>&, std::size_t at_once);
  void start_next(const std::shared_ptr<Fetch>&, const std::shared_ptr<Trampoline>&);
  void start_request(const std::shared_ptr<Fetch>&, const std::shared_ptr<Trampoline>&, std::size_t request);
  void count_reads(std::span<const FetchRange>, std::uint64_t calls, std::uint64_t disk_ns);
  void take_bytes(const FetchRange&, const std::shared_ptr<Fetched>&);
  void deliver(std::span<const std::uint32_t> positions);
  void fetch_together(Fetch::Part&);
  void take_answer(const Reading&, const Result<>&, std::uint64_t calls);
  void take_reading(const Reading&, std::uint64_t calls);
  void decode_soon(std::span<const std::uint32_t> positions);
  void fail(std::span<const std::uint32_t> positions, const Error&);
  void decode_together(std::vector<std::uint32_t> positions);
  void decode_task(std::span<const std::uint32_t> positions);
  Result<ChunkPtr> decode(Unit&);
  Result<> count_items(Unit&, std::span<const ChunkPtr> inputs);
  Result<ChunkPtr> decode_chunk(Unit&, std::span<const ChunkPtr> inputs);
  void conclude(Unit&, Result<ChunkPtr>);
  void count_down();
  void end(const Error*);

  const std::shared_ptr<AttachedSet> set_;
  std::deque<Unit> units_;
  std::vector<std::uint32_t> wanted_;
  std::map<std::uint64_t, std::uint32_t> input_positions_;
  const Urgency urgency_;
  const bool in_place_ = InPlace::is_on();
  std::atomic<bool> hurry_ = false;  // a reader waits for a unit of a load that was ahead
  std::vector<FetchRange> plan_;
  std::vector<std::uint32_t> with_bytes_;  // units whose bytes are here at the start, or will never come
  std::uint32_t joined_ = 0;               // so many units, the first ones, were claimed, joined or there
  Budget::Reservation stored_memory_;
  std::atomic<std::size_t> outstanding_ = 0;  // units that have not concluded, and start()
};

Load::Load(std::shared_ptr<AttachedSet> set, std::span<const ChunkKey> keys, bool kept, Urgency urgency)
    : set_(std::move(set)), urgency_(urgency) {
  for (const ChunkKey key : keys) {
    std::vector<std::uint32_t> inputs;
    for (const ChunkKey input : set_->streams->inputs(key)) {
      const auto [place, is_new] = input_positions_.try_emplace(std::uint64_t{input.stream} << 32 | input.index, 0);
      if (is_new) place->second = add(input, true);
      inputs.push_back(place->second);
    }
    const std::uint32_t position = add(key, kept);
    for (const std::uint32_t input : inputs) units_[input].dependents.push_back(position);
    units_[position].inputs = std::move(inputs);
    wanted_.push_back(position);
  }
  for (Unit& unit : units_) unit.missing = unit.inputs.size() + 1;
  outstanding_ = units_.size() + 1;
  with_bytes_.reserve(units_.size());
}

std::uint32_t Load::add(ChunkKey key, bool kept) {
  const tfile::StreamSet& streams = *set_->streams;
  Unit& unit = units_.emplace_back();
  unit.key = key;
  unit.kept = kept;
  unit.extents = set_->extents.ready(key.stream);
  unit.locator = streams.locate(key);
  if (unit.locator && unit.locator->source) {
    const tfile::ByteRange range = unit.locator->range;
    const std::uint64_t size = unit.locator->source->size();
    if (tfile::is_beyond_end(range, size)) unit.locator = tfile::fail_beyond_end("chunk: ", range, size);
  }
  unit.decoded_size = std::min(streams.decoded_size(key), kSizeClaimMax) + kChunkBookkeeping + sizeof(tfile::Chunk) +
                      streams.slot_count(key.stream) * sizeof(std::span<const std::byte>);
  return static_cast<std::uint32_t>(units_.size() - 1);
}

std::vector<FetchRange> Load::plan(const std::function<bool(const Unit&)>& wanted) const {
  std::vector<FetchWish> wishes;
  for (std::size_t i = 0; i < units_.size(); ++i)
    if (const Unit& unit = units_[i]; wanted(unit) && unit.locator && unit.locator->source)
      wishes.push_back({unit.locator->source, unit.locator->range, i});
  // Gaps that are read through count in the budget too, and must stay small in it.
  const CacheOptions& options = set_->core->options;
  const std::uint64_t range_max = urgency_ == Urgency::awaited ? kAwaitedRangeMax : kAheadRangeMax;
  const auto limits_of = [&](const tfile::Source& source) {
    const tfile::SourceTraits traits = source.traits();
    // A server gives many ranges for one request; a larger gap saves nothing.
    const std::uint64_t gap = traits.starts_reads ? traits.gap_free : std::max(options.readahead, traits.gap_free);
    const std::uint64_t answer = traits.answer_bytes > 0 ? traits.answer_bytes : range_max;
    return tfile::JoinLimits{.gap_max = std::min(gap, options.memory / 64),
                             .gap_free = traits.gap_free,
                             .range_max = std::min({range_max, answer, traits.request_max, options.memory / 16})};
  };
  return plan_fetch(std::move(wishes), limits_of, options.memory / 4);
}

// A chunk that another load has claimed counts as absent: it may have arrived and been evicted again before the claim.
std::uint64_t Load::prepare() {
  std::uint64_t need = 0;
  for (Unit& unit : units_) {
    const auto seen = unit.kept ? set_->core->chunks.look(set_->chunks, unit.key) : ChunkCache::Seen{};
    unit.chunk = seen.chunk;
    unit.claimed = !seen.chunk && !seen.failed;
    if (unit.claimed) need += unit.decoded_size;
  }
  return need + planned_bytes(plan([](const Unit& unit) { return unit.claimed; }));
}

void Load::retreat() {
  for (Unit& unit : units_) unit.chunk.reset();
}

// Without the memory for it, what is claimed has failed, and start() tells those who wait for it.
void Load::claim(Budget::Reservation memory) {
  const Result<> all = tried([&] {
    claim_units();
    plan_ = plan([](const Unit& unit) { return unit.claimed; });
  });
  if (!all) {
    for (std::uint32_t i = 0; i < units_.size(); ++i)
      if (units_[i].claimed || i >= joined_) units_[i].error = all.error();  // the others are someone else's
    return plan_.clear();
  }
  for (Unit& unit : units_)
    if (unit.claimed) unit.memory = memory.split(unit.decoded_size);
  memory.shrink(planned_bytes(plan_));
  stored_memory_ = std::move(memory);
}

void Load::claim_units() {
  const auto self = shared_from_this();
  const bool urgent = urgency_ == Urgency::awaited;
  for (Unit& unit : units_) unit.claimed = false;
  for (std::uint32_t& i = joined_; i < units_.size(); ++i) {
    Unit& unit = units_[i];
    unit.claimed = !unit.kept;
    if (!unit.kept) continue;
    // A chunk that others need as input is loaded with them, and does not count as loaded ahead by itself.
    const bool is_ahead = !urgent && unit.dependents.empty();
    auto claim = set_->core->chunks.claim(set_->chunks, unit.key, self, i, urgent, is_ahead ? unit.stored_size() : 0);
    unit.claimed = claim.claimed;
    AtomicReadCounts& counts = set_->counts->stream(unit.key.stream);
    if (!claim.claimed && !claim.result) counts.add(Count::joined_loads, 1);
    if (claim.claimed && is_ahead) {
      counts.add(Count::chunks_ahead, 1);
      counts.add(Count::bytes_ahead, unit.stored_size());
    }
    if (claim.result) arrived(i, *claim.result);
  }
}

void Load::start() {
  for (std::uint32_t i = 0; i < units_.size(); ++i) {
    Unit& unit = units_[i];
    if (i >= joined_) {  // nobody was asked for it
      arrived(i, tl::unexpected<Error>(*unit.error));
      continue;
    }
    if (!unit.claimed || (!unit.error && unit.locator && unit.locator->source)) continue;
    if (unit.locator) unit.stored = unit.locator->embedded;
    with_bytes_.push_back(i);
  }
  const std::span<const FetchRange> plan(plan_);
  for (std::size_t begin = 0, end; begin < plan.size(); begin = end) {
    const tfile::ServerId origin = plan[begin].source->origin();
    for (end = begin; end < plan.size() && plan[end].source->origin() == origin;) ++end;
    const auto begun = result_of([&]() -> Result<> { return begin_fetch(plan.subspan(begin, end - begin)); });
    for (std::size_t i = begin; !begun && i < end; ++i) {
      for (const std::size_t id : plan[i].ids) {
        units_[id].error = begun.error();
        with_bytes_.push_back(static_cast<std::uint32_t>(id));
      }
    }
  }
  if (hurry_) set_->core->exec.io_pools.promote(this);  // in case promote() came between claim and queueing
  deliver(with_bytes_);
  count_down();
}

// For the ranges of one origin. As many of its requests are under way as the source is best asked at once. A thread
// reads each part by itself.
// If it fails or throws, nothing of the plan has been started.
Result<> Load::begin_fetch(std::span<const FetchRange> plan) {
  const tfile::SourceTraits traits = plan[0].source->traits();
  auto fetch = std::make_shared<Fetch>();
  for (const std::span<const FetchRange> request : requests_of(plan)) {
    bool begins = true;
    for (const std::span<const FetchRange> part : decoded_parts(request)) {
      if (begins || !traits.starts_reads) fetch->requests.emplace_back();
      fetch->requests.back().push_back({part, stored_memory_.split(planned_bytes(part))});
      begins = false;
    }
  }
  const std::size_t at_once = std::clamp<std::size_t>(traits.requests_max, 1, fetch->requests.size());
  if (traits.starts_reads ? start_fetch(fetch, at_once) : run_fetch(fetch, at_once)) return {};
  return no_thread();
}

// The whole fetch may have to come first; of the decoding, only the unit's own task and those of its inputs.
void Load::promote(std::size_t position) {
  Unit& unit = units_[position];
  unit.urgent = true;
  hurry_ = true;
  set_->core->exec.io_pools.promote(this);
  if (const Unit* task = unit.task) set_->core->exec.coders.promote(task);
  for (const std::uint32_t input : unit.inputs) promote(input);
}

// On threads that read. Each takes one request after the other.
bool Load::run_fetch(const std::shared_ptr<Fetch>& fetch, std::size_t at_once) {
  const tfile::ServerId origin = fetch->requests[0].front().ranges[0].source->origin();
  if (origin == tfile::kLocalOrigin && is_in_place()) {
    this->fetch(*fetch);
    return true;
  }
  bool runs = false;
  for (std::size_t i = 0; i < at_once; ++i) {
    run_caught([&] {
      auto job = [self = shared_from_this(), fetch] { self->fetch(*fetch); };
      runs |= set_->core->exec.io_pools.run(origin, std::move(job), urgency_, this);
    });
  }
  return runs;
}

void Load::fetch(Fetch& fetch) {
  for (std::size_t i; (i = fetch.next++) < fetch.requests.size();) fetch_together(fetch.requests[i].front());
}

// By the source itself. The answer to one request starts the next.
bool Load::start_fetch(const std::shared_ptr<Fetch>& fetch, std::size_t at_once) {
  if (!set_->core->exec.started_reads.begin(at_once)) return false;
  for (std::size_t i = 0; i < at_once; ++i) start_next(fetch, std::make_shared<Trampoline>());
  return true;
}

void Load::start_next(const std::shared_ptr<Fetch>& fetch, const std::shared_ptr<Trampoline>& loop) {
  loop->next([self = shared_from_this(), fetch, loop] {
    const std::size_t i = fetch->next++;
    if (i >= fetch->requests.size()) return self->set_->core->exec.started_reads.end();
    run_caught([&] { self->start_request(fetch, loop, i); });
  });
}

// If something throws on the way, the reads that were not started answer that they were dropped.
void Load::start_request(const std::shared_ptr<Fetch>& fetch, const std::shared_ptr<Trampoline>& loop,
                         std::size_t request) {
  std::vector<Fetch::Part>& parts = fetch->requests[request];
  const auto left = std::make_shared<std::atomic<std::size_t>>(parts.size());
  std::vector<std::shared_ptr<Reading>> readings;
  std::vector<tfile::Source::Started> reads;
  for (const Fetch::Part& part : parts) {
    readings.push_back(std::make_shared<Reading>(part.ranges));
    const std::uint64_t calls = reads.empty() ? 1 : 0;
    auto done = [self = shared_from_this(), fetch, loop, left, reading = readings.back(),
                 calls](const Result<>& result) {
      self->take_answer(*reading, result, calls);
      if (--*left == 0) self->start_next(fetch, loop);
    };
    reads.push_back({{}, {}, read_done(Reply<void>(std::move(done)))});
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    take_memory(*readings[i], parts[i]);
    reads[i].ranges = readings[i]->from;
    reads[i].into = readings[i]->into;
  }
  parts.front().ranges[0].source->start_reads(std::move(reads));
}

void Load::take_answer(const Reading& reading, const Result<>& result, std::uint64_t calls) {
  for (const FetchRange& range : reading.ranges)
    for (std::size_t n = 0; !result && n < range.ids.size(); ++n) units_[range.ids[n]].error = result.error();
  if (reading.buffers.size() == reading.ranges.size()) return take_reading(reading, calls);
  std::vector<std::uint32_t> failed;
  for (const FetchRange& range : reading.ranges)
    for (const std::size_t id : range.ids) failed.push_back(static_cast<std::uint32_t>(id));
  deliver(failed);
}

void Load::fetch_together(Fetch::Part& part) {
  Reading reading(part.ranges);
  const std::span<const FetchRange> ranges = part.ranges;
  std::uint64_t calls = read_calls(ranges);
  if (const Result<> taken = tried([&] { take_memory(reading, part); }); !taken) return take_answer(reading, taken, 0);
  const Result<> all = result_of([&] { return ranges[0].source->read(reading.from, reading.into); });
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    // One bad place must not fail its neighbours: after an error each chunk is read by itself.
    for (std::size_t n = 0; !all && n < ranges[i].ids.size(); ++n) {
      Unit& unit = units_[ranges[i].ids[n]];
      const tfile::ByteRange range = unit.locator->range;
      ++calls;
      const auto place = reading.into[i].subspan(range.begin - ranges[i].range.begin, range.size);
      const Result<> one =
          result_of([&] { return ranges[i].source->read(std::span(&range, 1), std::span(&place, 1)); });
      if (!one) unit.error = one.error();
    }
  }
  take_reading(reading, calls);
}

void Load::take_reading(const Reading& reading, std::uint64_t calls) {
  std::vector<std::uint32_t> delivered;
  const Result<> has_room = tried([&] {
    std::size_t count = 0;
    for (const FetchRange& range : reading.ranges) count += range.ids.size();
    delivered.reserve(count);
  });
  for (std::size_t i = 0; i < reading.ranges.size(); ++i) {
    take_bytes(reading.ranges[i], reading.buffers[i]);
    for (const std::size_t id : reading.ranges[i].ids) {
      const auto position = static_cast<std::uint32_t>(id);
      has_room ? delivered.push_back(position) : deliver(std::span(&position, 1));
    }
  }
  run_caught([&] { count_reads(reading.ranges, calls, reading.time.elapsed_ns()); });
  deliver(delivered);
}

void Load::count_reads(std::span<const FetchRange> ranges, std::uint64_t calls, std::uint64_t disk_ns) {
  std::uint64_t bytes = 0;
  std::vector<SetCounts::Share> shares;
  for (const FetchRange& range : ranges) {
    bytes += range.range.size;
    for (const std::size_t id : range.ids) shares.push_back({units_[id].key.stream, units_[id].locator->range.size});
  }
  set_->counts->add_reads(calls, bytes, disk_ns, shares);
}

void Load::take_bytes(const FetchRange& range, const std::shared_ptr<Fetched>& fetched) {
  for (const std::size_t id : range.ids) {
    Unit& unit = units_[id];
    const tfile::ByteRange bytes = unit.locator->range;
    unit.stored = fetched->bytes.span().subspan(bytes.begin - range.range.begin, bytes.size);
    unit.stored_owner = fetched;
    // Nothing if the read has failed: these are no bytes of the file then.
    if (const auto* source = dynamic_cast<const NotingSource*>(unit.locator->source); source && !unit.error)
      run_caught([&, from = source] { from->note_kept(bytes.begin, unit.stored); });
  }
}

// Each of these units has got one of its missing parts. Those that miss nothing any more become tasks.
void Load::deliver(std::span<const std::uint32_t> positions) {
  std::vector<std::uint32_t> task;
  std::uint64_t task_bytes = 0;
  for (const std::uint32_t position : positions) {
    Unit& unit = units_[position];
    if (--unit.missing > 0) continue;
    if (const Result<> added = tried([&] { task.push_back(position); }); !added) {
      fail(std::span(&position, 1), added.error());
      continue;
    }
    task_bytes += unit.stored.size();
    if (task_bytes >= kTaskStoredBytes) {
      decode_soon(task);
      task.clear();
      task_bytes = 0;
    }
  }
  if (!task.empty()) decode_soon(task);
}

void Load::decode_soon(std::span<const std::uint32_t> positions) {
  const Result<> begun = tried([&] { decode_together({positions.begin(), positions.end()}); });
  if (!begun) fail(positions, begun.error());
}

void Load::fail(std::span<const std::uint32_t> positions, const Error& error) {
  for (const std::uint32_t position : positions) conclude(units_[position], tl::unexpected<Error>(error));
}

void Load::decode_together(std::vector<std::uint32_t> positions) {
  if (is_in_place()) return decode_task(positions);
  const Unit* const task = &units_[positions.front()];
  for (const std::uint32_t position : positions) units_[position].task = task;
  const auto urgent = [&] {
    return std::any_of(positions.begin(), positions.end(), [&](std::uint32_t p) { return units_[p].urgent.load(); });
  };
  const bool ahead = urgency_ == Urgency::ahead && !urgent();
  if (set_->streams->shape(units_[positions.front()].key.stream).is_made &&
      set_->core->exec.view_workers.run([self = shared_from_this(), positions] { self->decode_task(positions); },
                                        Urgency::awaited))
    return;
  set_->core->exec.coders.run([self = shared_from_this(), positions] { self->decode_task(positions); },
                              ahead ? Urgency::ahead : Urgency::awaited, task);
  // In case promote() was called between the check and the queueing.
  if (ahead && urgent()) run_caught([&] { set_->core->exec.coders.promote(task); });
}

// Runs on a coder. The requests that the chunks complete are answered after the last one, so that this does not count
// as decoding.
void Load::decode_task(std::span<const std::uint32_t> positions) {
  const CpuStopwatch decoding;
  std::vector<SetCounts::Share> shares;
  std::vector<Result<ChunkPtr>> results;
  const Result<> has_room = tried([&] {
    shares.reserve(positions.size());
    results.reserve(positions.size());
  });
  if (!has_room) return fail(positions, has_room.error());
  for (const std::uint32_t position : positions) {
    Unit& unit = units_[position];
    shares.push_back({unit.key.stream, unit.stored.size()});
    results.push_back(result_of([&] { return decode(unit); }));
  }
  run_caught([&] { set_->counts->add_decoding(decoding.elapsed_ns(), shares); });
  for (std::size_t i = 0; i < positions.size(); ++i) conclude(units_[positions[i]], std::move(results[i]));
}

Result<ChunkPtr> Load::decode(Unit& unit) {
  std::vector<ChunkPtr> inputs;
  for (const std::uint32_t input : unit.inputs) {
    if (units_[input].error && !unit.error) unit.error = units_[input].error;
    inputs.push_back(units_[input].chunk);
  }
  if (!unit.error && !unit.locator) unit.error = unit.locator.error();
  if (!unit.kept && stop.stop_requested()) unit.error = cancelled().value();
  Result<ChunkPtr> result = tfile::fail(ErrorKind::io, "chunk was not decoded");
  if (unit.error) {
    result = tl::unexpected<Error>(*unit.error);
  } else {
    try {
      result = decode_chunk(unit, inputs);
    } catch (const std::bad_alloc&) {
      result = no_memory("no memory to decode a chunk");
    }
  }
  unit.stored = {};
  unit.stored_owner.reset();
  return result;
}

Result<> Load::count_items(Unit& unit, std::span<const ChunkPtr> inputs) {
  TRY(auto counted, set_->streams->counter()->count(unit.key, unit.stored, inputs));
  unit.items = std::move(counted.items);
  if (counted.chunk) unit.memory.settle(chunk_memory(*counted.chunk));
  unit.unplaced = std::move(counted.chunk);
  return {};
}

Result<ChunkPtr> Load::decode_chunk(Unit& unit, std::span<const ChunkPtr> inputs) {
  const tfile::StreamSet& streams = *set_->streams;
  if (!unit.kept) {
    TRY_VOID(count_items(unit, inputs));
    return ChunkPtr();
  }
  const Extents& extents = *unit.extents;
  if (unit.key.index >= extents.chunks()) {
    if (extents.damage) return tl::unexpected<Error>(*extents.damage);
    return tfile::fail(ErrorKind::damaged, "no chunk " + std::to_string(unit.key.index) + ": the stream has " +
                                               std::to_string(extents.chunks()));
  }
  std::vector<std::int64_t> first;
  for (const auto& slot : extents.first) first.push_back(slot[unit.key.index]);
  TRY(tfile::Chunk chunk, streams.decode(unit.key, unit.stored, inputs, first));
  if (chunk.arrays.size() != extents.first.size())
    return tfile::fail(ErrorKind::damaged, "chunk " + std::to_string(unit.key.index) + " has " +
                                               std::to_string(chunk.arrays.size()) + " columns, its stream has " +
                                               std::to_string(extents.first.size()));
  for (std::size_t slot = 0; slot < first.size(); ++slot) {
    const auto items = static_cast<std::uint64_t>(extents.first[slot][unit.key.index + 1] - first[slot]);
    const std::size_t bytes = chunk.arrays[slot].size();
    if (items == 0 ? bytes != 0 : bytes % items != 0)
      return wrong_size(unit.key.index, slot, bytes, std::to_string(items) + " items");
  }
  AtomicReadCounts& counts = set_->counts->stream(unit.key.stream);
  counts.add(Count::chunks_decoded, 1);
  counts.add(Count::bytes_decoded, array_bytes(chunk));
  unit.memory.settle(chunk_memory(chunk));
  return hold_chunk(std::move(chunk), std::move(unit.memory));
}

void Load::conclude(Unit& unit, Result<ChunkPtr> result) {
  if (!unit.unplaced) unit.memory.shrink(0);
  if (unit.kept) {
    set_->core->chunks.publish(set_->chunks, unit.key, std::move(result), urgency_ == Urgency::ahead);
    set_->core->budget->changed();
  } else {
    if (!result) unit.error = result.error();
    count_down();
  }
}

void Load::arrived(std::size_t position, const Result<ChunkPtr>& result) {
  Unit& unit = units_[position];
  if (result)
    unit.chunk = *result;
  else
    unit.error = result.error();
  if (!unit.dependents.empty()) deliver(unit.dependents);
  count_down();
}

void Load::count_down() {
  if (--outstanding_ == 0) end(nullptr);
}

void Load::end(const Error* error) {
  if (auto function = std::move(finish)) function(*this, error);
  for (Unit& unit : units_) unit.chunk.reset();
}

// Gets the extents of the streams whose chunks are inputs of these.
void want_input_extents(const std::shared_ptr<AttachedSet>& set, std::span<const ChunkKey> keys, Reply<bool> then) {
  std::vector<tfile::StreamId> streams;
  for (const ChunkKey key : keys)
    for (const ChunkKey input : set->streams->inputs(key))
      if (std::find(streams.begin(), streams.end(), input.stream) == streams.end()) streams.push_back(input.stream);
  if (streams.empty()) return then(true);
  set->extents.want_all(set, std::move(streams), std::move(then));
}

}  // namespace

void load_chunks(std::shared_ptr<AttachedSet> set, std::vector<ChunkKey> keys, Reply<std::vector<ChunkPtr>> reply) {
  auto go = [set, keys](bool, Reply<std::vector<ChunkPtr>> answer) {
    auto load = std::make_shared<Load>(set, keys, true, Urgency::awaited);
    load->finish = [reply = std::make_shared<Reply<std::vector<ChunkPtr>>>(std::move(answer))](Load& done,
                                                                                               const Error* error) {
      std::vector<ChunkPtr> chunks;
      for (const std::uint32_t position : done.wanted()) {
        Unit& unit = done.unit(position);
        if (!error && unit.error) error = &*unit.error;
        if (!error) chunks.push_back(std::move(unit.chunk));
      }
      if (error) return (*reply)(tl::unexpected<Error>(*error));
      (*reply)(std::move(chunks));
    };
    load->run();
  };
  want_input_extents(set, keys, value_for<bool>(std::move(reply), std::move(go)));
}

void load_chunks_ahead(const std::shared_ptr<AttachedSet>& set, std::vector<ChunkKey> keys) {
  set->core->chunks.drop_known(set->chunks, keys);
  std::erase_if(keys, [&](ChunkKey key) {
    return set->streams->shape(key.stream).items_from == tfile::ItemsFrom::payloads && !set->extents.ready(key.stream);
  });
  std::vector<tfile::StreamId> streams;  // including those of the inputs
  for (const ChunkKey key : keys) {
    streams.push_back(key.stream);
    for (const ChunkKey input : set->streams->inputs(key)) streams.push_back(input.stream);
  }
  std::sort(streams.begin(), streams.end());
  streams.erase(std::unique(streams.begin(), streams.end()), streams.end());
  if (keys.empty()) return;
  auto begin = [set, keys](const Result<bool>&) mutable {
    // A stream without extents is left out. Its readers get the error; the other streams are loaded.
    const auto unready = [&](ChunkKey key) { return !set->extents.ready(key.stream); };
    std::erase_if(keys, [&](ChunkKey key) {
      const auto inputs = set->streams->inputs(key);
      return unready(key) || std::any_of(inputs.begin(), inputs.end(), unready);
    });
    if (keys.empty()) return;
    auto load = std::make_shared<Load>(set, keys, true, Urgency::ahead);
    load->finish = [](Load&, const Error*) {};
    load->run();
  };
  set->extents.want_all(set, streams, Reply<bool>(std::move(begin)));
}

void load_item_counts(std::shared_ptr<AttachedSet> set, std::vector<ChunkKey> keys, Reply<ItemCounts> reply) {
  auto go = [set, keys](bool, Reply<ItemCounts> answer) {
    auto load = std::make_shared<Load>(set, keys, false, Urgency::awaited);
    load->stop = answer.stop_token();
    load->finish = [reply = std::make_shared<Reply<ItemCounts>>(std::move(answer))](Load& done, const Error* error) {
      if (error) return (*reply)(tl::unexpected<Error>(*error));
      ItemCounts counts;
      for (const std::uint32_t position : done.wanted()) {
        Unit& unit = done.unit(position);
        if (unit.error)
          counts.push_back({tl::unexpected<Error>(*unit.error), std::nullopt, {}});
        else
          counts.push_back({std::move(unit.items), std::move(unit.unplaced), std::move(unit.memory)});
      }
      (*reply)(std::move(counts));
    };
    load->run();
  };
  want_input_extents(set, keys, value_for<bool>(std::move(reply), std::move(go)));
}

}  // namespace tfilefs
