// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/each_source.h"
#include "cli/file_check.h"
#include "cli/resource_limits.h"
#include "printable.h"
#include "root_file.h"

namespace tfilefs {
namespace {

Result<FileCheck> check_source(const std::string& source) {
  TRY(const auto file, open_root_file(source));
  return check_file(*file, usable_cores());
}

bool is_skipped(const Finding& finding) {
  return finding.kind == FindingClass::error && finding.error.kind != ErrorKind::damaged;
}

struct FoundCounts {
  std::size_t errors = 0, warnings = 0, notes = 0, skipped = 0;
  void add(const Finding& finding) {
    if (is_skipped(finding)) return void(++skipped);
    ++(finding.kind == FindingClass::error ? errors : finding.kind == FindingClass::warning ? warnings : notes);
  }
};

void print_finding(const OneSource& source, const Finding& finding) {
  const std::string of = source.is_of_several && !finding.place.empty() ? printable(source.shown) + ": " : "";
  const std::string place = printable(finding.place.empty() ? source.shown : finding.place);
  const char* prefix = finding.kind == FindingClass::warning ? "warning: " : "note: ";
  if (finding.kind == FindingClass::error) prefix = is_skipped(finding) ? "not checked: " : "";
  std::printf("%s%s: %s%s\n", of.c_str(), place.c_str(), prefix, message_of(finding.error).c_str());
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

int check_one(const OneSource& source) {
  const auto check = check_source(source.name);
  if (!check) {
    complain(check.error());
    return kCheckIncomplete;
  }
  FoundCounts counts;
  for (const Finding& finding : check->findings) {
    print_finding(source, finding);
    counts.add(finding);
  }
  std::printf("%s: %llu records, %llu keys, %llu tables, %llu baskets: %s\n", printable(source.shown).c_str(),
              static_cast<unsigned long long>(check->records), static_cast<unsigned long long>(check->keys),
              static_cast<unsigned long long>(check->tables), static_cast<unsigned long long>(check->chunks),
              verdict_of(counts).c_str());
  return (counts.errors + counts.warnings > 0 ? kCheckErrors : kExitOk) |
         (counts.skipped > 0 ? kCheckIncomplete : kExitOk);
}

}  // namespace

int run_check(int argc, char** argv) {
  CommandLine command("check");
  std::string source;
  command.take("SOURCE", source);
  if (const auto code = command.parse(argc, argv)) return *code == kExitUsage ? kCheckUsage : *code;
  return for_each_source(source, {}, kCheckIncomplete, check_one);
}

}  // namespace tfilefs
