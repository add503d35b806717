// SPDX-License-Identifier: Apache-2.0
#include "query/query_scan.h"

#include <algorithm>
#include <cstring>
#include <future>
#include <memory>
#include <optional>

#include "query/query_program.h"
#include "tfile/buffer.h"

namespace tfilefs {

using tfile::EntryRange;
using tfile::fail;
using tfile::ItemRange;

namespace {

// Entries of a unit: so many that what a thread does besides evaluating does not count. The first ones have fewer, for
// what they give may have to wait.
constexpr std::int64_t kUnitEntries = 128 << 10, kFirstEntries = 8 << 10;
// Entries and items of a block: their vectors fit into the caches of a core.
constexpr std::int64_t kBlockEntries = 2048, kBlockItems = 4096;

// The items of a column, as they lie in chunks.
struct PiecedItems {
  ItemRange items;
  std::int64_t item_size = 1;
  Slices slices;
  std::vector<std::uint64_t> begins;  // of the pieces, in bytes

  // Bytes of these items: where they lie, if that is in one piece, else copied together.
  BlockItems part(ItemRange wanted, tfile::Buffer& copy) const {
    const auto begin = static_cast<std::uint64_t>((wanted.begin - items.begin) * item_size);
    const auto size = static_cast<std::uint64_t>(wanted.size() * item_size);
    if (size == 0) return {wanted.begin, {}};
    auto piece = static_cast<std::size_t>(std::ranges::upper_bound(begins, begin) - begins.begin()) - 1;
    std::uint64_t offset = begin - begins[piece];
    if (slices.pieces[piece].size() - offset >= size) return {wanted.begin, slices.pieces[piece].subspan(offset, size)};
    if (copy.size() < size) copy = tfile::Buffer(size, tfile::Use::passing);
    for (std::uint64_t done = 0; done < size; ++piece, offset = 0) {
      const std::uint64_t part = std::min<std::uint64_t>(size - done, slices.pieces[piece].size() - offset);
      std::memcpy(copy.data() + done, slices.pieces[piece].data() + offset, part);
      done += part;
    }
    return {wanted.begin, copy.span().first(size)};
  }
  std::int64_t offset(std::int64_t place) const {
    tfile::Buffer copy;
    const BlockItems found = part({place, place + 1}, copy);
    std::int64_t value = 0;
    std::memcpy(&value, found.bytes.data(), sizeof value);
    return value;
  }
};

Result<Slices> copied(const Slices& slices) {
  auto buffer = std::make_shared<tfile::Buffer>(slices.size(), tfile::Use::passing);
  copy_slices(slices, buffer->data());
  return one_slice(std::move(buffer));
}

Slices zeros(std::size_t size) {
  auto buffer = std::make_shared<tfile::Buffer>(size, tfile::Use::passing);
  std::ranges::fill(buffer->span(), std::byte{0});
  return one_slice(std::move(buffer));
}

class UnitEvaluation {
 public:
  UnitEvaluation(const QuerySource& source, const Query& query, const std::stop_token& stop, const TakeBlock& take)
      : source_(source), query_(query), stop_(stop), take_(take), block_(query, source.memory, stop) {}

  Result<> run(EntryRange unit) {
    inputs_.assign(query_.inputs().size(), {});
    is_read_.assign(inputs_.size(), false);
    std::uint64_t bytes = 0;
    for (;;) {
      if (stop_.stop_requested()) return cancelled();
      TRY(const std::vector<std::size_t> next, next_inputs(unit));
      if (next.empty()) break;
      for (const std::size_t i : next)
        bytes += static_cast<std::uint64_t>(inputs_[i].items.size() * inputs_[i].item_size);
      if (bytes > source_.unit_bytes && unit.size() > 1) return run_halves(unit);
      held_ = {};
      if (bytes > source_.unit_bytes && source_.is_shared && source_.memory.budget)
        held_ = source_.memory.budget->take(bytes);
      TRY_VOID(read(next));
    }
    return each_block(unit);
  }

 private:
  Result<> run_halves(EntryRange unit) {
    const std::int64_t middle = unit.begin + unit.size() / 2;
    TRY_VOID(run({unit.begin, middle}));
    return run({middle, unit.end});
  }

  // Those whose items are known now, with them.
  Result<std::vector<std::size_t>> next_inputs(EntryRange unit) {
    std::vector<std::size_t> next;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Query::Input& input = query_.inputs()[i];
      if (is_read_[i] || (input.inside >= 0 && !is_read_[static_cast<std::size_t>(input.inside)])) continue;
      const tfile::Column& column = source_.table.columns[input.column];
      inputs_[i].item_size = static_cast<std::int64_t>(column.item_size());
      TRY(inputs_[i].items, items_of(i, unit));
      if (column.role == tfile::Role::offsets) ++inputs_[i].items.end;
      next.push_back(i);
    }
    for (const std::size_t i : next) is_read_[i] = true;
    return next;
  }
  // The items of an input that these entries have, without the end of the last list.
  Result<ItemRange> items_of(std::size_t i, EntryRange entries) const {
    const Query::Input& input = query_.inputs()[i];
    if (input.inside < 0) {
      const std::int64_t length = query_.program().lengths[i];
      return ItemRange{std::min(entries.begin, length), std::min(entries.end, length)};
    }
    const auto inside = static_cast<std::size_t>(input.inside);
    TRY(const ItemRange lists, items_of(inside, entries));
    const ItemRange items{inputs_[inside].offset(lists.begin), inputs_[inside].offset(lists.end)};
    if (items.begin >= 0 && items.size() >= 0) return items;
    return fail(ErrorKind::damaged, source_.table.columns[query_.inputs()[inside].column].path +
                                        ": offsets decrease: " + std::to_string(items.end) + " after " +
                                        std::to_string(items.begin));
  }

  // All at the same time.
  Result<> read(const std::vector<std::size_t>& next) {
    std::vector<std::future<Result<Slices>>> going;
    for (const std::size_t i : next) going.push_back(start_read(i));
    Result<> done;
    for (std::size_t k = 0; k < next.size(); ++k) {
      Result<Slices> made = going[k].get();
      if (done) done = made ? take_slices(next[k], *std::move(made)) : Result<>(tl::unexpected<Error>(made.error()));
    }
    return done;
  }
  std::future<Result<Slices>> start_read(std::size_t i) {
    const tfile::Column& column = source_.table.columns[query_.inputs()[i].column];
    auto promise = std::make_shared<std::promise<Result<Slices>>>();
    std::future<Result<Slices>> made = promise->get_future();
    const auto begin = static_cast<std::uint64_t>(inputs_[i].items.begin * inputs_[i].item_size);
    const auto size = static_cast<std::size_t>(inputs_[i].items.size() * inputs_[i].item_size);
    // A branch without baskets stores not even the 0 before all lists.
    if (query_.inputs()[i].inside < 0 && query_.program().lengths[i] == 0) {
      promise->set_value(zeros(size));
      return made;
    }
    auto take = [promise, copies = source_.is_shared](Result<Slices> slices) {
      promise->set_value(slices && copies ? copied(*slices) : std::move(slices));
    };
    source_.streams.read(column.stream, column.slot, column.item_size(), begin, size, Reply<Slices>(take, stop_));
    return made;
  }
  Result<> take_slices(std::size_t i, Slices slices) {
    PiecedItems& items = inputs_[i];
    if (slices.size() != static_cast<std::size_t>(items.items.size() * items.item_size))
      return fail(ErrorKind::damaged, source_.table.columns[query_.inputs()[i].column].path + ": it has " +
                                          std::to_string(slices.size()) + " bytes where there should be " +
                                          std::to_string(items.items.size() * items.item_size));
    std::uint64_t begin = 0;
    for (const auto piece : slices.pieces) {
      items.begins.push_back(begin);
      begin += piece.size();
    }
    items.slices = std::move(slices);
    return {};
  }

  std::int64_t entries_of_block(EntryRange unit) const {
    std::int64_t most = unit.size();
    for (const PiecedItems& each : inputs_) most = std::max(most, each.items.size());
    const std::int64_t items_each = most / unit.size();
    return std::clamp<std::int64_t>(kBlockItems / std::max<std::int64_t>(1, items_each), 1, kBlockEntries);
  }

  Result<> each_block(EntryRange unit) {
    if (unit.size() == 0) return {};
    const std::int64_t entries = entries_of_block(unit);
    copies_.resize(inputs_.size());
    for (std::int64_t at = unit.begin; at < unit.end; at += entries) {
      if (stop_.stop_requested()) return cancelled();
      TRY_VOID(evaluate({at, std::min(at + entries, unit.end)}));
    }
    return {};
  }
  // Lists of other entries may be much longer than those of most.
  Result<> evaluate(EntryRange block) {
    std::vector<BlockItems> items(inputs_.size());
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      TRY(ItemRange wanted, items_of(i, block));
      const bool is_offsets = source_.table.columns[query_.inputs()[i].column].role == tfile::Role::offsets;
      if (is_offsets) ++wanted.end;
      if (wanted.begin < inputs_[i].items.begin || wanted.end > inputs_[i].items.end)
        return fail(ErrorKind::damaged, source_.table.columns[query_.inputs()[i].column].path + ": items " +
                                            std::to_string(wanted.begin) + " to " + std::to_string(wanted.end) +
                                            " are not those of the entries");
      items[i] = inputs_[i].part(wanted, copies_[i]);
    }
    const auto done = block_.evaluate(block, items, [&] { return take_(block_, block); });
    if (done) return done;
    if (block.size() == 1 && (done.error().kind == ErrorKind::unsupported || is_refusal(done.error())))
      return fail(done.error().kind,
                  source_.table.name + ", entry " + std::to_string(block.begin) + ": too large: " + done.error().text);
    if (done.error().kind != ErrorKind::unsupported || block.size() == 1) return done;
    const std::int64_t middle = block.begin + block.size() / 2;
    TRY_VOID(evaluate({block.begin, middle}));
    return evaluate({middle, block.end});
  }

  const QuerySource& source_;
  const Query& query_;
  const std::stop_token& stop_;
  const TakeBlock& take_;
  QueryBlock block_;
  std::vector<PiecedItems> inputs_;
  std::vector<bool> is_read_;
  std::vector<tfile::Buffer> copies_;
  Budget::Reservation held_;  // of the copies of one long entry
};

}  // namespace

QueryUnits::QueryUnits(const tfile::Table& table, EntryRange entries) : table_(table), wanted_(kFirstEntries) {
  entries_.begin = at_ = std::clamp<std::int64_t>(entries.begin, 0, table.entries);
  entries_.end = std::clamp<std::int64_t>(entries.end, entries_.begin, table.entries);
}

std::optional<EntryRange> QueryUnits::next() {
  if (at_ >= entries_.end) return std::nullopt;
  const std::int64_t begin = at_;
  at_ = begin + std::min(wanted_, entries_.end - begin);
  // Up to the last cluster that ends before, if that is not much less.
  const auto behind = std::ranges::upper_bound(table_.clusters, at_);
  if (at_ < entries_.end && behind != table_.clusters.begin() && *(behind - 1) > begin + wanted_ / 2)
    at_ = *(behind - 1);
  wanted_ = std::min(2 * wanted_, kUnitEntries);
  return EntryRange{begin, at_};
}

double QueryUnits::share() const {
  return entries_.size() == 0 ? 1 : static_cast<double>(at_ - entries_.begin) / static_cast<double>(entries_.size());
}

Result<> evaluate_unit(const QuerySource& source, const Query& query, EntryRange unit, const std::stop_token& stop,
                       const TakeBlock& take) {
  return UnitEvaluation(source, query, stop, take).run(unit);
}

}  // namespace tfilefs
