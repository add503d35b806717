// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

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

// The target of a link in /proc, relative to the mount point; nothing if it lies outside.
std::optional<std::string> path_below(const filesystem::path& link, const std::string& mount_point) {
  std::error_code gone;  // or not visible to this user
  std::string path = filesystem::read_symlink(link, gone);
  // The kernel adds this also to a name that it has only dropped from its cache.
  if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
  if (path != mount_point && !path.starts_with(mount_point + "/")) return std::nullopt;
  return path.substr(mount_point.size());
}

}  // namespace

std::vector<MountUse> mount_uses(const std::string& mount_point) {
  using How = MountUse::How;
  std::vector<MountUse> uses;
  for (const pid_t pid : process_ids()) {
    if (pid == ::getpid()) continue;  // files that this program has inherited are closed when it ends
    const std::string process = std::to_string(pid), directory = "/proc/" + process;
    const std::string name = "process " + process + " (" + process_name(process) + ")";
    if (auto path = path_below(directory + "/cwd", mount_point))
      uses.push_back({name, *std::move(path), How::working_directory});
    std::error_code error;
    filesystem::directory_iterator at(directory + "/fd", error);
    for (; !error && at != filesystem::directory_iterator(); at.increment(error)) {
      auto path = path_below(at->path(), mount_point);
      if (!path) continue;
      const bool to_write = is_to_write(process, at->path().filename());
      uses.push_back({name, *std::move(path), to_write ? How::open_to_write : How::open});
    }
  }
  return uses;
}

}  // namespace tfilefs
