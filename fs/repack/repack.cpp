// SPDX-License-Identifier: Apache-2.0
#include "repack/repack.h"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "descriptor_limit.h"
#include "exec/thread_pool.h"
#include "repack/file_keys.h"
#include "repack/object_copy.h"
#include "repack/open_inputs.h"
#include "repack/output_file.h"
#include "repack/output_set.h"
#include "repack/repack_table.h"
#include "repack/saved_meanwhile.h"
#include "repack/split_plan.h"
#include "repack/stopped.h"
#include "tfile/buffer.h"
#include "tfile/file.h"
#include "tfile/table_copy.h"
#include "vfs/names/chain_names.h"
#include "vfs/names/dataset.h"
#include "view/table_form.h"

namespace tfilefs {

using tfile::fail;
using tfile::KeyInfo;

namespace {

// The compression of what is encoded anew, if none is asked for and the tables change their format.
constexpr tfile::Compression kUsualCompression{tfile::Compression::Algorithm::zstd, 5};

Result<std::vector<ChainName>> files_of(const std::vector<std::string>& sources, const tfile::RemoteOptions& remote) {
  std::vector<ChainName> files;
  for (const std::string& source : sources) {
    std::vector<ChainName> found;
    if (is_dataset(source)) {
      TRY(const Dataset dataset, read_dataset(source.substr(1)));
      const std::vector<DatasetSample>& samples = dataset.samples;
      if (samples.size() != 1)
        return fail(ErrorKind::invalid, source + ": has " + std::to_string(samples.size()) + " samples, expected one");
      for (const ChainName& name : samples[0].files) {
        TRY(const std::vector<ChainName> each, chain_names(name, remote));
        found.insert(found.end(), each.begin(), each.end());
      }
    } else {
      TRY(found, chain_names(source, remote));
    }
    files.insert(files.end(), found.begin(), found.end());
  }
  if (files.empty()) return fail(ErrorKind::not_found, "no files to read");
  return files;
}

// The names by which a table's columns at the top are chosen: their own, and those of their branches.
void add_top_names(const tfile::Table& table, std::vector<std::string>& into) {
  for (const tfile::NodeId id : table.nodes[0].children) {
    const tfile::Node& node = table.nodes[id];
    into.emplace_back(bare_name(table.columns, node));
    if (!node.branch_name.empty()) into.push_back(node.branch_name);
  }
  for (const tfile::Column& column : table.columns) into.push_back(column.branch.substr(0, column.branch.find('/')));
}

class Repack {
 public:
  Repack(const RepackOptions& options, const RepackWatch& watch);
  Result<RepackReport> run();

 private:
  Result<RepackReport> write();
  // A file to be written. `shares`: what it has of each table, by path; null: all of it.
  struct WantedFile {
    std::string path;
    const std::map<std::string, tfile::EntryRange>* shares = nullptr;
    bool has_objects = true;
    bool is_dry = false;
  };

  // The names that were written, and the file if there is one.
  struct WrittenFile {
    RepackReport report;
    std::vector<SplitTable> tables;
    std::unique_ptr<OutputFile> output;
  };

  Result<> check_out(const std::string& path) const;

  // A field that a later file refuses is in none of them: they are begun again.
  Result<> write_split();

  // Damage was found before entries were shared out, and is in none of the shares.
  void note_damage();

  // Each file has as many entries as fit, by what the ones before took. Ends early where a field is refused.
  Result<> write_files(SplitPlan plan);

  // All of them are open until they have their names: then a crash leaves nothing of them.
  static Result<> check_file_count(std::size_t count);
  std::size_t refused_count() const;
  void keep_file();

  // Those that are not there yet.
  static void add_lines(std::vector<std::string>& lines, std::vector<std::string> more);

  // Sets made_. A table that turned out not to be copied by unit is begun again, column by column.
  Result<> write_one(const WantedFile& wanted);
  Result<> attempt(const WantedFile& wanted);
  tfile::Compression compression_of_new() const;
  Result<> write_objects();
  Result<> write_tables(const std::vector<KeyPlace>& tables);

  // A friend of none of the tables is a mistake, as a pattern that matches nothing is.
  Result<> check_friends() const;
  Result<> check_renames(const std::vector<const KeyPlace*>& tables) const;

  // A pattern that no column matches is a mistake, and would leave out, or keep, what nobody wants so.
  Result<> check_columns(const std::vector<const KeyPlace*>& tables);

  // A file may be named together with one of its tables: then that is the only one.
  bool is_wanted(const KeyPlace& table) const;
  std::string new_name(const KeyPlace& table) const;

  // A table that is made, not copied, has a name that a path can have.
  void make_plain(TableRequest& request);
  bool has_key(const std::string& directory, const std::string& name) const;
  Result<> write_table(const KeyPlace& table, bool is_only, std::function<void(double)> progress);

  // Tells of a table, and keeps it if it was written.
  void take_written(TableRequest request, WrittenTable written);

  // The extras that the trees of a table have beside their columns.
  Result<const std::vector<std::string>*> lost_extras(const TableRequest& request);

  // Notes what was learnt of a table that cannot be written as it was begun. Returns the reason.
  tl::unexpected<Error> begin_again(const std::string& path, WrittenTable& written);
  bool may_go_by_unit(const KeyInfo& key) const;

  // The file is then whole, but has no name.
  Result<> complete();

  // The writer's knowledge of the tables is not needed any more.
  Result<> verify();

  const RepackOptions& options_;
  const RepackWatch& watch_;
  ThreadPool reader_, workers_, coders_;
  OpenInputs inputs_;
  InputKeys keys_;
  std::map<std::string, std::string> by_columns_;  // paths of tables that cannot be copied by unit, and why
  std::map<std::string, RefusedFields> refused_;   // by path of their table
  // The damage that an attempt has found: entries, counted over all files, and lines that say what and why.
  struct KnownDamage {
    std::vector<tfile::EntryRange> entries;
    std::vector<std::string> lines;
  };
  std::map<std::string, KnownDamage> damage_;               // by path of the table
  std::map<std::string, std::vector<std::string>> extras_;  // likewise: what is lost where it goes by columns
  bool again_ = false;
  std::unique_ptr<tfile::FileWriter> writer_;
  const WantedFile* wanted_ = nullptr;
  WrittenFile made_;
  std::vector<std::pair<TableRequest, WrittenTable>> written_;  // tables of made_
  std::optional<OutputSet> outputs_;                            // none: nothing is written
  RepackReport report_;
};

Repack::Repack(const RepackOptions& options, const RepackWatch& watch)
    : options_(options), watch_(watch), reader_(1), workers_(options.threads), coders_(options.threads) {}

Result<RepackReport> Repack::run() {
  auto report = write();
  if (!report) return tl::unexpected(damage_or_save(std::move(report).error(), inputs_.names()));
  return report;
}

Result<RepackReport> Repack::write() {
  TRY(std::vector<ChainName> files, files_of(options_.sources, options_.remote));
  inputs_ = OpenInputs(std::move(files), options_.remote);
  TRY_VOID(check_out(options_.out));
  const bool is_split = options_.split_bytes != 0 && !options_.is_dry;
  if (!options_.is_dry) {
    TRY(OutputSet outputs, OutputSet::make(options_.out, is_split, options_.replaces));
    outputs_.emplace(std::move(outputs));
    for (const std::string& path : outputs_->former_paths()) TRY_VOID(check_out(path));
  }
  const auto takes = [&](const std::string& name) { return options_.tables.takes(name); };
  TRY(keys_, keys_of_inputs(inputs_, takes));
  if (is_split) {
    TRY_VOID(write_split());
  } else {
    TRY_VOID(write_one({options_.out, nullptr}));
    keep_file();
  }
  if (outputs_) TRY_VOID(outputs_->publish());
  return std::move(report_);
}

Result<> Repack::check_out(const std::string& path) const {
  struct stat out {};
  if (::stat(path.c_str(), &out) != 0) return {};
  for (const ChainName& file : inputs_.names()) {
    struct stat source {};
    if (::stat(file.file.c_str(), &source) == 0 && source.st_dev == out.st_dev && source.st_ino == out.st_ino)
      return fail(ErrorKind::invalid, path + ": is also an input");
  }
  return {};
}

Result<> Repack::write_split() {
  for (;;) {
    TRY_VOID(write_one({options_.out, nullptr, true, true}));
    note_damage();
    const std::size_t refused = refused_count();
    TRY_VOID(write_files(SplitPlan(std::move(made_.tables), options_.split_bytes)));
    if (refused_count() == refused) return {};
    outputs_->clear();
    report_ = {};
  }
}

void Repack::note_damage() {
  for (const auto& [request, written] : written_) {
    KnownDamage& known = damage_[request.path];
    known.entries.insert(known.entries.end(), written.lost.begin(), written.lost.end());
    std::ranges::sort(known.entries, {}, &tfile::EntryRange::begin);
    add_lines(known.lines, written.damage);
  }
}

Result<> Repack::write_files(SplitPlan plan) {
  const std::size_t files_about = plan.files_about();
  TRY_VOID(check_file_count(files_about));
  while (!plan.is_done()) {
    const std::map<std::string, tfile::EntryRange> shares = plan.next();
    const std::size_t number = outputs_->size(), refused = refused_count();
    TRY_VOID(check_file_count(number + 1));
    TRY_VOID(write_one({split_name(options_.out, number, files_about), &shares, number == 0}));
    if (refused_count() != refused) return {};
    if (plan.take(made_.report.files.front().size)) keep_file();
  }
  return {};
}

Result<> Repack::check_file_count(std::size_t count) {
  constexpr std::size_t kDescriptors = 4;  // a file, its directory twice, and what it replaces
  constexpr std::size_t kFilesMax = 10'000;
  if (count > kFilesMax)
    return fail(ErrorKind::invalid, "--split: needs about " + std::to_string(count) + " files, " +
                                        std::to_string(kFilesMax) + " are written at most: give a larger size");
  const std::size_t most = files_within_limit(count, kDescriptors);
  if (count <= most) return {};
  return fail(ErrorKind::invalid, "--split: needs at least " + std::to_string(count) + " files, the limit of " +
                                      "open files (ulimit -n) allows " + std::to_string(most));
}

std::size_t Repack::refused_count() const {
  std::size_t count = 0;
  for (const auto& [path, fields] : refused_) count += fields.size();
  return count;
}

void Repack::keep_file() {
  RepackReport& made = made_.report;
  if (made_.output) outputs_->add(std::move(made_.output));
  report_.files.push_back(std::move(made.files.front()));
  for (RepackReport::Table& table : made.tables) {
    const auto known = std::ranges::find(report_.tables, table.path, &RepackReport::Table::path);
    if (known == report_.tables.end()) {
      report_.tables.push_back(std::move(table));
    } else {
      known->entries += table.entries;
      known->bytes += table.bytes;
    }
  }
  std::ranges::move(made.objects, std::back_inserter(report_.objects));
  add_lines(report_.left_out, std::move(made.left_out));
  add_lines(report_.renamed, std::move(made.renamed));
  add_lines(report_.not_verified, std::move(made.not_verified));
}

void Repack::add_lines(std::vector<std::string>& lines, std::vector<std::string> more) {
  for (std::string& line : more) {
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  }
}

Result<> Repack::write_one(const WantedFile& wanted) {
  for (;;) {
    again_ = false;
    auto done = attempt(wanted);
    if (done || !again_) return done;
  }
}

Result<> Repack::attempt(const WantedFile& wanted) {
  made_ = {};
  wanted_ = &wanted;
  made_.report.files = {{wanted.path}};
  written_.clear();
  TRY_VOID(check_out(wanted.path));
  if (!options_.is_dry && !wanted.is_dry) {
    TRY(made_.output, outputs_->begin(wanted.path));
  }
  const std::string name = std::filesystem::path(wanted.path).filename();
  TRY(writer_, tfile::FileWriter::create(name, compression_of_new()));
  made_.report.left_out = keys_.left_out;
  TRY_VOID(writer_->take_classes(*keys_.first));
  for (const KeyPlace& directory : keys_.directories)
    TRY_VOID(writer_->make_directory(directory.path(), directory.info().datime, directory.info().title));
  if (wanted.has_objects) TRY_VOID(write_objects());
  TRY_VOID(write_tables(keys_.tables));
  TRY_VOID(complete());
  return made_.output && options_.verifies ? verify() : Result<>();
}

tfile::Compression Repack::compression_of_new() const {
  if (options_.compression) return *options_.compression;
  return options_.format ? kUsualCompression : tfile::compression_of(keys_.first->header().compress);
}

Result<> Repack::write_objects() {
  TRY(std::vector<std::string> left,
      copy_objects({options_, inputs_, keys_.objects}, {*writer_, made_.output.get(), watch_.stop}));
  add_lines(made_.report.left_out, std::move(left));
  made_.report.files.front().objects = keys_.objects.size();
  for (const auto& [place, file] : keys_.objects)
    made_.report.objects.push_back(place.path() + ": " + std::string(place.info().class_name));
  return {};
}

Result<> Repack::write_tables(const std::vector<KeyPlace>& tables) {
  std::vector<const KeyPlace*> wanted;
  std::vector<std::string> names;
  for (const KeyPlace& table : tables) {
    names.emplace_back(table.info().name);
    if (is_wanted(table)) wanted.push_back(&table);
  }
  if (const std::string& named = inputs_.names().front().table; !named.empty() && wanted.empty())
    return fail(ErrorKind::not_found, named + ": no table of that name" + meant_name(named, names));
  for (const std::string& pattern : options_.tables.idle(names))
    return fail(ErrorKind::not_found, pattern + ": no table of that name" + meant_name(pattern, names));
  TRY_VOID(check_renames(wanted));
  TRY_VOID(check_columns(wanted));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto progress = [&, i](double done) {
      if (watch_.progress && made_.output)
        watch_.progress((static_cast<double>(i) + done) / static_cast<double>(wanted.size()));
    };
    TRY_VOID(write_table(*wanted[i], wanted.size() == 1, progress));
  }
  return check_friends();
}

Result<> Repack::check_friends() const {
  for (const NamedFriend& each : options_.friends) {
    const auto has_it = [&](const auto& made) {
      return std::ranges::find(made.second.friends, each.alias) != made.second.friends.end();
    };
    if (std::ranges::any_of(written_, has_it)) continue;
    // A table of its name that could not be joined with it was left out for that.
    const std::string friend_name = "friend " + each.alias + ": ";
    for (const std::string& line : made_.report.left_out) {
      if (line.find(friend_name) != line.npos) return fail(ErrorKind::invalid, line);
    }
    return fail(ErrorKind::not_found, friend_name + "no written table has its name; choose one with --tables");
  }
  return {};
}

Result<> Repack::check_renames(const std::vector<const KeyPlace*>& tables) const {
  std::vector<std::string> paths;
  for (const KeyPlace* table : tables) paths.push_back(table->path());
  for (const auto& [old_path, name] : options_.renames) {
    if (std::ranges::find(paths, old_path) == paths.end())
      return fail(ErrorKind::not_found, "--rename " + old_path + "=" + name + ": no table " + old_path + " is written" +
                                            meant_name(old_path, paths));
  }
  return {};
}

Result<> Repack::check_columns(const std::vector<const KeyPlace*>& tables) {
  if (options_.columns.takes_all()) return {};
  std::vector<std::string> names;
  bool takes_some = tables.empty();
  for (const KeyPlace* table : tables) {
    TRY(const auto unresolved, keys_.first->unresolved_table(table->info()));
    std::vector<std::string> own;
    add_top_names(*unresolved, own);
    takes_some |= std::ranges::any_of(own, [&](const std::string& name) { return options_.columns.takes(name); });
    std::ranges::move(own, std::back_inserter(names));
    if (options_.friends.empty()) continue;
    TableRequest request{options_, inputs_, table->path(), table->directory, std::string(table->info().name)};
    request.is_only_table = tables.size() == 1;
    TRY(const auto joined, open_chain(request));
    add_top_names(joined->table(), names);
  }
  for (const std::string& pattern : options_.columns.idle(names))
    return fail(ErrorKind::not_found, pattern + ": no column of that name" + meant_name(pattern, names));
  const bool takes_friends = !options_.friends.empty() && std::ranges::any_of(names, [&](const std::string& name) {
    return options_.columns.takes(name);
  });
  if (!takes_some && !takes_friends)
    return fail(ErrorKind::invalid, "--columns and --drop leave no column in any table");
  return {};
}

bool Repack::is_wanted(const KeyPlace& table) const {
  const std::string& named = inputs_.names().front().table;
  if (!named.empty()) return table.path() == named;
  return options_.tables.takes(std::string(table.info().name));
}

std::string Repack::new_name(const KeyPlace& table) const {
  for (const auto& [old_path, name] : options_.renames) {
    if (old_path == table.path()) return name;
  }
  return std::string(table.info().name);
}

void Repack::make_plain(TableRequest& request) {
  if (!request.name.empty() && request.name.find('/') == std::string::npos) return;
  const std::string old_name = request.name;
  std::ranges::replace(request.name, '/', '_');
  if (request.name.empty()) request.name = "_";
  const std::string plain = request.name;
  for (int number = 2; has_key(request.directory, request.name); ++number)
    request.name = plain + "_" + std::to_string(number);
  made_.report.renamed.push_back(request.path + ": now " + request.name + ": no new table has the name '" + old_name +
                                 "'");
}

bool Repack::has_key(const std::string& directory, const std::string& name) const {
  const auto is_it = [&](const KeyPlace& key) { return key.directory == directory && key.info().name == name; };
  return std::ranges::any_of(keys_.tables, is_it) || std::ranges::any_of(keys_.directories, is_it) ||
         std::ranges::any_of(keys_.objects, is_it, &InputKeys::Object::place);
}

Result<> Repack::write_table(const KeyPlace& table, bool is_only, std::function<void(double)> progress) {
  const std::string path = table.path();
  RepackReport& report = made_.report;
  if (table.info().format == tfile::TableFormat::rntuple) {  // one of a format before 1.0 cannot be read
    TRY(const auto unresolved, keys_.first->unresolved_table(table.info()));
    if (!unresolved->reason.empty()) {
      report.left_out.push_back(path + ": " + unresolved->reason);
      return {};
    }
  }
  const bool by_unit = by_columns_.count(path) == 0 && may_go_by_unit(table.info());
  TableRequest request{options_, inputs_, path, table.directory, new_name(table)};
  request.is_only_table = is_only;
  if (!by_unit) make_plain(request);
  if (const auto* shares = wanted_->shares; shares != nullptr && shares->contains(path))
    request.share = shares->at(path);
  if (const auto refused = refused_.find(path); refused != refused_.end()) request.refused = refused->second;
  if (const auto damage = damage_.find(path); damage != damage_.end()) {
    request.lost = damage->second.entries;
    for (const std::string& line : damage->second.lines) report.left_out.push_back(path + ": " + line);
  }
  TableWork work{*writer_, made_.output.get(), reader_, workers_, coders_, options_, watch_.stop, std::move(progress)};
  TRY(WrittenTable written,
      by_unit ? copy_table(request, table.info(), work) : convert_table(request, table.info(), work));
  if (written.needs_columns || !written.refused.empty()) return begin_again(path, written);
  if (const auto why = by_columns_.find(path); why != by_columns_.end() && !written.left_out.empty())
    report.left_out.push_back(path +
                              ": what its columns do not show; it could not be copied unchanged: " + why->second);
  if (!by_unit) {
    TRY(const auto* extras, lost_extras(request));
    std::ranges::copy(*extras, std::back_inserter(written.left_out));
  }
  take_written(std::move(request), std::move(written));
  return {};
}

void Repack::take_written(TableRequest request, WrittenTable written) {
  const std::string& path = request.path;
  RepackReport& report = made_.report;
  for (const auto* lines : {&written.left_out, &written.damage}) {
    for (const std::string& line : *lines) report.left_out.push_back(path + ": " + line);
  }
  for (const std::string& line : written.renamed) report.renamed.push_back(path + ": " + line);
  if (!written.written) return;
  made_.tables.push_back({path, written.report.entries, written.report.bytes, std::move(written.cluster_ends)});
  report.tables.push_back(std::move(written.report));
  written_.emplace_back(std::move(request), std::move(written));
  ++report.files.front().tables;
}

Result<const std::vector<std::string>*> Repack::lost_extras(const TableRequest& request) {
  const auto [known, is_new] = extras_.try_emplace(request.path);
  if (is_new) {
    TRY(known->second, extras_of_trees(request));
  }
  return &known->second;
}

tl::unexpected<Error> Repack::begin_again(const std::string& path, WrittenTable& written) {
  RefusedFields& refused = refused_[path];
  const std::size_t known = refused.size();
  const std::string why = written.needs_columns ? written.why : written.refused.begin()->second;
  refused.merge(written.refused);
  again_ = refused.size() > known;
  if (written.needs_columns) again_ |= by_columns_.emplace(path, why).second;
  return fail(ErrorKind::unsupported, path + ": " + why);
}

bool Repack::may_go_by_unit(const KeyInfo& key) const {
  if (options_.format && *options_.format != key.format) return false;
  if (!options_.friends.empty()) return false;
  const bool whole = options_.columns.takes_all() && options_.cluster_bytes == 0 && !options_.entries &&
                     options_.selection.empty() && options_.where.empty() && options_.split_bytes == 0;
  return key.format == tfile::TableFormat::tree || whole;
}

Result<> Repack::complete() {
  TRY(const tfile::CommitPlan plan, writer_->plan(tfile::datime_of(std::time(nullptr))));
  made_.report.files.front().size = plan.size;
  TRY_VOID(not_stopped(watch_.stop));
  return made_.output ? made_.output->complete(plan) : Result<>();
}

Result<> Repack::verify() {
  const std::string out = made_.output->path();
  writer_.reset();
  for (const auto& [request, written] : written_) {
    tfile::give_back_free_buffers();
    TRY(std::vector<std::string> left, verify_written(request, written, out, {workers_, watch_.stop}));
    add_lines(made_.report.not_verified, std::move(left));
  }
  return {};
}

}  // namespace

Result<RepackReport> repack(const RepackOptions& options, const RepackWatch& watch) {
  tfile::scale_free_buffers(options.memory);
  return Repack(options, watch).run();
}

}  // namespace tfilefs
