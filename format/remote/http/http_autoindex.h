// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tfile/remote_listing.h"

namespace tfile {

// A directory as nginx's autoindex writes it with autoindex_format json: an array of objects with name, type, size,
// mtime. Names of any bytes are taken, also where they are no UTF-8. Errors: damaged (no such array), unsupported.
Result<RemoteListing> read_autoindex(const std::string& text);

}  // namespace tfile
