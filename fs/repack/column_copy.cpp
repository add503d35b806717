// SPDX-License-Identifier: Apache-2.0
#include "repack/column_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <future>
#include <iterator>
#include <memory>
#include <utility>

#include "exec/started.h"
#include "repack/stopped.h"
#include "repack/taken_nodes.h"
#include "tfile/buffer.h"
#include "tfile/name.h"
#include "waited.h"

namespace tfilefs {

using tfile::Column;
using tfile::ColumnId;
using tfile::EntryRange;
using tfile::InputColumn;
using tfile::NodeId;
using tfile::Part;
using tfile::Role;

namespace {

// The entries of a field that are encoded to find out how large they are: so many bytes of its columns, about.
constexpr double kSampleBytes = 64 << 10;
constexpr std::int64_t kSampleEntriesMin = 16;
// Where no sample could be encoded, and nothing is written any more: entries that are looked at together.
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
    // What cannot be read for this is a column, and fails where it is copied.
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

  // What the format does not hold as it is put together. Without it, more may not be held.
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
Result<> try_field(ChainSource& source, const FieldOfColumns& field, const tfile::KeptEntries& kept) {
  constexpr std::int64_t kTogether = 4096;
  GatheredBegin begin(field.columns.size());
  for (std::int64_t at = 0; at < kept.count(); at += kTogether)
    TRY_VOID(gather_items(source.streams(), field, kept, {at, std::min(at + kTogether, kept.count())}, begin));
  return {};
}

// Jobs under way, at most so many; their results are finished in the order in which they were started.
template <class T>
class Jobs {
 public:
  Jobs(std::size_t most, std::function<Result<>(T)> finish) : most_(most), finish_(std::move(finish)) {}
  // They use what outlives this, and no more.
  ~Jobs() {
    for (auto& each : going_) each.wait();
  }
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  Result<> add(std::future<Result<T>> job) {
    going_.push_back(std::move(job));
    while (going_.size() >= most_) TRY_VOID(finish_first());
    return {};
  }
  Result<> end() {
    while (!going_.empty()) TRY_VOID(finish_first());
    return {};
  }

 private:
  Result<> finish_first() {
    std::future<Result<T>> first = std::move(going_.front());
    going_.pop_front();
    TRY(T made, first.get());
    return finish_(std::move(made));
  }

  const std::size_t most_;
  const std::function<Result<>(T)> finish_;
  std::deque<std::future<Result<T>>> going_;
};

// Entries of a field as they are stored, or why the field cannot be written at all.
struct Encoded {
  std::vector<Part> parts;
  std::optional<std::string> refused;
};

// Whether encoding fails for what the entries say, not for want of memory or the like.
bool is_about_entries(const Error& error) {
  return error.kind == ErrorKind::invalid || error.kind == ErrorKind::unsupported;
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
             const ColumnSink& sink)
      : source_(source),
        kept_(kept),
        writer_(writer),
        sink_(sink),
        offered_(std::move(offered)),
        fields_(fields_of(offered_)) {}

  Result<CopiedColumns> run() {
    TRY_VOID(writer_.add_fields(offered_.offered, offered_.form));
    offered_.offered = {};  // the writer knows them now
    tfile::give_back_free_buffers();
    TRY_VOID(sample_fields());
    if (sink_.file == nullptr) {
      made_.bytes = static_cast<std::uint64_t>(stored_each_ * static_cast<double>(kept_.count()));
      return std::move(made_);
    }
    const tfile::ClusterSizes sizes = writer_.cluster_sizes(sink_.cluster_bytes);
    part_entries_ = sizes.part_entries;
    const std::int64_t wanted = sizes.entries > 0 ? sizes.entries : kClusterEntriesUnknown;
    for (std::int64_t at = 0; at < kept_.count();) {
      const std::int64_t end = end_of_cluster(at, wanted);
      TRY_VOID(write_cluster({at, end}));
      writer_.end_cluster(end, wanted);
      at = end;
      if (sink_.done) sink_.done(static_cast<double>(at) / static_cast<double>(kept_.count()));
    }
    return std::move(made_);
  }

 private:
  // Adds a part. `first`: the number of the first entry of the cluster.
  Result<> encode(std::size_t field, EntryRange numbers, std::int64_t first, GatheredBegin& begin,
                  Encoded& made) const {
    TRY(GatheredItems items, gather_items(source_.streams(), fields_[field], kept_, numbers, begin));
    auto part = encode_items(field, numbers, first, items);
    if (!part && is_about_entries(part.error())) {
      made.refused = reason_of(field, numbers, part.error());
      return {};
    }
    if (!part) return tl::unexpected(std::move(part).error());
    made.parts.push_back(*std::move(part));
    return {};
  }

  Result<Part> encode_items(std::size_t field, EntryRange numbers, std::int64_t first, GatheredItems& items) const {
    const std::vector<std::int64_t> cluster_begin(fields_[field].columns.size());
    TRY_VOID(complete_raw(offered_.streamed, fields_[field], numbers.begin - first, items));
    return writer_.encode(field, {numbers, items.columns, cluster_begin});
  }

  // Why these entries cannot be encoded, which `found` says with their numbers in the new table: with those that they
  // have in the source, over all of its files.
  std::string reason_of(std::size_t field, EntryRange numbers, const Error& found) const {
    for (const EntryRange& range : kept_.numbered(numbers)) {
      GatheredBegin begin(fields_[field].columns.size());
      auto items = gather_items(source_.streams(), fields_[field], tfile::KeptEntries(range), {0, range.size()}, begin);
      if (!items) break;
      const auto part = encode_items(field, range, range.begin, *items);
      if (!part && is_about_entries(part.error())) return part.error().text;
    }
    return found.text;
  }

  Result<Encoded> sample(std::size_t field) const {
    EntryRange numbers{0, std::min(kSampleEntriesMin, kept_.count())};
    GatheredBegin begin(fields_[field].columns.size());
    TRY(const GatheredItems first, gather_items(source_.streams(), fields_[field], kept_, numbers, begin));
    const double each = std::max(1.0, static_cast<double>(first.bytes) / static_cast<double>(numbers.size()));
    numbers.end = std::min(kept_.count(), std::max(numbers.end, static_cast<std::int64_t>(kSampleBytes / each)));
    begin = GatheredBegin(fields_[field].columns.size());
    Encoded made;
    TRY_VOID(encode(field, numbers, 0, begin, made));
    return made;
  }

  std::size_t jobs_max() const { return sink_.threads + 2; }

  // Encodes entries of fields, each by `encode`, and gives them to `take`, in order.
  template <class Encode, class Take>
  Result<> each_field(std::span<const std::size_t> fields, Encode encode, Take take) {
    std::size_t finished = 0;
    Jobs<Encoded> jobs(jobs_max(), [&](Encoded encoded) -> Result<> {
      const std::size_t field = fields[finished++];
      if (!encoded.refused) return take(field, encoded.parts);
      made_.refused.emplace(name_of(field), *std::move(encoded.refused));
      return {};
    });
    for (const std::size_t field : fields)
      TRY_VOID(jobs.add(started(sink_.workers, Urgency::awaited, [encode, field] { return encode(field); })));
    return jobs.end();
  }

  const std::string& name_of(std::size_t field) const { return offered_.form.fields[field].name; }

  // Once one is refused, only those that may be, too.
  std::vector<std::size_t> fields_to_encode() const {
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const bool may_be_refused =
          asks_entries(offered_, offered_.form.fields[i]) && !made_.refused.contains(name_of(i));
      if (made_.refused.empty() || may_be_refused) wanted.push_back(i);
    }
    return wanted;
  }

  Result<> sample_fields() {
    if (kept_.count() == 0) return {};
    return each_field(
        fields_to_encode(), [this](std::size_t field) { return sample(field); },
        [this](std::size_t field, const std::vector<Part>& parts) -> Result<> {
          const Part& part = parts.front();
          stored_each_ += static_cast<double>(part.stored.size()) / static_cast<double>(part.entries);
          writer_.add_sample(field, part);
          return {};
        });
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

  Result<Encoded> encode_field(std::size_t field, EntryRange cluster) const {
    Encoded made;
    GatheredBegin begin(fields_[field].columns.size());
    const std::int64_t step = std::max<std::int64_t>(1, part_entries_[field]);
    for (std::int64_t at = cluster.begin; at < cluster.end && !made.refused; at += step) {
      TRY_VOID(not_stopped(sink_.stop));
      TRY_VOID(encode(field, {at, std::min(at + step, cluster.end)}, cluster.begin, begin, made));
    }
    return made;
  }

  Result<> write_cluster(EntryRange cluster) {
    return each_field(
        fields_to_encode(), [this, cluster](std::size_t field) { return encode_field(field, cluster); },
        [this](std::size_t field, std::vector<Part>& parts) -> Result<> {
          for (Part& part : parts) TRY_VOID(write_part(field, part));
          return {};
        });
  }

  Result<> write_part(std::size_t field, Part& part) {
    if (!made_.refused.empty()) return {};
    writer_.leave_out_stored(part);
    const std::uint64_t size = part.stored.size();
    const std::uint64_t address = size > 0 ? sink_.places.place(size) : 0;
    writer_.add_part(field, part, address);
    made_.bytes += size;
    return size > 0 ? sink_.file->write(address, std::move(part.stored)) : Result<>();
  }

  ChainSource& source_;
  const tfile::KeptEntries& kept_;
  tfile::TableWriter& writer_;
  const ColumnSink& sink_;
  OfferedTable offered_;
  const std::vector<FieldOfColumns> fields_;
  std::vector<std::int64_t> part_entries_;
  double stored_each_ = 0;  // bytes of an entry of all fields, according to samples
  CopiedColumns made_;
};

}  // namespace

Result<OfferedTable> offered_table(const ChainSource& source, Conversion conversion, const RawFields& raw,
                                   const RefusedFields& refused, const NameFilter& filter) {
  return Offering(source, conversion, raw, refused).run(filter);
}

Result<CopiedColumns> copy_columns(ChainSource& source, OfferedTable offered, const tfile::KeptEntries& kept,
                                   tfile::TableWriter& writer, const ColumnSink& sink) {
  return ColumnCopy(source, std::move(offered), kept, writer, sink).run();
}

Result<> complete_raw(const std::map<std::string, tfile::StreamedClass>& streamed, const FieldOfColumns& field,
                      std::int64_t before, GatheredItems& items) {
  for (std::size_t i = 0; i < field.columns.size(); ++i) {
    const auto known = field.columns[i]->role == Role::raw ? streamed.find(field.columns[i]->branch) : streamed.end();
    if (known == streamed.end()) continue;
    TRY_VOID(
        tfile::complete_streamed(known->second, before, items.columns[field.lists[i]], items.columns[i], items.memory));
  }
  return {};
}

Result<> try_columns(ChainSource& source, const OfferedTable& offered, const TriedEntries& tried_entries,
                     const ColumnSink& sink, const std::function<void(EntryRange, const Error&)>& damaged) {
  const std::vector<FieldOfColumns> fields = fields_of(offered);
  for (const EntryRange& range : tried_entries.ranges) {
    TRY_VOID(not_stopped(sink.stop));
    const tfile::KeptEntries& all = tried_entries.kept;
    const tfile::KeptEntries kept(all.numbered({all.before(range.begin), all.before(range.end)}));
    std::vector<std::future<Result<>>> tried;
    for (const FieldOfColumns& field : fields) {
      tried.push_back(started(sink.workers, Urgency::awaited, [&] { return try_field(source, field, kept); }));
    }
    for (auto& each : tried) each.wait();
    for (auto& each : tried) {
      const Result<> done = each.get();
      if (!done) damaged(range, done.error());
    }
  }
  return {};
}

}  // namespace tfilefs
