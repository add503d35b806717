// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/each_source.h"
#include "root_file.h"
#include "view/view.h"

namespace tfilefs {
namespace {

Result<std::string> map_of(const std::string& source) {
  TRY(const auto file, open_root_file(source));
  TRY(const auto records, file->record_map());
  return map_text(records);
}

int print_map(const OneSource& source) {
  const auto text = map_of(source.name);
  if (!text) {
    Error error = text.error();
    if (!error.text.starts_with(source.shown)) error.text = source.shown + ": " + error.text;
    return complain(error);
  }
  print_title(source);
  std::fwrite(text->data(), 1, text->size(), stdout);
  return kExitOk;
}

}  // namespace

int run_map(int argc, char** argv) {
  CommandLine command("map");
  std::string source;
  command.take("SOURCE", source);
  if (const auto code = command.parse(argc, argv)) return *code;
  return for_each_source(source, {}, kExitFailure, print_map);
}

}  // namespace tfilefs
