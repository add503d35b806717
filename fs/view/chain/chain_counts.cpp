// SPDX-License-Identifier: Apache-2.0
#include "view/chain/chain_counts.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <utility>

#include "exec/step_loop.h"

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

// Asks one file after the other, some at the same time.
class ChainCounts::Round : public std::enable_shared_from_this<ChainCounts::Round> {
 public:
  Round(std::shared_ptr<ChainCounts> counts, CountId wanted, std::vector<CountId> ids,
        std::vector<std::vector<std::int64_t>> known, Reply<StartsPtr> reply)
      : counts_(std::move(counts)),
        wanted_(wanted),
        ids_(std::move(ids)),
        known_(std::move(known)),
        reply_(std::move(reply)) {}

  void go_on() {
    loop_.next([self = shared_from_this()] { self->step(); });
  }

 private:
  void step() {
    const std::size_t file_count = counts_->table_->files().size();
    const bool is_over = has_failed_ || reply_.asker().stop_requested();
    while (!is_over && !has_failed_ && asked_ < kFilesAtOnce && next_ < file_count) ask(next_++);
    if (asked_ > 0 || (!is_over && next_ < file_count) || reply_.answered()) return;
    if (has_failed_) return reply_(tl::unexpected<Error>(failure()));
    if (is_over) return reply_(given_up());
    for (const CountId id : ids_) counts_->added_up(id);
    reply_(counts_->known(wanted_));
  }

  void ask(std::size_t file) {
    std::vector<CountId> unknown;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (known_[i][file] < 0) unknown.push_back(ids_[i]);
    }
    if (unknown.empty()) return;
    ++asked_;
    auto opened = [self = shared_from_this(), file,
                   unknown = std::move(unknown)](Result<std::shared_ptr<CachedStreams>> streams) {
      if (!streams) {
        self->fail(file, streams.error());
        return self->one_is_asked();
      }
      self->ask_lengths(file, unknown, **streams, *streams);
    };
    counts_->files_->streams(file, Reply<std::shared_ptr<CachedStreams>>(std::move(opened), reply_.asker()));
  }

  void ask_lengths(std::size_t file, const std::vector<CountId>& unknown, CachedStreams& streams,
                   const std::shared_ptr<CachedStreams>& kept) {
    const auto left = std::make_shared<std::atomic<std::size_t>>(unknown.size());
    for (const CountId id : unknown) {
      const CountSource source = counts_->table_->count_source(id, file);
      const tfile::StreamId stream = source.column.stream;
      const std::uint32_t slot = source.column.slot;
      auto take = [self = shared_from_this(), left, id, file, source, kept](auto length) {
        self->take(id, file, source, std::move(length));
        if (--*left == 0) self->one_is_asked();
      };
      if (id == wanted_)
        streams.length(stream, slot, Reply<std::int64_t>(std::move(take), reply_.asker()));
      else
        streams.cheap_length(stream, slot, Reply<std::optional<std::int64_t>>(std::move(take), reply_.asker()));
    }
  }

  void take(CountId id, std::size_t file, const CountSource& source, const Result<std::int64_t>& length) {
    if (!length) return fail(file, length.error());
    counts_->note(id, file, counted_items(source, *length));
  }
  void take(CountId id, std::size_t file, const CountSource& source,
            const Result<std::optional<std::int64_t>>& length) {
    if (length && *length) counts_->note(id, file, counted_items(source, **length));
  }

  void fail(std::size_t file, const Error& error) {
    const Lock lock(mutex_);
    if (!failure_) failure_ = met_in(*counts_->files_, file, error);
    has_failed_ = true;
  }
  Error failure() {
    const Lock lock(mutex_);
    return *failure_;
  }
  void one_is_asked() {
    --asked_;
    go_on();
  }

  const std::shared_ptr<ChainCounts> counts_;
  const CountId wanted_;
  const std::vector<CountId> ids_;
  const std::vector<std::vector<std::int64_t>> known_;
  Reply<StartsPtr> reply_;
  std::size_t next_ = 0;
  std::atomic<std::size_t> asked_ = 0;  // files that have not answered
  std::atomic<bool> has_failed_ = false;
  Mutex mutex_;
  std::optional<Error> failure_ GUARDED_BY(mutex_);
  StepLoop loop_;
};

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
  std::make_shared<Round>(shared_from_this(), wanted, std::move(ids), std::move(known), std::move(reply))->go_on();
}

}  // namespace tfilefs
