// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <sys/sysinfo.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/mount_table.h"
#include "cli/options.h"
#include "printable.h"
#include "staging/journal/file_claim.h"
#include "staging/journal/file_place.h"
#include "staging/journal/journal.h"
#include "vfs/file_system.h"

namespace tfilefs {
namespace {

// For a path without a journal: success if the file exists, else an error.
int nothing_to_recover(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    const int number = errno;
    const ErrorKind kind = number == ENOENT ? ErrorKind::not_found : ErrorKind::io;
    return complain({kind, path + ": " + std::strerror(number) + ", and it has no journal", -1, number});
  }
  if (S_ISDIR(status.st_mode)) return complain(is_a_directory(path + ": is a directory, expected a ROOT file").value());
  std::printf("%s: no journal, nothing to recover\n", printable(path).c_str());
  return kExitOk;
}

bool is_there(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

// A journal is of the file that had its name: another one may be where the link leads.
bool is_link_beside_journal(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode) && is_there(journal_name(path));
}

}  // namespace

int run_recover(int argc, char** argv) {
  CommandLine command("recover");
  std::string path;
  command.take("FILE", path);
  if (const auto code = command.parse(argc, argv)) return *code;

  if (is_link_beside_journal(path))
    return complain(
        invalid_argument(path +
                         ": is a symbolic link, but a journal of a file of this name is next to it: move the file "
                         "back to this name, then recover it")
            .value());
  path = absolute_path(path);
  struct stat status {};
  if (::stat(journal_name(path).c_str(), &status) != 0) {
    if (errno != ENOENT) return complain({ErrorKind::io, journal_name(path) + ": " + std::strerror(errno), -1, errno});
    const auto place = place_of(path);
    const auto other = place ? other_name_with_journal(*place) : std::nullopt;
    if (!other) return nothing_to_recover(path);
    std::printf("%s: its journal is next to another of its names\n", printable(path).c_str());
    path = other->shown;
  }
  auto options = parse_mount_options({"rw"});
  if (!options) return complain(options.error());
  auto fs = FileSystem::open(path, options->file_system);
  if (!fs) return complain(fs.error());
  int code = kExitOk;
  for (const std::string& line : (*fs)->finish_writing())
    code = complain({ErrorKind::busy, "not committed, still in the journal: " + line, -1, 0});
  if (code == kExitOk) std::printf("%s: recovered\n", printable(path).c_str());
  return code;
}

}  // namespace tfilefs
