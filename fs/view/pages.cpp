// SPDX-License-Identifier: Apache-2.0
#include "view/pages.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "damage.h"
#include "exec/answering.h"
#include "exec/when_all.h"
#include "on_behalf.h"
#include "view/column_pieces.h"

namespace tfilefs {
namespace {

using StepKind = LevelStep::Kind;

// A page fits into a processor's cache, and into one request to the kernel. The 8-byte values of a full one take a
// megabyte.
constexpr std::int64_t kPageSize = 1 << 20, kPlacesMax = 1 << 17;
// A million pages are enough for a table of a terabyte, and take 100 MB of memory.
constexpr std::size_t kPagesMax = 1 << 20;
constexpr std::int64_t kBlockEntries = 1 << 14;           // looked at together
constexpr std::int64_t kSizeMax = std::int64_t{1} << 60;  // of all lists together: more than a file can hold
constexpr std::int64_t kBlockOffsets = 1 << 20;           // 8 MB of them; a block with more gets fewer entries

// Without lists or strings no offsets have to be read: entries may only be missing at the end, or have a fixed shape.
Result<LeafPagesPtr> cut_evenly(const PageShape& shape, const std::vector<std::int64_t>& bounds) {
  std::int64_t present = bounds.back(), per_entry = 1;
  for (const LevelStep& step : shape.steps) {
    if (step.kind == StepKind::nullable) present = std::min(present, step.number);
    if (step.kind == StepKind::fixed) per_entry *= step.number;
  }
  const std::int64_t step =
      std::max<std::int64_t>(1, kPageSize / std::max<std::int64_t>(1, per_entry * shape.value_size));
  auto made = std::make_shared<LeafPages>();
  for (std::size_t group = 0; group + 1 < bounds.size(); ++group) {
    made->group_begin.push_back(made->pages.size());
    for (std::int64_t begin = bounds[group]; begin < bounds[group + 1]; begin += step) {
      const std::int64_t end = std::min(begin + step, bounds[group + 1]);
      const std::int64_t first = std::min(begin, present), last = std::min(end, present);
      Page page;
      page.entries = {begin, end};
      page.places = (last - first) * std::max<std::int64_t>(1, per_entry) + (end - begin) - (last - first);
      page.lists.resize(shape.steps.size());
      page.values = {first * per_entry, last * per_entry};
      made->pages.push_back(std::move(page));
      if (made->pages.size() > kPagesMax) return tfile::fail(ErrorKind::unsupported, "too many pages");
    }
  }
  made->group_begin.push_back(made->pages.size());
  return made;
}

// The position of an entry in the steps to a leaf: the next list of each step with offsets, the next value, and the
// next byte of a string.
struct LeafPosition {
  std::vector<std::int64_t> lists;
  std::int64_t value = 0, byte = 0;
};

template <class T>
std::vector<std::int64_t> running_sum(const Slices& sizes, std::int64_t begin) {
  std::vector<T> numbers(sizes.size() / sizeof(T));
  copy_slices(sizes, reinterpret_cast<std::byte*>(numbers.data()));
  std::vector<std::int64_t> offsets{begin};
  offsets.reserve(numbers.size() + 1);
  for (const T number : numbers) {
    // A size beyond any file, yet far from an overflow, which fails the check of the offsets.
    const auto size = static_cast<std::int64_t>(number);
    offsets.push_back(offsets.back() + std::clamp(size, std::int64_t{-1}, kSizeMax));
    if (offsets.back() > kSizeMax) offsets.back() = -1;
  }
  return offsets;
}

// The offsets of lists of these sizes, the first of which begins at item `begin`.
std::vector<std::int64_t> offsets_of_sizes(const Slices& sizes, tfile::Dtype dtype, std::int64_t begin) {
  switch (dtype) {
    case tfile::Dtype::i1:
      return running_sum<std::int8_t>(sizes, begin);
    case tfile::Dtype::u1:
      return running_sum<std::uint8_t>(sizes, begin);
    case tfile::Dtype::i2:
      return running_sum<std::int16_t>(sizes, begin);
    case tfile::Dtype::u2:
      return running_sum<std::uint16_t>(sizes, begin);
    case tfile::Dtype::i4:
      return running_sum<std::int32_t>(sizes, begin);
    case tfile::Dtype::u4:
      return running_sum<std::uint32_t>(sizes, begin);
    default:
      return running_sum<std::int64_t>(sizes, begin);
  }
}

// The pages of a leaf, as far as they are known. All entries are gone through, block by block: the offsets of a block
// are read level by level, then its entries are looked at.
class Cutting : public std::enable_shared_from_this<Cutting> {
 public:
  Cutting(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table, PageShape shape,
          std::shared_ptr<const std::vector<std::int64_t>> bounds);
  void run(Reply<LeafPagesPtr> reply);

 private:
  std::int64_t group_end() const { return (*bounds_)[group_ + 1]; }

  void begin_group();
  Result<LeafPagesPtr> pages();

  // Goes down the steps with the block, until offsets are needed; those of the string come last.
  void go_on(Reply<void> reply);

  // Unless one is begun. Behind the last one, all is cut.
  Result<void> begin_next_block();

  // Adds pages without values to the end of the group, even if the table claims very many entries.
  Result<void> add_blank_pages();
  void begin_block(std::int64_t end);

  bool is_counted(std::size_t step) const { return step < shape_.steps.size() && shape_.steps[step].is_counted; }

  void load_offsets(tfile::ColumnId id, Reply<void> reply);
  Result<void> take(tfile::ColumnId id, Slices slices);

  // The offsets of the block are not known. If it spans several chunks, those before the bad one may be sound, and are
  // tried as a block. The first list of a chunk begins where the last one of the chunk before ends, so perhaps only
  // that one entry is lost.
  Result<void> give_up(tfile::ColumnId id, const Error& error);

  // The entries of the chunk that ends behind the entry; if the stream ends before, all that are left.
  tfile::EntryRange chunk_of_entry(tfile::StreamId stream) const;
  Result<void> skip_entries(std::int64_t end, const Error& error);
  Result<void> look_at_block();
  void note_counts(const std::vector<std::int64_t>& offsets);

  // Only for entries of the loaded block, and the one after its last.
  void place_at(std::int64_t entry, LeafPosition& place) const;
  void open_page();

  // The page ends before entry_, whose position is `to`.
  Result<void> close_page(const LeafPosition& to);
  Result<void> has_room() const;

  const std::shared_ptr<CachedStreams> streams_;
  const std::shared_ptr<const tfile::Table> table_;
  const PageShape shape_;
  const std::shared_ptr<const std::vector<std::int64_t>> bounds_;
  const bool counted_;
  const std::shared_ptr<LeafPages> made_ = std::make_shared<LeafPages>();

  std::int64_t present_ = std::numeric_limits<std::int64_t>::max();  // entries behind this one have no values
  std::size_t group_ = 0;
  bool is_cut_ = false;
  std::int64_t entry_ = 0;  // all before it are in pages, or in the open one
  bool page_open_ = false;
  Page page_;
  LeafPosition from_, here_;  // where the open page begins; where the last block with known offsets ends

  std::int64_t block_entries_ = kBlockEntries, block_end_ = 0;
  std::size_t step_ = 0;                // the next one to load
  ItemSpan items_;                      // of the block, at that step
  std::vector<OffsetsWindow> windows_;  // of the block, by step; the last is the string's
  std::vector<std::int64_t> next_;      // by step: where the offsets of the blocks before end
};

Cutting::Cutting(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table, PageShape shape,
                 std::shared_ptr<const std::vector<std::int64_t>> bounds)
    : streams_(std::move(streams)),
      table_(std::move(table)),
      shape_(std::move(shape)),
      bounds_(std::move(bounds)),
      counted_(std::any_of(shape_.steps.begin(), shape_.steps.end(), [](const LevelStep& s) { return s.is_counted; })),
      windows_(shape_.steps.size() + 1),
      next_(windows_.size()) {
  here_.lists.resize(shape_.steps.size());
  // Unless entries may be missing at the end, all are present.
  if (!shape_.steps.empty() && shape_.steps[0].kind == StepKind::nullable) present_ = shape_.steps[0].number;
  begin_group();
}

void Cutting::run(Reply<LeafPagesPtr> reply) {
  auto go_on = [self = shared_from_this()](Reply<void> done) { self->go_on(std::move(done)); };
  while_more([self = shared_from_this()] { return !self->is_cut_; }, 1, std::move(go_on),
             answer_with<void>(std::move(reply), [self = shared_from_this()] { return self->pages(); }));
}

void Cutting::begin_group() {
  made_->group_begin.push_back(made_->pages.size());
  if (counted_) made_->counts.push_back({std::numeric_limits<std::int64_t>::max(), 0});
}

Result<LeafPagesPtr> Cutting::pages() {
  made_->group_begin.push_back(made_->pages.size());
  for (std::size_t i = 0; i < shape_.steps.size(); ++i)
    if (shape_.steps[i].is_counted && next_[i] != shape_.steps[i].number)
      return tfile::fail(ErrorKind::damaged, "list sizes add up to " + std::to_string(next_[i]) + " items, expected " +
                                                 std::to_string(shape_.steps[i].number));
  return LeafPagesPtr(made_);
}

void Cutting::go_on(Reply<void> reply) {
  if (auto begun = begin_next_block(); !begun || is_cut_) return reply(std::move(begun));
  for (; step_ < windows_.size(); ++step_) {
    const bool is_string = step_ == shape_.steps.size();
    if (is_string && !shape_.chars_offsets) break;
    if (is_string || shape_.steps[step_].has_offsets())
      return load_offsets(is_string ? *shape_.chars_offsets : shape_.steps[step_].offsets, std::move(reply));
    const LevelStep& step = shape_.steps[step_];
    if (step.kind == StepKind::fixed)
      items_ = {items_.begin * step.number, items_.end * step.number};
    else
      items_ = {std::min(items_.begin, step.number), std::min(items_.end, step.number)};
  }
  // There may be many entries: not on the thread that decoded their offsets.
  streams_->run_view_job(answering([self = shared_from_this()] { return self->look_at_block(); }, std::move(reply)));
}

Result<void> Cutting::begin_next_block() {
  if (entry_ < block_end_) return {};
  while (entry_ == group_end()) {
    if (++group_ + 1 == bounds_->size()) {
      is_cut_ = true;
      return {};
    }
    begin_group();
    if (entry_ >= present_) TRY_VOID(add_blank_pages());
  }
  begin_block(entry_ + block_entries_);
  return {};
}

Result<void> Cutting::add_blank_pages() {
  for (OffsetsWindow& window : windows_) window.offsets.clear();
  while (entry_ < group_end()) {
    open_page();
    const std::int64_t end = std::min(entry_ + kPlacesMax, group_end());
    page_.places = end - entry_;
    entry_ = end;
    place_at(entry_, here_);
    TRY_VOID(close_page(here_));
  }
  if (counted_) made_->counts.back().begin = 0;
  return {};
}

void Cutting::begin_block(std::int64_t end) {
  block_end_ = std::min(end, group_end());
  step_ = 0;
  items_ = {entry_, block_end_};
}

void Cutting::load_offsets(tfile::ColumnId id, Reply<void> reply) {
  windows_[step_] = {items_.begin, {}};
  if (items_.begin == items_.end) {
    items_ = {next_[step_], next_[step_]};
    ++step_;
    return reply({});
  }
  if (items_.end - items_.begin > kBlockOffsets && block_entries_ > 1) {
    block_entries_ /= 2;
    begin_block(entry_ + block_entries_);
    return reply({});
  }
  const std::int64_t count = items_.end - items_.begin + (is_counted(step_) ? 0 : 1);
  auto take = [self = shared_from_this(), id](Result<Slices> slices, Reply<void> done) {
    auto taken = slices ? self->take(id, *std::move(slices)) : tl::unexpected<Error>(slices.error());
    slices = Slices();
    done(taken ? Result<void>() : self->give_up(id, taken.error()));
  };
  read_whole(*streams_, range_of_items(table_->columns[id], items_.begin, count),
             on_behalf_of<Slices>(std::move(reply), std::move(take)));
}

Result<void> Cutting::take(tfile::ColumnId id, Slices slices) {
  std::vector<std::int64_t>& offsets = windows_[step_].offsets;
  if (is_counted(step_)) {
    offsets = offsets_of_sizes(slices, table_->columns[id].dtype, next_[step_]);
  } else {
    offsets.resize(slices.size() / sizeof(std::int64_t));
    copy_slices(slices, reinterpret_cast<std::byte*>(offsets.data()));
  }
  const std::int64_t limit = step_ == shape_.steps.size() ? shape_.chars : shape_.steps[step_].number;
  if (!are_offsets_sound(offsets, limit) || offsets.front() < next_[step_])
    return unsound_offsets(offsets, {next_[step_], limit});
  items_ = {offsets.front(), offsets.back()};
  ++step_;
  return {};
}

Result<void> Cutting::give_up(tfile::ColumnId id, const Error& error) {
  if (counted_) return tl::unexpected<Error>(error);
  const tfile::EntryRange chunk = chunk_of_entry(table_->columns[id].stream);
  if (block_end_ > chunk.end) {
    begin_block(chunk.end);
    return {};
  }
  const bool is_first = entry_ == chunk.begin && entry_ > 0;
  return skip_entries(is_first ? entry_ + 1 : std::min(chunk.end, group_end()), error);
}

tfile::EntryRange Cutting::chunk_of_entry(tfile::StreamId stream) const {
  const tfile::StreamSet& set = streams_->streams();
  const std::uint32_t index = tfile::first_chunk_behind(set, stream, entry_);
  if (index < set.chunk_count(stream)) {
    const tfile::EntryRange chunk = set.chunk_entries({stream, index});
    if (chunk.begin <= entry_) return chunk;
  }
  return {entry_, std::numeric_limits<std::int64_t>::max()};
}

Result<void> Cutting::skip_entries(std::int64_t end, const Error& error) {
  if (page_open_) TRY_VOID(close_page(here_));
  const bool continues = made_->pages.size() > made_->group_begin.back() && made_->pages.back().error;
  if (!continues) {
    Page& page = made_->pages.emplace_back();
    page.entries.begin = entry_;
    page.lists.resize(shape_.steps.size());
    page.error = std::make_shared<const Error>(error);
  }
  Page& page = made_->pages.back();
  page.entries.end = entry_ = block_end_ = end;
  page.places = end - page.entries.begin;
  return has_room();
}

Result<void> Cutting::look_at_block() {
  const Levels levels{shape_.steps, windows_};
  LeafPosition after;
  for (; entry_ < block_end_; ++entry_) {
    const std::int64_t places = places_of(levels, entry_);
    if (!page_open_) open_page();
    bool full = page_.places + places > kPlacesMax;
    if (shape_.chars_offsets && !full) {
      place_at(entry_ + 1, after);
      full = (after.value - from_.value) * 4 + after.byte - from_.byte > kPageSize;
    }
    if (full && page_.entries.begin < entry_) {
      place_at(entry_, here_);
      TRY_VOID(close_page(here_));
      open_page();
    }
    page_.places += places;
  }
  place_at(entry_, here_);
  if (entry_ == group_end()) TRY_VOID(close_page(here_));
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    const std::vector<std::int64_t>& offsets = windows_[i].offsets;
    if (is_counted(i)) note_counts(offsets);
    if (!offsets.empty()) next_[i] = offsets.back();
  }
  return {};
}

void Cutting::note_counts(const std::vector<std::int64_t>& offsets) {
  ItemSpan& range = made_->counts.back();
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    range.begin = std::min(range.begin, offsets[i] - offsets[i - 1]);
    range.end = std::max(range.end, offsets[i] - offsets[i - 1]);
  }
}

void Cutting::place_at(std::int64_t entry, LeafPosition& place) const {
  place.lists.resize(shape_.steps.size());
  std::int64_t index = entry;
  const auto follow = [&](const OffsetsWindow& window, std::size_t step) {
    return window.offsets.empty() ? next_[step] : window.offsets[static_cast<std::size_t>(index - window.first)];
  };
  for (std::size_t i = 0; i < shape_.steps.size(); ++i) {
    const LevelStep& step = shape_.steps[i];
    place.lists[i] = index;
    if (step.has_offsets())
      index = follow(windows_[i], i);
    else
      index = step.kind == StepKind::fixed ? index * step.number : std::min(index, step.number);
  }
  place.value = index;
  if (shape_.chars_offsets) place.byte = follow(windows_.back(), windows_.size() - 1);
}

void Cutting::open_page() {
  page_ = {};
  page_.entries.begin = entry_;
  place_at(entry_, from_);
  page_open_ = true;
}

Result<void> Cutting::close_page(const LeafPosition& to) {
  page_.entries.end = entry_;
  page_.values = {from_.value, to.value};
  page_.chars = {from_.byte, to.byte};
  for (std::size_t i = 0; i < shape_.steps.size(); ++i) page_.lists.push_back({from_.lists[i], to.lists[i]});
  made_->pages.push_back(std::move(page_));
  page_open_ = false;
  return has_room();
}

Result<void> Cutting::has_room() const {
  if (made_->pages.size() <= kPagesMax) return {};
  return tfile::fail(ErrorKind::unsupported, "too many pages");
}

}  // namespace

void cut_into_pages(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table, PageShape shape,
                    std::shared_ptr<const std::vector<std::int64_t>> bounds, Reply<LeafPagesPtr> reply) {
  const bool reads = shape.chars_offsets || std::any_of(shape.steps.begin(), shape.steps.end(),
                                                        [](const LevelStep& step) { return step.has_offsets(); });
  if (bounds->size() < 2 || !reads) return reply(cut_evenly(shape, *bounds));
  std::make_shared<Cutting>(std::move(streams), std::move(table), std::move(shape), std::move(bounds))
      ->run(std::move(reply));
}

}  // namespace tfilefs
