// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "vfs/nodes/attributes.h"

namespace tfilefs {

// Notices that a mount sends its kernel, beside answers. Each may block while requests are answered. An empty one is
// left undone.
struct KernelNotices {
  // Writes what was changed in the pages of a file through a mapping, and forgets these pages. Called around locks of
  // files of the source, so that what was written to a mapping before a lock goes is in the file, and what is read from
  // one after a lock is granted comes from it: between mounts, and beside them.
  std::function<void(InodeId)> forget_pages;
  // Forgets the pages from the one that held the old end, and then takes the new size, at which the file ends in the
  // byte `last`.
  std::function<void(InodeId, std::uint64_t old_size, std::uint64_t size, std::byte last)> grow_pages;
  // Forgets a name, if nothing uses it. Called when the kernel knows more names than there is memory for.
  std::function<void(InodeId directory, const std::string& name)> forget_name;
};

}  // namespace tfilefs
