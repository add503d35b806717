// SPDX-License-Identifier: Apache-2.0
#include <curl/curl.h>

#include "remote/server/library_versions.h"

namespace tfile {

std::string curl_version_now() { return ::curl_version_info(CURLVERSION_NOW)->version; }

}  // namespace tfile
