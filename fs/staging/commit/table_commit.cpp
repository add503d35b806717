// SPDX-License-Identifier: Apache-2.0
#include "staging/commit/table_commit.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "exec/started.h"

namespace tfilefs {

using tfile::EntryRange;
using tfile::Part;

namespace {

// Most bytes in memory between staging and file: enough for all cores to compress parts while others are written, and
// little compared with the smallest budgets.
constexpr std::uint64_t kInFlightMax = 16 << 20;

// The bytes of columns, of all fields together and of each, that are encoded to find out how large entries are.
constexpr double kSampleBytesAll = 8 << 20, kSampleBytesMin = 8 << 10, kSampleBytesMax = 256 << 10;
constexpr std::int64_t kSampleEntriesMin = 16;  // from which the size of the sample is computed

// Where a cluster begins in the columns of a field: OfferedPart::cluster_begin and cluster_items.
struct ClusterBegin {
  std::vector<std::int64_t> offsets, items;

  // Takes it from the next items of the cluster, for columns that had none before.
  void note(const FieldColumns& columns, const ColumnItems& next) {
    offsets.resize(next.columns.size());
    items.resize(next.columns.size(), -1);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i] != -1 || next.first[i] == -1) continue;
      items[i] = next.first[i];
      if (columns.offered[i]->role == tfile::Role::offsets)
        std::memcpy(&offsets[i], next.columns[i].data(), sizeof offsets[i]);
    }
  }
};

// A part that another thread encodes.
struct PendingPart {
  std::size_t field = 0;
  std::uint64_t bytes = 0;  // of its columns
  std::future<Result<Part>> part;
};

PendingPart start_part(ClusterCache& cache, const tfile::TableWriter& writer, std::size_t field, EntryRange entries,
                       ColumnItems items, ClusterBegin cluster_begin) {
  PendingPart pending;
  pending.field = field;
  pending.bytes = items.bytes;
  auto encode = [&writer, field, entries, items = std::move(items), begin = std::move(cluster_begin)] {
    return writer.encode(field, {entries, items.columns, begin.offsets, begin.items});
  };
  pending.part = started(cache.exec().coders, Urgency::ahead, std::move(encode));
  return pending;
}

// Starts a part of about `wanted` bytes of the field's columns.
Result<PendingPart> start_sample(ClusterCache& cache, const tfile::TableWriter& writer, std::size_t field,
                                 const FieldColumns& columns, EntryRange entries, double wanted) {
  EntryRange sample{entries.begin, std::min(entries.end, entries.begin + kSampleEntriesMin)};
  TRY(ColumnItems items, items_of(columns, sample));
  const double more =
      static_cast<double>(sample.size()) * wanted / static_cast<double>(std::max<std::uint64_t>(1, items.bytes));
  if (sample.end < entries.end && more > static_cast<double>(sample.size())) {
    sample.end = std::min(entries.end, sample.begin + static_cast<std::int64_t>(more));
    TRY(items, items_of(columns, sample));
  }
  ClusterBegin begin;
  begin.note(columns, items);
  return start_part(cache, writer, field, sample, std::move(items), std::move(begin));
}

// Parts that are being encoded; they are finished in the order in which they were started.
class PartsUnderWay {
 public:
  explicit PartsUnderWay(std::function<Result<>(PendingPart&)> finish) : finish_(std::move(finish)) {}
  ~PartsUnderWay() {
    for (PendingPart& left : making_) left.part.wait();  // they read staged bytes
  }
  PartsUnderWay(const PartsUnderWay&) = delete;
  PartsUnderWay& operator=(const PartsUnderWay&) = delete;

  Result<> add(PendingPart pending) {
    in_flight_ += pending.bytes;
    making_.push_back(std::move(pending));
    while (in_flight_ > kInFlightMax) TRY_VOID(finish_first());
    return {};
  }

  Result<> finish() {
    while (!making_.empty()) TRY_VOID(finish_first());
    return {};
  }

 private:
  Result<> finish_first() {
    PendingPart first = std::move(making_.front());
    making_.pop_front();
    in_flight_ -= first.bytes;
    return finish_(first);
  }

  const std::function<Result<>(PendingPart&)> finish_;
  std::deque<PendingPart> making_;
  std::uint64_t in_flight_ = 0;
};

}  // namespace

TableCommit::TableCommit(tfile::TableWriter* writer)
    : writer_(writer),
      columns_(writer->committed_form().columns),
      committed_{writer->format(), writer->committed_form(), writer->committed_entries(), {}} {
  for (const tfile::FieldForm& form : writer->committed_form().fields)
    fields_.push_back({form, false, writer->committed_entries()});
}

void TableCommit::note_commit() {
  committed_.form.columns = columns_;
  committed_.form.fields.clear();
  for (const Field& field : fields_) {
    if (field.dropped) continue;
    if (committed_.form.reason.empty()) committed_.form.fields.push_back(field.form);
    committed_.entries = std::max(committed_.entries, field.entries);
  }
}

Result<> TableCommit::drop_field(const std::string& name) {
  TRY_VOID(writer_->drop_field(name));
  for (Field& field : fields_) {
    if (field.dropped || field.form.name != name) continue;
    field.dropped = true;
    // If a column is added there again, it is a new one.
    for (const std::uint32_t column : field.form.columns) columns_[column].path.clear();
  }
  return {};
}

Result<std::int64_t> TableCommit::write(const StagedTable& staged, std::int64_t entries, bool whole,
                                        const PartSink& sink) {
  TRY_VOID(add_fields(staged));
  std::int64_t begin = entries;
  for (const Field& field : fields_) begin = field.dropped ? begin : std::min(begin, field.entries);
  const std::vector<FieldColumns> columns = columns_of(staged);
  const bool first = cluster_entries_ == 0;
  if (begin < entries) TRY_VOID(size_clusters(columns, {begin, entries}, sink));
  // If it is cut while it is still written, there are the bytes of more than one cluster, but they may compress to
  // less.
  if (first && !whole) cluster_entries_ = std::min(cluster_entries_, std::max<std::int64_t>(1, entries - begin));
  std::int64_t at = begin;
  for (std::int64_t end = at; at < entries; at = end) {
    const auto given = writer_->end_of_cluster(at);
    if (!given && !whole && at + cluster_entries_ > entries) break;
    end = given ? *given : std::min(at + cluster_entries_, entries);
    TRY_VOID(write_cluster(columns, {at, end}, sink));
  }
  TRY_VOID(sink.file.flush());
  return at;
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
    fields_.push_back({std::move(field)});
  }
  return {};
}

std::vector<FieldColumns> TableCommit::columns_of(const StagedTable& staged) const {
  std::unordered_map<std::string_view, const StagedColumn*> by_path;
  for (const StagedColumn& column : staged.columns) by_path.emplace(column.path, &column);
  std::vector<FieldColumns> all;
  for (const Field& field : fields_) {
    FieldColumns& columns = all.emplace_back();
    for (const std::uint32_t i : field.form.encoded) {
      const auto at = by_path.find(columns_[i].path);
      columns.offered.push_back(&columns_[i]);
      columns.staged.push_back(at == by_path.end() ? nullptr : at->second);
    }
    columns.lists = field.form.lists;
    columns.variants = field.form.variants;
  }
  return all;
}

Result<> TableCommit::sample_fields(const std::vector<FieldColumns>& columns, EntryRange entries, ClusterCache& cache) {
  const double wanted =
      std::clamp(kSampleBytesAll / static_cast<double>(fields_.size()), kSampleBytesMin, kSampleBytesMax);
  PartsUnderWay samples([&](PendingPart& sample) -> Result<> {
    TRY(const Part part, sample.part.get());
    writer_->add_sample(sample.field, part);
    fields_[sample.field].sampled = true;
    return {};
  });
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].dropped || fields_[i].sampled || fields_[i].entries >= entries.end) continue;
    const EntryRange left{std::max(entries.begin, fields_[i].entries), entries.end};
    TRY(PendingPart sample, start_sample(cache, *writer_, i, columns[i], left, wanted));
    TRY_VOID(samples.add(std::move(sample)));
  }
  return samples.finish();
}

// Computes, from samples, how many entries compress to the wanted size of the first cluster; and per field, how many
// entries make a part.
Result<> TableCommit::size_clusters(const std::vector<FieldColumns>& columns, EntryRange entries,
                                    const PartSink& sink) {
  TRY_VOID(sample_fields(columns, entries, sink.cache));
  const tfile::ClusterSizes sizes =
      writer_->cluster_sizes(sink.cluster_bytes.value_or(tfile::usual_cluster_bytes(writer_->format())));
  for (std::size_t i = 0; i < fields_.size(); ++i) fields_[i].part_entries = sizes.part_entries[i];
  if (cluster_entries_ == 0) cluster_entries_ = sizes.entries;
  return {};
}

// Parts are in the order of their first entries, so that a reader of many fields never goes back.
Result<> TableCommit::write_cluster(const std::vector<FieldColumns>& columns, EntryRange entries,
                                    const PartSink& sink) {
  struct Piece {
    std::size_t field;
    EntryRange entries;
  };
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].dropped) continue;
    const std::int64_t step = fields_[i].part_entries;
    for (std::int64_t at = std::max(entries.begin, fields_[i].entries); at < entries.end; at += step)
      pieces.push_back({i, {at, std::min(at + step, entries.end)}});
  }
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.entries.begin < b.entries.begin; });
  PartsUnderWay parts([&](PendingPart& pending) -> Result<> {
    TRY(Part part, pending.part.get());
    writer_->leave_out_stored(part);
    const std::uint64_t address = part.stored.size() > 0 ? sink.places.place(part.stored.size()) : 0;
    writer_->add_part(pending.field, part, address);
    if (part.stored.size() > 0) TRY_VOID(sink.file.write(address, std::move(part.stored)));
    sink.left -= std::min(sink.left.load(), pending.bytes);
    return {};
  });
  std::vector<ClusterBegin> begin(fields_.size());  // of the cluster
  for (const Piece& piece : pieces) {
    TRY(ColumnItems items, items_of(columns[piece.field], piece.entries));
    begin[piece.field].note(columns[piece.field], items);
    TRY_VOID(
        parts.add(start_part(sink.cache, *writer_, piece.field, piece.entries, std::move(items), begin[piece.field])));
  }
  TRY_VOID(parts.finish());
  for (Field& field : fields_) field.entries = std::max(field.entries, entries.end);
  writer_->end_cluster(entries.end, cluster_entries_);
  return {};
}

}  // namespace tfilefs
