// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "remote/http/http_host.h"
#include "tfile/source.h"

namespace tfile {

// The cache on disk keeps what a server cannot do, so that a later mount makes no request in vain. It counts for a day:
// servers learn.

// Notes at the server what was kept, once for each server. Blocks.
void recall_abilities(HttpHost&, const RemoteOptions&, const std::string& url);

// Keeps what has turned out since, soon. Does not block. Any thread.
void keep_abilities(HttpHost&, const RemoteOptions&, const std::string& url);

}  // namespace tfile
