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
};

// Mounts and serves until unmounted, SIGTERM, SIGINT or SIGHUP. `ready` is called once, when the mount has answered.
// All work of the file system has ended when it returns. Errors: io (cannot be mounted; with libfuse's message).
Result<> serve(std::unique_ptr<FileSystem>, const MountSettings&, const std::function<void()>& ready);

// Unmounts; `lazy`: also if in use. By system call as root, else through fusermount3. Error: busy, io.
Result<> unmount(const std::string& mount_point, bool lazy);

}  // namespace tfilefs
