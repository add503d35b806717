// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "streamer/info/streamer_info.h"

namespace tfile {

// The file's descriptions of these types, of the classes that they name, of their bases and of the classes of their
// members, in all versions.
std::vector<const StreamerInfo*> needed_descriptions(const StreamerInfos&, std::span<const std::string> types);

}  // namespace tfile
