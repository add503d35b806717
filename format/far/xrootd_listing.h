// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tfile/far_listing.h"

namespace tfile {

// list_far() of a URL of XRootD. Blocks.
Result<FarListing> list_xrootd(const std::string& url, const FarOptions&);

}  // namespace tfile
