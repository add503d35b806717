// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tfile {

// The version of libcurl, as it runs now. Only in builds that read http URLs.
std::string curl_version_now();

// The version of the XRootD client library when this was compiled. Only in builds that read root URLs.
std::string xrootd_version_then();

}  // namespace tfile
