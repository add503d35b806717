// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tfile/far_listing.h"

namespace tfile {

// list_far() of a URL of HTTP or S3. Blocks.
Result<FarListing> list_http(const std::string& url, const FarOptions&);

}  // namespace tfile
