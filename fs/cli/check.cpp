// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <thread>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/each_source.h"
#include "cli/file_check.h"
#include "printable.h"
#include "root_file.h"

namespace tfilefs {
namespace {

Result<FileCheck> check_source(const std::string& source) {
  TRY(const auto file, open_root_file(source));
  return check_file(*file, std::thread::hardware_concurrency());
}

void print_finding(const OneSource& source, const Finding& finding) {
  const std::string of = source.is_of_several && !finding.place.empty() ? printable(source.shown) + ": " : "";
  const std::string place = printable(finding.place.empty() ? source.shown : finding.place);
  std::printf("%s%s: %s%s\n", of.c_str(), place.c_str(),
              finding.error.kind == ErrorKind::damaged ? "" : "not checked: ", message_of(finding.error).c_str());
}

int check_one(const OneSource& source) {
  const auto check = check_source(source.name);
  if (!check) {
    complain(check.error());
    return kCheckIncomplete;
  }
  std::size_t errors = 0, skipped = 0;
  for (const Finding& finding : check->findings) {
    print_finding(source, finding);
    ++(finding.error.kind == ErrorKind::damaged ? errors : skipped);
  }
  std::string verdict = errors == 0 ? "no errors" : std::to_string(errors) + " errors";
  if (skipped > 0) verdict += ", " + std::to_string(skipped) + " not checked";
  std::printf("%s: %llu records, %llu keys, %llu tables, %llu baskets: %s\n", printable(source.shown).c_str(),
              static_cast<unsigned long long>(check->records), static_cast<unsigned long long>(check->keys),
              static_cast<unsigned long long>(check->tables), static_cast<unsigned long long>(check->chunks),
              verdict.c_str());
  return (errors > 0 ? kCheckErrors : kExitOk) | (skipped > 0 ? kCheckIncomplete : kExitOk);
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
