// SPDX-License-Identifier: Apache-2.0
#include "view/friends/friend_streams.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "exec/for_each.h"
#include "on_behalf.h"
#include "view/chain/computed_items.h"
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

}  // namespace

// What the lists of the runs hold, by their offsets.
Result<void> FriendStreams::step_down(RunsItems& runs, const tfile::Buffer& ends) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i] = {end_at(ends, 2 * i), end_at(ends, 2 * i + 1)};
    if (runs[i].first < 0 || runs[i].last < runs[i].first || runs[i].last > kItemsMax)
      return tfile::fail(ErrorKind::damaged, "list offsets of run " + std::to_string(i) + ": " +
                                                 std::to_string(runs[i].first) + " to " + std::to_string(runs[i].last));
  }
  return {};
}

// From the entries of a block of runs down through lists: offsets tell where their items lie in the next column.
void FriendStreams::read_block(CountId count, std::size_t number, Reply<Block> reply) {
  auto entries = std::make_shared<RunsItems>(runs_in(number));
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const std::size_t run = number * kBlockRuns + i;
    const std::int64_t entry = matched_->runs.runs()[run].friend_entry;
    (*entries)[i] = {entry, entry + matched_->runs.count(run)};
  }
  const std::vector<tfile::ColumnId>& lists = table_->counted(count).lists;
  auto descend = [self = shared_from_this(), &lists](std::size_t depth, const auto& made, Reply<void> told) {
    RunsItems& runs = *made;
    std::vector<Pick> picks;
    picks.reserve(2 * runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      picks.push_back({static_cast<std::uint64_t>(runs[i].first) * kEndSize, kEndSize, 2 * i * kEndSize});
      picks.push_back({static_cast<std::uint64_t>(runs[i].last) * kEndSize, kEndSize, (2 * i + 1) * kEndSize});
    }
    auto ends = std::make_shared<tfile::Buffer>(2 * runs.size() * kEndSize, tfile::Use::passing);
    auto take = [&runs, ends] { return step_down(runs, *ends); };
    pick_items(self->own_, picked(self->table_->own().columns[lists[depth]]), std::move(picks), ends, {},
               answer_with<void>(std::move(told), std::move(take)));
  };
  for_each(lists.size(), std::move(entries), std::move(descend), std::move(reply));
}

// Adds up the items of all blocks.
void FriendStreams::count_items(CountId id, Reply<StartsPtr> reply) {
  auto first = std::make_shared<std::vector<std::int64_t>>(1, 0);
  auto add_block = [self = shared_from_this(), id](std::size_t number, const auto& starts, Reply<void> told) {
    auto add = [&starts](const Block& block) {
      std::int64_t items = starts->back();
      for (const RunItems& run : *block) items = std::min(items + (run.last - run.first), kItemsMax);
      starts->push_back(items);
    };
    self->block(id, number, answer_with<Block>(std::move(told), std::move(add)));
  };
  for_each(block_count(), std::move(first), std::move(add_block), std::move(reply));
}

FriendStreams::FriendStreams(ClusterCache& cache, std::shared_ptr<const FriendTable> table, MatchedRunsPtr matched,
                             std::shared_ptr<CachedStreams> own)
    : cache_(cache), table_(std::move(table)), matched_(std::move(matched)), own_(std::move(own)) {}

void FriendStreams::run_view_job(std::function<void()> job) {
  cache_.exec().view_workers.run(std::move(job), Urgency::awaited);
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
  auto keep = [self = shared_from_this(), id](StartsPtr starts) {
    const Lock lock(self->mutex_);
    self->counts_[id].starts = starts;
    return starts;
  };
  once.get([&](Reply<StartsPtr> made) { count_items(id, std::move(made)); },
           answer_with<StartsPtr>(std::move(reply), std::move(keep)));
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
  auto keep = [self = shared_from_this(), id, number](Block made) {
    self->keep_block(id, number, made);
    return made;
  };
  read_block(id, number, answer_with<Block>(std::move(reply), std::move(keep)));
}

std::optional<std::int64_t> FriendStreams::known_length(tfile::StreamId id, std::uint32_t) const {
  const std::int64_t items = items_known(table_->shown(id).count);
  if (items < 0) return std::nullopt;
  return items + (table_->columns[id].role == tfile::Role::offsets ? 1 : 0);
}

void FriendStreams::length(tfile::StreamId id, std::uint32_t slot, Reply<std::int64_t> reply) {
  const std::stop_token stop = reply.stop_token();
  auto told = [self = shared_from_this(), id, slot, reply = std::move(reply)](Result<void> known) mutable {
    if (!known) return reply(tl::unexpected<Error>(known.error()));
    reply(*self->known_length(id, slot));
  };
  want_all({table_->shown(id).count}, Reply<void>(std::move(told), stop));
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
  const std::stop_token stop = reply.stop_token();
  auto go_on = [self = shared_from_this(), request, reply = std::move(reply)](Result<void> known) mutable {
    if (!known) return reply(tl::unexpected<Error>(known.error()));
    self->read_known(request, std::move(reply));
  };
  want_all(std::move(needed), Reply<void>(std::move(go_on), stop));
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
  auto found = [self = shared_from_this(), request, kind](std::vector<Segment> segments, Reply<Slices> told) {
    if (kind == Kind::ends) return self->read_ends(request, segments, std::move(told));
    self->read_segments(request, std::move(segments), std::move(told));
  };
  find({shown.count, held, begin, end, starts_known(shown.count)},
       value_for<std::vector<Segment>>(std::move(reply), std::move(found)));
}

// Block after block.
void FriendStreams::find(Wanted wanted, Reply<std::vector<Segment>> reply) {
  if (wanted.begin >= wanted.end) return reply({});
  const auto block_of = [&](std::int64_t item) {
    if (!wanted.starts) return matched_->runs.run_of(item) / kBlockRuns;
    return static_cast<std::size_t>(std::ranges::upper_bound(*wanted.starts, item) - wanted.starts->begin()) - 1;
  };
  const std::size_t first = block_of(wanted.begin), last = std::min(block_of(wanted.end - 1), block_count() - 1);
  auto look = [self = shared_from_this(), wanted = std::move(wanted), first](std::size_t i, std::vector<Segment>& found,
                                                                             Reply<void> told) {
    self->find_in_block(wanted, first + i, found, std::move(told));
  };
  for_each(last + 1 - first, std::vector<Segment>(), std::move(look), std::move(reply));
}

void FriendStreams::find_in_block(const Wanted& wanted, std::size_t number, std::vector<Segment>& found,
                                  Reply<void> told) {
  auto look = [self = shared_from_this(), &wanted, number, &found](const Block& own, Reply<void> done) {
    if (!wanted.held) {
      self->add_found(wanted, number, own.get(), nullptr, found);
      return done({});
    }
    auto add = [self, &wanted, number, &found, own](const Block& held) {
      self->add_found(wanted, number, own.get(), held.get(), found);
    };
    self->block(*wanted.held, number, answer_with<Block>(std::move(done), std::move(add)));
  };
  if (!wanted.starts) return look(nullptr, std::move(told));
  block(wanted.count, number, value_for<Block>(std::move(told), std::move(look)));
}

// `own`: where the items of each run are, if they are in lists; `held`: those of the lists, if their ends are wanted.
void FriendStreams::add_found(const Wanted& wanted, std::size_t number, const RunsItems* own, const RunsItems* held,
                              std::vector<Segment>& found) const {
  const EntryRuns& runs = matched_->runs;
  const std::size_t first = number * kBlockRuns;
  std::int64_t at = wanted.starts ? (*wanted.starts)[number] : runs.runs()[first].before;
  std::int64_t held_before = held ? (*starts_known(*wanted.held))[number] : 0;
  for (std::size_t i = 0; i < runs_in(number) && at < wanted.end; ++i) {
    const std::int64_t entry = runs.runs()[first + i].friend_entry;
    const RunItems items = own ? (*own)[i] : RunItems{entry, entry + runs.count(first + i)};
    const std::int64_t shift = held ? held_before - (*held)[i].first : 0;
    if (held) held_before += (*held)[i].last - (*held)[i].first;
    const std::int64_t from = std::max(wanted.begin, at), until = std::min(wanted.end, at + (items.last - items.first));
    if (from < until) found.push_back({items.first + (from - at), until - from, from, shift});
    at += items.last - items.first;
  }
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
  return one_slice(std::move(buffer), request.begin - numbers.first * kEndSize, request.end - request.begin);
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
  const std::stop_token stop = reply.stop_token();
  if (picks.size() == 1 && picks[0].size == request.end - request.begin) {
    auto told = [self = shared_from_this(), reply = std::move(reply)](Result<Slices> slices) mutable {
      reply(std::move(slices));
    };
    const ColumnRange range{own.stream, own.slot, size, picks[0].from, picks[0].size};
    return read_whole(*own_, range, request.use, Reply<Slices>(std::move(told), stop));
  }
  auto buffer = std::make_shared<tfile::Buffer>(request.end - request.begin);
  auto told = [buffer, reply = std::move(reply)](Result<void> read) mutable {
    if (!read) return reply(tl::unexpected<Error>(read.error()));
    const std::size_t all = buffer->size();
    reply(one_slice(std::move(buffer), 0, all));
  };
  ReadUse use = request.use;
  use.handed_over = false;  // the kernel gets a copy
  pick_items(own_, picked(own), std::move(picks), buffer, use, Reply<void>(std::move(told), stop));
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
  const std::stop_token stop = reply.stop_token();
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
    reply(one_slice(std::move(buffer), from, request.end - request.begin));
  };
  pick_items(own_, picked(own), std::move(picks), buffer, {}, Reply<void>(std::move(told), stop));
}

}  // namespace tfilefs
