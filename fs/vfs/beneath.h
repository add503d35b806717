// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "descriptor.h"
#include "tfile/local_file.h"
#include "vfs/caller.h"

namespace tfilefs {

using tfile::open_beneath;

// The same as a caller could. With his ids where this process may take them (the caller must have begun to act for him:
// ActingFor); else by permission bits of all that lies on the way. A file with an access control list is then for its
// owner alone. `real_path`: of the directory, for links that name it; may be empty.
Descriptor open_beneath_for(const CallerPtr&, int directory, const std::string& real_path, const std::string& path,
                            int flags, bool links);

// What it does where the ids cannot be taken.
Descriptor open_by_bits(const Caller&, int directory, const std::string& real_path, const std::string& path, int flags,
                        bool links);

// Opens again, as a caller could, what is held by a descriptor.
Descriptor reopen_for(const CallerPtr&, int fd, Access);

// Whether permission bits let a caller do what `wanted` (R_OK, W_OK, X_OK together) says.
bool bits_allow(const Caller&, mode_t mode, uid_t owner, gid_t group, int wanted);

// Whether a caller may make and remove names in an open directory (O_PATH will do).
bool may_change_names(const CallerPtr&, int directory);

}  // namespace tfilefs
