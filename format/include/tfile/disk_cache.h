// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <string>

#include "tfile/result.h"

namespace tfile {

// Makes the directory of the cache on disk (RemoteOptions::cache_directory), or takes one that is there. Errors: denied
// (it belongs to another user, or others may write to it), invalid (no directory), io.
Result<> prepare_cache_directory(const std::string& path);

}  // namespace tfile
