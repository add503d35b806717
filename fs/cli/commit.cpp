// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/mount_table.h"
#include "cli/pending.h"
#include "staging/overlay/staged_table.h"

namespace tfilefs {

int run_commit(int argc, char** argv) {
  CommandLine command("commit");
  std::string path;
  command.take("MNT/PATH", path);
  if (const auto code = command.parse(argc, argv)) return *code;

  path = absolute_path(path);
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) path = std::filesystem::path(path).parent_path();
  const std::string mount_point = mount_point_above(path);
  if (mount_point.empty()) return complain(no_mount(path, ": not in a mount of tfilefs"));
  const auto done = commit_directory(mount_point, path);
  const std::string below = path.substr(mount_point.size());
  int code = kExitOk;
  for (const auto& [where, reason] : read_pending(mount_point).reasons) {
    if (concerns(below, where)) code = complain({ErrorKind::busy, "not committed: " + where + ": " + reason});
  }
  return code == kExitOk && !done ? complain(done.error()) : code;
}

}  // namespace tfilefs
