// SPDX-License-Identifier: Apache-2.0
#include "view/parquet_leaves.h"

#include <algorithm>
#include <limits>

namespace tfilefs {
namespace {

using Kind = TableForm::Kind;
using Type = ParquetElement::Type;
using Meaning = ParquetElement::Meaning;
using Repetition = ParquetElement::Repetition;

// How the file stores the values of a leaf.
struct Storage {
  Type type = Type::byte_array;
  Meaning meaning = Meaning::none;
  bool verbatim = false;  // as in the column
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

// Makes the schema and the leaves of a Parquet file from a table's form.
class LeafFinder {
 public:
  LeafFinder(const tfile::Table& table, const ColumnLengths& lengths) : table_(table), lengths_(lengths) {}

  void find(const std::vector<TableForm>& fields, std::int64_t rows);
  ParquetLeaves take() { return {std::move(elements_), std::move(leaves_)}; }

 private:
  using Steps = std::vector<LevelStep>;
  using Path = std::vector<std::string>;

  // `rows`: how many items it must have; those that it lacks are null. `optional`: the last step is the item itself,
  // which may be null.
  void add(const TableForm& form, const std::string& name, std::int64_t rows, Steps steps, Path path, bool optional);
  void add_bytes(std::size_t at, const TableForm& form, Steps steps, Path path);
  void open_list(std::size_t at, Path& path);
  void add_numbers(std::size_t at, const Column& column, std::size_t dimension, ColumnId id, Steps steps, Path path);
  void add_leaf(ParquetLeaf leaf, std::size_t value_size);

  // Parquet has no timestamps of seconds. One that may be missing anyway shares that level.
  void add_dates(std::size_t at, const TableForm& form, Steps steps, Path path);

  const tfile::Table& table_;
  const ColumnLengths& lengths_;
  std::vector<ParquetElement> elements_;
  std::vector<ParquetLeaf> leaves_;
};

void LeafFinder::find(const std::vector<TableForm>& fields, std::int64_t rows) {
  elements_.push_back({"schema"});
  elements_[0].children = static_cast<std::int32_t>(fields.size());
  for (const TableForm& field : fields) add(field, field.name, rows, {}, {}, false);
}

void LeafFinder::add(const TableForm& form, const std::string& name, std::int64_t rows, Steps steps, Path path,
                     bool optional) {
  const std::int64_t own = form.is_record() ? rows : std::min(rows, own_length(form, lengths_).value_or(rows));
  if (form.is_nullable() && own == rows) {
    // A value that is missing and one that holds a missing value are both null.
    if (optional) steps.back().with_next = true;
    const std::int64_t items = own_length(form.fields[0], lengths_).value_or(0);
    steps.push_back({LevelStep::Kind::optional, form.offsets, items});
    return add(form.fields[0], name, items, std::move(steps), std::move(path), true);
  }
  path.push_back(name);
  const std::size_t at = elements_.size();
  elements_.push_back({name});
  if (optional || own < rows) elements_[at].repetition = Repetition::optional;
  if (own < rows) steps.push_back({LevelStep::Kind::nullable, 0, own});
  if (form.is_date()) return add_dates(at, form, std::move(steps), std::move(path));
  switch (form.kind) {
    case Kind::number:
      return add_numbers(at, table_.columns[form.values], 0, form.values, std::move(steps), std::move(path));
    case Kind::string:
    case Kind::bytes:
      return add_bytes(at, form, std::move(steps), std::move(path));
    case Kind::list: {
      const std::int64_t items = own_length(form.fields[0], lengths_).value_or(0);
      steps.push_back({LevelStep::Kind::list, form.offsets, items});
      open_list(at, path);
      return add(form.fields[0], "element", items, std::move(steps), std::move(path), false);
    }
    case Kind::variant:
    case Kind::record:
      elements_[at].children = static_cast<std::int32_t>(form.fields.size());
      for (const TableForm& field : form.fields) add(field, field.name, rows, steps, path, false);
  }
}

void LeafFinder::add_bytes(std::size_t at, const TableForm& form, Steps steps, Path path) {
  elements_[at].type = Type::byte_array;
  if (form.kind == Kind::string) elements_[at].meaning = Meaning::utf8;
  PageShape pages{std::move(steps), form.offsets, lengths_[form.values].value_or(0)};
  leaves_.push_back({std::move(path), Type::byte_array, false, form.values, {}, {}, std::move(pages), {}});
}

void LeafFinder::open_list(std::size_t at, Path& path) {
  elements_[at].meaning = Meaning::list;
  elements_[at].children = 1;
  ParquetElement repeated{"list"};
  repeated.repetition = Repetition::repeated;
  repeated.children = 1;
  elements_.push_back(std::move(repeated));
  path.push_back("list");
}

void LeafFinder::add_numbers(std::size_t at, const Column& column, std::size_t dimension, ColumnId id, Steps steps,
                             Path path) {
  if (dimension < column.shape.size()) {
    steps.push_back({LevelStep::Kind::fixed, 0, column.shape[dimension]});
    open_list(at, path);
    const std::size_t item = elements_.size();
    elements_.push_back({"element"});
    path.push_back("element");
    return add_numbers(item, column, dimension + 1, id, std::move(steps), std::move(path));
  }
  const Storage storage = storage_of(column.dtype);
  elements_[at].type = storage.type;
  elements_[at].meaning = storage.meaning;
  ParquetLeaf leaf{std::move(path), storage.type, storage.verbatim, id, {}, {}, {std::move(steps), {}, 0, 1}, {}};
  add_leaf(std::move(leaf), std::max<std::size_t>(4, size_of(column.dtype)));
}

void LeafFinder::add_leaf(ParquetLeaf leaf, std::size_t value_size) {
  const bool has_lists = std::any_of(leaf.shape.steps.begin(), leaf.shape.steps.end(),
                                     [](const LevelStep& step) { return step.has_offsets(); });
  if (!has_lists) leaf.shape.value_size = static_cast<std::int64_t>(value_size);
  leaves_.push_back(std::move(leaf));
}

void LeafFinder::add_dates(std::size_t at, const TableForm& form, Steps steps, Path path) {
  elements_[at].type = Type::int64;
  elements_[at].meaning = form.date == tfile::DateKind::datime ? Meaning::milliseconds : Meaning::nanoseconds;
  if (form.no_dates > 0) {
    if (elements_[at].repetition == Repetition::optional) steps.back().with_next = true;
    elements_[at].repetition = Repetition::optional;
    steps.push_back({LevelStep::Kind::date, 0, std::numeric_limits<std::int64_t>::max()});
  }
  const std::vector<ColumnId> columns = date_columns(form);
  add_leaf({std::move(path), Type::int64, false, columns[0], columns, form.date, {std::move(steps), {}, 0, 1}, {}}, 8);
}

}  // namespace

ParquetLeaves parquet_leaves(const tfile::Table& table, const TableForm& form, const ColumnLengths& lengths,
                             std::int64_t rows) {
  LeafFinder finder(table, lengths);
  finder.find(form.fields, rows);
  return finder.take();
}

}  // namespace tfilefs
