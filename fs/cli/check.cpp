// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <thread>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/file_check.h"
#include "cli/root_file.h"
#include "printable.h"

namespace tfilefs {
namespace {

Result<FileCheck> check_source(const std::string& source) {
  TRY(const auto file, open_root_file(source));
  return check_file(*file, std::thread::hardware_concurrency());
}

}  // namespace

int run_check(int argc, char** argv) {
  CommandLine command("check");
  std::string source;
  command.take("SOURCE", source);
  if (const auto code = command.parse(argc, argv)) return *code == kExitUsage ? kCheckUsage : *code;
  const auto check = check_source(source);
  if (!check) {
    complain(check.error());
    return kCheckIncomplete;
  }
  const std::string name = tfile::shown_name(source);
  std::size_t errors = 0, skipped = 0;
  for (const Finding& finding : check->findings) {
    const std::string place = printable(finding.place.empty() ? name : finding.place);
    const bool damaged = finding.error.kind == ErrorKind::damaged;
    std::printf("%s: %s%s\n", place.c_str(), damaged ? "" : "not checked: ", message_of(finding.error).c_str());
    ++(damaged ? errors : skipped);
  }
  std::string verdict = errors == 0 ? "no errors" : std::to_string(errors) + " errors";
  if (skipped > 0) verdict += ", " + std::to_string(skipped) + " not checked";
  std::printf("%s: %llu records, %llu keys, %llu tables, %llu baskets: %s\n", printable(name).c_str(),
              static_cast<unsigned long long>(check->records), static_cast<unsigned long long>(check->keys),
              static_cast<unsigned long long>(check->tables), static_cast<unsigned long long>(check->chunks),
              verdict.c_str());
  return (errors > 0 ? kCheckErrors : kExitOk) | (skipped > 0 ? kCheckIncomplete : kExitOk);
}

}  // namespace tfilefs
