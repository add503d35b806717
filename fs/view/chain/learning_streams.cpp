// SPDX-License-Identifier: Apache-2.0
#include "view/chain/learning_streams.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "mutex.h"
#include "view/chain/file_visits.h"

namespace tfilefs {
namespace {

using tfile::ColumnId;
using tfile::StreamId;

// If a column is larger in a file, only the beginning is brought along, to a reader that comes there.
constexpr std::uint64_t kSmall = 256 << 10, kBeginning = 2 << 20;

class LearningStreams final : public CachedStreams {
 public:
  LearningStreams(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const ChainTable> table,
                  std::shared_ptr<const ChainCounts> counts)
      : streams_(std::move(streams)),
        table_(std::move(table)),
        counts_(std::move(counts)),
        visits_(table_->files().size()) {}

  const tfile::StreamSet& streams() const override { return streams_->streams(); }
  void note_open(StreamId id) override { streams_->note_open(id); }
  void note_close(StreamId id) override { streams_->note_close(id); }
  void length(StreamId id, std::uint32_t slot, Reply<std::int64_t> reply) override {
    streams_->length(id, slot, std::move(reply));
  }
  void cheap_length(StreamId id, std::uint32_t slot, Reply<std::optional<std::int64_t>> reply) override {
    streams_->cheap_length(id, slot, std::move(reply));
  }
  std::optional<std::int64_t> known_length(StreamId id, std::uint32_t slot) const override {
    return streams_->known_length(id, slot);
  }
  using CachedStreams::read;
  void read(StreamId id, std::uint32_t slot, std::size_t item_size, std::uint64_t offset, std::size_t size, ReadUse use,
            Reply<Slices> reply) override {
    streams_->read(id, slot, item_size, offset, size, use, std::move(reply));
    if (use.chosen && id < table_->columns.size() && size > 0) look_beside(id, offset);
  }
  void run_view_job(std::function<void()> job) override { streams_->run_view_job(std::move(job)); }
  PieceCache& pieces() const override { return streams_->pieces(); }
  const Files* files() const override { return streams_->files(); }

 private:
  struct Range {
    std::uint64_t begin = 0, end = 0;  // bytes of the column
  };

  // The bytes that a file brings; nothing if that is not known.
  std::optional<Range> range_of(ColumnId id, std::size_t file) const {
    const StartsPtr starts = counts_->known(table_->chained(id).count);
    if (!starts) return std::nullopt;
    const tfile::Column& column = table_->columns[id];
    const std::uint64_t ahead = column.role == tfile::Role::offsets ? sizeof(std::int64_t) : 0,
                        each = column.item_size();
    const auto at = [&](std::size_t i) { return ahead + static_cast<std::uint64_t>((*starts)[i]) * each; };
    return Range{at(file), at(file + 1)};
  }

  std::optional<std::size_t> file_at(ColumnId id, std::uint64_t offset) const {
    const StartsPtr starts = counts_->known(table_->chained(id).count);
    const std::size_t each = table_->columns[id].item_size();
    if (!starts || each == 0) return std::nullopt;
    const auto item = static_cast<std::int64_t>(offset / each);
    const auto above = std::upper_bound(starts->begin(), starts->end(), item);
    if (above == starts->begin() || above == starts->end()) return std::nullopt;
    return static_cast<std::size_t>(above - starts->begin()) - 1;
  }

  void look_beside(ColumnId id, std::uint64_t offset) {
    const auto file = file_at(id, offset);
    if (!file) return;
    std::vector<ColumnId> beside;
    {
      const Lock lock(mutex_);
      beside = visits_.visit(id, *file);
    }
    const auto own = range_of(id, *file);
    const bool is_beginning = own && offset < own->begin + kSmall;
    for (const ColumnId column : beside) {
      const auto range = range_of(column, *file);
      if (!range || range->begin == range->end || (!is_beginning && range->end - range->begin > kSmall)) continue;
      ReadUse use;
      use.chosen = false;
      streams_->read(column, 0, table_->columns[column].item_size(), range->begin,
                     std::min(range->end - range->begin, kBeginning), use, Reply<Slices>([](const Result<Slices>&) {}));
    }
  }

  const std::shared_ptr<CachedStreams> streams_;
  const std::shared_ptr<const ChainTable> table_;
  const std::shared_ptr<const ChainCounts> counts_;
  Mutex mutex_{"LearningStreams::mutex_"};
  FileVisits visits_ GUARDED_BY(mutex_);
};

}  // namespace

std::shared_ptr<CachedStreams> learning_streams(const ClusterCache& cache, std::shared_ptr<ChainStreams> streams,
                                                std::shared_ptr<const ChainTable> table) {
  if (!cache.learns()) return streams;
  const std::shared_ptr<const ChainCounts> counts = streams->counts().shared_from_this();
  return std::make_shared<LearningStreams>(std::move(streams), std::move(table), counts);
}

}  // namespace tfilefs
