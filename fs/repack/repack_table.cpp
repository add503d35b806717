// SPDX-License-Identifier: Apache-2.0
#include "repack/repack_table.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "repack/entry_choice.h"
#include "repack/file_keys.h"
#include "repack/unit_copy.h"
#include "repack/verify.h"
#include "repack/where_choice.h"
#include "tfile/streamed_class.h"
#include "tfile/table_copy.h"
#include "tfile/tree_extras.h"

namespace tfilefs {

using tfile::EntryRange;
using tfile::fail;
using tfile::KeptEntries;
using tfile::KeyInfo;

namespace {

std::uint64_t default_cluster(tfile::TableFormat format, std::uint64_t memory) {
  const std::uint64_t smallest = tfile::usual_cluster_bytes(tfile::TableFormat::tree);
  return std::clamp(memory / 4, smallest, tfile::usual_cluster_bytes(format));
}

// The cache takes most of the memory; what was read, and waits to be encoded or written, the rest.
constexpr std::uint64_t memory_of_cache(std::uint64_t memory) { return memory / 8 * 5; }

// `share`: so many caches there are.
CacheOptions cache_options(const RepackOptions& options, std::uint64_t share = 1) {
  CacheOptions cache;
  cache.memory = memory_of_cache(options.memory) / share;
  cache.threads = options.threads;
  cache.counts_streams = false;
  return cache;
}

// The result, with the path in front of an error.
template <class T>
Result<T> named(const std::string& path, Result<T> result) {
  if (!result) result.error().text = path + ": " + result.error().text;
  return result;
}

// The entries that are kept of a table, over all of its files; nothing: all.
struct Kept {
  std::optional<KeptEntries> entries;
  std::int64_t of = -1;  // how many entries the table must have; -1: any
};

Result<Kept> wanted_of(const TableRequest& request) {
  Kept kept;
  const RepackOptions& options = request.options;
  if (options.entries) kept.entries.emplace(*options.entries);
  if (options.selection.empty()) return kept;
  ChosenEntries chosen;
  if (is_selection_file(options.selection)) {
    TRY(chosen, read_selection(options.selection));
  } else {
    TRY(const auto source, open_chain(request));
    TRY(chosen, select_by_column(*source, options.selection));
  }
  kept.of = chosen.of;
  if (options.entries) {  // both: those that are chosen among these
    const EntryRange within{chosen.kept.before(options.entries->begin), chosen.kept.before(options.entries->end)};
    kept.entries.emplace(chosen.kept.numbered(within));
  } else {
    kept.entries = std::move(chosen.kept);
  }
  return kept;
}

// Those that lie in none of these ranges.
KeptEntries without(const KeptEntries& kept, std::span<const EntryRange> ranges) {
  KeptEntries left;
  std::int64_t at = 0;
  const auto add_up_to = [&](std::int64_t end) {
    for (const EntryRange& range : kept.numbered({kept.before(at), kept.before(end)})) left.add(range);
  };
  for (const EntryRange& range : ranges) {
    add_up_to(range.begin);
    at = range.end;
  }
  add_up_to(std::numeric_limits<std::int64_t>::max());
  return left;
}

// Keeps those of the entries, or of all, that pass the expression.
Result<> keep_where(const TableRequest& request, const std::stop_token& stop, Kept& kept) {
  const RepackOptions& options = request.options;
  if (options.where.empty()) return {};
  TRY(const auto source, open_chain(request, 1, {{options.where}, options.definitions}));
  const QueryScope scope = scope_of(*source, options.definitions, request.inputs.names().size() == 1);
  ScanThreads threads(options.threads, memory_of_cache(options.memory));
  TRY(KeptEntries passing, entries_where(*source, scope, options.where, threads, stop));
  if (!kept.entries) {
    kept.entries = std::move(passing);
    return {};
  }
  KeptEntries both;
  for (const EntryRange& range : kept.entries->ranges()) {
    for (const EntryRange& each : passing.numbered({passing.before(range.begin), passing.before(range.end)}))
      both.add(each);
  }
  kept.entries = std::move(both);
  return {};
}

Result<Kept> kept_of(const TableRequest& request, const std::stop_token& stop) {
  TRY(Kept kept, wanted_of(request));
  TRY_VOID(keep_where(request, stop, kept));
  constexpr EntryRange kAll{0, std::numeric_limits<std::int64_t>::max()};
  if (!request.lost.empty()) kept.entries = without(kept.entries ? *kept.entries : KeptEntries(kAll), request.lost);
  if (request.share && kept.entries) kept.entries.emplace(kept.entries->numbered(*request.share));
  if (request.share && !kept.entries) kept.entries.emplace(*request.share);
  return kept;
}

Result<> check_count(const Kept& kept, std::int64_t entries, const std::string& selection) {
  if (kept.of >= 0 && kept.of != entries)
    return fail(ErrorKind::invalid, selection + ": has " + std::to_string(kept.of) + " values, the table has " +
                                        std::to_string(entries) + " entries");
  const bool beyond = kept.of < 0 && !selection.empty() && kept.entries && !kept.entries->ranges().empty() &&
                      kept.entries->ranges().back().end > entries;
  if (beyond) return fail(ErrorKind::invalid, selection + ": has entry numbers beyond the last entry");
  return {};
}

// Whether objects of the file are referred to by TRef: ROOT keeps its TProcessIDs in the file's first directory.
bool has_process_ids(const tfile::File& file) {
  return std::ranges::any_of(file.root()->keys, [](const KeyInfo& key) { return key.class_name == "TProcessID"; });
}

// Whether a failure is about what can be copied by unit, not about the bytes.
bool is_about_form(const Error& error) { return error.kind == ErrorKind::unsupported; }

// The classes whose streamers wrote raw columns, in the same way in all files, which describe what is in them alike. By
// Column::branch.
Result<std::map<std::string, tfile::StreamedClass>> streamed_classes(const TableRequest& request,
                                                                     const tfile::Table& table,
                                                                     tfile::FileWriter& writer) {
  std::map<std::string, tfile::StreamedClass> classes;
  tfile::ClassesOfFiles described;
  for (std::size_t number = 0; number < request.inputs.names().size(); ++number) {
    const ChainName& name = request.inputs.names()[number];
    const std::string path = name.table.empty() ? request.path : name.table;
    TRY(const auto file, request.inputs.open(number));
    TRY(const KeyPlace key, named(name.file, key_in(*file, path, tfile::KeyKind::table)));
    std::map<std::string, tfile::StreamedClass> found;
    if (key.info().format == tfile::TableFormat::tree) {
      TRY(found, named(name.file, tfile::streamed_branches(*file, key.info())));
    } else {  // they are streamer fields already
      for (const tfile::Column& column : table.columns) {
        if (column.role == tfile::Role::raw) found[column.branch].name = column.class_name;
      }
    }
    if (number == 0) classes = found;
    std::erase_if(classes, [&](const auto& each) {
      const auto same = found.find(each.first);
      return same == found.end() || same->second != each.second;
    });
    TRY(const std::vector<std::string> contradicted, described.take(*file));
    for (auto each = classes.begin(); each != classes.end();) {
      TRY(const bool may_differ, tfile::may_hold(*file, each->second.name, contradicted));
      each = may_differ ? classes.erase(each) : std::next(each);
    }
    TRY_VOID(writer.take_classes(*file));
  }
  return classes;
}

std::vector<EntryRange> clusters_of(const tfile::Table& table) {
  std::vector<std::int64_t> bounds = table.clusters;
  if (bounds.size() < 2) bounds = {0, table.entries};
  std::vector<EntryRange> clusters;
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) clusters.push_back({bounds[i], bounds[i + 1]});
  return clusters;
}

bool overlap(EntryRange a, EntryRange b) { return a.begin < b.end && b.begin < a.end; }

// The entries of the cluster from the first that is kept to the last; none if none is.
EntryRange span_of_kept(const KeptEntries& kept, EntryRange cluster) {
  const std::vector<EntryRange> ranges = kept.numbered({kept.before(cluster.begin), kept.before(cluster.end)});
  return ranges.empty() ? EntryRange{} : EntryRange{ranges.front().begin, ranges.back().end};
}

// Clusters in which something is damaged, and what it is.
struct DamagedClusters {
  std::vector<EntryRange> clusters;
  std::vector<std::string> why;
};

// Takes them out of what is kept. `first`: the number of the table's first entry among those of all files.
void leave_out_clusters(const DamagedClusters& damaged, std::int64_t first, KeptEntries& kept, WrittenTable& made) {
  std::ranges::copy(damaged.why, std::back_inserter(made.damage));
  std::vector<EntryRange> lost;
  for (const EntryRange& cluster : damaged.clusters) {
    const EntryRange named = span_of_kept(kept, cluster);
    if (named.size() == 0) continue;
    lost.push_back(cluster);
    made.lost.push_back({first + cluster.begin, first + cluster.end});
    made.damage.push_back("entries " + std::to_string(first + named.begin) + " to " +
                          std::to_string(first + named.end - 1) + " are damaged");
  }
  kept = without(kept, lost);
}

class UnitsOfTable {
 public:
  UnitsOfTable(const TableRequest& request, const TableWork& work) : request_(request), work_(work) {}

  Result<WrittenTable> run(const KeyInfo& first);

 private:
  tfile::CopyOptions copy_options() const;
  bool keeps(std::string_view name) const;
  Result<> add_file();

  // Notes the entries that the table has of this file.
  void note_kept(const KeptEntries& kept, const tfile::Table& table);
  Result<> write_units();

  // Looks at all units first. Clusters with a damaged one go, until there is none.
  Result<> leave_out_damaged(const std::shared_ptr<const tfile::File>& file, const tfile::Table& table,
                             const KeyInfo& key, std::optional<KeptEntries>& kept);

  struct DamagedUnit {
    EntryRange entries;  // which may be those of several clusters
    std::string why;
  };

  // A unit may be made of baskets of several clusters. Then a look at each of them tells which one it is; all of them
  // if none shows it.
  Result<DamagedClusters> clusters_with_damage(const std::shared_ptr<const tfile::File>& file,
                                               const tfile::Table& table, const KeyInfo& key,
                                               std::span<const DamagedUnit> units, const KeptEntries& kept);

  // The damage in one cluster of a table, all of it decompressed.
  Result<std::vector<std::string>> damage_in(const std::shared_ptr<const tfile::File>& file, const KeyInfo& key,
                                             EntryRange cluster);

  const TableRequest& request_;
  const TableWork& work_;
  Kept kept_;
  tfile::TableCopy* copy_ = nullptr;
  std::size_t file_ = 0;
  std::int64_t entries_ = 0;  // of the files before
  WrittenTable made_;
};

Result<WrittenTable> UnitsOfTable::run(const KeyInfo& first) {
  TRY(kept_, kept_of(request_, work_.stop));
  TRY(copy_, work_.writer.copy_table(request_.directory, request_.name, first, copy_options()));
  made_.report.path = request_.path;
  made_.format = first.format;
  for (file_ = 0; file_ < request_.inputs.names().size(); ++file_) {
    TRY_VOID(add_file());
    if (made_.needs_columns) return std::move(made_);
  }
  TRY_VOID(check_count(kept_, entries_, request_.options.selection));
  made_.left_out.insert(made_.left_out.end(), copy_->left_out().begin(), copy_->left_out().end());
  made_.written = true;
  return std::move(made_);
}

tfile::CopyOptions UnitsOfTable::copy_options() const {
  const RepackOptions& options = request_.options;
  constexpr std::uint64_t kCutShare = 8;
  tfile::CopyOptions how{options.compression, options.cluster_bytes, nullptr, options.memory / kCutShare};
  if (!options.columns.takes_all()) how.keeps_field = [this](std::string_view name) { return keeps(name); };
  return how;
}

bool UnitsOfTable::keeps(std::string_view name) const {
  const NameFilter& filter = request_.options.columns;
  std::string plain(name);
  if (plain.ends_with('.')) plain.pop_back();
  return filter.takes(plain) && (plain.size() == name.size() || filter.takes(std::string(name)));
}

Result<> UnitsOfTable::add_file() {
  const ChainName& name = request_.inputs.names()[file_];
  const std::string path = name.table.empty() ? request_.path : name.table;
  TRY(const auto file, request_.inputs.open(file_));
  if (file_ > 0) TRY_VOID(work_.writer.take_classes(*file));
  if (request_.inputs.names().size() > 1 && has_process_ids(*file)) {
    made_.needs_columns = true;
    made_.why = "its objects refer to each other (TRef), and each file numbers them separately";
    return {};
  }
  TRY(const KeyPlace key, named(name.file, key_in(*file, path, tfile::KeyKind::table)));
  if (key.info().format != made_.format) {
    made_.needs_columns = true;
    made_.why = "it is a TTree in one file and an RNTuple in another";
    return {};
  }
  TRY(const auto table, named(name.file, file->unresolved_table(key.info())));
  const std::int64_t entries = table->entries;
  std::optional<KeptEntries> kept;
  if (kept_.entries) kept = kept_.entries->within({entries_, entries_ + entries});
  auto added = copy_->add_table(file, key.info(), kept ? &*kept : nullptr);
  if (added && request_.options.skips_damaged) added = leave_out_damaged(file, *table, key.info(), kept);
  if (!added && is_about_form(added.error())) {
    made_.needs_columns = true;
    made_.why = added.error().text;
    return {};
  }
  TRY_VOID(named(name.file, std::move(added)));
  auto done = write_units();
  TRY_VOID(request_.inputs.names().size() > 1 ? named(name.file, std::move(done)) : std::move(done));
  note_kept(kept ? *kept : KeptEntries({0, entries}), *table);
  entries_ += entries;
  return {};
}

void UnitsOfTable::note_kept(const KeptEntries& kept, const tfile::Table& table) {
  for (const EntryRange& cluster : clusters_of(table))
    made_.cluster_ends.push_back(made_.report.entries + kept.before(cluster.end));
  made_.report.entries += kept.count();
  for (const EntryRange& range : kept.ranges()) made_.kept.add({entries_ + range.begin, entries_ + range.end});
}

Result<> UnitsOfTable::write_units() {
  std::uint64_t all = 0, done = 0;
  for (std::size_t i = 0; i < copy_->unit_count(); ++i) all += stored_bytes(copy_->unit(i));
  if (work_.output == nullptr) {
    made_.report.bytes += all;
    return {};
  }
  const auto reply = [&](std::uint64_t bytes) {
    done += bytes;
    const double share = static_cast<double>(done) / static_cast<double>(std::max<std::uint64_t>(all, 1));
    if (work_.progress)
      work_.progress((static_cast<double>(file_) + share) / static_cast<double>(request_.inputs.names().size()));
  };
  TRY(const std::uint64_t written, named(request_.path, copy_units(*copy_, work_, reply)));
  made_.report.bytes += written;
  return copy_->end_table();
}

Result<> UnitsOfTable::leave_out_damaged(const std::shared_ptr<const tfile::File>& file, const tfile::Table& table,
                                         const KeyInfo& key, std::optional<KeptEntries>& kept) {
  for (;;) {
    std::vector<DamagedUnit> units;
    TRY_VOID(try_units(*copy_, work_, [&](EntryRange entries, const Error& error) {
      units.push_back({entries, error.text});
    }));
    if (units.empty()) return {};
    if (!kept) kept.emplace(EntryRange{0, table.entries});
    const std::int64_t before = kept->count();
    TRY(const DamagedClusters damaged, clusters_with_damage(file, table, key, units, *kept));
    leave_out_clusters(damaged, entries_, *kept, made_);
    if (kept->count() == before) return fail(ErrorKind::damaged, units.front().why);
    TRY_VOID(copy_->add_table(file, key, &*kept));
  }
}

Result<DamagedClusters> UnitsOfTable::clusters_with_damage(const std::shared_ptr<const tfile::File>& file,
                                                           const tfile::Table& table, const KeyInfo& key,
                                                           std::span<const DamagedUnit> units,
                                                           const KeptEntries& kept) {
  DamagedClusters found;
  std::map<std::int64_t, std::vector<std::string>> seen;  // what was found in a cluster, by its first entry
  std::set<std::int64_t> bad;
  const std::vector<EntryRange> clusters = clusters_of(table);
  for (const DamagedUnit& unit : units) {
    std::vector<EntryRange> near;
    for (const EntryRange& cluster : clusters) {
      if (overlap(unit.entries, cluster) && span_of_kept(kept, cluster).size() > 0) near.push_back(cluster);
    }
    bool is_found = false;
    for (const EntryRange& cluster : near) {
      if (near.size() == 1) break;
      if (!seen.contains(cluster.begin)) {
        TRY(seen[cluster.begin], damage_in(file, key, cluster));
        std::ranges::copy(seen[cluster.begin], std::back_inserter(found.why));
      }
      if (seen[cluster.begin].empty()) continue;
      bad.insert(cluster.begin);
      is_found = true;
    }
    if (is_found) continue;
    found.why.push_back(unit.why);
    for (const EntryRange& cluster : near) bad.insert(cluster.begin);
  }
  std::ranges::copy_if(clusters, std::back_inserter(found.clusters),
                       [&](EntryRange cluster) { return bad.contains(cluster.begin); });
  return found;
}

Result<std::vector<std::string>> UnitsOfTable::damage_in(const std::shared_ptr<const tfile::File>& file,
                                                         const KeyInfo& key, EntryRange cluster) {
  constexpr tfile::Compression kNone{tfile::Compression::Algorithm::none, 0};
  TRY(const auto scratch, tfile::FileWriter::create("scratch", kNone));
  tfile::CopyOptions how = copy_options();
  how.compression = kNone;
  how.cluster_bytes = 0;
  TRY(tfile::TableCopy* const copy, scratch->copy_table("", request_.name, key, how));
  const KeptEntries all(cluster);
  TRY_VOID(copy->add_table(file, key, &all));
  std::vector<std::string> why;
  TRY_VOID(try_units(*copy, work_, [&](EntryRange, const Error& error) { why.push_back(error.text); }));
  return why;
}

// A table whose columns are read.
class ColumnsOfTable {
 public:
  ColumnsOfTable(const TableRequest& request, const TableWork& work);
  Result<WrittenTable> run(Conversion conversion);

 private:
  Result<> write(ChainSource& source, OfferedTable offered, tfile::TableFormat format, const Kept& wanted);

  // Columns that the files do not have alike, or that cannot be read as columns in any of them.
  void note_differences(std::span<const Difference> differences);

  // Reads all of it first. Clusters with a damaged column go. Where the lists of a cluster begin is said in the one
  // before: behind a damaged one, the first entry goes along, and the others are tried without it.
  Result<> leave_out_damaged(ChainSource& source, const OfferedTable& offered, KeptEntries& kept);

  const TableRequest& request_;
  const TableWork& work_;
  WrittenTable made_;
};

ColumnsOfTable::ColumnsOfTable(const TableRequest& request, const TableWork& work) : request_(request), work_(work) {
  made_.report.path = request.path;
  made_.report.by_unit = false;
}

Result<WrittenTable> ColumnsOfTable::run(Conversion conversion) {
  TRY(const Kept wanted, kept_of(request_, work_.stop));
  auto source = open_chain(request_);
  if (!source && is_about_form(source.error())) {
    made_.left_out.push_back(source.error().text);
    return std::move(made_);
  }
  if (!source) return tl::unexpected(std::move(source).error());
  const tfile::Table& table = (*source)->table();
  TRY_VOID(check_count(wanted, table.entries, request_.options.selection));
  RawFields raw{request_.options.keeps_raw, {}};
  if (raw.are_kept) {
    TRY(raw.classes, streamed_classes(request_, table, work_.writer));
  }
  TRY(OfferedTable offered,
      named(request_.path, offered_table(**source, conversion, raw, request_.refused, request_.options.columns)));
  made_.left_out = offered.left_out;
  std::ranges::copy((*source)->left_out(), std::back_inserter(made_.left_out));
  made_.friends = (*source)->friends();
  made_.renamed = offered.renamed;
  for (std::size_t i = 0; i < offered.columns.size(); ++i) {
    if (offered.offered[i].path != offered.columns[i]->path)
      made_.source_paths.emplace(offered.offered[i].path, offered.columns[i]->path);
  }
  made_.streamed = offered.streamed;
  made_.format = conversion.to;
  note_differences((*source)->differences());
  if (offered.columns.empty()) {
    made_.left_out.push_back("none of its columns can be written");
    return std::move(made_);
  }
  TRY_VOID(named(request_.path, write(**source, std::move(offered), conversion.to, wanted)));
  made_.written = true;
  return std::move(made_);
}

Result<> ColumnsOfTable::write(ChainSource& source, OfferedTable offered, tfile::TableFormat format,
                               const Kept& wanted) {
  const RepackOptions& options = request_.options;
  const tfile::Table& table = source.table();
  const EntryRange all{0, table.entries};
  KeptEntries kept = wanted.entries ? wanted.entries->within(all) : KeptEntries(all);
  const std::uint64_t cluster =
      options.cluster_bytes != 0 ? options.cluster_bytes : default_cluster(format, options.memory);
  if (options.skips_damaged) TRY_VOID(leave_out_damaged(source, offered, kept));
  TRY(tfile::TableWriter* const writer,
      work_.writer.create_table(request_.directory, request_.name, table.title, format));
  TRY(CopiedColumns copied, copy_columns(source, std::move(offered), kept, *writer, work_, cluster));
  made_.report.bytes = copied.bytes;
  made_.refused = std::move(copied.refused);
  made_.report.entries = kept.count();
  for (const EntryRange& range : clusters_of(table)) made_.cluster_ends.push_back(kept.before(range.end));
  made_.kept = std::move(kept);
  return {};
}

void ColumnsOfTable::note_differences(std::span<const Difference> differences) {
  for (const Difference& difference : differences) {
    const bool is_wanted = request_.options.columns.takes(difference.node.substr(0, difference.node.find('/')));
    if (!difference.is_left_out || !is_wanted) continue;
    const std::vector<std::string>& types = difference.found;
    std::string found;
    for (const std::string& type : types) found += (found.empty() ? "" : ", ") + type;
    const bool is_one = std::ranges::count(types, types.front()) == std::ssize(types);
    made_.left_out.push_back(difference.node +
                             (is_one ? ": " + types.front() : ": its type differs between the files: " + found));
  }
}

Result<> ColumnsOfTable::leave_out_damaged(ChainSource& source, const OfferedTable& offered, KeptEntries& kept) {
  const auto damage_in = [&](const std::vector<EntryRange>& clusters) -> Result<DamagedClusters> {
    DamagedClusters found;
    TRY_VOID(try_columns(source, offered, {kept, clusters}, work_, [&](EntryRange cluster, const Error& error) {
      if (found.clusters.empty() || found.clusters.back() != cluster) found.clusters.push_back(cluster);
      found.why.push_back(error.text);
    }));
    return found;
  };
  TRY(DamagedClusters damaged, damage_in(clusters_of(source.table())));
  std::vector<EntryRange> rests;
  for (std::size_t i = 1; i < damaged.clusters.size(); ++i) {
    const EntryRange cluster = damaged.clusters[i];
    if (cluster.begin == damaged.clusters[i - 1].end) rests.push_back({cluster.begin + 1, cluster.end});
  }
  TRY(const DamagedClusters again, damage_in(rests));
  std::erase_if(rests, [&](EntryRange rest) { return std::ranges::count(again.clusters, rest) > 0; });
  for (EntryRange& cluster : damaged.clusters) {
    if (std::ranges::count(rests, EntryRange{cluster.begin + 1, cluster.end}) > 0) cluster.end = cluster.begin + 1;
  }
  leave_out_clusters(damaged, 0, kept, made_);
  return {};
}

}  // namespace

Result<std::unique_ptr<ChainSource>> open_chain(const TableRequest& request, std::uint64_t share,
                                                const FriendNamingTexts& texts) {
  return ChainSource::open(cache_options(request.options, share), request.inputs.names(), request.path,
                           request.options.remote, {request.options.friends, request.is_only_table, texts});
}

Result<std::vector<std::string>> extras_of_trees(const TableRequest& request) {
  std::vector<std::string> found;
  for (std::size_t number = 0; number < request.inputs.names().size(); ++number) {
    const ChainName& name = request.inputs.names()[number];
    TRY(const auto file, request.inputs.open(number));
    TRY(const KeyPlace key,
        named(name.file, key_in(*file, name.table.empty() ? request.path : name.table, tfile::KeyKind::table)));
    if (key.info().format != tfile::TableFormat::tree) continue;
    auto extras = tfile::tree_extras(*file, key.info());
    std::vector<std::string> lines;
    if (!extras && is_about_form(extras.error())) {
      lines.push_back(
          "what it may have in addition to its columns (aliases, user info, a weight, an index, friends): " +
          extras.error().text);
    } else {
      TRY(const tfile::TreeExtras known, named(name.file, std::move(extras)));
      lines = tfile::names_of(known);
    }
    for (std::string& line : lines) {
      if (std::ranges::find(found, line) == found.end()) found.push_back(std::move(line));
    }
  }
  return found;
}

Result<WrittenTable> copy_table(const TableRequest& request, const KeyInfo& key, const TableWork& work) {
  return UnitsOfTable(request, work).run(key);
}

Result<WrittenTable> convert_table(const TableRequest& request, const KeyInfo& key, const TableWork& work) {
  return ColumnsOfTable(request, work).run({key.format, request.options.format.value_or(key.format)});
}

Result<std::vector<std::string>> verify_written(const TableRequest& request, const WrittenTable& made,
                                                const std::string& out, const VerifyWork& work) {
  const CacheOptions cache = cache_options(request.options, 2);
  TRY(const auto in, open_chain(request, 2));
  const std::string path = path_of_key(request.directory, request.name);
  TRY(const auto written, ChainSource::open(cache, {{out, path}}, path, request.options.remote));
  TRY(std::vector<std::string> left,
      named(request.path, verify_table(*in, made.kept, {*written, made.format, made.streamed, made.source_paths},
                                       work.workers, work.stop)));
  for (std::string& name : left) name.insert(0, request.path + "/");
  return left;
}

}  // namespace tfilefs
