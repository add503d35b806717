// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "content.h"
#include "reply.h"
#include "vfs/file_system.h"
#include "vfs/held.h"

namespace tfilefs {

// A file or directory that a path in a source leads to.
struct InsideFile {
  std::string path;  // from the source's root, without slashes at its ends
  HeldInode inode;
};

// The files of a path in a source: one file or directory, or, if it is a pattern (vfs/names/path_pattern.h), all
// that are listed and match it, in the order of their names. A name that is not there is looked for without the
// backslashes before characters of patterns. Errors: not_found, also where nothing matches. Blocks.
Result<std::vector<InsideFile>> files_at(FileSystem&, const std::string& path);

// Gives the bytes of a file from `offset` on to `take`, in order and in pieces, until its end or an error of either.
// The next piece is read while one is taken. Blocks.
Result<> read_whole(FileSystem&, InodeId, std::uint64_t offset, const std::function<Result<>(const Slices&)>& take);

// Writes all pieces to a descriptor. `shown`: what it is, for the error. Blocks.
Result<> write_slices(int descriptor, const std::string& shown, const Slices&);

}  // namespace tfilefs
