// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/attributes.h"

#include <algorithm>

namespace tfilefs {
namespace {

constexpr mode_t kReadBits = S_IRUSR | S_IRGRP | S_IROTH;

Attributes owned(const Provenance& from, const Ownership& ownership) {
  Attributes a;
  a.uid = ownership.uid.value_or(from.uid);
  a.gid = ownership.gid.value_or(from.gid);
  a.modified = from.modified;
  a.changed = from.changed;
  return a;
}

}  // namespace

Provenance provenance_of(const struct stat& status) {
  return {status.st_mode, status.st_uid, status.st_gid, status.st_mtim, status.st_ctim};
}

Attributes file_attributes(const Provenance& from, const Ownership& ownership, std::uint64_t size,
                           std::uint64_t stored) {
  Attributes a = owned(from, ownership);
  a.mode = S_IFREG | (from.mode & kReadBits & ~ownership.umask);
  a.size = size;
  // Never 0: tar and cp would take the file for a single hole.
  a.blocks = std::max<std::uint64_t>(1, stored / 512 + (stored % 512 != 0));
  return a;
}

Attributes directory_attributes(const Provenance& from, const Ownership& ownership) {
  Attributes a = owned(from, ownership);
  const mode_t read = from.mode & kReadBits;
  a.mode = S_IFDIR | ((read | read >> 2) & ~ownership.umask);
  return a;
}

Attributes mirrored_attributes(const struct stat& status, const Ownership& ownership, bool writable) {
  Attributes a = owned(provenance_of(status), ownership);
  const mode_t kept = S_ISLNK(status.st_mode) ? 0777 : (status.st_mode & (writable ? 07777 : 0555) & ~ownership.umask);
  a.mode = (status.st_mode & S_IFMT) | kept;
  a.accessed = status.st_atim;
  a.is_mirrored = true;
  a.links = S_ISDIR(status.st_mode) ? 1 : status.st_nlink;
  a.device = status.st_rdev;
  a.size = S_ISDIR(status.st_mode) ? 0 : static_cast<std::uint64_t>(status.st_size);
  a.blocks = S_ISDIR(status.st_mode) ? 0 : static_cast<std::uint64_t>(status.st_blocks);
  return a;
}

}  // namespace tfilefs
