// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/each_source.h"
#include "cli/file_check.h"
#include "cli/json_output.h"
#include "cli/progress.h"
#include "cli/resource_limits.h"
#include "printable.h"
#include "root_file.h"

namespace tfilefs {
namespace {

Result<FileCheck> check_source(const std::string& source, ProgressLine& line) {
  TRY(const auto file, open_root_file(source));
  const std::uint64_t size = file->source().size();
  return check_file(*file, usable_cores(), [&](std::uint64_t done) { line.show(done, 0, size); });
}

bool is_skipped(const Finding& finding) {
  return finding.kind == FindingClass::error && finding.error.kind != ErrorKind::damaged;
}

const char* class_of(const Finding& finding) {
  if (is_skipped(finding)) return "not checked";
  switch (finding.kind) {
    case FindingClass::error:
      return "error";
    case FindingClass::warning:
      return "warning";
    case FindingClass::note:
      break;
  }
  return "note";
}

struct FoundCounts {
  std::size_t errors = 0, warnings = 0, notes = 0, skipped = 0;
  void add(const Finding& finding) {
    if (is_skipped(finding)) return void(++skipped);
    ++(finding.kind == FindingClass::error ? errors : finding.kind == FindingClass::warning ? warnings : notes);
  }
  int code() const {
    return (errors + warnings > 0 ? kCheckErrors : kExitOk) | (skipped > 0 ? kCheckIncomplete : kExitOk);
  }
};

void print_finding(const OneSource& source, const Finding& finding) {
  const std::string of = source.is_of_several && !finding.place.empty() ? printable(source.shown) + ": " : "";
  const std::string place = printable(finding.place.empty() ? source.shown : finding.place);
  const bool is_error = finding.kind == FindingClass::error && !is_skipped(finding);
  const std::string prefix = is_error ? "" : std::string(class_of(finding)) + ": ";
  std::printf("%s%s: %s%s\n", of.c_str(), place.c_str(), prefix.c_str(), message_of(finding.error).c_str());
}

// "2 errors, 1 warnings", "no errors, 3 notes".
std::string verdict_of(const FoundCounts& counts) {
  std::string text = counts.errors == 0 && counts.warnings == 0 ? "no errors" : "";
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + what;
  };
  add(counts.errors, " errors");
  add(counts.warnings, " warnings");
  add(counts.notes, " notes");
  add(counts.skipped, " not checked");
  return text;
}

void print_tables(const OneSource& source, const FileCheck& check) {
  for (const FileCheck::CheckedTable& table : check.tables)
    std::printf("%s%s: %lld entries, %zu columns\n",
                source.is_of_several ? (printable(source.shown) + ": ").c_str() : "", printable(table.path).c_str(),
                static_cast<long long>(table.entries), table.columns);
}

void print_check(const OneSource& source, const FileCheck& check, const FoundCounts& counts) {
  for (const Finding& finding : check.findings) print_finding(source, finding);
  std::printf("%s: %llu records, %llu keys, %zu tables, %llu baskets: %s\n", printable(source.shown).c_str(),
              static_cast<unsigned long long>(check.records), static_cast<unsigned long long>(check.keys),
              check.tables.size(), static_cast<unsigned long long>(check.chunks), verdict_of(counts).c_str());
}

nlohmann::ordered_json check_json(const OneSource& source, const FileCheck& check, const FoundCounts& counts) {
  nlohmann::ordered_json findings = nlohmann::ordered_json::array();
  for (const Finding& finding : check.findings) {
    findings.push_back(
        {{"place", finding.place}, {"class", class_of(finding)}, {"message", message_of(finding.error)}});
    if (finding.error.offset >= 0) findings.back()["byte"] = finding.error.offset;
  }
  return {{"file", source.shown},           {"records", check.records}, {"keys", check.keys},
          {"tables", check.tables.size()},  {"baskets", check.chunks},  {"errors", counts.errors},
          {"warnings", counts.warnings},    {"notes", counts.notes},    {"not_checked", counts.skipped},
          {"findings", std::move(findings)}};
}

// The files of one command line.
struct CheckRun {
  bool quiet = false, verbose = false, json = false;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  std::size_t files = 0, good = 0, wrong = 0;  // the others were not checked as a whole

  int check(const OneSource&);
  void print_summary() const;
};

int CheckRun::check(const OneSource& source) {
  ++files;
  ProgressLine line(!quiet);
  const auto check = check_source(source.name, line);
  line.clear();
  if (!check) {
    complain(check.error());
    if (json) all.push_back({{"file", source.shown}, {"error", message_of(check.error())}});
    return kCheckIncomplete;
  }
  FoundCounts counts;
  for (const Finding& finding : check->findings) counts.add(finding);
  const int code = counts.code();
  good += code == kExitOk;
  wrong += (code & kCheckErrors) != 0;
  if (json) {
    all.push_back(check_json(source, *check, counts));
  } else if (!quiet || code != kExitOk) {
    if (verbose) print_tables(source, *check);
    print_check(source, *check, counts);
  }
  return code;
}

void CheckRun::print_summary() const {
  std::printf("%zu files: %zu without errors", files, good);
  if (wrong > 0) std::printf(", %zu with errors or warnings", wrong);
  if (const std::size_t rest = files - good - wrong; rest > 0) std::printf(", %zu not checked as a whole", rest);
  std::printf("\n");
}

}  // namespace

int run_check(int argc, char** argv) {
  CommandLine command("check");
  std::vector<std::string> sources;
  CheckRun run;
  command.take("-q", run.quiet);
  command.take("-v", run.verbose);
  command.take("--json", run.json);
  command.take("SOURCE...", sources);
  if (const auto code = command.parse(argc, argv)) return *code == kExitUsage ? kCheckUsage : *code;
  const SourceWords words{.words = std::move(sources), .enters = true, .command = "check"};
  const int code = for_each_source(words, {}, kCheckIncomplete, [&](const OneSource& one) { return run.check(one); });
  if (run.json) {
    print_json(run.all);
  } else if (run.files > 1) {
    run.print_summary();
  }
  return code;
}

}  // namespace tfilefs
