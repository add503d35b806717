// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/root_file.h"
#include "view/view.h"

namespace tfilefs {
namespace {

Result<std::string> map_of(const std::string& source) {
  TRY(const auto file, open_root_file(source));
  TRY(const auto records, file->record_map());
  return map_text(records);
}

}  // namespace

int run_map(int argc, char** argv) {
  CommandLine command("map");
  std::string source;
  command.take("SOURCE", source);
  if (const auto code = command.parse(argc, argv)) return *code;
  const auto text = map_of(source);
  if (!text) {
    Error error = text.error();
    const std::string name = tfile::shown_name(source);
    if (!error.text.starts_with(name)) error.text = name + ": " + error.text;
    return complain(error);
  }
  std::fwrite(text->data(), 1, text->size(), stdout);
  return kExitOk;
}

}  // namespace tfilefs
