// SPDX-License-Identifier: Apache-2.0
#include "view/friends/friend_matching.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "exec/answering.h"
#include "exec/step_loop.h"
#include "view/segments.h"

namespace tfilefs {
namespace {

// Keys that are read at a time: a read of the largest type is half a megabyte, and a step with them some milliseconds.
constexpr std::int64_t kKeysAtOnce = 64 << 10;

constexpr std::string_view kGiver = "half of memory=";

std::uint64_t share_of(ClusterCache& cache) { return cache.budget()->size() / 2; }

// Reads the keys of all entries, some after the other, and gives them to `take`, on a thread of views. `take` ends it
// with an error.
class KeyReading : public std::enable_shared_from_this<KeyReading> {
 public:
  using Take = std::function<Result<void>(const std::vector<EntryKey>&)>;
  KeyReading(ClusterCache& cache, KeySources sources, Take take, Reply<void> reply)
      : cache_(cache), sources_(std::move(sources)), take_(std::move(take)), reply_(std::move(reply)) {}

  void go_on() {
    loop_.next([self = shared_from_this()] { self->step(); });
  }

 private:
  void step() {
    if (reply_.asker().stop_requested()) return reply_(given_up());
    if (at_ >= sources_.entries) return reply_({});
    major_ = minor_ = {};
    read(sources_.major, major_, [self = shared_from_this()] {
      self->read(self->sources_.minor, self->minor_,
                 [self] { self->cache_.exec().makers.run([self] { self->give(); }, Urgency::awaited); });
    });
  }

  // What was read of a part of the keys.
  struct Part {
    std::vector<KeyPart> values;
    std::vector<std::vector<long double>> inputs;  // of an expression
  };

  std::int64_t count() const { return std::min(kKeysAtOnce, sources_.entries - at_); }

  // One column after the other; there are few.
  void read(const KeySource& source, Part& into, std::function<void()> then) {
    if (into.inputs.size() == source.columns.size() || !into.values.empty()) return then();
    const tfile::Column& column = source.columns[into.inputs.size()];
    auto take = [self = shared_from_this(), &source, &column, &into,
                 then = std::move(then)](const Result<Slices>& slices) mutable {
      if (!slices) return self->reply_(tl::unexpected<Error>(slices.error()));
      std::vector<std::byte> bytes(slices->size());
      copy_slices(*slices, bytes.data());
      if (source.expression)
        add_as_numbers(bytes, column.dtype, into.inputs.emplace_back());
      else
        add_as_parts(bytes, column.dtype, self->sources_.cuts, into.values);
      self->read(source, into, std::move(then));
    };
    read_whole(*source.streams, range_of_items(column, at_, count()), Reply<Slices>(std::move(take), reply_.asker()));
  }

  void compute(const KeySource& source, Part& part) const {
    if (!source.expression) return;
    std::vector<long double> inputs(part.inputs.size());
    for (std::size_t i = 0; i < static_cast<std::size_t>(count()); ++i) {
      for (std::size_t k = 0; k < inputs.size(); ++k) inputs[k] = part.inputs[k][i];
      const long double value = source.expression->value(inputs);
      part.values.push_back(sources_.cuts ? KeyPart::cut(value) : KeyPart::of(value));
    }
  }

  void give() {
    compute(sources_.major, major_);
    compute(sources_.minor, minor_);
    std::vector<EntryKey> keys(static_cast<std::size_t>(count()));
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = {major_.values[i], minor_.values[i]};
    at_ += count();
    if (auto taken = take_(keys); !taken) return reply_(tl::unexpected<Error>(taken.error()));
    go_on();
  }

  ClusterCache& cache_;
  const KeySources sources_;
  const Take take_;
  Reply<void> reply_;
  std::int64_t at_ = 0;
  Part major_, minor_;
  StepLoop loop_;
};

// Finds the friend's entries of entries in ascending order.
class LookUp {
 public:
  explicit LookUp(CountedIndexPtr index) : index_(std::move(index)) {}

  // The friend's entry, or -1.
  std::int64_t next(std::int64_t entry, const EntryKey& key) {
    while (part_ + 1 < index_->parts.size() && entry >= index_->parts[part_ + 1].of.entry) {
      ++part_;
      behind_ = 0;
    }
    const IndexPart& part = index_->parts[part_];
    const std::int64_t found = part.index ? part.index->find(key, behind_) : entry - part.of.entry;
    return found >= 0 && found < part.of.count ? part.of.friend_entry + found : -1;
  }

 private:
  const CountedIndexPtr index_;
  std::size_t part_ = 0, behind_ = 0;
};

void read_keys(ClusterCache& cache, const KeySources& sources, KeyReading::Take take, Reply<void> reply) {
  std::make_shared<KeyReading>(cache, sources, std::move(take), std::move(reply))->go_on();
}

}  // namespace

Result<Budget::Reservation> memory_of_index(ClusterCache& cache, std::int64_t entries) {
  const std::uint64_t most = share_of(cache);
  const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(entries, 0));
  if (count > most / KeyIndex::kEntrySize)
    return tl::unexpected<Error>(refusal(count * KeyIndex::kEntrySize, kGiver, most));
  return cache.budget()->take(count * KeyIndex::kEntrySize);
}

void index_entries(ClusterCache& cache, const KeySources& sources, Reply<CountedIndexPtr> reply) {
  auto memory = memory_of_index(cache, sources.entries);
  if (!memory) return reply(tl::unexpected<Error>(memory.error()));
  auto made = std::make_shared<CountedIndex>();
  made->memory = *std::move(memory);
  made->parts.push_back({{0, 0, sources.entries}, KeyIndex()});
  KeyIndex& index = *made->parts[0].index;
  index.reserve(static_cast<std::size_t>(std::max<std::int64_t>(sources.entries, 0)));
  const std::stop_token asker = reply.asker();
  auto take = [made, &index](const std::vector<EntryKey>& keys) -> Result<void> {
    for (const EntryKey& key : keys) index.add(key);
    return {};
  };
  // Sorting takes long, and reads nothing: a job.
  auto sort = [&cache, made, &index, reply = std::move(reply)](Result<void> read) mutable {
    if (!read) return reply(tl::unexpected<Error>(read.error()));
    cache.exec().job_pool.run(answering(
                                  [made, &index]() -> Result<CountedIndexPtr> {
                                    index.sort();
                                    return CountedIndexPtr(made);
                                  },
                                  std::move(reply)),
                              Urgency::awaited);
  };
  read_keys(cache, sources, std::move(take), Reply<void>(std::move(sort), asker));
}

void match_entries(ClusterCache& cache, const KeySources& sources, CountedIndexPtr index, Reply<MatchedRunsPtr> reply) {
  struct State {
    std::shared_ptr<MatchedRuns> made = std::make_shared<MatchedRuns>();
    std::int64_t entry = 0;
    LookUp look_up;
  };
  auto state = std::make_shared<State>(State{.look_up = LookUp(index)});
  state->made->runs = EntryRuns(sources.entries);
  state->made->memory = cache.budget()->take(0);
  const std::uint64_t most = share_of(cache) - std::min(share_of(cache), index->memory.bytes());
  const std::stop_token asker = reply.asker();
  auto take = [state, most](const std::vector<EntryKey>& keys) -> Result<void> {
    MatchedRuns& made = *state->made;
    for (const EntryKey& key : keys) {
      const std::int64_t found = state->look_up.next(state->entry, key);
      if (found >= 0) made.runs.add(state->entry, found);
      ++state->entry;
    }
    const std::uint64_t bytes = made.runs.memory();
    if (bytes > most) return tl::unexpected<Error>(refusal(bytes, kGiver, most));
    made.memory.settle(bytes);
    return {};
  };
  auto done = [state, reply = std::move(reply)](Result<void> read) mutable {
    if (!read) return reply(tl::unexpected<Error>(read.error()));
    reply(MatchedRunsPtr(std::move(state->made)));
  };
  read_keys(cache, sources, std::move(take), Reply<void>(std::move(done), asker));
}

}  // namespace tfilefs
