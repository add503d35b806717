// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>

namespace tfilefs {

// The kernel's name for an inode, and the number that stat(2) shows: the latter is the same on every mount.
using InodeId = std::uint64_t;
using InodeNumber = std::uint64_t;
inline constexpr InodeId kRootId = 1;  // FUSE's id for the root of a mount

// The result of stat(2).
struct Attributes {
  InodeNumber number = 0;
  mode_t mode = 0;
  nlink_t links = 1;
  uid_t uid = 0;
  gid_t gid = 0;
  dev_t device = 0;          // of a special file
  std::uint64_t size = 0;    // bytes
  std::uint64_t blocks = 0;  // units of 512 bytes
  timespec modified{}, changed{};
  std::optional<timespec> accessed;  // if it is not known, `modified` is shown
  bool same_for_all = true;          // Vnodes::is_same_for_all
  bool size_is_known = true;         // if not, size and blocks are 0, and getattr has them
  bool is_mirrored = false;          // of an entry of a mirrored directory, which other programs may change at once
};

// The most that one request of the kernel carries, and so the best size for reads.
inline constexpr std::uint32_t kBlockSize = 1 << 20;

// Mount options that override the source's owner and mode.
struct Ownership {
  std::optional<uid_t> uid;
  std::optional<gid_t> gid;
  mode_t umask = 0;
};

// Owner, mode and times that everything inside a ROOT file inherits from it; also those of a mirrored entry.
struct Provenance {
  mode_t mode = 0;  // of the source
  uid_t uid = 0;
  gid_t gid = 0;
  timespec modified{}, changed{};
};
Provenance provenance_of(const struct stat&);

// Attributes of a regular file of `size` bytes that takes `stored` bytes in its source; and of a directory. Modes lose
// their write bits. A directory can be entered by all users that can read the source.
Attributes file_attributes(const Provenance&, const Ownership&, std::uint64_t size, std::uint64_t stored);
Attributes directory_attributes(const Provenance&, const Ownership&);

// Attributes of an entry of a mirrored directory. Unless `writable`, the write bits are removed, and the bits beside
// the permissions, which only matter for writing.
Attributes mirrored_attributes(const struct stat&, const Ownership&, bool writable);

}  // namespace tfilefs
