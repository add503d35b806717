// SPDX-License-Identifier: Apache-2.0
#include "repack/column_copy.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "exec/ordered_jobs.h"
#include "repack/selected_items.h"
#include "repack/stopped.h"
#include "repack/taken_nodes.h"
#include "table_build/table_build.h"
#include "tfile/buffer.h"
#include "tfile/name.h"
#include "waited.h"

namespace tfilefs {

using tfile::Column;
using tfile::ColumnId;
using tfile::EntryRange;
using tfile::InputColumn;
using tfile::NodeId;
using tfile::Role;

namespace {

// The entries of a field that are encoded to find out how large they are: so many bytes of its columns, about.
constexpr double kSampleBytes = 64 << 10;
// If no sample could be encoded, and nothing is written any more: entries that are looked at together.
constexpr std::int64_t kClusterEntriesUnknown = 4096;

// Why a column cannot be written; "" if it may be.
std::string reason_against(const Column& column, const Conversion& conversion, bool is_kept) {
  if (column.role == Role::raw && is_kept) return "";
  if (column.role == Role::raw) return column.reason.empty() ? "it is not decoded" : column.reason;
  // Pointers of trees may share their items.
  const bool are_ntuples =
      conversion.from == tfile::TableFormat::rntuple && conversion.to == tfile::TableFormat::rntuple;
  if (!are_ntuples && (column.role == Role::tags || column.role == Role::index))
    return "values of several types cannot be written";
  return column.reason;
}

class Offering {
 public:
  Offering(const ChainSource& source, Conversion conversion, const RawFields& raw, const RefusedFields& refused)
      : source_(source),
        table_(source.table()),
        streams_(source.streams()),
        conversion_(conversion),
        raw_(raw),
        refused_(refused) {}

  Result<OfferedTable> run(const NameFilter& filter) {
    take(filter);
    TRY_VOID(find_counters_of_all());
    leave_out_what_is_not_held();
    // A column that cannot be read for this fails where it is copied.
    std::optional<Error> failed;
    tfile::find_projections(made_.offered, entries_of_offered(failed), conversion_.to);
    TRY(made_.form, tfile::offered_form(made_.offered, conversion_.to));
    std::ranges::copy(made_.form.incomplete, std::back_inserter(made_.left_out));
    return std::move(made_);
  }

 private:
  // Those that are wanted and that nothing is against, as far as that follows from each alone.
  void take(const NameFilter& filter) {
    std::vector<NodeId> tops;
    for (const NodeId node : table_.nodes[0].children) {
      const tfile::Node& top = table_.nodes[node];
      const std::string name = stem_of(table_, node);
      if (filter.takes(name) || (!top.branch_name.empty() && filter.takes(top.branch_name))) tops.push_back(node);
    }
    TakenNodes taken = take_nodes({table_, source_.hidden()}, tops, conversion_.to, [&](const Column& column) {
      return reason_against(column, conversion_, keeps_raw_ && raw_.classes.contains(column.branch));
    });
    made_.left_out = std::move(taken.left_out);
    made_.renamed = std::move(taken.renamed);
    for (const TakenColumn& each : taken.columns) offer(each, taken.variants);
    for (const auto& [field, reason] : refused_) leave_out_field(field, reason);
  }

  void offer(const TakenColumn& taken, const std::vector<std::pair<std::string, std::string>>& variants) {
    const Column& column = table_.columns[taken.column];
    auto made = tfile::offered_column(taken.path);
    if (!made) return;  // take_nodes() has asked for it
    made->title = column.title;
    for (const auto& variant : variants) {
      if (taken.path.starts_with(variant.first + "/")) made->classes.push_back(variant);
    }
    if (column.role == Role::raw) {
      const tfile::StreamedClass& streamed = raw_.classes.at(column.branch);
      made->role = Role::raw;
      made->classes.emplace_back(taken.path.substr(0, taken.path.rfind('/')), streamed.name);
      made_.streamed.emplace(column.branch, streamed);
    }
    made_.columns.push_back(&column);
    made_.offered.push_back(*std::move(made));
  }

  // Leaves out what the format does not hold as it is put together. Without it, more may not be held.
  void leave_out_what_is_not_held() {
    for (;;) {
      const std::vector<tfile::NotHeld> found = tfile::not_held(made_.offered, conversion_.to);
      const std::size_t offered = made_.offered.size();
      for (const tfile::NotHeld& each : found) leave_out(each.path, each.reason);
      if (made_.offered.size() == offered) return;
    }
  }
  void leave_out(const std::string& path, const std::string& reason) {
    const auto is_below = [&](const std::string& column) { return column == path || column.starts_with(path + "/"); };
    if (erase_offered([&](const InputColumn& column) { return is_below(column.path); }))
      made_.left_out.push_back(reason);
  }

  // A field of which entries have shown that it cannot be written.
  void leave_out_field(const std::string& name, const std::string& reason) {
    const auto is_of_field = [&](const InputColumn& column) {
      const std::string top = column.path.substr(0, column.path.find('/'));
      const auto typed = top.size() == column.path.size() ? tfile::parse_typed_name(top) : std::nullopt;
      return tfile::unescape_name(typed ? typed->stem : top) == name;
    };
    if (erase_offered(is_of_field)) made_.left_out.push_back(reason.starts_with(name) ? reason : name + ": " + reason);
  }

  // Whether there were any.
  template <class IsMeant>
  bool erase_offered(IsMeant is_meant) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < made_.offered.size(); ++i) {
      if (is_meant(made_.offered[i])) continue;
      if (kept != i) made_.offered[kept] = std::move(made_.offered[i]);
      made_.columns[kept++] = made_.columns[i];
    }
    const bool had_any = kept < made_.offered.size();
    made_.offered.resize(kept);
    made_.columns.resize(kept);
    return had_any;
  }

  tfile::OfferedEntries entries_of_offered(std::optional<Error>& failed) {
    return {[&](std::uint32_t column) { return count_of(column, failed); },
            [&](std::uint32_t column, std::int64_t first, std::span<std::byte> into) {
              const auto items = static_cast<std::int64_t>(into.size() / made_.columns[column]->item_size());
              auto bytes = read_items(streams_, *made_.columns[column], {first, first + items});
              if (!bytes) failed = bytes.error();
              if (bytes) std::ranges::copy(bytes->span(), into.begin());
              return bytes.has_value();
            }};
  }

  Result<> find_counters_of_all() {
    std::optional<Error> failed;
    tfile::find_counters(made_.offered, entries_of_offered(failed), conversion_.to);
    if (failed) return tl::unexpected(*std::move(failed));
    return {};
  }

  std::int64_t count_of(std::uint32_t column, std::optional<Error>& failed) {
    const Column& of = *made_.columns[column];
    const auto length =
        waited<std::int64_t>([&](auto reply) { streams_.length(of.stream, of.slot, std::move(reply)); });
    if (!length) failed = length.error();
    return length ? *length - (of.role == Role::offsets ? 1 : 0) : 0;
  }

  const ChainSource& source_;
  const tfile::Table& table_;
  CachedStreams& streams_;
  const Conversion conversion_;
  const RawFields& raw_;
  const RefusedFields& refused_;
  const bool keeps_raw_ = raw_.are_kept && conversion_.to == tfile::TableFormat::rntuple;
  OfferedTable made_;
};

std::vector<FieldOfColumns> fields_of(const OfferedTable& offered) {
  std::vector<FieldOfColumns> fields;
  for (const tfile::FieldForm& form : offered.form.fields) {
    FieldOfColumns& field = fields.emplace_back();
    field.lists = form.lists;
    field.variants = form.variants;
    for (const std::uint32_t column : form.encoded) field.columns.push_back(offered.columns[column]);
  }
  return fields;
}

// Reads all entries, part by part.
Result<> try_field(const SelectedEntries& selected, const FieldOfColumns& field) {
  constexpr std::int64_t kTogether = 4096;
  const ReadItems read = selected_items(selected, field, 0);
  const std::int64_t count = selected.kept.count();
  for (std::int64_t at = 0; at < count; at += kTogether) TRY_VOID(read({at, std::min(at + kTogether, count)}));
  return {};
}

// Whether entries may show that a field cannot be written. (Any field may have an entry of more than 1 GiB.)
bool asks_entries(const OfferedTable& offered, const tfile::FieldForm& field) {
  const bool is_counted = field.encoded.size() > field.columns.size();
  const auto is_raw = [&](std::uint32_t column) { return offered.columns[column]->role == Role::raw; };
  return is_counted || field.kind == tfile::FieldForm::Kind::nested || std::ranges::any_of(field.columns, is_raw);
}

class ColumnCopy {
 public:
  ColumnCopy(ChainSource& source, OfferedTable offered, const tfile::KeptEntries& kept, tfile::TableWriter& writer,
             const TableWork& work)
      : source_(source),
        kept_(kept),
        writer_(writer),
        work_(work),
        offered_(std::move(offered)),
        fields_(fields_of(offered_)),
        built_(fields_.size()) {}

  Result<CopiedColumns> run(std::uint64_t cluster_bytes) {
    TRY_VOID(writer_.add_fields(offered_.offered, offered_.form));
    offered_.offered = {};  // the writer knows them now
    tfile::give_back_free_buffers();
    const PartSink sink{work_.writer, work_.writes(), work_.workers, cluster_bytes, nullptr};
    TableBuild build{writer_, built_, sink, items()};
    const EntryRange all{0, kept_.count()};
    TRY(const std::int64_t sized, size_clusters(build, all));
    if (work_.output == nullptr) {
      made_.bytes = static_cast<std::uint64_t>(build.stored_each * static_cast<double>(all.end));
      return std::move(made_);
    }
    const std::int64_t wanted = sized > 0 ? sized : kClusterEntriesUnknown;
    const auto end_of = [&](std::int64_t begin) {
      note_progress(begin);
      return end_of_cluster(begin, wanted);
    };
    TRY(const std::int64_t end, write_clusters(build, all, wanted, end_of));
    note_progress(end);
    made_.bytes = build.stored;
    return std::move(made_);
  }

 private:
  void note_progress(std::int64_t entries) const {
    if (work_.progress && entries > 0)
      work_.progress(static_cast<double>(entries) / static_cast<double>(kept_.count()));
  }

  SelectedEntries selected(const tfile::KeptEntries& kept) const {
    return {source_.streams(), kept, &offered_.streamed};
  }

  PartSource items() {
    PartSource source;
    source.open = [this](std::size_t field, std::int64_t begin) -> ReadItems {
      const ReadItems read = selected_items(selected(kept_), fields_[field], begin);
      return [this, read](EntryRange numbers) -> Result<FieldItems> {
        TRY_VOID(not_stopped(work_.stop));
        return read(numbers);
      };
    };
    source.sample_bytes = kSampleBytes;
    source.by_field = true;
    source.under_way_max = work_.options.threads + 1;
    source.refuse = [this](std::size_t field, EntryRange numbers, const Error& found) {
      made_.refused.emplace(offered_.form.fields[field].name, reason_of(field, numbers, found));
      drop_fields();
    };
    return source;
  }

  // Once one is refused, only those are looked at that may be, too.
  void drop_fields() {
    for (std::size_t i = 0; i < built_.size(); ++i) {
      const tfile::FieldForm& form = offered_.form.fields[i];
      built_[i].dropped = made_.refused.contains(form.name) || !asks_entries(offered_, form);
    }
  }

  // Why these entries cannot be encoded, which `found` says with their numbers in the new table: with those that they
  // have in the source, over all of its files.
  std::string reason_of(std::size_t field, EntryRange numbers, const Error& found) const {
    for (const EntryRange& range : kept_.numbered(numbers)) {
      const tfile::KeptEntries kept(range);
      auto items = selected_items(selected(kept), fields_[field], 0)({0, range.size()});
      if (!items) break;
      items->entries = range;
      const auto part = encode_items(writer_, field, *items);
      if (!part && is_about_entries(part.error())) return part.error().text;
    }
    return found.text;
  }

  // A cluster of the source ends near the wanted size: then no chunk is needed for two clusters.
  std::int64_t end_of_cluster(std::int64_t begin, std::int64_t wanted) const {
    if (kept_.count() - begin < wanted + wanted / 2) return kept_.count();  // a small last one would be larger stored
    std::int64_t best = std::min(begin + wanted, kept_.count());
    std::int64_t distance = wanted / 2;
    const std::vector<std::int64_t>& clusters = source_.table().clusters;
    for (auto at = std::ranges::lower_bound(clusters, begin); at != clusters.end(); ++at) {
      const std::int64_t end = kept_.before(*at);
      if (end > begin + wanted + wanted / 2) break;
      if (end <= begin || std::abs(end - begin - wanted) >= distance) continue;
      best = end;
      distance = std::abs(end - begin - wanted);
    }
    return best;
  }

  ChainSource& source_;
  const tfile::KeptEntries& kept_;
  tfile::TableWriter& writer_;
  const TableWork& work_;
  OfferedTable offered_;
  const std::vector<FieldOfColumns> fields_;
  std::vector<BuiltField> built_;
  CopiedColumns made_;
};

}  // namespace

Result<OfferedTable> offered_table(const ChainSource& source, Conversion conversion, const RawFields& raw,
                                   const RefusedFields& refused, const NameFilter& filter) {
  return Offering(source, conversion, raw, refused).run(filter);
}

Result<CopiedColumns> copy_columns(ChainSource& source, OfferedTable offered, const tfile::KeptEntries& kept,
                                   tfile::TableWriter& writer, const TableWork& work, std::uint64_t cluster_bytes) {
  return ColumnCopy(source, std::move(offered), kept, writer, work).run(cluster_bytes);
}

Result<> try_columns(ChainSource& source, const OfferedTable& offered, const TriedEntries& tried_entries,
                     const TableWork& work, const std::function<void(EntryRange, const Error&)>& damaged) {
  const std::vector<FieldOfColumns> fields = fields_of(offered);
  for (const EntryRange& range : tried_entries.ranges) {
    TRY_VOID(not_stopped(work.stop));
    const tfile::KeptEntries& all = tried_entries.kept;
    const tfile::KeptEntries kept(all.numbered({all.before(range.begin), all.before(range.end)}));
    const SelectedEntries selected{source.streams(), kept};
    OrderedJobs<void> tried([&](const Result<>& read) -> Result<> {
      if (!read) damaged(range, read.error());
      return {};
    });
    for (const FieldOfColumns& field : fields)
      tried.start(work.workers, Urgency::awaited, [&] { return try_field(selected, field); });
    TRY_VOID(tried.take_down_to(0));
  }
  return {};
}

}  // namespace tfilefs
