// SPDX-License-Identifier: Apache-2.0
#include "array/parquet.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <map>

#include "view/column_lengths.h"
#include "view/pages.h"
#include "view/segments.h"
#include "view/table_form.h"
#include "view/view.h"

namespace tfilefs {
namespace {

using tfile::Column;
using tfile::ColumnId;
using tfile::Dtype;
using Kind = TableForm::Kind;
using Type = ParquetElement::Type;
using Meaning = ParquetElement::Meaning;
using Repetition = ParquetElement::Repetition;

// Groups of rows follow the clusters. Readers work on groups in parallel (DuckDB's own have 122,880 rows), and each
// costs some hundred bytes of footer a column: clusters are put together to the first number, and cut at the second.
constexpr std::int64_t kGroupRowsMin = 1 << 18, kGroupRowsMax = 1 << 20;
constexpr std::int64_t kRowsMax = std::int64_t{1} << 40;  // as many groups as can be remembered

// How the values of a leaf are stored in the file.
struct Storage {
  Type type = Type::byte_array;
  Meaning meaning = Meaning::none;
  bool verbatim = false;  // as the column has them
};
Storage storage_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::b1:
      return {Type::boolean, Meaning::none, false};
    case Dtype::i1:
      return {Type::int32, Meaning::int8, false};
    case Dtype::u1:
      return {Type::int32, Meaning::uint8, false};
    case Dtype::i2:
      return {Type::int32, Meaning::int16, false};
    case Dtype::u2:
      return {Type::int32, Meaning::uint16, false};
    case Dtype::i4:
      return {Type::int32, Meaning::none, true};
    case Dtype::u4:
      return {Type::int32, Meaning::uint32, true};
    case Dtype::i8:
      return {Type::int64, Meaning::none, true};
    case Dtype::u8:
      return {Type::int64, Meaning::uint64, true};
    case Dtype::f4:
      return {Type::float32, Meaning::none, true};
    case Dtype::f8:
      return {Type::float64, Meaning::none, true};
  }
  return {};
}

struct Leaf {
  std::vector<std::string> path;
  Storage storage;
  ColumnId values = 0;
  PageShape shape;
  LeafPagesPtr pages;  // null: cannot be shown
};

// The numbers of a column one by one, whatever their shape.
ColumnRange range_of_numbers(const Column& column, ItemSpan numbers) {
  ColumnRange range = range_of_items(column, 0, 0);
  range.offset = static_cast<std::uint64_t>(numbers.begin) * size_of(column.dtype);
  range.size = static_cast<std::uint64_t>(numbers.end - numbers.begin) * size_of(column.dtype);
  return range;
}

// What of a leaf's pages is not in the file already.
class PageTransform : public Transform {
 public:
  PageTransform(std::shared_ptr<const tfile::Table> table, const Leaf& leaf)
      : table_(std::move(table)), leaf_(leaf), column_(table_->columns[leaf.values]) {}

 protected:
  const Page& page(std::uint64_t number) const { return leaf_.pages->pages[number]; }
  ColumnRange offsets_of(ColumnId id, ItemSpan lists) const {
    const bool any = lists.begin < lists.end;
    return range_of_items(table_->columns[id], lists.begin, any ? lists.end - lists.begin + 1 : 0);
  }
  static std::vector<std::int64_t> integers(const std::string& bytes) {
    std::vector<std::int64_t> numbers(bytes.size() / sizeof(std::int64_t));
    if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(std::int64_t));
    return numbers;
  }

  const std::shared_ptr<const tfile::Table> table_;
  const Leaf leaf_;
  const Column& column_;
};

class LevelPages final : public PageTransform {
 public:
  using PageTransform::PageTransform;
  std::vector<ColumnRange> inputs(std::uint64_t number) const override {
    std::vector<ColumnRange> ranges;
    const auto& steps = leaf_.shape.steps;
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (steps[i].has_offsets()) ranges.push_back(offsets_of(steps[i].offsets, page(number).lists[i]));
    return ranges;
  }
  Result<void> make(std::uint64_t number, std::span<const std::string> inputs, std::span<char> to) const override {
    const auto& steps = leaf_.shape.steps;
    const Page& p = page(number);
    std::vector<OffsetsWindow> windows(steps.size());
    for (std::size_t i = 0, input = 0; i < steps.size(); ++i) {
      if (!steps[i].has_offsets()) continue;
      windows[i] = {p.lists[i].begin, integers(inputs[input++])};
      if (!are_offsets_sound(windows[i].offsets, steps[i].number))
        return tfile::fail(ErrorKind::damaged, "offsets of a list contradict each other");
    }
    return write_levels({steps, windows}, p.entries.begin, p.entries.end, p.places, to);
  }
};

// Integers of one or two bytes in four.
class WidePages final : public PageTransform {
 public:
  using PageTransform::PageTransform;
  std::vector<ColumnRange> inputs(std::uint64_t number) const override {
    return {range_of_numbers(column_, page(number).values)};
  }
  Result<void> make(std::uint64_t, std::span<const std::string> inputs, std::span<char> to) const override {
    switch (column_.dtype) {
      case Dtype::i1:
        return widen<std::int8_t>(inputs[0], to);
      case Dtype::u1:
        return widen<std::uint8_t>(inputs[0], to);
      case Dtype::i2:
        return widen<std::int16_t>(inputs[0], to);
      default:
        return widen<std::uint16_t>(inputs[0], to);
    }
  }

 private:
  template <class T>
  static Result<void> widen(const std::string& from, std::span<char> to) {
    for (std::size_t i = 0; i < from.size() / sizeof(T); ++i) {
      T narrow;
      std::memcpy(&narrow, from.data() + i * sizeof narrow, sizeof narrow);
      const std::int32_t wide = narrow;
      std::memcpy(to.data() + i * sizeof wide, &wide, sizeof wide);
    }
    return {};
  }
};

// Booleans as bits, the first in the lowest.
class BitPages final : public PageTransform {
 public:
  using PageTransform::PageTransform;
  std::vector<ColumnRange> inputs(std::uint64_t number) const override {
    return {range_of_numbers(column_, page(number).values)};
  }
  Result<void> make(std::uint64_t, std::span<const std::string> inputs, std::span<char> to) const override {
    for (std::size_t i = 0; i < inputs[0].size(); ++i)
      if (inputs[0][i] != 0) to[i / 8] = static_cast<char>(to[i / 8] | 1 << i % 8);
    return {};
  }
};

// Strings, each behind its size in four bytes.
class StringPages final : public PageTransform {
 public:
  using PageTransform::PageTransform;
  std::vector<ColumnRange> inputs(std::uint64_t number) const override {
    const Page& p = page(number);
    return {offsets_of(*leaf_.shape.chars_offsets, p.values),
            range_of_items(column_, p.chars.begin, p.chars.end - p.chars.begin)};
  }
  Result<void> make(std::uint64_t, std::span<const std::string> inputs, std::span<char> to) const override {
    const std::vector<std::int64_t> offsets = integers(inputs[0]);
    const std::string_view chars = inputs[1];
    char* at = to.data();
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      const std::int64_t begin = offsets[i] - offsets[0], size = offsets[i + 1] - offsets[i];
      if (begin < 0 || size < 0 || begin + size > std::ssize(chars) || to.data() + to.size() - at < size + 4)
        return tfile::fail(ErrorKind::damaged, "strings have other lengths than when they were counted");
      const auto told = static_cast<std::uint32_t>(size);
      std::memcpy(at, &told, sizeof told);
      std::memcpy(at + sizeof told, chars.data() + begin, static_cast<std::size_t>(size));
      at += sizeof told + static_cast<std::size_t>(size);
    }
    return {};
  }
};

std::shared_ptr<const std::vector<std::int64_t>> row_group_bounds(const tfile::Table& table) {
  const std::int64_t rows = std::clamp<std::int64_t>(table.entries, 0, kRowsMax);
  std::vector<std::int64_t> ends = table.clusters;
  ends.push_back(rows);
  auto bounds = std::make_shared<std::vector<std::int64_t>>(1, 0);
  for (const std::int64_t end : ends) {
    if (end <= bounds->back() || end > rows || (end < rows && end - bounds->back() < kGroupRowsMin)) continue;
    while (end - bounds->back() > kGroupRowsMax) bounds->push_back(bounds->back() + kGroupRowsMax);
    bounds->push_back(end);
  }
  return bounds;
}

// Makes a Parquet file's schema and leaves of a table's form.
class LeafFinder {
 public:
  LeafFinder(const tfile::Table& table, const ColumnLengths& lengths) : table_(table), lengths_(lengths) {}

  void find(const std::vector<TableForm>& fields, std::int64_t rows) {
    elements_.push_back({"schema"});
    elements_[0].children = static_cast<std::int32_t>(fields.size());
    for (const TableForm& field : fields) add(field, field.name, rows, {}, {});
  }
  std::vector<ParquetElement> take_elements() { return std::move(elements_); }
  std::vector<Leaf> take_leaves() { return std::move(leaves_); }

 private:
  using Steps = std::vector<LevelStep>;
  using Path = std::vector<std::string>;

  // `rows`: how many items it has to have; those that it does not have are null.
  void add(const TableForm& form, const std::string& name, std::int64_t rows, Steps steps, Path path) {
    path.push_back(name);
    const std::size_t at = elements_.size();
    elements_.push_back({name});
    std::int64_t own = rows;
    if (form.kind != Kind::record) own = std::min(rows, own_length(form, lengths_).value_or(rows));
    if (own < rows) {
      elements_[at].repetition = Repetition::optional;
      steps.push_back({LevelStep::Kind::nullable, 0, own});
    }
    switch (form.kind) {
      case Kind::number:
        return add_numbers(at, table_.columns[form.values], 0, form.values, std::move(steps), std::move(path));
      case Kind::string:
      case Kind::bytes: {
        elements_[at].type = Type::byte_array;
        if (form.kind == Kind::string) elements_[at].meaning = Meaning::utf8;
        Leaf leaf{std::move(path), {}, form.values, {std::move(steps), form.offsets, lengths_[form.values].value_or(0)}, {}};
        leaf.storage.meaning = elements_[at].meaning;
        leaves_.push_back(std::move(leaf));
        return;
      }
      case Kind::list: {
        const std::int64_t items = own_length(form.fields[0], lengths_).value_or(0);
        steps.push_back({LevelStep::Kind::list, form.offsets, items});
        open_list(at, path);
        return add(form.fields[0], "element", items, std::move(steps), std::move(path));
      }
      case Kind::record:
        elements_[at].children = static_cast<std::int32_t>(form.fields.size());
        for (const TableForm& field : form.fields) add(field, field.name, rows, steps, path);
    }
  }

  void open_list(std::size_t at, Path& path) {
    elements_[at].meaning = Meaning::list;
    elements_[at].children = 1;
    ParquetElement repeated{"list"};
    repeated.repetition = Repetition::repeated;
    repeated.children = 1;
    elements_.push_back(std::move(repeated));
    path.push_back("list");
  }

  void add_numbers(std::size_t at, const Column& column, std::size_t dimension, ColumnId id, Steps steps, Path path) {
    if (dimension < column.shape.size()) {
      steps.push_back({LevelStep::Kind::fixed, 0, column.shape[dimension]});
      open_list(at, path);
      const std::size_t item = elements_.size();
      elements_.push_back({"element"});
      path.push_back("element");
      return add_numbers(item, column, dimension + 1, id, std::move(steps), std::move(path));
    }
    Leaf leaf{std::move(path), storage_of(column.dtype), id, {std::move(steps), {}, 0, 1}, {}};
    const bool has_lists = std::any_of(leaf.shape.steps.begin(), leaf.shape.steps.end(),
                                       [](const LevelStep& step) { return step.has_offsets(); });
    if (!has_lists) leaf.shape.value_size = static_cast<std::int64_t>(std::max<std::size_t>(4, size_of(column.dtype)));
    elements_[at].type = leaf.storage.type;
    elements_[at].meaning = leaf.storage.meaning;
    leaves_.push_back(std::move(leaf));
  }

  const tfile::Table& table_;
  const ColumnLengths& lengths_;
  std::vector<ParquetElement> elements_;
  std::vector<Leaf> leaves_;
};

// Makes the view: finds the leaves, cuts them into pages (those with lists need their offsets read), lays them out.
class Making : public std::enable_shared_from_this<Making> {
 public:
  Making(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table, ColumnLengths lengths,
         Reply<std::shared_ptr<Content>> reply)
      : streams_(std::move(streams)),
        table_(std::move(table)),
        lengths_(std::move(lengths)),
        bounds_(row_group_bounds(*table_)),
        reply_(std::move(reply)) {}

  void start() {
    if (table_->entries > kRowsMax)
      return reply_(tfile::fail(ErrorKind::unsupported, "too many entries for Parquet", -1, ENOENT));
    LeafFinder finder(*table_, lengths_);
    finder.find(table_form(*table_).fields, bounds_->back());
    file_.elements = finder.take_elements();
    leaves_ = finder.take_leaves();
    std::map<PageShape, std::size_t> known;
    for (const Leaf& leaf : leaves_) {
      const auto [shape, is_new] = known.try_emplace(leaf.shape, shapes_.size());
      if (is_new) shapes_.push_back(leaf.shape);
      shape_of_.push_back(shape->second);
    }
    cut_.resize(shapes_.size());
    left_ = shapes_.size() + 1;
    for (std::size_t i = 0; i < kCutAtOnce; ++i) cut_next();
    one_is_cut();
  }

 private:
  // So many readers of offsets share the cache's look-ahead.
  static constexpr std::size_t kCutAtOnce = 4;

  void cut_next() {
    const std::size_t i = next_++;
    if (i >= shapes_.size()) return;
    cut_into_pages(streams_, table_, shapes_[i], bounds_, [self = shared_from_this(), i](Result<LeafPagesPtr> pages) {
      self->cut_[i] = std::move(pages);
      // On another thread: what is cut at once would else come back deeper and deeper in the stack.
      self->streams_->run_blocking([self] {
        self->cut_next();
        self->one_is_cut();
      });
    });
  }

  void one_is_cut() {
    if (--left_ > 0) return;
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      const Result<LeafPagesPtr>& pages = cut_[shape_of_[i]];
      if (!pages) return reply_(tl::unexpected<Error>(pages.error()));
      leaves_[i].pages = *pages;
    }
    if (auto done = lay_out(); !done) return reply_(tl::unexpected<Error>(std::move(done).error()));
    reply_(segment_content(streams_, std::move(segments_)));
  }

  Result<void> lay_out() {
    segments_.add_bytes(kParquetMagic);
    for (const Leaf& leaf : leaves_) {
      file_.types.push_back(leaf.storage.type);
      file_.paths.push_back(leaf.path);
      levels_.push_back(segments_.add_transform(std::make_shared<LevelPages>(table_, leaf)));
      values_.push_back(leaf.storage.verbatim ? 0 : segments_.add_transform(values_of(leaf)));
    }
    for (std::size_t group = 0; group + 1 < bounds_->size(); ++group) {
      ParquetRowGroup& told = file_.groups.emplace_back();
      told.rows = (*bounds_)[group + 1] - (*bounds_)[group];
      for (std::uint32_t i = 0; i < leaves_.size(); ++i) {
        TRY(const ParquetChunk chunk, add_chunk(i, group));
        told.chunks.push_back(chunk);
      }
    }
    file_.rows = bounds_->back();
    segments_.add_bytes(parquet_tail(file_));
    if (segments_.is_too_large()) return tfile::fail(ErrorKind::unsupported, "the columns together exceed any file");
    return {};
  }

  std::shared_ptr<const Transform> values_of(const Leaf& leaf) const {
    if (leaf.storage.type == Type::byte_array) return std::make_shared<StringPages>(table_, leaf);
    if (leaf.storage.type == Type::boolean) return std::make_shared<BitPages>(table_, leaf);
    return std::make_shared<WidePages>(table_, leaf);
  }

  Result<ParquetChunk> add_chunk(std::uint32_t i, std::size_t group) {
    const LeafPages& pages = *leaves_[i].pages;
    ParquetChunk chunk;
    chunk.leaf = i;
    chunk.offset = static_cast<std::int64_t>(segments_.size());
    for (std::size_t p = pages.group_begin[group]; p < pages.group_begin[group + 1]; ++p) {
      TRY_VOID(add_page(i, p));
      chunk.values += pages.pages[p].places;
    }
    chunk.size = static_cast<std::int64_t>(segments_.size()) - chunk.offset;
    return chunk;
  }

  Result<void> add_page(std::uint32_t i, std::size_t number) {
    const Leaf& leaf = leaves_[i];
    const Page& page = leaf.pages->pages[number];
    constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
    const std::int64_t count = page.values.end - page.values.begin;
    const std::int64_t bytes = leaf.storage.type == Type::byte_array ? count * 4 + page.chars.end - page.chars.begin : count;
    if (page.places > kMax / 16 || bytes > kMax / 2)
      return tfile::fail(ErrorKind::unsupported, "an entry is too large for a page of Parquet");
    const std::uint64_t levels = levels_size(leaf.shape.steps, page.places), values = value_bytes(leaf, page);
    segments_.add_bytes(
        parquet_page_header(static_cast<std::int32_t>(page.places), static_cast<std::int32_t>(levels + values)));
    segments_.add_piece(levels_[i], number, levels);
    if (leaf.storage.verbatim)
      segments_.add_column(range_of_numbers(table_->columns[leaf.values], page.values));
    else
      segments_.add_piece(values_[i], number, values);
    return {};
  }

  std::uint64_t value_bytes(const Leaf& leaf, const Page& page) const {
    const auto count = static_cast<std::uint64_t>(page.values.end - page.values.begin);
    switch (leaf.storage.type) {
      case Type::boolean:
        return (count + 7) / 8;
      case Type::byte_array:
        return count * 4 + static_cast<std::uint64_t>(page.chars.end - page.chars.begin);
      default:
        return count * std::max<std::size_t>(4, size_of(table_->columns[leaf.values].dtype));
    }
  }

  const std::shared_ptr<CachedStreams> streams_;
  const std::shared_ptr<const tfile::Table> table_;
  const ColumnLengths lengths_;
  const std::shared_ptr<const std::vector<std::int64_t>> bounds_;
  Reply<std::shared_ptr<Content>> reply_;

  ParquetFile file_;
  std::vector<Leaf> leaves_;
  std::vector<PageShape> shapes_;
  std::vector<std::size_t> shape_of_;      // by leaf
  std::vector<Result<LeafPagesPtr>> cut_;  // by shape
  std::atomic<std::size_t> next_ = 0, left_ = 0;

  Segments segments_;
  std::vector<std::uint32_t> levels_, values_;  // transforms, by leaf
};

}  // namespace

void parquet_content(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table,
                     Reply<std::shared_ptr<Content>> reply) {
  auto shared = std::make_shared<Reply<std::shared_ptr<Content>>>(std::move(reply));
  column_lengths(streams, table, true, [streams, table, shared](Result<ColumnLengths> lengths) {
    if (!lengths) return (*shared)(tl::unexpected<Error>(lengths.error()));
    streams->run_blocking([streams, table, shared, lengths = *std::move(lengths)] {
      std::make_shared<Making>(streams, table, lengths, std::move(*shared))->start();
    });
  });
}

}  // namespace tfilefs
