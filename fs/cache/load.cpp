// SPDX-License-Identifier: Apache-2.0
#include "cache/load.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <utility>

#include "cache/fetch.h"
#include "cache/load_unit.h"
#include "exec/answering.h"
#include "exec/in_place.h"
#include "noting_source.h"
#include "on_behalf.h"
#include "tfile/beyond_end.h"
#include "tfile/table.h"

namespace tfilefs {
namespace {

using tfile::ChunkKey;

// Tasks of about 100 KB stored, as ROOT's parallel unzip groups its baskets (Amadio, Canal, Piparo, Wenzel, CHEP 2018,
// "Increasing parallelism in the ROOT I/O subsystem"): a small basket decodes faster than a task is passed to a thread.
constexpr std::uint64_t kTaskStoredBytes = 100'000;

// A range that a reader waits for is read as a whole before its first chunk is decoded. A range that no reader waits
// for may be longer, which takes fewer calls. ROOT closes a cluster at 30 MB and somewhat more.
constexpr std::uint64_t kAwaitedRangeMax = 4 << 20, kAheadRangeMax = 40 << 20;

// No estimate is larger than this, so that sums of sizes claimed by a file cannot overflow.
constexpr std::uint64_t kSizeClaimMax = std::uint64_t{1} << 48;

class Load : public Budget::Request, public ChunkWaiter, public FetchSink, public std::enable_shared_from_this<Load> {
 public:
  Load(std::shared_ptr<AttachedSet> set, std::span<const ChunkKey> keys, bool kept, Urgency urgency);

  // Replies when all units have concluded, or with the error that kept the load from beginning. The reply finds the
  // wanted units here.
  void begin(Reply<void> reply) {
    reply_ = std::move(reply);
    const bool waits = urgency_ == Urgency::awaited;
    set_->core->budget->reserve(shared_from_this(), waits ? Budget::IfFull::wait : Budget::IfFull::fail);
  }
  template <class Function>
  void each_wanted(const Function& function) {
    for (const std::uint32_t position : wanted_) function(units_[position]);
  }

  std::uint64_t prepare() override;
  void retreat() override;
  void claim(Budget::Reservation) override;
  void start() override;
  void denied(const Error& error) override { end(tl::unexpected<Error>(error)); }
  void fail(std::size_t position, const Error& error) override { units_[position].error = error; }
  void take(const FetchedPart&) override;
  void arrived(std::size_t position, const Result<ChunkPtr>&) override;
  void promote(std::size_t position) override;

 private:
  using Positions = std::span<const std::uint32_t>;

  std::uint32_t add(ChunkKey, bool kept);
  std::vector<FetchRange> plan() const;
  void claim_units();
  void take_bytes(LoadUnit&, const std::shared_ptr<Fetched>&, std::uint64_t begin);
  void deliver(Positions);
  void decode_together(Positions);
  void decode_task(Positions);
  void fail_units(Positions, const Error&);
  void conclude(std::uint32_t position, Result<ChunkPtr>);
  void end(Result<void>);
  const void* owner() const { return static_cast<const FetchSink*>(this); }  // of its jobs that read
  bool is_in_place() const { return in_place_ && InPlace::is_on(); }

  const std::shared_ptr<AttachedSet> set_;
  const bool is_table_ = dynamic_cast<const tfile::Table*>(set_->streams.get()) != nullptr;  // an object has no entries
  Reply<void> reply_;
  LoadUnits units_;
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
  for (LoadUnit& unit : units_) unit.missing = unit.inputs.size() + 1;
  outstanding_ = units_.size() + 1;
  with_bytes_.reserve(units_.size());
}

std::uint32_t Load::add(ChunkKey key, bool kept) {
  const tfile::StreamSet& streams = *set_->streams;
  LoadUnit& unit = units_.emplace_back();
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

// The reads of the claimed units.
std::vector<FetchRange> Load::plan() const {
  std::vector<FetchWish> wishes;
  for (std::size_t i = 0; i < units_.size(); ++i)
    if (const LoadUnit& unit = units_[i]; unit.claimed && unit.locator && unit.locator->source)
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
  for (LoadUnit& unit : units_) {
    const auto seen = unit.kept ? set_->core->chunks.look(set_->chunks, unit.key) : ChunkCache::Seen{};
    unit.chunk = seen.chunk;
    unit.claimed = !seen.chunk && !seen.failed;
    if (unit.claimed) need += unit.decoded_size;
  }
  plan_ = plan();
  return need + planned_bytes(plan_);
}

void Load::retreat() {
  plan_.clear();
  for (LoadUnit& unit : units_) unit.chunk.reset();
}

// Without the memory for it, what is claimed has failed, and start() tells those who wait for it.
void Load::claim(Budget::Reservation memory) {
  const Result<> all = tried([&] { claim_units(); });
  if (!all) {
    for (std::uint32_t i = 0; i < units_.size(); ++i)
      if (units_[i].claimed || i >= joined_) units_[i].error = all.error();  // the others are someone else's
    return plan_.clear();
  }
  for (LoadUnit& unit : units_)
    if (unit.claimed) unit.memory = memory.split(unit.decoded_size);
  memory.shrink(planned_bytes(plan_));
  stored_memory_ = std::move(memory);
}

void Load::claim_units() {
  const auto self = shared_from_this();
  const bool urgent = urgency_ == Urgency::awaited;
  bool is_as_prepared = true;
  for (std::uint32_t& i = joined_; i < units_.size(); ++i) {
    LoadUnit& unit = units_[i];
    const bool expected = std::exchange(unit.claimed, !unit.kept);
    if (!unit.kept) continue;
    // A chunk that others need as input is loaded with them, and does not count as loaded ahead by itself.
    const bool is_ahead = !urgent && unit.dependents.empty();
    auto claim = set_->core->chunks.claim(set_->chunks, unit.key, self, i, urgent, is_ahead ? unit.stored_size() : 0);
    unit.claimed = claim.claimed;
    is_as_prepared = is_as_prepared && claim.claimed == expected;
    AtomicReadCounts& counts = set_->counts->stream(unit.key.stream);
    if (!claim.claimed && !claim.result) counts.add(Count::joined_loads, 1);
    if (claim.claimed && is_ahead) {
      counts.add(Count::chunks_ahead, 1);
      counts.add(Count::bytes_ahead, unit.stored_size());
    }
    if (claim.result) arrived(i, *claim.result);
  }
  if (!is_as_prepared) plan_ = plan();  // others were first
}

void Load::start() {
  for (std::uint32_t i = 0; i < units_.size(); ++i) {
    LoadUnit& unit = units_[i];
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
    const auto part = plan.subspan(begin, end - begin);
    const Result<> begun = tried([&] {
      fetch(set_->core->exec, {part, urgency_, is_in_place()}, stored_memory_.split(planned_bytes(part)),
            shared_from_this());
    });
    for (std::size_t i = begin; !begun && i < end; ++i) {
      for (const FetchWish& wish : plan[i].wishes) {
        fail(wish.id, begun.error());
        with_bytes_.push_back(static_cast<std::uint32_t>(wish.id));
      }
    }
  }
  if (hurry_) set_->core->exec.io_pools.promote(owner());  // in case promote() came between claim and queueing
  deliver(with_bytes_);
  if (--outstanding_ == 0) end({});
}

// The whole fetch may have to come first; of the decoding, only the unit's own task and those of its inputs.
void Load::promote(std::size_t position) {
  LoadUnit& unit = units_[position];
  unit.urgent = true;
  hurry_ = true;
  set_->core->exec.io_pools.promote(owner());
  if (const LoadUnit* task = unit.task) set_->core->exec.coders.promote(task);
  for (const std::uint32_t input : unit.inputs) promote(input);
}

// `begin`: where the fetched bytes begin in the source.
void Load::take_bytes(LoadUnit& unit, const std::shared_ptr<Fetched>& fetched, std::uint64_t begin) {
  const tfile::Locator& locator = *unit.locator;
  unit.stored_owner = fetched;
  unit.stored = fetched->bytes.span().subspan(locator.range.begin - begin, locator.range.size);
  const auto* const source = dynamic_cast<const NotingSource*>(locator.source);
  if (!source || unit.error) return;  // if the read has failed, these are no bytes of the file
  run_caught([&] {
    source->note_kept(locator.range.begin, unit.stored,
                      is_table_ ? set_->streams->chunk_entries(unit.key) : tfile::EntryRange{});
  });
}

void Load::take(const FetchedPart& part) {
  std::vector<std::uint32_t> delivered;
  std::vector<SetCounts::Share> shares;
  const Result<> has_room = tried([&] {
    std::size_t count = 0;
    for (const FetchRange& range : part.ranges) count += range.wishes.size();
    delivered.reserve(count);
    shares.reserve(count);
  });
  for (std::size_t i = 0; i < part.ranges.size(); ++i) {
    for (const FetchWish& wish : part.ranges[i].wishes) {
      LoadUnit& unit = units_[wish.id];
      const auto position = static_cast<std::uint32_t>(wish.id);
      if (!part.bytes.empty()) take_bytes(unit, part.bytes[i], part.ranges[i].range.begin);
      if (has_room) shares.push_back({unit.key.stream, wish.range.size});
      has_room ? delivered.push_back(position) : deliver(std::span(&position, 1));
    }
  }
  if (!part.bytes.empty())
    run_caught([&] { set_->counts->add_reads(part.calls, planned_bytes(part.ranges), part.read_ns, shares); });
  deliver(delivered);
}

// Each of these units has got one of its missing parts. Those that miss nothing any more become tasks.
void Load::deliver(Positions positions) {
  std::vector<std::uint32_t> task;
  std::uint64_t task_bytes = 0;
  const auto decode_them = [&] {
    if (const Result<> begun = tried([&] { decode_together(task); }); !begun) fail_units(task, begun.error());
    task.clear();
    task_bytes = 0;
  };
  for (const std::uint32_t position : positions) {
    LoadUnit& unit = units_[position];
    if (--unit.missing > 0) continue;
    if (const Result<> added = tried([&] { task.push_back(position); }); !added) {
      fail_units(std::span(&position, 1), added.error());
      continue;
    }
    task_bytes += unit.stored.size();
    if (task_bytes >= kTaskStoredBytes) decode_them();
  }
  if (!task.empty()) decode_them();
}

// On a thread that decodes; of a view, on one of its own.
void Load::decode_together(Positions positions) {
  if (is_in_place()) return decode_task(positions);
  const LoadUnit* const task = &units_[positions.front()];
  for (const std::uint32_t position : positions) units_[position].task = task;
  const auto urgent = [&] { return std::ranges::any_of(positions, [&](auto p) { return units_[p].urgent.load(); }); };
  const bool ahead = urgency_ == Urgency::ahead && !urgent();
  auto job = [self = shared_from_this(), own = std::vector<std::uint32_t>(positions.begin(), positions.end())] {
    self->decode_task(own);
  };
  Executors& exec = set_->core->exec;
  const bool is_made = set_->streams->shape(task->key.stream).is_made;
  if (is_made && exec.view_workers.run(job, Urgency::awaited)) return;
  exec.coders.run(std::move(job), ahead ? Urgency::ahead : Urgency::awaited, task);
  // In case promote() was called between the check and the queueing.
  if (ahead && urgent()) run_caught([&] { exec.coders.promote(task); });
}

// Runs on a coder. The requests that the chunks complete are answered after the last one, so that this does not count
// as decoding.
void Load::decode_task(Positions positions) {
  const CpuStopwatch decoding;
  std::vector<SetCounts::Share> shares;
  std::vector<Result<ChunkPtr>> results;
  const Result<> has_room = tried([&] {
    shares.reserve(positions.size());
    results.reserve(positions.size());
  });
  if (!has_room) return fail_units(positions, has_room.error());
  for (const std::uint32_t position : positions) {
    LoadUnit& unit = units_[position];
    shares.push_back({unit.key.stream, unit.stored.size()});
    results.push_back(result_of([&] { return decode_unit(*set_, units_, unit, reply_.stop_token()); }));
  }
  run_caught([&] { set_->counts->add_decoding(decoding.elapsed_ns(), shares); });
  for (std::size_t i = 0; i < positions.size(); ++i) conclude(positions[i], std::move(results[i]));
}

void Load::fail_units(Positions positions, const Error& error) {
  for (const std::uint32_t position : positions) conclude(position, tl::unexpected<Error>(error));
}

void Load::conclude(std::uint32_t position, Result<ChunkPtr> result) {
  LoadUnit& unit = units_[position];
  if (!unit.unplaced) unit.memory.shrink(0);
  if (!unit.kept) return arrived(position, result);
  set_->core->chunks.publish(set_->chunks, unit.key, std::move(result), urgency_ == Urgency::ahead);
  set_->core->budget->changed();
}

void Load::arrived(std::size_t position, const Result<ChunkPtr>& result) {
  LoadUnit& unit = units_[position];
  if (result)
    unit.chunk = *result;
  else
    unit.error = result.error();
  if (!unit.dependents.empty()) deliver(unit.dependents);
  if (--outstanding_ == 0) end({});
}

void Load::end(Result<void> result) {
  reply_(std::move(result));
  for (LoadUnit& unit : units_) unit.chunk.reset();
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
  using Chunks = std::vector<ChunkPtr>;
  auto go = [set, keys](bool, Reply<Chunks> answer) {
    const auto load = std::make_shared<Load>(set, keys, true, Urgency::awaited);
    load->begin(answer_with<void>(std::move(answer), [&load = *load]() -> Result<Chunks> {
      Chunks chunks;
      std::optional<Error> error;
      load.each_wanted([&](LoadUnit& unit) {
        if (unit.error && !error) error = unit.error;
        chunks.push_back(std::move(unit.chunk));
      });
      if (error) return tl::unexpected<Error>(*error);
      return chunks;
    }));
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
    std::make_shared<Load>(set, keys, true, Urgency::ahead)->begin(Reply<void>([](const Result<void>&) {}));
  };
  set->extents.want_all(set, streams, Reply<bool>(std::move(begin)));
}

void load_item_counts(std::shared_ptr<AttachedSet> set, std::vector<ChunkKey> keys, Reply<ItemCounts> reply) {
  auto go = [set, keys](bool, Reply<ItemCounts> answer) {
    const auto load = std::make_shared<Load>(set, keys, false, Urgency::awaited);
    load->begin(answer_with<void>(std::move(answer), [&load = *load] {
      ItemCounts counts;
      load.each_wanted([&](LoadUnit& unit) {
        if (unit.error)
          counts.push_back({tl::unexpected<Error>(*unit.error), std::nullopt, {}});
        else
          counts.push_back({std::move(unit.items), std::move(unit.unplaced), std::move(unit.memory)});
      });
      return counts;
    }));
  };
  want_input_extents(set, keys, value_for<bool>(std::move(reply), std::move(go)));
}

}  // namespace tfilefs
