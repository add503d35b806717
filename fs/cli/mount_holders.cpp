// SPDX-License-Identifier: Apache-2.0
#include "cli/mount_holders.h"

#include <sys/stat.h>
#include <sys/types.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

#include "cli/mount_table.h"

namespace tfilefs {
namespace {

namespace filesystem = std::filesystem;

// The mount points of that device, as a process ("self", or its id) sees them.
std::vector<std::string> points_of(const std::string& process, const std::string& device) {
  std::vector<std::string> points;
  for (const MountLine& line : mounts_of(process)) {
    if (line.device == device) points.push_back(line.point);
  }
  return points;
}

// Empty if this user may not see it.
std::string namespace_of(const std::string& process) {
  std::error_code error;
  return filesystem::read_symlink("/proc/" + process + "/ns/mnt", error).string();
}

}  // namespace

std::uint64_t pid_namespace() {
  struct stat status {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

std::vector<pid_t> process_ids() {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& entry : filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
      found.push_back(static_cast<pid_t>(std::stol(name)));
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string process_name(const std::string& process) {
  std::ifstream file("/proc/" + process + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

std::string mount_device(const std::string& path) {
  std::string device;
  for (const MountLine& line : mounts_of("self")) {
    if (line.point == path) device = line.device;
  }
  return device;
}

std::vector<std::string> mount_holders(const std::string& device) {
  std::vector<std::string> holders;
  for (const std::string& point : points_of("self", device))
    holders.push_back("it is also mounted at " + point + ": umount " + point);
  std::set<std::string> seen{namespace_of("self")};
  for (const pid_t pid : process_ids()) {
    const std::string process = std::to_string(pid);
    const std::string space = namespace_of(process);
    if (seen.contains(space)) continue;
    const auto points = points_of(process, device);
    // Namespaces that cannot be told apart are shown only once, so it must be a process that has the mount.
    if (!space.empty() || !points.empty()) seen.insert(space);
    if (points.empty()) continue;
    holders.push_back("process " + process + " (" + process_name(process) +
                      ") keeps it in its own mount namespace: end it, or nsenter -t " + process + " -m umount " +
                      points.front());
  }
  return holders;
}

}  // namespace tfilefs
