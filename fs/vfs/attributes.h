// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>

namespace tfilefs {

// What the kernel calls an inode by, and the number that stat(2) shows: the same on every mount, whatever the id.
using InodeId = std::uint64_t;
using InodeNumber = std::uint64_t;
inline constexpr InodeId kRootId = 1;  // FUSE's id for the root of a mount

// What stat(2) shows.
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
  bool same_for_all = true;   // Holder::is_same_for_all
  bool size_is_known = true;  // else size and blocks are 0, and getattr tells them
};

// The most that one request to the kernel carries, and so the best size to read in.
inline constexpr std::uint32_t kBlockSize = 1 << 20;

// Mount options that overrule what the source's owner and mode say.
struct Ownership {
  std::optional<uid_t> uid;
  std::optional<gid_t> gid;
  mode_t umask = 0;
};

// Owner, mode and times that everything inside a ROOT file takes from it; also those of a mirrored entry.
struct Provenance {
  mode_t mode = 0;  // of the source
  uid_t uid = 0;
  gid_t gid = 0;
  timespec modified{}, changed{};
};
Provenance provenance_of(const struct stat&);

// A regular file of `size` bytes that takes `stored` bytes in its source; a directory. Modes lose their write bits, and
// a directory can be entered by whom the source can be read by.
Attributes file_attributes(const Provenance&, const Ownership&, std::uint64_t size, std::uint64_t stored);
Attributes directory_attributes(const Provenance&, const Ownership&);

// An entry of a mirrored directory as it is; unless `writable`, less the bits that would let it be written, and those
// beside the permissions, which say what writing does.
Attributes mirrored_attributes(const struct stat&, const Ownership&, bool writable);

}  // namespace tfilefs
