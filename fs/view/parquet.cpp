// SPDX-License-Identifier: Apache-2.0
#include "array/parquet.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "exec/answering.h"
#include "exec/when_all.h"
#include "on_behalf.h"
#include "view/column_lengths.h"
#include "view/columnar_form.h"
#include "view/pages.h"
#include "view/parquet_leaves.h"
#include "view/row_groups.h"
#include "view/segments.h"
#include "view/view.h"

namespace tfilefs {
namespace {

using Type = ParquetElement::Type;

// Most rows without any value: a table may claim such rows without storing a byte. Some hundred groups.
constexpr std::int64_t kBlankRowsMax = 1 << 28;

// The number of rows that have a value in some column.
std::int64_t rows_held(const std::vector<ParquetLeaf>& leaves, std::int64_t rows) {
  std::int64_t held = 0;
  for (const ParquetLeaf& leaf : leaves) {
    const auto& steps = leaf.shape.steps;
    const bool is_short = !steps.empty() && steps[0].kind == LevelStep::Kind::nullable;
    held = std::max(held, is_short ? steps[0].number : rows);
  }
  return held;
}

// The number of rows that the files of these columns can hold, whatever their baskets claim. No codec expands a byte
// more than that (zstd reaches 40,000 with a repeated byte), and each byte belongs to at most one row.
constexpr std::uint64_t kRowsPerStoredByte = 1 << 16;

std::int64_t rows_possible(const CachedStreams& streams, const tfile::Table& table,
                           const std::vector<ParquetLeaf>& leaves) {
  std::set<tfile::ColumnId> columns;
  for (const ParquetLeaf& leaf : leaves) {
    columns.insert(leaf.values);
    columns.insert(leaf.dates.begin(), leaf.dates.end());
    for (const LevelStep& step : leaf.shape.steps)
      if (step.has_offsets()) columns.insert(step.offsets);
  }
  const std::uint64_t bytes =
      std::min(source_bytes(streams, table, columns), (std::uint64_t{1} << 62) / kRowsPerStoredByte);
  return static_cast<std::int64_t>(bytes * kRowsPerStoredByte);
}

// A program that opens the file reads its end first: pyarrow kFooterLook bytes, DuckDB four times that. There must be
// no bytes of columns there, which would have to be decoded, or might be damaged. So zeros stand in front of the
// footer, more of them in a large file. The size of the file does not depend on the ranges that are known: there is
// room for those of all chunks.
constexpr std::uint64_t kFooterLook = 64 << 10, kFooterLookMax = 256 << 10, kLookShare = 1250;
constexpr std::uint64_t kKnownRangeMax = 22;  // bytes of a range in the footer

// A value of a range as the file stores it; of integers of any width it is in the lowest bytes.
std::string plain_bytes(Type type, std::uint64_t value) {
  std::string bytes(sizeof value, 0);
  std::memcpy(bytes.data(), &value, sizeof value);
  if (type == Type::float32) {
    const auto narrow = static_cast<float>(std::bit_cast<double>(value));
    std::memcpy(bytes.data(), &narrow, sizeof narrow);
  }
  if (type == Type::float32 || type == Type::int32) bytes.resize(4);
  if (type == Type::boolean) bytes.resize(1);
  return bytes;
}

// Pages, by shape.
using CutShapes = std::vector<Result<LeafPagesPtr>>;

// Makes the view: finds the leaves, and lays out the pages that they are cut into.
class ParquetMaker {
 public:
  ParquetMaker(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table, ColumnarForm shown,
               RangesByColumnPtr ranges);
  Result<void> find_leaves();

  // The shapes of the leaves that wait for their pages; those of one shape are cut together.
  const std::vector<PageShape>& shapes();
  void cut(const PageShape& shape, Reply<LeafPagesPtr> reply) const;

  // Whether leaves still wait: where a counter has impossible values, the lists' own offsets are used.
  Result<bool> take(const CutShapes& cut);
  Result<std::shared_ptr<Content>> content();

  CachedStreams& streams() const { return *streams_; }

 private:
  // A list of counted arrays is cut by its counter: one short column serves all arrays that it counts.
  PageShape shape_to_cut(std::uint32_t leaf) const;
  Result<void> lay_out();

  // The first leaf stays in front. Spark computes the middle of a group as the place of its first chunk plus half the
  // size of the group, and skips a group whose middle is not within the file.
  std::vector<std::uint32_t> largest_first() const;
  Result<ParquetChunk> add_chunk(std::uint32_t i, std::size_t group);

  // The smallest and largest value of a counter, known from cutting its lists, or of what was read before.
  void note_range(ParquetChunk& chunk, const ParquetLeaf& leaf, std::size_t group);
  const ValueRange* known_range(const ParquetLeaf& leaf, std::size_t group) const;
  Result<void> add_page(std::uint32_t i, std::size_t number);

  // The size of such a page is not known; one byte per place is taken.
  void add_unreadable(const Page& page);
  Result<void> add_tail();

  const std::shared_ptr<CachedStreams> streams_;
  const std::shared_ptr<const tfile::Table> table_;
  const TableForm form_;
  const ColumnLengths lengths_;
  const std::shared_ptr<const std::vector<std::int64_t>> bounds_;
  const RangesByColumnPtr ranges_;

  ParquetFile file_;
  std::uint64_t known_size_ = 0;  // bytes of the footer that ranges_ takes
  std::uint64_t build_id_ = 0;    // Content::build_id()
  std::vector<ParquetLeaf> leaves_;
  std::map<ColumnId, LeafPagesPtr> pages_by_counter_;

  std::vector<std::uint32_t> waiting_;  // leaves that are being cut
  std::vector<PageShape> shapes_;       // their shapes
  std::vector<std::size_t> shape_of_;   // as waiting_: the index of the shape
  bool cuts_by_counters_ = true;

  Segments segments_;
  std::vector<std::uint32_t> levels_, values_;  // transforms, by leaf
};

ParquetMaker::ParquetMaker(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table,
                           ColumnarForm shown, RangesByColumnPtr ranges)
    : streams_(std::move(streams)),
      table_(std::move(table)),
      form_(std::move(shown.form)),
      lengths_(std::move(shown.lengths)),
      bounds_(row_group_bounds(*table_)),
      ranges_(std::move(ranges)) {}

Result<void> ParquetMaker::find_leaves() {
  if (table_->entries > kParquetRowsMax) return no_such_view("too many entries for Parquet");
  ParquetLeaves found = parquet_leaves(*table_, form_, lengths_, bounds_->back());
  file_.elements = std::move(found.elements);
  leaves_ = std::move(found.leaves);
  const std::int64_t held = std::min(rows_held(leaves_, table_->entries), rows_possible(*streams_, *table_, leaves_));
  if (table_->entries - held > kBlankRowsMax)
    return no_such_view("the table claims far more entries than its branches have");
  for (std::uint32_t i = 0; i < leaves_.size(); ++i) waiting_.push_back(i);
  return {};
}

const std::vector<PageShape>& ParquetMaker::shapes() {
  std::map<PageShape, std::size_t> known;
  shapes_.clear();
  shape_of_.clear();
  for (const std::uint32_t leaf : waiting_) {
    const auto [shape, is_new] = known.try_emplace(shape_to_cut(leaf), shapes_.size());
    if (is_new) shapes_.push_back(shape->first);
    shape_of_.push_back(shape->second);
  }
  return shapes_;
}

void ParquetMaker::cut(const PageShape& shape, Reply<LeafPagesPtr> reply) const {
  cut_into_pages(streams_, table_, shape, bounds_, std::move(reply));
}

Result<bool> ParquetMaker::take(const CutShapes& cut) {
  std::vector<std::uint32_t> again;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    const Result<LeafPagesPtr>& pages = cut[shape_of_[i]];
    const auto& steps = shapes_[shape_of_[i]].steps;
    const auto counted = std::find_if(steps.begin(), steps.end(), [](const LevelStep& s) { return s.is_counted; });
    if (!pages && counted == steps.end()) return tl::unexpected<Error>(pages.error());
    if (!pages) {
      again.push_back(waiting_[i]);
      continue;
    }
    leaves_[waiting_[i]].pages = *pages;
    if (counted != steps.end()) pages_by_counter_[counted->offsets] = *pages;
  }
  waiting_ = std::move(again);
  cuts_by_counters_ = false;
  return !waiting_.empty();
}

Result<std::shared_ptr<Content>> ParquetMaker::content() {
  TRY_VOID(lay_out());
  return segment_content(streams_, std::move(segments_), false, build_id_);
}

PageShape ParquetMaker::shape_to_cut(std::uint32_t leaf) const {
  PageShape shape = leaves_[leaf].shape;
  const auto list =
      std::find_if(shape.steps.begin(), shape.steps.end(), [](const LevelStep& s) { return s.has_offsets(); });
  if (!cuts_by_counters_ || list == shape.steps.end() || list->kind != LevelStep::Kind::list) return shape;
  if (const auto counter = table_->columns[list->offsets].counter) {
    list->is_counted = true;
    list->offsets = *counter;
  }
  return shape;
}

Result<void> ParquetMaker::lay_out() {
  segments_.add_bytes(kParquetMagic);
  for (ParquetLeaf& leaf : leaves_) {
    file_.types.push_back(leaf.type);
    file_.paths.push_back(std::move(leaf.path));  // the transforms below have a copy of the rest
    levels_.push_back(segments_.add_transform(parquet_levels(table_, leaf)));
    values_.push_back(leaf.verbatim ? 0 : segments_.add_transform(parquet_values(table_, leaf)));
  }
  file_.groups.resize(bounds_->size() - 1);
  for (std::size_t group = 0; group < file_.groups.size(); ++group)
    file_.groups[group].rows = (*bounds_)[group + 1] - (*bounds_)[group];
  for (ParquetRowGroup& group : file_.groups) group.chunks.resize(leaves_.size());
  // The groups of a leaf lie together, so that the kernel's read-ahead for a reader of one column reads that column.
  // Leaves are sorted by size, so that what it reads beyond the column, and what readers look at before the footer,
  // is a smaller column.
  for (const std::uint32_t leaf : largest_first()) {
    const std::uint64_t begin = segments_.size();
    for (std::size_t group = 0; group < file_.groups.size(); ++group) {
      TRY(file_.groups[group].chunks[leaf], add_chunk(leaf, group));
    }
    segments_.end_of_column(begin);
  }
  return add_tail();
}

Result<void> ParquetMaker::add_tail() {
  segments_.align(kMemoryPage);
  file_.rows = bounds_->back();
  const std::string tail = parquet_tail(file_);
  const std::uint64_t most = tail.size() - known_size_ + file_.groups.size() * leaves_.size() * kKnownRangeMax;
  const std::uint64_t room = std::max(most, std::clamp(segments_.size() / kLookShare, kFooterLook, kFooterLookMax));
  segments_.add_fill(0, room - tail.size());
  segments_.add_bytes(tail);
  if (known_size_ > 0) build_id_ = std::hash<std::string>()(tail);
  if (segments_.is_too_large()) return tfile::fail(ErrorKind::unsupported, "the columns exceed the maximum file size");
  return {};
}

std::vector<std::uint32_t> ParquetMaker::largest_first() const {
  std::vector<std::uint64_t> sizes(leaves_.size(), 0);
  std::vector<std::uint32_t> order(leaves_.size());
  for (std::uint32_t i = 0; i < leaves_.size(); ++i) {
    order[i] = i;
    for (const Page& page : leaves_[i].pages->pages) sizes[i] += parquet_values_size(*table_, leaves_[i], page);
  }
  if (!order.empty())
    std::stable_sort(order.begin() + 1, order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return sizes[a] > sizes[b]; });
  return order;
}

Result<ParquetChunk> ParquetMaker::add_chunk(std::uint32_t i, std::size_t group) {
  const ParquetLeaf& leaf = leaves_[i];
  ParquetChunk chunk;
  chunk.leaf = i;
  chunk.offset = static_cast<std::int64_t>(segments_.size());
  std::int64_t values = 0;
  bool has_errors = false;
  bool is_known = std::none_of(leaf.shape.steps.begin(), leaf.shape.steps.end(),
                               [](const LevelStep& s) { return s.repeats() || s.kind == LevelStep::Kind::date; });
  for (std::size_t p = leaf.pages->group_begin[group]; p < leaf.pages->group_begin[group + 1]; ++p) {
    const Page& page = leaf.pages->pages[p];
    TRY_VOID(add_page(i, p));
    chunk.values += page.places;
    values += page.values.end - page.values.begin;
    has_errors = has_errors || page.error;
  }
  chunk.size = static_cast<std::int64_t>(segments_.size()) - chunk.offset;
  if (is_known && !has_errors) chunk.nulls = chunk.values - values;
  if (!has_errors) note_range(chunk, leaf, group);
  return chunk;
}

void ParquetMaker::note_range(ParquetChunk& chunk, const ParquetLeaf& leaf, std::size_t group) {
  const auto of_counter = pages_by_counter_.find(leaf.values);
  if (of_counter != pages_by_counter_.end() && chunk.nulls >= 0) {
    const ItemSpan& counts = of_counter->second->counts[group];
    chunk.min = plain_bytes(leaf.type, static_cast<std::uint64_t>(counts.begin));
    chunk.max = plain_bytes(leaf.type, static_cast<std::uint64_t>(counts.end));
  } else if (const ValueRange* range = known_range(leaf, group)) {
    chunk.min = plain_bytes(leaf.type, range->least);
    chunk.max = plain_bytes(leaf.type, range->most);
    known_size_ += parquet_range_size(chunk);
  }
}

// The range of exactly the values that are in the chunk.
const ValueRange* ParquetMaker::known_range(const ParquetLeaf& leaf, std::size_t group) const {
  if (!ranges_ || leaf.type == Type::byte_array || !leaf.dates.empty()) return nullptr;
  const Column& column = table_->columns[leaf.values];
  const auto found = ranges_->find({column.stream, column.slot});
  if (found == ranges_->end() || group >= found->second.groups.size()) return nullptr;
  const GroupRanges& known = found->second;
  const LeafPages& pages = *leaf.pages;
  const ItemSpan values{pages.pages[pages.group_begin[group]].values.begin,
                        pages.pages[pages.group_begin[group + 1] - 1].values.end};
  const bool is_same = values.begin == known.bounds[group] && values.end == known.bounds[group + 1];
  return is_same && known.groups[group].is_known ? &known.groups[group] : nullptr;
}

Result<void> ParquetMaker::add_page(std::uint32_t i, std::size_t number) {
  const ParquetLeaf& leaf = leaves_[i];
  const Page& page = leaf.pages->pages[number];
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  const std::int64_t count = page.values.end - page.values.begin;
  const std::int64_t bytes = leaf.type == Type::byte_array ? count * 4 + page.chars.end - page.chars.begin : count;
  if (page.places > kMax / 16 || bytes > kMax / 2)
    return tfile::fail(ErrorKind::unsupported, "an entry is too large for a page of Parquet");
  if (page.error) return add_unreadable(page), Result<void>();
  const std::uint64_t levels = levels_size(leaf.shape.steps, page.places);
  const std::uint64_t values = parquet_values_size(*table_, leaf, page);
  segments_.add_bytes(
      parquet_page_header(static_cast<std::int32_t>(page.places), static_cast<std::int32_t>(levels + values)));
  segments_.add_piece(levels_[i], number, levels);
  if (leaf.verbatim)
    segments_.add_column(range_of_numbers(table_->columns[leaf.values], page.values));
  else
    segments_.add_piece(values_[i], number, values);
  return {};
}

void ParquetMaker::add_unreadable(const Page& page) {
  const auto size = static_cast<std::int32_t>(page.places);
  segments_.add_bytes(parquet_page_header(size, size));
  segments_.add_piece(segments_.add_transform(unreadable_page(page.error)), 0, static_cast<std::uint64_t>(size));
}

// This many readers of offsets share the cache's look-ahead.
constexpr std::size_t kCutAtOnce = 4;

// Cuts the leaves that wait into pages, which reads the offsets of those with lists, and makes the content.
void cut_leaves(const std::shared_ptr<ParquetMaker>& maker, Reply<std::shared_ptr<Content>> reply) {
  const std::vector<PageShape>& shapes = maker->shapes();
  auto cut = [maker, &shapes](std::size_t i, CutShapes& made, Reply<void> answer) {
    auto take = [&of_shape = made[i]](Result<LeafPagesPtr> pages, Reply<void> done) {
      of_shape = std::move(pages);
      done({});
    };
    maker->cut(shapes[i], on_behalf_of<LeafPagesPtr>(std::move(answer), std::move(take)));
  };
  // Thousands of columns may be laid out: not on the thread that delivered the last offsets.
  auto take = [maker](CutShapes made, Reply<std::shared_ptr<Content>> answer) {
    auto job = [maker, made = std::move(made)] { return maker->take(made); };
    auto go_on = [maker](bool is_more, Reply<std::shared_ptr<Content>> done) {
      if (is_more) return cut_leaves(maker, std::move(done));
      done(maker->content());
    };
    maker->streams().run_view_job(answering(std::move(job), value_for<bool>(std::move(answer), std::move(go_on))));
  };
  when_all(shapes.size(), kCutAtOnce, CutShapes(shapes.size()), std::move(cut),
           value_for<CutShapes>(std::move(reply), std::move(take)));
}

}  // namespace

void parquet_content(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table,
                     StringsAs strings, RangesByColumnPtr ranges, Reply<std::shared_ptr<Content>> reply) {
  auto make = [streams, table, ranges = std::move(ranges)](ColumnarForm shown, Reply<std::shared_ptr<Content>> done) {
    const auto maker = std::make_shared<ParquetMaker>(streams, table, std::move(shown), ranges);
    if (auto found = maker->find_leaves(); !found) return done(tl::unexpected<Error>(std::move(found).error()));
    cut_leaves(maker, std::move(done));
  };
  columnar_form(streams, table, strings, value_for<ColumnarForm>(std::move(reply), std::move(make)));
}

}  // namespace tfilefs
