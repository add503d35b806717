// SPDX-License-Identifier: Apache-2.0
#include "cli/each_source.h"

#include <cstdio>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "printable.h"
#include "vfs/names/expand_sources.h"

namespace tfilefs {

int for_each_source(const std::string& argument, const tfile::RemoteOptions& options, int failure,
                    const std::function<int(const OneSource&)>& run) {
  const auto names = expand_sources(argument, options);
  if (!names) {
    complain(names.error());
    return failure;
  }
  int code = kExitOk;
  for (const std::string& name : *names) code |= run({name, tfile::shown_name(name), names->size() > 1});
  return code;
}

void print_title(const OneSource& source) {
  static bool is_first = true;
  if (!source.is_of_several) return;
  std::printf("%s%s:\n", is_first ? "" : "\n", printable(source.shown).c_str());
  is_first = false;
}

}  // namespace tfilefs
