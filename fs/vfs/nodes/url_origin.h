// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "vfs/nodes/attributes.h"
#include "vfs/nodes/generation.h"

namespace tfilefs {

// The file behind a URL. An answer about its state is believed for RemoteOptions::recheck. Its readers use the rights
// that the user who mounts has at the server. Nothing is asked of the server before the first look.
std::unique_ptr<const FileLocator> make_url_origin(const std::string& url, const tfile::RemoteOptions&);

// The provenance of a server's file or directory: a server tells no owner, and perhaps no date (0). Then it is the one
// of this process's start.
Provenance told_by_server(std::int64_t modified_ns);

}  // namespace tfilefs
