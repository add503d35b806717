// SPDX-License-Identifier: Apache-2.0
#include "view/friends/friend_matching.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "exec/answering.h"
#include "exec/for_each.h"
#include "on_behalf.h"
#include "view/column_pieces.h"

namespace tfilefs {
namespace {

// Keys that are read at a time: a read of the largest type is half a megabyte, and a step with them some milliseconds.
constexpr std::int64_t kKeysAtOnce = 64 << 10;

constexpr std::string_view kGiver = "half of memory=";

std::uint64_t share_of(ClusterCache& cache) { return cache.budget()->size() / 2; }

using TakeKeys = std::function<Result<void>(const std::vector<EntryKey>&)>;

struct KeyEntries {
  std::int64_t first = 0, count = 0;
};

// The values that were read of a part of the keys of some entries.
struct PartsRead {
  std::vector<KeyPart> values;
  std::vector<std::vector<long double>> inputs;  // of an expression
};

// One column after the other; there are few.
void read_parts(const KeySource& source, bool cuts, KeyEntries entries, Reply<PartsRead> reply) {
  auto read = [&source, cuts, entries](std::size_t i, PartsRead& parts, Reply<void> done) {
    auto add = [&source, dtype = source.columns[i].dtype, cuts, &parts](const Slices& slices) {
      std::vector<std::byte> bytes(slices.size());
      copy_slices(slices, bytes.data());
      if (source.expression)
        add_as_numbers(bytes, dtype, parts.inputs.emplace_back());
      else
        add_as_parts(bytes, dtype, cuts, parts.values);
    };
    read_whole(*source.streams, range_of_items(source.columns[i], entries.first, entries.count),
               answer_with<Slices>(std::move(done), std::move(add)));
  };
  for_each(source.columns.size(), PartsRead(), std::move(read), std::move(reply));
}

void compute(const KeySource& source, bool cuts, std::int64_t count, PartsRead& parts) {
  if (!source.expression) return;
  std::vector<long double> inputs(parts.inputs.size());
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    for (std::size_t k = 0; k < inputs.size(); ++k) inputs[k] = parts.inputs[k][i];
    const long double value = source.expression->value(inputs);
    parts.values.push_back(cuts ? KeyPart::cut(value) : KeyPart::of(value));
  }
}

std::vector<EntryKey> keys_of(const KeySources& sources, std::int64_t count, PartsRead& major, PartsRead& minor) {
  compute(sources.major, sources.cuts, count, major);
  compute(sources.minor, sources.cuts, count, minor);
  std::vector<EntryKey> keys(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = {major.values[i], minor.values[i]};
  return keys;
}

// Reads the keys of all entries, some after the other, and gives them to `take`, on a thread of views. `take` ends it
// with an error.
void read_keys(ClusterCache& cache, const KeySources& sources, TakeKeys take, Reply<void> reply) {
  const std::int64_t entries = std::max<std::int64_t>(sources.entries, 0);
  const auto count = static_cast<std::size_t>((entries + kKeysAtOnce - 1) / kKeysAtOnce);
  auto read = [&cache, sources, take = std::move(take)](std::size_t i, Reply<void> answer) {
    const std::int64_t first = static_cast<std::int64_t>(i) * kKeysAtOnce;
    const KeyEntries some{first, std::min(kKeysAtOnce, sources.entries - first)};
    auto give = [&cache, &sources, &take, some](PartsRead major, PartsRead minor, Reply<void> done) {
      auto job = [&sources, &take, some, major = std::move(major), minor = std::move(minor)]() mutable {
        return take(keys_of(sources, some.count, major, minor));
      };
      cache.exec().view_workers.run(answering(std::move(job), std::move(done)), Urgency::awaited);
    };
    auto with_major = [&sources, some, give](PartsRead major, Reply<void> next) {
      auto with_minor = [give, major = std::move(major)](PartsRead minor, Reply<void> last) mutable {
        give(std::move(major), std::move(minor), std::move(last));
      };
      read_parts(sources.minor, sources.cuts, some, value_for<PartsRead>(std::move(next), std::move(with_minor)));
    };
    read_parts(sources.major, sources.cuts, some, value_for<PartsRead>(std::move(answer), std::move(with_major)));
  };
  for_each(count, std::move(read), std::move(reply));
}

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
  auto take = [made, &index](const std::vector<EntryKey>& keys) -> Result<void> {
    for (const EntryKey& key : keys) index.add(key);
    return {};
  };
  // Sorting takes long, and reads nothing: a job.
  auto sort = [&cache, made, &index](Reply<CountedIndexPtr> done) {
    auto job = [made, &index]() -> Result<CountedIndexPtr> {
      index.sort();
      return CountedIndexPtr(made);
    };
    cache.exec().job_pool.run(answering(std::move(job), std::move(done)), Urgency::awaited);
  };
  read_keys(cache, sources, std::move(take), value_for<void>(std::move(reply), std::move(sort)));
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
  auto done = [state] { return MatchedRunsPtr(std::move(state->made)); };
  read_keys(cache, sources, std::move(take), answer_with<void>(std::move(reply), std::move(done)));
}

}  // namespace tfilefs
