// SPDX-License-Identifier: Apache-2.0
#include "view/chain/chain_counts.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "exec/when_all.h"
#include "on_behalf.h"

namespace tfilefs {
namespace {

// Far from an overflow of sizes; more than any file can hold.
constexpr std::int64_t kItemsMax = std::int64_t{1} << 60;

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t all = 0;
  return __builtin_mul_overflow(a, b, &all) ? kItemsMax : std::min(all, kItemsMax);
}

}  // namespace

Error met_in(const ChainFiles& files, std::size_t file, Error error) {
  const std::string name = files.name(file);
  if (error.source.empty() && !error.text.starts_with(name)) error.source = name;
  return error;
}

std::int64_t counted_items(const CountSource& source, std::int64_t length) {
  return product(std::max<std::int64_t>(0, source.is_ends ? length - 1 : length), source.times);
}

ChainCounts::ChainCounts(std::shared_ptr<const ChainTable> table, std::shared_ptr<ChainFiles> files)
    : table_(std::move(table)), files_(std::move(files)) {
  const Lock lock(mutex_);
  counts_.resize(table_->count_ids());
  const std::size_t file_count = table_->files().size();
  for (CountId id = 0; id < counts_.size(); ++id) {
    counts_[id].counts.assign(file_count, -1);
    for (std::size_t file = 0; file < file_count; ++file) {
      const CountSource source = table_->count_source(id, file);
      if (source.of == CountSource::Of::nothing) counts_[id].counts[file] = 0;
      if (source.of == CountSource::Of::entries)
        counts_[id].counts[file] = product(table_->files()[file].entries, source.times);
    }
    add_up(id);
  }
}

// Once all files are known.
void ChainCounts::add_up(CountId id) {
  Count& count = counts_[id];
  if (count.starts || std::find(count.counts.begin(), count.counts.end(), -1) != count.counts.end()) return;
  auto starts = std::make_shared<Starts>(1, 0);
  starts->reserve(count.counts.size() + 1);
  for (const std::int64_t items : count.counts) starts->push_back(std::min(starts->back() + items, kItemsMax));
  count.starts = std::move(starts);
}

StartsPtr ChainCounts::known(CountId id) const {
  const Lock lock(mutex_);
  return counts_[id].starts;
}

StartsPtr ChainCounts::added_up(CountId id) {
  const Lock lock(mutex_);
  add_up(id);
  return counts_[id].starts;
}

void ChainCounts::note(CountId id, std::size_t file, std::int64_t count) {
  const Lock lock(mutex_);
  counts_[id].counts[file] = count;
}

std::vector<std::int64_t> ChainCounts::of_file(std::size_t file) const {
  const Lock lock(mutex_);
  std::vector<std::int64_t> counts;
  counts.reserve(counts_.size());
  for (const Count& count : counts_) counts.push_back(count.counts[file]);
  return counts;
}

std::size_t ChainCounts::known_count() const {
  const Lock lock(mutex_);
  std::size_t known = 0;
  for (const Count& count : counts_)
    known += std::ranges::count_if(count.counts, [](std::int64_t c) { return c >= 0; });
  return known;
}

void ChainCounts::give(std::size_t file, const std::vector<std::int64_t>& counts) {
  const Lock lock(mutex_);
  for (CountId id = 0; id < std::min(counts.size(), counts_.size()); ++id) {
    if (counts[id] < 0 || counts_[id].starts) continue;
    counts_[id].counts[file] = std::min(counts[id], kItemsMax);
    add_up(id);
  }
}

void ChainCounts::want(CountId id, Reply<StartsPtr> reply) {
  StartsPtr known;
  Once<StartsPtr> once;
  {
    const Lock lock(mutex_);
    known = counts_[id].starts;
    once = counts_[id].wanted;
  }
  if (known) return reply(std::move(known));
  once.get([&](Reply<StartsPtr> made) { gather(id, std::move(made)); }, std::move(reply));
}

// The lengths of a file: that of `wanted`, and those of others that are cheap.
struct ChainCounts::FileLengths {
  std::size_t file = 0;
  CountId wanted = 0;
  std::vector<CountId> unknown;
};

// With the file in its error.
template <class T>
Reply<T> ChainCounts::naming_file(std::size_t file, Reply<T> reply) {
  return seen_by(std::move(reply), [self = shared_from_this(), file](Result<T>& result) {
    if (!result) result = tl::unexpected<Error>(met_in(*self->files_, file, result.error()));
  });
}

void ChainCounts::ask_file(FileLengths of, Reply<void> reply) {
  const std::size_t file = of.file;
  auto ask = [self = shared_from_this(), of = std::move(of)](std::shared_ptr<CachedStreams> streams,
                                                             Reply<void> done) mutable {
    self->ask_lengths(std::move(of), std::move(streams), std::move(done));
  };
  using StreamsPtr = std::shared_ptr<CachedStreams>;
  files_->streams(file, naming_file(file, value_for<StreamsPtr>(std::move(reply), std::move(ask))));
}

void ChainCounts::ask_lengths(FileLengths of, std::shared_ptr<CachedStreams> streams, Reply<void> reply) {
  const std::size_t count = of.unknown.size();
  auto ask = [self = shared_from_this(), of = std::move(of), streams = std::move(streams)](std::size_t i,
                                                                                           Reply<void> answer) {
    const CountId id = of.unknown[i];
    const CountSource source = self->table_->count_source(id, of.file);
    if (id != of.wanted) {
      auto note_cheap = [self, file = of.file, id, source](Result<std::optional<std::int64_t>> length,
                                                           Reply<void> done) {
        if (length && *length) self->note(id, file, counted_items(source, **length));
        done({});
      };
      return streams->cheap_length(source.column.stream, source.column.slot,
                                   on_behalf_of<std::optional<std::int64_t>>(std::move(answer), std::move(note_cheap)));
    }
    auto note_wanted = [self, file = of.file, id, source](std::int64_t length) {
      self->note(id, file, counted_items(source, length));
    };
    Reply<std::int64_t> counted = answer_with<std::int64_t>(std::move(answer), std::move(note_wanted));
    streams->length(source.column.stream, source.column.slot, self->naming_file(of.file, std::move(counted)));
  };
  when_all(count, count, std::move(ask), std::move(reply));
}

// Asks one file after the other, some at the same time.
void ChainCounts::gather(CountId wanted, Reply<StartsPtr> reply) {
  std::vector<CountId> ids{wanted};
  std::vector<std::vector<std::int64_t>> known;
  {
    const Lock lock(mutex_);
    const bool asks_all = rounds_++ > 0;
    for (CountId id = 0; asks_all && id < counts_.size(); ++id) {
      if (id != wanted && !counts_[id].starts) ids.push_back(id);
    }
    for (const CountId id : ids) known.push_back(counts_[id].counts);
  }
  auto ask = [self = shared_from_this(), wanted, ids, known = std::move(known)](std::size_t file, Reply<void> done) {
    FileLengths of{file, wanted, {}};
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (known[i][file] < 0) of.unknown.push_back(ids[i]);
    }
    if (of.unknown.empty()) return done({});
    self->ask_file(std::move(of), std::move(done));
  };
  auto add_all = [self = shared_from_this(), wanted, ids] {
    for (const CountId id : ids) self->added_up(id);
    return self->known(wanted);
  };
  when_all(table_->files().size(), kFilesAtOnce, std::move(ask),
           answer_with<void>(std::move(reply), std::move(add_all)));
}

}  // namespace tfilefs
