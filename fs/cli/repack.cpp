// SPDX-License-Identifier: Apache-2.0
#include "repack/repack.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/definitions.h"
#include "cli/json_output.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/repack_sources.h"
#include "cli/stop_on_signal.h"
#include "cli/work_flags.h"
#include "letter_case.h"
#include "printable.h"
#include "repack/entry_choice.h"

namespace tfilefs {
namespace {

using Given = std::vector<std::string>;

// The flags of the command line, as text.
struct GivenFlags {
  std::string format = "keep", compression, cluster, entries, select, where, split, threads, memory;
  Given columns, drop, friends, defines, tables, rename, words;
  bool force = false, dry_run = false, verify = false, skip_damaged = false, no_add = false, keep_raw = false;
  bool json = false, quiet = false, verbose = false;
};

Result<std::optional<tfile::TableFormat>> parse_format(const std::string& text) {
  const std::string format = lower_case(text);
  if (format == "keep") return std::optional<tfile::TableFormat>();
  if (format == "ttree") return std::optional(tfile::TableFormat::tree);
  if (format == "rntuple") return std::optional(tfile::TableFormat::rntuple);
  return wrong_value("--format", text, "ttree, rntuple or keep");
}

Result<std::uint64_t> parse_bytes(const std::string& flag, const std::string& text, std::uint64_t at_least) {
  const auto size = parse_size(text);
  if (!size) return wrong_value(flag, text, "a size such as 256M");
  if (*size < at_least) return wrong_value(flag, text, "at least " + std::to_string(at_least) + " bytes");
  return *size;
}

Result<> parse_sizes(const GivenFlags& given, RepackOptions& options) {
  options.memory = default_work_memory();
  if (!given.memory.empty()) {
    TRY(options.memory, parse_bytes("--memory", given.memory, kWorkMemoryMin));
  }
  if (!given.cluster.empty()) {
    TRY(options.cluster_bytes, parse_bytes("--cluster", given.cluster, 1));
  }
  if (!given.split.empty()) {
    constexpr std::uint64_t kSplitMin = 10'000;  // fewer are a forgotten unit
    TRY(options.split_bytes, parse_bytes("--split", given.split, kSplitMin));
  }
  TRY(options.threads, parse_threads(given.threads));
  return {};
}

// OUT is a ROOT file: another format's suffix, or a pipe, is not what it would be. Where tables are shown in that
// format, the message says so.
Result<> check_out(const std::string& out) {
  if (out == "-")
    return tfile::fail(ErrorKind::invalid,
                       "-: a ROOT file is not written sequentially, so it cannot "
                       "go through a pipe: name a file");
  constexpr std::string_view kShown[] = {".arrow", ".parquet", ".csv", ".jsonl", ".npy"};
  constexpr std::string_view kOthers[] = {".feather", ".h5",  ".hdf5", ".hdf", ".npz", ".json", ".txt",
                                          ".tsv",     ".orc", ".zarr", ".nc",  ".zip", ".gz",   ".svg"};
  const auto ends_so = [&](std::string_view suffix) { return out.ends_with(suffix); };
  const auto shown = std::ranges::find_if(kShown, ends_so);
  if (shown != std::end(kShown))
    return tfile::fail(ErrorKind::invalid, out + ": repack writes ROOT files. A mount shows each table as TABLE" +
                                               std::string(*shown == ".npy" ? "/COLUMN.npy" : *shown) +
                                               "; copy that with cp");
  if (std::ranges::any_of(kOthers, ends_so))
    return tfile::fail(ErrorKind::invalid,
                       out +
                           ": repack writes ROOT files. A mount shows each table as "
                           "TABLE.parquet, TABLE.arrow and TABLE.csv, which other programs convert");
  return {};
}

// Friends, and other names for tables.
Result<> parse_names(const GivenFlags& given, RepackOptions& options) {
  for (const std::string& each : given.friends) {
    auto named = parse_friend(each);
    if (!named) return wrong_value("--friend", each, "ALIAS=SOURCE, or ALIAS=SOURCE@KEY");
    const auto has_alias = [&](const NamedFriend& other) { return other.alias == named->alias; };
    if (std::ranges::any_of(options.friends, has_alias))
      return wrong_value("--friend", each, "an alias that is not used yet");
    options.friends.push_back(*std::move(named));
  }
  for (const std::string& rename : given.rename) {
    const std::size_t equal = rename.find('=');
    if (equal == 0 || equal == std::string::npos || equal + 1 == rename.size())
      return wrong_value("--rename", rename, "OLD=NEW");
    const auto is_same = [&](const auto& other) { return other.first == rename.substr(0, equal); };
    if (std::ranges::any_of(options.renames, is_same)) return wrong_value("--rename", rename, "one new name per table");
    // ROOT takes "a;3" for the third cycle of "a".
    if (rename.find(';', equal) != std::string::npos) return wrong_value("--rename", rename, "a name without ';'");
    options.renames.emplace_back(rename.substr(0, equal), rename.substr(equal + 1));
  }
  return {};
}

Result<RepackOptions> options_of(const GivenFlags& given) {
  RepackOptions options;
  TRY_VOID(check_out(given.words.back()));
  TRY(RepackSources sources, repack_sources({given.words.begin(), given.words.end() - 1}));
  if (!sources.where.empty() && !given.where.empty())
    return fail(ErrorKind::unsupported, "--where, and an expression in the path of the source: join them by &&");
  options.sources = std::move(sources.names);
  options.out = given.words.back();
  TRY(options.format, parse_format(given.format));
  if (!given.compression.empty()) {
    TRY(options.compression, tfile::parse_compression(lower_case(given.compression)));
  }
  TRY_VOID(parse_sizes(given, options));
  TRY(options.columns, NameFilter::parse(given.columns, given.drop));
  TRY(options.tables, NameFilter::parse(given.tables, {}));
  TRY_VOID(parse_names(given, options));
  if (!given.entries.empty()) {
    options.entries = parse_entries(given.entries);
    if (!options.entries) return wrong_value("--entries", given.entries, "A:B, a range of entries");
  }
  options.selection = given.select;
  options.where = sources.where.empty() ? given.where : std::move(sources.where);
  TRY(options.definitions, parse_definitions(given.defines));
  options.replaces = given.force;
  options.is_dry = given.dry_run;
  options.skips_damaged = given.skip_damaged;
  options.keeps_raw = given.keep_raw;
  options.verifies = given.verify;
  options.adds_histograms = !given.no_add;
  return options;
}

void print_files(const RepackOptions& options, const RepackReport& report) {
  std::uint64_t unwritten = 0;  // of a dry run, which has one file: what its tables would take
  for (const RepackReport::Table& table : report.tables) {
    std::printf("%s: %lld entries, %s%llu bytes, %s\n", printable(table.path).c_str(),
                static_cast<long long>(table.entries), options.is_dry ? "about " : "",
                static_cast<unsigned long long>(table.bytes), table.by_unit ? "as stored" : "by columns");
    if (options.is_dry) unwritten += table.bytes;
  }
  for (const RepackReport::File& file : report.files) {
    std::printf("%s: %s%zu tables, %zu objects, %s%llu bytes\n", printable(file.path).c_str(),
                options.is_dry ? "would have " : "", file.tables, file.objects, options.is_dry ? "about " : "",
                static_cast<unsigned long long>(file.size + unwritten));
  }
  std::fflush(stdout);
}

void print_remarks(const RepackReport& report) {
  for (const std::string& name : report.not_verified)
    std::fprintf(stderr, "tfilefs: not compared: %s\n", printable(name).c_str());
  for (const std::string& line : report.left_out)
    std::fprintf(stderr, "tfilefs: left out: %s\n", printable(line).c_str());
  for (const std::string& line : report.renamed)
    std::fprintf(stderr, "tfilefs: renamed: %s\n", printable(line).c_str());
}

void print_json_of(const RepackOptions& options, const RepackReport& report) {
  using Json = nlohmann::ordered_json;
  Json tables = Json::array(), files = Json::array();
  for (const RepackReport::Table& table : report.tables)
    tables.push_back({{"table", table.path},
                      {"entries", table.entries},
                      {"bytes", table.bytes},
                      {"copied", table.by_unit ? "as stored" : "by columns"}});
  for (const RepackReport::File& file : report.files)
    files.push_back({{"file", file.path}, {"tables", file.tables}, {"objects", file.objects}, {"bytes", file.size}});
  print_json({{"written", !options.is_dry},
              {"tables", std::move(tables)},
              {"files", std::move(files)},
              {"not_compared", report.not_verified},
              {"left_out", report.left_out},
              {"renamed", report.renamed}});
}

// The size of all files; 0 if some of them are no files of this machine.
double bytes_of(const std::vector<std::string>& sources) {
  double bytes = 0;
  for (const std::string& source : sources) {
    struct stat status {};
    if (::stat(source.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return 0;
    bytes += static_cast<double>(status.st_size);
  }
  return bytes;
}

void show_progress(ProgressLine& line, double share, double bytes) {
  if (bytes == 0) return line.show(share);
  line.show(static_cast<std::uint64_t>(share * bytes), 0, static_cast<std::uint64_t>(bytes));
}

void take_flags(CommandLine& command, GivenFlags& given) {
  command.take("--format", given.format);
  command.take("--compression", given.compression);
  command.take("--cluster", given.cluster);
  command.take("--columns", given.columns);
  command.take("--drop", given.drop);
  command.take("--friend", given.friends);
  command.take("--entries", given.entries);
  command.take("--select", given.select);
  command.take("--where", given.where);
  command.take("--define", given.defines);
  command.take("--tables", given.tables);
  command.take("--rename", given.rename);
  command.take("--split", given.split);
  command.take("-j", given.threads);
  command.take("--memory", given.memory);
  command.take("--force", given.force);
  command.take("-n", given.dry_run);
  command.take("--no-add", given.no_add);
  command.take("--verify", given.verify);
  command.take("--keep-raw", given.keep_raw);
  command.take("--skip-damaged", given.skip_damaged);
  command.take("--json", given.json);
  command.take("-q", given.quiet);
  command.take("-v", given.verbose);
  command.take("IN... OUT", given.words);
}

}  // namespace

int run_repack(int argc, char** argv) {
  CommandLine command("repack");
  GivenFlags given;
  take_flags(command, given);
  if (const auto code = command.parse(argc, argv)) return *code;
  const auto options = options_of(given);
  if (!options) {
    complain(options.error());
    return kExitUsage;
  }
  StopOnSignal stop;
  ProgressLine line(!given.quiet);
  const double bytes = bytes_of(options->sources);
  const auto report = repack(*options, {stop.token(), [&](double share) { show_progress(line, share, bytes); }});
  line.clear();
  if (!report && StopOnSignal::met() != 0) {
    std::fprintf(stderr, "tfilefs: stopped; %s was not written\n", printable(options->out).c_str());
    return 128 + StopOnSignal::met();
  }
  if (!report) return complain_in_lines(report.error());
  for (std::size_t i = 0; given.verbose && !given.json && i < report->objects.size(); ++i)
    std::printf("%s\n", printable(report->objects[i]).c_str());
  if (given.json)
    print_json_of(*options, *report);
  else if (!given.quiet)
    print_files(*options, *report);
  print_remarks(*report);
  return report->left_out.empty() && report->renamed.empty() ? kExitOk : kExitFailure;
}

}  // namespace tfilefs
