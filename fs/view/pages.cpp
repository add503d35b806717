// SPDX-License-Identifier: Apache-2.0
#include "view/pages.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "view/segments.h"

namespace tfilefs {
namespace {

using Kind = LevelStep::Kind;

// A page fits into a processor's cache, and into one request to the kernel; 8-byte values of a full one take a megabyte.
constexpr std::int64_t kPageSize = 1 << 20, kPlacesMax = 1 << 17;
// A million pages tell a table of a terabyte, and take 100 MB to remember.
constexpr std::size_t kPagesMax = 1 << 20;
constexpr std::int64_t kBlockEntries = 1 << 14;  // looked at together
constexpr std::int64_t kBlockOffsets = 1 << 20;  // 8 MB of them: fewer entries then, if it is more than one

// Without lists or strings nothing has to be read: perhaps entries are missing at the end, perhaps each has a shape.
Result<LeafPagesPtr> cut_evenly(const PageShape& shape, const std::vector<std::int64_t>& bounds) {
  std::int64_t present = bounds.back(), per_entry = 1;
  for (const LevelStep& step : shape.steps) {
    if (step.kind == Kind::nullable) present = std::min(present, step.number);
    if (step.kind == Kind::fixed) per_entry *= step.number;
  }
  const std::int64_t step = std::max<std::int64_t>(1, kPageSize / std::max<std::int64_t>(1, per_entry * shape.value_size));
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

// Where the way to a leaf stands at an entry: the list that each step with offsets would read next, the next value and
// the next byte of a string.
struct Place {
  std::vector<std::int64_t> lists;
  std::int64_t value = 0, byte = 0;
};

// Walks over all entries, block by block: reads the offsets of a block level by level, then looks at its entries.
class Cutting : public std::enable_shared_from_this<Cutting> {
 public:
  Cutting(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table,
          PageShape shape,
          std::shared_ptr<const std::vector<std::int64_t>> bounds, Reply<LeafPagesPtr> reply)
      : streams_(std::move(streams)),
        table_(std::move(table)),
        shape_(std::move(shape)),
        bounds_(std::move(bounds)),
        reply_(std::move(reply)),
        windows_(shape_.steps.size() + 1),
        next_(windows_.size()) {
    made_->group_begin.push_back(0);
  }

  // The block of entries that follows, or the end.
  void next_block() {
    while (entry_ == (*bounds_)[group_ + 1]) {
      if (++group_ + 1 == bounds_->size()) {
        made_->group_begin.push_back(made_->pages.size());
        return reply_(LeafPagesPtr(made_));
      }
      made_->group_begin.push_back(made_->pages.size());
    }
    begin_block();
  }

 private:
  void begin_block() {
    block_end_ = std::min(entry_ + block_entries_, (*bounds_)[group_ + 1]);
    step_ = 0;
    items_ = {entry_, block_end_};
    load();
  }

  // Follows the block down the steps; where offsets are needed, goes on when they are there. The string's are the last.
  void load() {
    for (; step_ < windows_.size(); ++step_) {
      const bool is_string = step_ == shape_.steps.size();
      if (is_string && !shape_.chars_offsets) break;
      if (is_string || shape_.steps[step_].has_offsets())
        return load_offsets(is_string ? *shape_.chars_offsets : shape_.steps[step_].offsets);
      const LevelStep& step = shape_.steps[step_];
      if (step.kind == Kind::fixed)
        items_ = {items_.begin * step.number, items_.end * step.number};
      else
        items_ = {std::min(items_.begin, step.number), std::min(items_.end, step.number)};
    }
    // Many entries: not on the thread of whoever decoded their offsets, nor on its stack.
    streams_->run_blocking([self = shared_from_this()] { self->look_at_block(); });
  }

  void load_offsets(tfile::ColumnId id) {
    OffsetsWindow& window = windows_[step_];
    window = {items_.begin, {}};
    if (items_.begin == items_.end) {
      items_ = {next_[step_], next_[step_]};
      ++step_;
      return load();
    }
    if (items_.end - items_.begin > kBlockOffsets && block_entries_ > 1) {
      block_entries_ /= 2;
      return begin_block();
    }
    const ColumnRange range = range_of_items(table_->columns[id], items_.begin, items_.end - items_.begin + 1);
    read_whole(*streams_, range, [self = shared_from_this()](Result<Slices> slices) {
      if (!slices) return self->reply_(tl::unexpected<Error>(slices.error()));
      self->take_offsets(*std::move(slices));
    });
  }

  void take_offsets(Slices slices) {
    std::vector<std::int64_t>& offsets = windows_[step_].offsets;
    offsets.resize(slices.size() / sizeof(std::int64_t));
    copy_slices(slices, reinterpret_cast<std::byte*>(offsets.data()));
    slices = {};  // what waits for memory must hold none
    const std::int64_t limit = step_ == shape_.steps.size() ? shape_.chars : shape_.steps[step_].number;
    if (!are_offsets_sound(offsets, limit) || offsets.front() < next_[step_])
      return reply_(tfile::fail(ErrorKind::damaged, "offsets of a list contradict each other"));
    items_ = {offsets.front(), offsets.back()};
    ++step_;
    load();
  }

  void look_at_block() {
    const Levels levels{shape_.steps, windows_};
    for (; entry_ < block_end_; ++entry_) {
      const std::int64_t places = places_of(levels, entry_);
      const Place after = place_at(entry_ + 1);
      const auto size_with = [&] { return (after.value - from_.value) * 4 + after.byte - from_.byte; };
      if (!page_open_) open_page();
      const bool full = page_.places + places > kPlacesMax || (shape_.chars_offsets && size_with() > kPageSize);
      if (full && page_.entries.begin < entry_) {
        if (!close_page()) return;
        open_page();
      }
      page_.places += places;
    }
    if (entry_ == (*bounds_)[group_ + 1] && !close_page()) return;
    for (std::size_t i = 0; i < windows_.size(); ++i)
      if (!windows_[i].offsets.empty()) next_[i] = windows_[i].offsets.back();
    next_block();
  }

  // Only for entries of the block that is loaded, and the one after its last.
  Place place_at(std::int64_t entry) const {
    Place place;
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
        index = step.kind == Kind::fixed ? index * step.number : std::min(index, step.number);
    }
    place.value = index;
    if (shape_.chars_offsets) place.byte = follow(windows_.back(), windows_.size() - 1);
    return place;
  }

  void open_page() {
    page_ = {};
    page_.entries.begin = entry_;
    from_ = place_at(entry_);
    page_open_ = true;
  }

  bool close_page() {
    const Place to = place_at(entry_);
    page_.entries.end = entry_;
    page_.values = {from_.value, to.value};
    page_.chars = {from_.byte, to.byte};
    for (std::size_t i = 0; i < shape_.steps.size(); ++i) page_.lists.push_back({from_.lists[i], to.lists[i]});
    made_->pages.push_back(std::move(page_));
    page_open_ = false;
    if (made_->pages.size() <= kPagesMax) return true;
    reply_(tfile::fail(ErrorKind::unsupported, "too many pages"));
    return false;
  }

  const std::shared_ptr<CachedStreams> streams_;
  const std::shared_ptr<const tfile::Table> table_;
  const PageShape shape_;
  const std::shared_ptr<const std::vector<std::int64_t>> bounds_;
  Reply<LeafPagesPtr> reply_;
  const std::shared_ptr<LeafPages> made_ = std::make_shared<LeafPages>();

  std::size_t group_ = 0;
  std::int64_t entry_ = 0;              // all before it are in pages, or in the one that is open
  bool page_open_ = false;
  Page page_;
  Place from_;                          // where the open page begins

  std::int64_t block_entries_ = kBlockEntries, block_end_ = 0;
  std::size_t step_ = 0;                // that is loaded next
  ItemSpan items_;                      // of the block, at that step
  std::vector<OffsetsWindow> windows_;  // of the block, by step; the last is the string's
  std::vector<std::int64_t> next_;      // by step: where the offsets of the blocks before end
};

}  // namespace

void cut_into_pages(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table,
                    PageShape shape,
                    std::shared_ptr<const std::vector<std::int64_t>> bounds, Reply<LeafPagesPtr> reply) {
  const bool reads = shape.chars_offsets || std::any_of(shape.steps.begin(), shape.steps.end(),
                                                        [](const LevelStep& step) { return step.has_offsets(); });
  if (bounds->size() < 2 || !reads) return reply(cut_evenly(shape, *bounds));
  std::make_shared<Cutting>(std::move(streams), std::move(table), std::move(shape),
                            std::move(bounds), std::move(reply))
      ->next_block();
}

}  // namespace tfilefs
