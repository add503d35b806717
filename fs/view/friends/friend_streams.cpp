// SPDX-License-Identifier: Apache-2.0
#include "view/friends/friend_streams.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "exec/step_loop.h"
#include "view/chain/made_items.h"
#include "view/segments.h"

namespace tfilefs {
namespace {

using Kind = ItemSource::Kind;
using Of = FriendTable::Counted::Of;

constexpr std::size_t kEndSize = sizeof(std::int64_t);

// Far from an overflow of sizes; more than any file can hold.
constexpr std::int64_t kItemsMax = std::int64_t{1} << 60;

PickedColumn picked(const tfile::Column& column) { return {column.stream, column.slot, column.item_size()}; }

std::int64_t end_at(const tfile::Buffer& buffer, std::size_t number) {
  std::int64_t end = 0;
  std::memcpy(&end, buffer.data() + number * kEndSize, kEndSize);
  return end;
}

Slices slices_of(std::shared_ptr<tfile::Buffer> buffer, std::uint64_t begin, std::uint64_t size) {
  Slices slices;
  slices.pieces.push_back(buffer->span().subspan(begin, size));
  slices.pins.push_back(std::move(buffer));
  return slices;
}

}  // namespace

// From the entries of a block of runs down through lists: offsets tell where their items lie in the next column.
class FriendStreams::Descent : public std::enable_shared_from_this<Descent> {
 public:
  Descent(std::shared_ptr<FriendStreams> streams, CountId count, std::size_t block, Reply<Block> reply)
      : streams_(std::move(streams)),
        lists_(streams_->table_->counted(count).lists),
        runs_(streams_->runs_in(block)),
        reply_(std::move(reply)) {
    const EntryRuns& all = streams_->matched_->runs;
    const std::size_t first = block * kBlockRuns;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const std::int64_t entry = all.runs()[first + i].friend_entry;
      runs_[i] = {entry, entry + all.count(first + i)};
    }
  }

  void go_on() {
    loop_.next([self = shared_from_this()] { self->step(); });
  }

 private:
  void step() {
    if (depth_ == lists_.size()) return reply_(std::make_shared<const std::vector<RunItems>>(std::move(runs_)));
    std::vector<Pick> picks;
    picks.reserve(2 * runs_.size());
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      picks.push_back({static_cast<std::uint64_t>(runs_[i].first) * kEndSize, kEndSize, 2 * i * kEndSize});
      picks.push_back({static_cast<std::uint64_t>(runs_[i].last) * kEndSize, kEndSize, (2 * i + 1) * kEndSize});
    }
    auto ends = std::make_shared<tfile::Buffer>(2 * runs_.size() * kEndSize, tfile::Use::passing);
    auto take = [self = shared_from_this(), ends](Result<void> read) {
      if (!read) return self->reply_(tl::unexpected<Error>(read.error()));
      if (auto taken = self->take(*ends); !taken) return self->reply_(tl::unexpected<Error>(std::move(taken).error()));
      ++self->depth_;
      self->go_on();
    };
    pick_items(streams_->own_, picked(streams_->table_->own().columns[lists_[depth_]]), std::move(picks), ends, {},
               Reply<void>(std::move(take), reply_.asker()));
  }

  Result<void> take(const tfile::Buffer& ends) {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      runs_[i] = {end_at(ends, 2 * i), end_at(ends, 2 * i + 1)};
      if (runs_[i].first < 0 || runs_[i].last < runs_[i].first || runs_[i].last > kItemsMax)
        return tfile::fail(ErrorKind::damaged, "list offsets of run " + std::to_string(i) + ": " +
                                                   std::to_string(runs_[i].first) + " to " +
                                                   std::to_string(runs_[i].last));
    }
    return {};
  }

  const std::shared_ptr<FriendStreams> streams_;
  const std::vector<tfile::ColumnId> lists_;
  std::vector<RunItems> runs_;
  Reply<Block> reply_;
  std::size_t depth_ = 0;
  StepLoop loop_;
};

// Adds up the items of all blocks.
class FriendStreams::Counting : public std::enable_shared_from_this<Counting> {
 public:
  Counting(std::shared_ptr<FriendStreams> streams, CountId count, Reply<StartsPtr> reply)
      : streams_(std::move(streams)), count_(count), reply_(std::move(reply)) {}

  void go_on() {
    loop_.next([self = shared_from_this()] { self->step(); });
  }

 private:
  void step() {
    if (reply_.asker().stop_requested()) return reply_(given_up());
    if (next_ == streams_->block_count())
      return reply_(std::make_shared<const std::vector<std::int64_t>>(std::move(starts_)));
    auto take = [self = shared_from_this()](const Result<Block>& block) {
      if (!block) return self->reply_(tl::unexpected<Error>(block.error()));
      std::int64_t items = self->starts_.back();
      for (const RunItems& run : **block) items = std::min(items + (run.last - run.first), kItemsMax);
      self->starts_.push_back(items);
      ++self->next_;
      self->go_on();
    };
    streams_->block(count_, next_, Reply<Block>(std::move(take), reply_.asker()));
  }

  const std::shared_ptr<FriendStreams> streams_;
  const CountId count_;
  Reply<StartsPtr> reply_;
  std::vector<std::int64_t> starts_{0};
  std::size_t next_ = 0;
  StepLoop loop_;
};

// Finds where the items [begin, end) of a count lie in the friend, block after block. `held`: for ends of lists, the
// count of what the lists hold.
class FriendStreams::Search : public std::enable_shared_from_this<Search> {
 public:
  Search(std::shared_ptr<FriendStreams> streams, CountId count, std::optional<CountId> held, std::int64_t begin,
         std::int64_t end, Reply<std::vector<Segment>> reply)
      : streams_(std::move(streams)),
        count_(count),
        held_(held),
        begin_(begin),
        end_(end),
        in_lists_(streams_->table_->counted(count).of == Of::items),
        reply_(std::move(reply)) {
    if (begin_ >= end_) return;
    const StartsPtr starts = in_lists_ ? streams_->starts_known(count_) : nullptr;
    if (starts)
      block_ = static_cast<std::size_t>(std::ranges::upper_bound(*starts, begin_) - starts->begin()) - 1;
    else
      block_ = streams_->matched_->runs.run_of(begin_) / kBlockRuns;
    at_ = starts ? (*starts)[block_] : streams_->matched_->runs.runs()[block_ * kBlockRuns].before;
  }

  void go_on() {
    loop_.next([self = shared_from_this()] { self->step(); });
  }

 private:
  void step() {
    if (begin_ >= end_ || at_ >= end_ || block_ == streams_->block_count()) return reply_(std::move(found_));
    if (in_lists_ && !own_) return ask(count_, own_);
    if (held_ && !held_items_) return ask(*held_, held_items_);
    add_block();
    own_ = held_items_ = nullptr;
    ++block_;
    go_on();
  }

  void ask(CountId count, Block& into) {
    auto take = [self = shared_from_this(), &into](Result<Block> block) {
      if (!block) return self->reply_(tl::unexpected<Error>(block.error()));
      into = *std::move(block);
      self->go_on();
    };
    streams_->block(count, block_, Reply<Block>(std::move(take), reply_.asker()));
  }

  void add_block() {
    const EntryRuns& runs = streams_->matched_->runs;
    std::int64_t held = held_ ? (*streams_->starts_known(*held_))[block_] : 0;
    for (std::size_t i = 0; i < streams_->runs_in(block_) && at_ < end_; ++i) {
      const std::size_t run = block_ * kBlockRuns + i;
      const std::int64_t entry = runs.runs()[run].friend_entry;
      const RunItems items = own_ ? (*own_)[i] : RunItems{entry, entry + runs.count(run)};
      const std::int64_t shift = held_items_ ? held - (*held_items_)[i].first : 0;
      if (held_items_) held += (*held_items_)[i].last - (*held_items_)[i].first;
      const std::int64_t from = std::max(begin_, at_), until = std::min(end_, at_ + (items.last - items.first));
      if (from < until) found_.push_back({items.first + (from - at_), until - from, from, shift});
      at_ += items.last - items.first;
    }
  }

  const std::shared_ptr<FriendStreams> streams_;
  const CountId count_;
  const std::optional<CountId> held_;
  const std::int64_t begin_, end_;
  const bool in_lists_;
  Reply<std::vector<Segment>> reply_;
  std::size_t block_ = 0;
  std::int64_t at_ = 0;  // the first item of the block
  Block own_, held_items_;
  std::vector<Segment> found_;
  StepLoop loop_;
};

FriendStreams::FriendStreams(ClusterCache& cache, std::shared_ptr<const FriendTable> table, MatchedRunsPtr matched,
                             std::shared_ptr<CachedStreams> own)
    : cache_(cache), table_(std::move(table)), matched_(std::move(matched)), own_(std::move(own)) {}

void FriendStreams::run_making(std::function<void()> job) {
  cache_.exec().makers.run(std::move(job), Urgency::awaited);
}

std::size_t FriendStreams::block_count() const { return (matched_->runs.runs().size() + kBlockRuns - 1) / kBlockRuns; }

std::size_t FriendStreams::runs_in(std::size_t block) const {
  return std::min(kBlockRuns, matched_->runs.runs().size() - block * kBlockRuns);
}

// ---- counts

StartsPtr FriendStreams::starts_known(CountId id) const {
  const Lock lock(mutex_);
  const auto known = counts_.find(id);
  return known != counts_.end() ? known->second.starts : nullptr;
}

std::int64_t FriendStreams::items_known(CountId id) const {
  switch (table_->counted(id).of) {
    case Of::entries:
      return matched_->runs.entries();
    case Of::matched:
      return matched_->runs.matched();
    case Of::items:
      break;
  }
  const StartsPtr starts = starts_known(id);
  return starts ? starts->back() : -1;
}

void FriendStreams::want(CountId id, Reply<StartsPtr> reply) {
  Once<StartsPtr> once;
  {
    const Lock lock(mutex_);
    once = counts_[id].wanted;
  }
  const std::stop_token asker = reply.asker();
  auto keep = [self = shared_from_this(), id, reply = std::move(reply)](Result<StartsPtr> starts) mutable {
    if (starts) {
      const Lock lock(self->mutex_);
      self->counts_[id].starts = *starts;
    }
    reply(std::move(starts));
  };
  once.get([&](Reply<StartsPtr> made) { std::make_shared<Counting>(shared_from_this(), id, std::move(made))->go_on(); },
           Reply<StartsPtr>(std::move(keep), asker));
}

void FriendStreams::want_all(std::vector<CountId> ids, Reply<void> reply) {
  want_counts(
      std::move(ids), [self = shared_from_this()](CountId id) { return self->items_known(id) >= 0; },
      [self = shared_from_this()](CountId id, Reply<StartsPtr> starts) { self->want(id, std::move(starts)); },
      std::move(reply));
}

FriendStreams::Block FriendStreams::known_block(CountId id, std::size_t number) {
  const Lock lock(mutex_);
  const auto known =
      std::ranges::find_if(blocks_, [&](const KeptBlock& kept) { return kept.count == id && kept.number == number; });
  return known != blocks_.end() ? known->block : nullptr;
}

void FriendStreams::keep_block(CountId id, std::size_t number, Block block) {
  const Lock lock(mutex_);
  blocks_.push_back({id, number, std::move(block)});
  if (blocks_.size() > kBlocksKept) blocks_.pop_front();
}

void FriendStreams::block(CountId id, std::size_t number, Reply<Block> reply) {
  if (Block known = known_block(id, number)) return reply(std::move(known));
  const std::stop_token asker = reply.asker();
  auto keep = [self = shared_from_this(), id, number, reply = std::move(reply)](Result<Block> made) mutable {
    if (made) self->keep_block(id, number, *made);
    reply(std::move(made));
  };
  std::make_shared<Descent>(shared_from_this(), id, number, Reply<Block>(std::move(keep), asker))->go_on();
}

std::optional<std::int64_t> FriendStreams::known_length(tfile::StreamId id, std::uint32_t) const {
  const std::int64_t items = items_known(table_->shown(id).count);
  if (items < 0) return std::nullopt;
  return items + (table_->columns[id].role == tfile::Role::offsets ? 1 : 0);
}

void FriendStreams::length(tfile::StreamId id, std::uint32_t slot, Reply<std::int64_t> reply) {
  const std::stop_token asker = reply.asker();
  auto told = [self = shared_from_this(), id, slot, reply = std::move(reply)](Result<void> known) mutable {
    if (!known) return reply(tl::unexpected<Error>(known.error()));
    reply(*self->known_length(id, slot));
  };
  want_all({table_->shown(id).count}, Reply<void>(std::move(told), asker));
}

void FriendStreams::cheap_length(tfile::StreamId id, std::uint32_t slot, Reply<std::optional<std::int64_t>> reply) {
  reply(known_length(id, slot));
}

// ---- reads

void FriendStreams::read(tfile::StreamId id, std::uint32_t, std::size_t item_size, std::uint64_t offset,
                         std::size_t size, ReadUse use, Reply<Slices> reply) {
  if (id >= table_->columns.size() || item_size == 0) return reply(tfile::fail(ErrorKind::invalid, "no such column"));
  std::vector<CountId> needed = table_->shown(id).held;
  needed.push_back(table_->shown(id).count);
  const Request request{id, offset, offset + size, use};
  const std::stop_token asker = reply.asker();
  auto go_on = [self = shared_from_this(), request, reply = std::move(reply)](Result<void> known) mutable {
    if (!known) return reply(tl::unexpected<Error>(known.error()));
    self->read_known(request, std::move(reply));
  };
  want_all(std::move(needed), Reply<void>(std::move(go_on), asker));
}

void FriendStreams::read_known(const Request& wanted, Reply<Slices> reply) {
  const tfile::Column& column = table_->columns[wanted.column];
  const auto item_size = static_cast<std::int64_t>(column.item_size());
  Request request = wanted;
  request.end = std::min(request.end, range_of_items(column, 0, *known_length(request.column, 0)).size);
  if (request.begin >= request.end) return reply(Slices());
  const ChainColumn& shown = table_->shown(request.column);
  const Kind kind = table_->source(request.column).kind;
  if (kind == Kind::steps || kind == Kind::entry_number) return reply(computed(request));
  auto begin = static_cast<std::int64_t>(request.begin) / item_size;
  auto end = (static_cast<std::int64_t>(request.end) + item_size - 1) / item_size;
  std::optional<CountId> held;
  if (kind == Kind::ends) {  // number i is the end of list i - 1
    begin = std::max<std::int64_t>(begin - 1, 0);
    end -= 1;
    held = shown.held[0];
  }
  const std::stop_token asker = reply.asker();
  auto found = [self = shared_from_this(), request, kind,
                reply = std::move(reply)](Result<std::vector<Segment>> segments) mutable {
    if (!segments) return reply(tl::unexpected<Error>(segments.error()));
    if (kind == Kind::ends) return self->read_ends(request, *segments, std::move(reply));
    self->read_segments(request, *std::move(segments), std::move(reply));
  };
  std::make_shared<Search>(shared_from_this(), shown.count, held, begin, end,
                           Reply<std::vector<Segment>>(std::move(found), asker))
      ->go_on();
}

// What the runs alone tell: which entries have a value, and which entry of the friend each has.
Slices FriendStreams::computed(const Request& request) const {
  const NumberRange numbers = numbers_covering(request.begin, request.end, kEndSize);
  auto buffer = std::make_shared<tfile::Buffer>(numbers.count * kEndSize);
  const bool are_ends = table_->source(request.column).kind == Kind::steps;
  for (std::uint64_t i = 0; i < numbers.count; ++i) {
    const auto entry = static_cast<std::int64_t>(numbers.first + i);
    const std::int64_t number = are_ends ? matched_->runs.matched_before(entry) : matched_->runs.friend_entry(entry);
    std::memcpy(buffer->data() + i * kEndSize, &number, kEndSize);
  }
  return slices_of(std::move(buffer), request.begin - numbers.first * kEndSize, request.end - request.begin);
}

void FriendStreams::read_segments(const Request& request, std::vector<Segment> segments, Reply<Slices> reply) {
  const tfile::Column& own = table_->own().columns[table_->source(request.column).column.id];
  const std::uint64_t size = own.item_size();
  std::vector<Pick> picks;
  for (const Segment& segment : segments) {
    const std::uint64_t at = static_cast<std::uint64_t>(segment.at) * size;
    const std::uint64_t begin = std::max(request.begin, at);
    const std::uint64_t end = std::min(request.end, at + static_cast<std::uint64_t>(segment.count) * size);
    if (begin < end)
      picks.push_back(
          {static_cast<std::uint64_t>(segment.first) * size + (begin - at), end - begin, begin - request.begin});
  }
  const std::stop_token asker = reply.asker();
  if (picks.size() == 1 && picks[0].size == request.end - request.begin) {
    auto told = [self = shared_from_this(), reply = std::move(reply)](Result<Slices> slices) mutable {
      reply(std::move(slices));
    };
    const ColumnRange range{own.stream, own.slot, size, picks[0].from, picks[0].size};
    return read_whole(*own_, range, request.use, Reply<Slices>(std::move(told), asker));
  }
  auto buffer = std::make_shared<tfile::Buffer>(request.end - request.begin);
  auto told = [buffer, reply = std::move(reply)](Result<void> read) mutable {
    if (!read) return reply(tl::unexpected<Error>(read.error()));
    const std::size_t all = buffer->size();
    reply(slices_of(std::move(buffer), 0, all));
  };
  ReadUse use = request.use;
  use.handed_over = false;  // the kernel gets a copy
  pick_items(own_, picked(own), std::move(picks), buffer, use, Reply<void>(std::move(told), asker));
}

void FriendStreams::read_ends(const Request& request, const std::vector<Segment>& segments, Reply<Slices> reply) {
  const tfile::Column& own = table_->own().columns[table_->source(request.column).column.id];
  const NumberRange numbers = numbers_covering(request.begin, request.end, kEndSize);
  const auto first = static_cast<std::int64_t>(numbers.first);
  auto buffer = std::make_shared<tfile::Buffer>(numbers.count * kEndSize);
  std::memset(buffer->data(), 0, std::min<std::size_t>(buffer->size(), kEndSize));  // the 0 before all lists
  std::vector<Pick> picks;
  for (const Segment& segment : segments)
    picks.push_back({static_cast<std::uint64_t>(segment.first + 1) * kEndSize,
                     static_cast<std::uint64_t>(segment.count) * kEndSize,
                     static_cast<std::uint64_t>(segment.at + 1 - first) * kEndSize});
  const std::stop_token asker = reply.asker();
  auto told = [request, first, buffer, segments, reply = std::move(reply)](Result<void> read) mutable {
    if (!read) return reply(tl::unexpected<Error>(read.error()));
    for (const Segment& segment : segments) {
      const auto begin = static_cast<std::size_t>(segment.at + 1 - first);
      for (std::size_t i = begin; i < begin + static_cast<std::size_t>(segment.count); ++i) {
        const std::int64_t end = wrapping_sum(end_at(*buffer, i), segment.shift);
        std::memcpy(buffer->data() + i * kEndSize, &end, kEndSize);
      }
    }
    const std::uint64_t from = request.begin - static_cast<std::uint64_t>(first) * kEndSize;
    reply(slices_of(std::move(buffer), from, request.end - request.begin));
  };
  pick_items(own_, picked(own), std::move(picks), buffer, {}, Reply<void>(std::move(told), asker));
}

}  // namespace tfilefs
