// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace tfilefs {

// The user behind a request, on a mount that lets in users other than the one that mounted: ids as the kernel gave
// them.
struct Caller {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // supplementary ones
  friend bool operator==(const Caller&, const Caller&) = default;
};

// Null: the user who mounted, root, or the mount itself, all of which have the rights of this process.
using CallerPtr = std::shared_ptr<const Caller>;

// The access that a caller wants to a file or directory: its existence and stat(2); its bytes or names; to change them.
enum class Access : std::uint8_t { status, read, write };

}  // namespace tfilefs
