// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tfilefs {

// The kernel's number of the mount at a path ("0:47"), by which it is known under every name; empty where there is
// none.
std::string mount_device(const std::string& absolute_path);

// Who keeps a mount alive, though it is gone from one path: other paths of this mount namespace, and of every other
// namespace one process, with how to let go of it. Of what other users' processes see not all is known. Blocks.
std::vector<std::string> mount_holders(const std::string& device);

// The kernel's number of this process's PID namespace; 0 where it does not tell.
std::uint64_t pid_namespace();

// The processes that there are, sorted; and what the kernel calls one ("cp"), empty where it is gone.
std::vector<pid_t> process_ids();
std::string process_name(const std::string& process);

}  // namespace tfilefs
