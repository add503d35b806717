// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reply.h"
#include "vfs/file_system.h"

namespace tfilefs {

struct MountSettings {
  std::string mount_point;                  // absolute
  std::string shown_source;                 // what /proc/mounts shows
  std::vector<std::string> kernel_options;  // noexec, noatime, ...: given to the kernel as they are
  bool allow_other = false;
  Ownership ownership;  // the user and group that uid= and gid= give the mount to
  bool writable = false;
  bool debug = false;                        // libfuse's own trace on stderr
  std::optional<std::chrono::seconds> idle;  // unmount when unused for this long
  // The reading end of a pipe: when its other end is closed by all, the mount goes even if it is in use, and its mount
  // point is removed.
  std::optional<int> lifeline;
};

// Functions that are called while a mount is served, once each.
struct MountEvents {
  std::function<void()> ready;   // the mount has answered
  std::function<void()> ending;  // it has ended for the kernel; what was written is committed now
};

// The N of a mount point "/dev/fd/N": a descriptor of /dev/fuse that another program has mounted.
std::optional<int> mounted_descriptor(const std::string& mount_point);

// Mounts and serves until unmounted, SIGTERM, SIGINT or SIGHUP. All work of the file system has ended when it returns.
// Errors: io (cannot be mounted; with libfuse's message).
Result<> serve(std::unique_ptr<FileSystem>, const MountSettings&, const MountEvents&);

// fusermount3, where libfuse looks for it: in /usr/bin, then on PATH. Empty if it is not there.
std::string helper_path();

// The version of libfuse, as it runs now.
std::string fuse_library_version();

// Unmounts; `lazy`: also if in use. By system call as root, else through fusermount3. Error: busy, io.
Result<> unmount(const std::string& mount_point, bool lazy);

}  // namespace tfilefs
