// SPDX-License-Identifier: Apache-2.0
#include "view/defined/defined_streams.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "exec/answering.h"
#include "on_behalf.h"
#include "view/chain/computed_items.h"

namespace tfilefs {
namespace {

constexpr std::int64_t kBlockEntries = 16 << 10;
constexpr std::size_t kNumberSize = 8;

std::int64_t offset_in(const std::string& piece, std::int64_t number) {
  std::int64_t offset = 0;
  std::memcpy(&offset, piece.data() + static_cast<std::size_t>(number) * kNumberSize, kNumberSize);
  return offset;
}

}  // namespace

DefinedStreams::DefinedStreams(ClusterCache& cache, std::shared_ptr<const DefinedTable> table,
                               std::shared_ptr<CachedStreams> own)
    : cache_(cache), table_(std::move(table)), own_(std::move(own)), starts_(table_->definition_count()) {}

tfile::EntryRange DefinedStreams::block(std::int64_t number) const {
  return {number * kBlockEntries, std::min(table_->entries, (number + 1) * kBlockEntries)};
}

std::int64_t DefinedStreams::block_count() const { return (table_->entries + kBlockEntries - 1) / kBlockEntries; }

// ---- lengths

StartsPtr DefinedStreams::starts_known(std::size_t definition) const {
  const Lock lock(mutex_);
  return starts_[definition].known;
}

std::optional<std::int64_t> DefinedStreams::known_length(tfile::StreamId id, std::uint32_t) const {
  const std::size_t definition = table_->definition_of(id);
  if (!table_->definition(definition).is_list) return table_->entries;
  if (table_->columns[id].role == tfile::Role::offsets) return table_->entries + 1;
  const StartsPtr starts = starts_known(definition);
  return starts ? std::optional(starts->back()) : std::nullopt;
}

void DefinedStreams::cheap_length(tfile::StreamId id, std::uint32_t slot, Reply<std::optional<std::int64_t>> reply) {
  reply(known_length(id, slot));
}

void DefinedStreams::length(tfile::StreamId id, std::uint32_t slot, Reply<std::int64_t> reply) {
  if (const auto known = known_length(id, slot)) return reply(*known);
  want_starts(table_->definition_of(id),
              answer_with<StartsPtr>(std::move(reply), [](const StartsPtr& starts) { return starts->back(); }));
}

void DefinedStreams::want_starts(std::size_t definition, Reply<StartsPtr> reply) {
  Once<StartsPtr> once;
  {
    const Lock lock(mutex_);
    once = starts_[definition].wanted;
  }
  auto keep = [self = shared_from_this(), definition](StartsPtr starts) {
    const Lock lock(self->mutex_);
    self->starts_[definition].known = starts;
    return starts;
  };
  auto start = [&](Reply<StartsPtr> made) {
    auto count = [self = shared_from_this(), definition, stop = made.stop_token()] {
      return self->count_items(definition, stop);
    };
    cache_.exec().serial_queues.run(this, answering(std::move(count), std::move(made)));
  };
  once.get(start, answer_with<StartsPtr>(std::move(reply), std::move(keep)));
}

QuerySource DefinedStreams::source() const {
  return {table_->of(), *own_, true, kSharedUnitBytesMax, BlockMemory::of(cache_.budget())};
}

// A table may claim any number of entries.
Result<StartsPtr> DefinedStreams::count_items(std::size_t definition, const std::stop_token& stop) const {
  struct Counted {
    Budget::Reservation memory;
    std::vector<std::int64_t> starts;
  };
  const std::uint64_t memory = (static_cast<std::uint64_t>(block_count()) + 1) * sizeof(std::int64_t);
  const std::uint64_t most = cache_.budget()->size() / 2;
  if (memory > most) return tl::unexpected<Error>(refusal(memory, "half of memory=", most));
  const Query& query = table_->definition(definition).query;
  auto counted = std::make_shared<Counted>();
  counted->memory = cache_.budget()->take(memory);
  counted->starts.reserve(static_cast<std::size_t>(block_count()) + 1);
  counted->starts.push_back(0);
  for (std::int64_t number = 0; number < block_count(); ++number) {
    std::int64_t items = counted->starts.back();
    const auto add = [&](const QueryBlock& made, tfile::EntryRange) -> Result<> {
      items += static_cast<std::int64_t>(made.iterations());
      return {};
    };
    if (block(number).begin < query.end()) TRY_VOID(evaluate_unit(source(), query, block(number), stop, add));
    counted->starts.push_back(items);
  }
  return StartsPtr(counted, &counted->starts);
}

// ---- pieces: of lists where those of each entry end, behind a 0; then the numbers

Result<PiecePtr> DefinedStreams::compute(std::size_t definition, std::int64_t number,
                                         const std::stop_token& stop) const {
  const DefinedTable::Definition& wanted = table_->definition(definition);
  const tfile::EntryRange range = block(number);
  std::string values;
  std::vector<std::int64_t> ends(wanted.is_list ? static_cast<std::size_t>(range.size()) + 1 : 0);
  TRY_VOID(evaluate_unit(source(), wanted.query, range, stop,
                         [&](const QueryBlock& made, tfile::EntryRange entries) -> Result<> {
                           const auto numbers = std::as_bytes(made.values(0));
                           values.append(reinterpret_cast<const char*>(numbers.data()), numbers.size());
                           if (!wanted.is_list) return {};
                           const auto first = static_cast<std::size_t>(entries.begin - range.begin);
                           for (const std::uint32_t entry : made.entries()) ++ends[first + entry + 1];
                           return {};
                         }));
  if (!wanted.is_list && values.size() != static_cast<std::size_t>(range.size()) * kNumberSize)
    return tfile::fail(ErrorKind::damaged, "an expression gives " + std::to_string(values.size() / kNumberSize) +
                                               " numbers for " + std::to_string(range.size()) + " entries");
  for (std::size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
  std::string made(reinterpret_cast<const char*>(ends.data()), ends.size() * kNumberSize);
  made += values;
  return std::make_shared<const std::string>(std::move(made));
}

Result<PiecePtr> DefinedStreams::piece(std::size_t definition, std::int64_t number, bool computes,
                                       const std::stop_token& stop) {
  const auto key = definition * static_cast<std::size_t>(block_count()) + static_cast<std::size_t>(number);
  PiecePtr known = pieces().find(this, key);
  if (known || !computes) return known;
  TRY(known, compute(definition, number, stop));
  pieces().keep(this, key, known);
  return known;
}

// ---- reads

void DefinedStreams::read(tfile::StreamId id, std::uint32_t, std::size_t, std::uint64_t offset, std::size_t size,
                          ReadUse, Reply<Slices> reply) {
  const Request request{id, offset, offset + size};
  const std::size_t definition = table_->definition_of(id);
  if (!table_->definition(definition).is_list || starts_known(definition)) return read_known(request, std::move(reply));
  auto go_on = [self = shared_from_this(), request](const StartsPtr&, Reply<Slices> done) {
    self->read_known(request, std::move(done));
  };
  want_starts(definition, value_for<StartsPtr>(std::move(reply), std::move(go_on)));
}

void DefinedStreams::read_known(Request request, Reply<Slices> reply) {
  request.end = std::min(request.end, static_cast<std::uint64_t>(*known_length(request.column, 0)) * kNumberSize);
  if (request.begin >= request.end) return reply(Slices());
  auto known = gather(request, false, {});
  if (!known) return reply(tl::unexpected<Error>(std::move(known).error()));
  if (*known) return reply(**std::move(known));
  auto compute = [self = shared_from_this(), request, stop = reply.stop_token()]() -> Result<Slices> {
    auto made = self->gather(request, true, stop);
    if (!made) return tl::unexpected<Error>(std::move(made).error());
    return std::move(**made);
  };
  cache_.exec().serial_queues.run(this, answering(std::move(compute), std::move(reply)));
}

// The block that an item is in; of the ends of lists, that of the list.
std::int64_t DefinedStreams::block_of(const Request& request, std::int64_t item) const {
  const std::size_t definition = table_->definition_of(request.column);
  if (!table_->definition(definition).is_list) return item / kBlockEntries;
  if (table_->columns[request.column].role == tfile::Role::offsets)
    return std::max<std::int64_t>(0, std::min(item / kBlockEntries, block_count() - 1));
  const StartsPtr starts = starts_known(definition);
  return std::ranges::upper_bound(*starts, item) - starts->begin() - 1;
}

Result<std::optional<Slices>> DefinedStreams::gather(const Request& request, bool computes,
                                                     const std::stop_token& stop) {
  if (table_->columns[request.column].role == tfile::Role::offsets) return gather_ends(request, computes, stop);
  const std::size_t definition = table_->definition_of(request.column);
  const bool is_list = table_->definition(definition).is_list;
  const StartsPtr starts = is_list ? starts_known(definition) : nullptr;
  Slices made;
  for (std::uint64_t at = request.begin; at < request.end;) {
    const std::int64_t number = block_of(request, static_cast<std::int64_t>(at / kNumberSize));
    TRY(const PiecePtr bytes, piece(definition, number, computes, stop));
    if (!bytes) return std::nullopt;
    const tfile::EntryRange range = block(number);
    const auto place = static_cast<std::size_t>(number);
    const std::int64_t first = is_list ? (*starts)[place] : range.begin;
    const std::int64_t behind = is_list ? (*starts)[place + 1] : range.end;
    const std::size_t skipped = is_list ? (static_cast<std::size_t>(range.size()) + 1) * kNumberSize : 0;
    if (bytes->size() != skipped + static_cast<std::size_t>(behind - first) * kNumberSize)
      return tfile::fail(ErrorKind::stale, "the columns of an expression have changed since they were counted");
    const std::uint64_t until = std::min(request.end, static_cast<std::uint64_t>(behind) * kNumberSize);
    const std::size_t inside = skipped + (at - static_cast<std::uint64_t>(first) * kNumberSize);
    made.add(std::as_bytes(std::span(*bytes)).subspan(inside, until - at), bytes);
    at = until;
  }
  return made;
}

Result<std::optional<Slices>> DefinedStreams::gather_ends(const Request& request, bool computes,
                                                          const std::stop_token& stop) {
  const std::size_t definition = table_->definition_of(request.column);
  const StartsPtr starts = starts_known(definition);
  const NumberRange numbers = numbers_covering(request.begin, request.end, kNumberSize);
  auto ends = std::make_shared<tfile::Buffer>(numbers.count * kNumberSize);
  std::memset(ends->data(), 0, ends->size());  // of a table without entries, there is a 0 alone
  auto item = static_cast<std::int64_t>(numbers.first);
  const auto end = item + static_cast<std::int64_t>(numbers.count);
  while (item < end && block_count() > 0) {
    const std::int64_t number = block_of(request, item);
    TRY(const PiecePtr bytes, piece(definition, number, computes, stop));
    if (!bytes) return std::nullopt;
    const tfile::EntryRange range = block(number);
    const std::int64_t last = std::min(end, number + 1 == block_count() ? range.end + 1 : range.end);
    for (; item < last; ++item) {
      const std::int64_t offset = (*starts)[static_cast<std::size_t>(number)] + offset_in(*bytes, item - range.begin);
      const std::size_t place = static_cast<std::size_t>(item) - static_cast<std::size_t>(numbers.first);
      std::memcpy(ends->data() + place * kNumberSize, &offset, kNumberSize);
    }
  }
  return one_slice(std::move(ends), request.begin - numbers.first * kNumberSize, request.end - request.begin);
}

}  // namespace tfilefs
