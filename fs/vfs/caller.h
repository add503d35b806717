// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace tfilefs {

// Who asks, where a mount lets in others than the user who mounted it: ids as the kernel told them.
struct Caller {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // supplementary ones
  friend bool operator==(const Caller&, const Caller&) = default;
};

// Null: the user who mounted, root, or the mount itself, who may what this process may.
using CallerPtr = std::shared_ptr<const Caller>;

// What somebody wants of a thing: to know that it is there and what stat(2) tells; its bytes or names; to change them.
enum class Access : std::uint8_t { status, read, write };

}  // namespace tfilefs
