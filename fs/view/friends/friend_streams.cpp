// SPDX-License-Identifier: Apache-2.0
#include "view/friends/friend_streams.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "exec/for_each.h"
#include "on_behalf.h"
#include "view/chain/computed_items.h"
#include "view/column_pieces.h"

namespace tfilefs {
namespace {

using Kind = ItemSource::Kind;
using Of = FriendTable::Counted::Of;

constexpr std::size_t kEndSize = sizeof(std::int64_t);

// Far from an overflow of sizes; more than any file can hold.
constexpr std::int64_t kItemsMax = std::int64_t{1} << 60;

std::int64_t end_at(const tfile::Buffer& buffer, std::size_t number) {
  std::int64_t end = 0;
  std::memcpy(&end, buffer.data() + number * kEndSize, kEndSize);
  return end;
}

}  // namespace

// Steps into the lists of the runs, by their offsets.
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
  std::vector<EntryRun> made_runs;
  const RunBlock block = matched_->block(number, made_runs);
  auto entries = std::make_shared<RunsItems>(block.runs.size());
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const std::int64_t entry = block.runs[i].friend_entry, own_end = table_->counted(count).own_end;
    (*entries)[i] = {std::min(entry, own_end), std::min(entry + block.count(i), own_end)};
  }
  const std::vector<tfile::ColumnId>& lists = table_->counted(count).lists;
  auto descend = [self = self(), &lists](std::size_t depth, const auto& made, Reply<void> done) {
    RunsItems& runs = *made;
    std::vector<Pick> picks;
    picks.reserve(2 * runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].first == runs[i].last) continue;  // perhaps behind all offsets
      picks.push_back({static_cast<std::uint64_t>(runs[i].first) * kEndSize, kEndSize, 2 * i * kEndSize});
      picks.push_back({static_cast<std::uint64_t>(runs[i].last) * kEndSize, kEndSize, (2 * i + 1) * kEndSize});
    }
    auto ends = std::make_shared<tfile::Buffer>(2 * runs.size() * kEndSize, tfile::Use::passing);
    std::ranges::fill(ends->span(), std::byte{0});
    auto take = [&runs, ends] { return step_down(runs, *ends); };
    pick_items(self->own_, range_of_items(self->table_->own().columns[lists[depth]], 0, 0), std::move(picks), ends, {},
               answer_with<void>(std::move(done), std::move(take)));
  };
  for_each(lists.size(), std::move(entries), std::move(descend), std::move(reply));
}

// Adds up the items of all blocks.
void FriendStreams::count_items(CountId id, Reply<StartsPtr> reply) {
  auto first = std::make_shared<std::vector<std::int64_t>>(1, 0);
  auto add_block = [self = self(), id](std::size_t number, const auto& starts, Reply<void> done) {
    auto add = [&starts](const Block& block) {
      std::int64_t items = starts->back();
      for (const RunItems& run : *block) items = std::min(items + (run.last - run.first), kItemsMax);
      starts->push_back(items);
    };
    self->block(id, number, answer_with<Block>(std::move(done), std::move(add)));
  };
  for_each(matched_->block_count(), std::move(first), std::move(add_block), std::move(reply));
}

FriendStreams::FriendStreams(ClusterCache& cache, std::shared_ptr<const FriendTable> table, MatchedEntriesPtr matched,
                             std::shared_ptr<CachedStreams> own)
    : ComposedStreams(cache, table), table_(std::move(table)), matched_(std::move(matched)), own_(std::move(own)) {}

// ---- counts

StartsPtr FriendStreams::starts_known(CountId id) const {
  const Lock lock(mutex_);
  const auto known = counts_.find(id);
  return known != counts_.end() ? known->second.starts : nullptr;
}

std::int64_t FriendStreams::items_known(CountId id) const {
  switch (table_->counted(id).of) {
    case Of::entries:
      return matched_->entries();
    case Of::matched:
      return matched_->matched();
    case Of::some_matched:
      return table_->counted(id).matched;
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
  auto keep = [self = self(), id](StartsPtr starts) {
    const Lock lock(self->mutex_);
    self->counts_[id].starts = starts;
    return starts;
  };
  once.get([&](Reply<StartsPtr> made) { count_items(id, std::move(made)); },
           answer_with<StartsPtr>(std::move(reply), std::move(keep)));
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
  auto keep = [self = self(), id, number](Block made) {
    self->keep_block(id, number, made);
    return made;
  };
  read_block(id, number, answer_with<Block>(std::move(reply), std::move(keep)));
}

// ---- reads

void FriendStreams::read_known(const Request& wanted, Reply<Slices> reply) {
  const tfile::Column& column = table_->columns[wanted.column];
  const auto item_size = static_cast<std::int64_t>(column.item_size());
  Request request = wanted;
  request.end = std::min(request.end, range_of_items(column, 0, *known_length(request.column, 0)).size);
  if (request.begin >= request.end) return reply(Slices());
  const ChainColumn& shown = table_->chained(request.column);
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
  auto found = [self = self(), request](std::vector<Segment> segments, Reply<Slices> done) {
    self->read_segments(request, std::move(segments), std::move(done));
  };
  find({shown.count, held, begin, end, starts_known(shown.count)},
       value_for<std::vector<Segment>>(std::move(reply), std::move(found)));
}

// Block after block.
void FriendStreams::find(Wanted wanted, Reply<std::vector<Segment>> reply) {
  if (wanted.begin >= wanted.end) return reply({});
  const auto block_of = [&](std::int64_t item) {
    if (!wanted.starts) return matched_->block_of(item);
    return static_cast<std::size_t>(std::ranges::upper_bound(*wanted.starts, item) - wanted.starts->begin()) - 1;
  };
  const std::size_t first = block_of(wanted.begin),
                    last = std::min(block_of(wanted.end - 1), matched_->block_count() - 1);
  auto look = [self = self(), wanted = std::move(wanted), first](std::size_t i, std::vector<Segment>& found,
                                                                 Reply<void> done) {
    self->find_in_block(wanted, first + i, found, std::move(done));
  };
  for_each(last + 1 - first, std::vector<Segment>(), std::move(look), std::move(reply));
}

void FriendStreams::find_in_block(const Wanted& wanted, std::size_t number, std::vector<Segment>& found,
                                  Reply<void> reply) {
  auto look = [self = self(), &wanted, number, &found](const Block& own, Reply<void> done) {
    if (!wanted.held) {
      self->add_found(wanted, number, own.get(), nullptr, found);
      return done({});
    }
    auto add = [self, &wanted, number, &found, own](const Block& held) {
      self->add_found(wanted, number, own.get(), held.get(), found);
    };
    self->block(*wanted.held, number, answer_with<Block>(std::move(done), std::move(add)));
  };
  if (!wanted.starts) return look(nullptr, std::move(reply));
  block(wanted.count, number, value_for<Block>(std::move(reply), std::move(look)));
}

// `own`: where the items of each run are, if they are in lists; `held`: those of the lists, if their ends are wanted.
void FriendStreams::add_found(const Wanted& wanted, std::size_t number, const RunsItems* own, const RunsItems* held,
                              std::vector<Segment>& found) const {
  std::vector<EntryRun> made;
  const RunBlock runs = matched_->block(number, made);
  std::int64_t at = wanted.starts ? (*wanted.starts)[number] : runs.runs[0].before;
  std::int64_t held_before = held ? (*starts_known(*wanted.held))[number] : 0;
  for (std::size_t i = 0; i < runs.runs.size() && at < wanted.end; ++i) {
    const std::int64_t entry = runs.runs[i].friend_entry;
    const RunItems items = own ? (*own)[i] : RunItems{entry, entry + runs.count(i)};
    const std::int64_t shift = held ? held_before - (*held)[i].first : 0;
    if (held) held_before += (*held)[i].last - (*held)[i].first;
    const std::int64_t from = std::max(wanted.begin, at), until = std::min(wanted.end, at + (items.last - items.first));
    if (from < until) found.push_back({items.first + (from - at), until - from, from, shift});
    at += items.last - items.first;
  }
}

// The columns that the runs alone tell: which entries have a value, and which entry of the friend each has.
Slices FriendStreams::computed(const Request& request) const {
  const NumberRange numbers = numbers_covering(request.begin, request.end, kEndSize);
  auto buffer = std::make_shared<tfile::Buffer>(numbers.count * kEndSize);
  const bool are_ends = table_->source(request.column).kind == Kind::steps;
  for (std::uint64_t i = 0; i < numbers.count; ++i) {
    const auto entry = static_cast<std::int64_t>(numbers.first + i);
    const std::int64_t number = are_ends ? matched_->matched_before(entry) : matched_->friend_entry(entry);
    std::memcpy(buffer->data() + i * kEndSize, &number, kEndSize);
  }
  return one_slice(std::move(buffer), request.begin - numbers.first * kEndSize, request.end - request.begin);
}

// Ends of lists are read as whole numbers, behind the 0 before all lists.
void FriendStreams::read_segments(const Request& request, std::vector<Segment> segments, Reply<Slices> reply) {
  const ItemSource& source = table_->source(request.column);
  const bool are_ends = source.kind == Kind::ends;
  ColumnRange own = range_of_items(table_->own().columns[source.column.id], 0, 0);
  const auto place_of = [&](std::int64_t item) {
    return static_cast<std::uint64_t>(item + (are_ends ? 1 : 0)) * own.item_size;
  };
  const std::size_t unit = are_ends ? kEndSize : 1;
  const NumberRange covering = numbers_covering(request.begin, request.end, unit);
  const std::uint64_t begin = covering.first * unit, end = begin + covering.count * unit;
  std::vector<Pick> picks;
  for (const Segment& segment : segments) {
    const std::uint64_t at = place_of(segment.at), from = std::max(begin, at);
    const std::uint64_t until = std::min(end, place_of(segment.at + segment.count));
    if (from < until) picks.push_back({place_of(segment.first) + (from - at), until - from, from - begin});
  }
  if (!are_ends && picks.size() == 1 && picks[0].size == end - begin) {
    own.offset = picks[0].from;
    own.size = picks[0].size;
    auto tell = [self = self()](Result<Slices> slices, Reply<Slices> done) { done(std::move(slices)); };
    return read_whole(*own_, own, request.use, on_behalf_of<Slices>(std::move(reply), std::move(tell)));
  }
  auto buffer = std::make_shared<tfile::Buffer>(end - begin);
  if (are_ends && begin == 0) std::memset(buffer->data(), 0, kEndSize);
  if (!are_ends) segments.clear();
  auto made = [request, begin, buffer, ends = std::move(segments)] {
    for (const Segment& segment : ends)
      shift_numbers(buffer->span().subspan(static_cast<std::uint64_t>(segment.at + 1) * kEndSize - begin,
                                           static_cast<std::uint64_t>(segment.count) * kEndSize),
                    segment.shift);
    return one_slice(buffer, request.begin - begin, request.end - request.begin);
  };
  ReadUse use = request.use;
  use.handed_over = false;  // the kernel gets a copy
  pick_items(own_, own, std::move(picks), buffer, use, answer_with<void>(std::move(reply), std::move(made)));
}

}  // namespace tfilefs
