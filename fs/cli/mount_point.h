// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reply.h"

namespace tfilefs {

// Makes ready what is mounted on: a dead mount there goes, and a directory that is missing is made. Returns whether it
// was made. A mount hides what is below it, so a directory that is not empty, a home directory and / need `nonempty`.
// Errors: not_found, invalid, busy (a mount of tfilefs); each names what helps.
Result<bool> prepare_mount_point(const std::string& path, bool nonempty);

}  // namespace tfilefs
