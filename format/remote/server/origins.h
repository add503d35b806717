// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "tfile/source.h"

namespace tfile {

// The number of a server: the same for the same text as long as the process runs, from 1. The text begins with the
// family of schemes, so that two services of one machine are two origins: "root://host:1094". Callable from any thread.
ServerId origin_of_server(std::string_view host_and_port);

}  // namespace tfile
