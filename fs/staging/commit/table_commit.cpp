// SPDX-License-Identifier: Apache-2.0
#include "staging/commit/table_commit.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tfilefs {

namespace {

// Most bytes in memory between staging and file: enough for all cores to compress parts while others are written, and
// little compared with the smallest budgets.
constexpr std::uint64_t kInFlightMax = 16 << 20;

// The bytes of columns, of all fields together and of each, that are encoded to find out how large entries are.
constexpr double kSampleBytesAll = 8 << 20, kSampleBytesMin = 8 << 10, kSampleBytesMax = 256 << 10;

// The staged bytes of fields, which stay where they are.
PartSource source_of(const std::vector<FieldColumns>& fields) {
  PartSource source;
  source.open = [&](std::size_t field, std::int64_t) { return staged_items(fields[field]); };
  source.sample_bytes =
      std::clamp(kSampleBytesAll / static_cast<double>(fields.size()), kSampleBytesMin, kSampleBytesMax);
  source.under_way_max = kInFlightMax;
  return source;
}

}  // namespace

TableCommit::TableCommit(tfile::TableWriter* writer)
    : writer_(writer),
      columns_(writer->committed_form().columns),
      committed_{writer->format(), writer->committed_form(), writer->committed_entries(), {}} {
  forms_ = writer->committed_form().fields;
  fields_.assign(forms_.size(), {.entries = writer->committed_entries()});
}

void TableCommit::note_commit() {
  committed_.form.columns = columns_;
  committed_.form.fields.clear();
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].dropped) continue;
    if (committed_.form.reason.empty()) committed_.form.fields.push_back(forms_[i]);
    committed_.entries = std::max(committed_.entries, fields_[i].entries);
  }
}

Result<> TableCommit::drop_field(const std::string& name) {
  TRY_VOID(writer_->drop_field(name));
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].dropped || forms_[i].name != name) continue;
    fields_[i].dropped = true;
    // If a column is added there again, it is a new one.
    for (const std::uint32_t column : forms_[i].columns) columns_[column].path.clear();
  }
  return {};
}

Result<std::int64_t> TableCommit::write(const StagedTable& staged, std::int64_t entries, bool whole,
                                        const PartSink& sink) {
  TRY_VOID(add_fields(staged));
  std::int64_t begin = entries;
  for (const BuiltField& field : fields_) begin = field.dropped ? begin : std::min(begin, field.entries);
  const std::vector<FieldColumns> columns = columns_of(staged);
  TableBuild build{*writer_, fields_, sink, source_of(columns)};
  const bool first = cluster_entries_ == 0;
  if (begin < entries) {
    TRY(const std::int64_t sized, size_clusters(build, {begin, entries}));
    if (first) cluster_entries_ = sized;
  }
  // If it is cut while it is still written, there are the bytes of more than one cluster, but they may compress to
  // less.
  if (first && !whole) cluster_entries_ = std::min(cluster_entries_, std::max<std::int64_t>(1, entries - begin));
  const auto end_of = [&](std::int64_t at) { return end_of_cluster(at, entries, whole); };
  TRY(const std::int64_t end, write_clusters(build, {begin, entries}, cluster_entries_, end_of));
  TRY_VOID(sink.file->flush());
  return end;
}

std::int64_t TableCommit::end_of_cluster(std::int64_t begin, std::int64_t entries, bool whole) const {
  if (const auto given = writer_->end_of_cluster(begin)) return *given;
  const std::int64_t end = begin + cluster_entries_;
  return whole || end <= entries ? std::min(end, entries) : begin;
}

Result<> TableCommit::measure(StagedTable& staged, std::int64_t entries, bool whole) const {
  for (StagedColumn& column : staged.columns) column.done = whole ? column.size : column.base;
  if (whole) return {};
  std::unordered_map<const StagedColumn*, std::uint64_t> done;
  for (const FieldColumns& columns : columns_of(staged)) {
    TRY(const std::vector<std::uint64_t> sizes, bytes_of_entries(columns, entries));
    for (std::size_t i = 0; i < sizes.size(); ++i) done[columns.staged[i]] = sizes[i];
  }
  for (StagedColumn& column : staged.columns) {
    if (const auto at = done.find(&column); at != done.end()) column.done = std::max(column.done, at->second);
  }
  return {};
}

Result<> TableCommit::add_fields(const StagedTable& staged) {
  std::unordered_set<std::string_view> known;
  for (const tfile::InputColumn& column : columns_) known.insert(column.path);
  std::vector<tfile::InputColumn> offered;
  std::vector<const StagedColumn*> added;
  for (const StagedColumn& column : staged.columns) {
    if (known.contains(column.path)) continue;
    TRY(tfile::InputColumn made, tfile::offered_column(column.path));
    made.title = column.title;
    TRY(made.encoding, tfile::parse_float_encoding(column.encoding));
    made.classes = classes_above(staged, column.path);
    made.counter = column.counter;
    offered.push_back(std::move(made));
    added.push_back(&column);
  }
  if (offered.empty()) return {};
  const auto of = [&](std::uint32_t i) -> const StagedColumn& { return *added[i]; };
  tfile::find_projections(offered, staged_entries(of, offered), writer_->format());
  TRY(const tfile::WriteSchema form, tfile::offered_form(offered, writer_->format()));
  TRY_VOID(writer_->add_fields(offered, form));
  const auto first = static_cast<std::uint32_t>(columns_.size());
  columns_.insert(columns_.end(), offered.begin(), offered.end());
  for (tfile::FieldForm field : form.fields) {
    for (std::uint32_t& column : field.columns) column += first;
    for (std::uint32_t& column : field.encoded) column += first;
    forms_.push_back(std::move(field));
    fields_.emplace_back();
  }
  return {};
}

std::vector<FieldColumns> TableCommit::columns_of(const StagedTable& staged) const {
  std::unordered_map<std::string_view, const StagedColumn*> by_path;
  for (const StagedColumn& column : staged.columns) by_path.emplace(column.path, &column);
  std::vector<FieldColumns> all;
  for (const tfile::FieldForm& form : forms_) {
    FieldColumns& columns = all.emplace_back();
    for (const std::uint32_t i : form.encoded) {
      const auto at = by_path.find(columns_[i].path);
      columns.offered.push_back(&columns_[i]);
      columns.staged.push_back(at == by_path.end() ? nullptr : at->second);
    }
    columns.lists = form.lists;
    columns.variants = form.variants;
  }
  return all;
}

}  // namespace tfilefs
