// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "descriptor.h"
#include "tfile/local_file.h"
#include "vfs/nodes/caller.h"

namespace tfilefs {

using tfile::open_beneath;

// The same with the rights of a caller: with the caller's ids if this process may take them (the thread must then hold
// an ActingFor), else by the permission bits of all components of the path. By the bits, a file with an access control
// list is open to its owner only. `real_path`: of the directory, for links that name it; may be empty.
Descriptor open_beneath_for(const CallerPtr&, int directory, const std::string& real_path, const std::string& path,
                            int flags, bool links);

// The implementation for a process that cannot take the ids.
Descriptor open_by_bits(const Caller&, int directory, const std::string& real_path, const std::string& path, int flags,
                        bool links);

// Opens the file of a descriptor again, with the rights of a caller.
Descriptor reopen_for(const CallerPtr&, int fd, Access);

// Whether permission bits allow a caller the access `wanted` (R_OK, W_OK and X_OK combined).
bool bits_allow(const Caller&, mode_t mode, uid_t owner, gid_t group, int wanted);

// Whether a caller may make and remove names in an open directory (O_PATH will do).
bool may_change_names(const CallerPtr&, int directory);

}  // namespace tfilefs
