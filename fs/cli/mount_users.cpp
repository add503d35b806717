// SPDX-License-Identifier: Apache-2.0
#include "cli/mount_users.h"

#include <fcntl.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

#include "cli/mount_holders.h"

namespace tfilefs {
namespace {

namespace filesystem = std::filesystem;

constexpr std::string_view kDeleted = " (deleted)";

// "flags: 0100001", in octal, of /proc/PID/fdinfo/N.
bool is_to_write(const std::string& process, const std::string& number) {
  std::ifstream info("/proc/" + process + "/fdinfo/" + number);
  std::string field;
  int flags = 0;
  while (info >> field) {
    if (field == "flags:" && info >> std::oct >> flags) return (flags & O_ACCMODE) != O_RDONLY;
  }
  return false;
}

}  // namespace

std::vector<OpenToWrite> files_open_to_write(const std::string& mount_point) {
  std::vector<OpenToWrite> files;
  const std::string below = mount_point + "/";
  for (const pid_t pid : process_ids()) {
    const std::string process = std::to_string(pid);
    std::error_code error;
    filesystem::directory_iterator at("/proc/" + process + "/fd", error);
    for (; !error && at != filesystem::directory_iterator(); at.increment(error)) {
      std::error_code gone;  // or not this user's to know
      std::string path = filesystem::read_symlink(at->path(), gone);
      // So the kernel says also of a name that it has only forgotten.
      if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
      if (!path.starts_with(below) || !is_to_write(process, at->path().filename())) continue;
      files.push_back({"process " + process + " (" + process_name(process) + ")", path.substr(mount_point.size())});
    }
  }
  return files;
}

}  // namespace tfilefs
