// SPDX-License-Identifier: Apache-2.0
#include "cli/mount_table.h"

#include <sys/statvfs.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "fuse/mount.h"

namespace tfilefs {

bool is_tfilefs_mount(const std::string& path) {
  bool found = false;
  for (const MountLine& line : mounts_of("self")) {
    if (line.point == path) found = line.type == "fuse.tfilefs";  // of several mounts on a point the last counts
  }
  return found;
}

Error no_mount(const std::string& path, const std::string& reason) {
  const bool is_known = !mounts_of("self").empty();
  return {ErrorKind::invalid,
          path + (is_known ? reason : ": the mount table is not available: mount -t proc proc /proc"), -1, 0};
}

std::string mount_point_above(const std::string& path) {
  for (std::string at = path; !at.empty(); at.resize(at.rfind('/'))) {
    if (is_tfilefs_mount(at)) return at;
  }
  return "";
}

std::string absolute_path(const std::string& path) {
  std::array<char, PATH_MAX> real;
  if (::realpath(path.c_str(), real.data())) return real.data();
  // realpath(3) also accesses the last component, which fails on a dead mount.
  std::error_code error;
  std::filesystem::path whole = std::filesystem::absolute(path, error).lexically_normal();
  if (error) return path;  // empty, or relative to a directory that is gone: opening the path will fail with that error
  if (whole.filename().empty()) whole = whole.parent_path();
  const std::string parent = whole.parent_path();
  if (::realpath(parent.c_str(), real.data())) {
    return (std::filesystem::path(real.data()) / whole.filename()).string();
  }
  return whole.string();
}

std::optional<std::string> source_of_dead_mount(const std::string& path) {
  // Not stat(2), which the kernel may still answer from its cached attributes.
  struct statvfs space {};
  if (::statvfs(path.c_str(), &space) == 0 || errno != ENOTCONN) return std::nullopt;
  std::string source;
  for (const MountLine& line : mounts_of("self")) {
    if (line.point == path) source = line.source;  // of several mounts on a point the last counts
  }
  return source;
}

Result<> clear_dead_mount(const std::string& path) {
  if (!is_tfilefs_mount(path)) return {};
  if (source_of_dead_mount(path)) return unmount(path, true);
  struct statvfs space {};
  if (::statvfs(path.c_str(), &space) != 0) return {};
  return tfile::fail(ErrorKind::busy, path + ": already a mount of tfilefs");
}

}  // namespace tfilefs
