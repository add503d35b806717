// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "tfile/far_listing.h"
#include "tfile/source.h"

namespace tfile {

// What each protocol does for open_source() and list_far(): errors are theirs. All block. The first and last bytes of a
// file come with its opening (SourceTraits::begin_held, end_held).

// A file of an HTTP server (http, https, dav, davs), with libcurl; a directory of such a server, or of S3.
Result<std::shared_ptr<const Source>> open_http(const std::string& url, const FarOptions&);
Result<FarListing> list_http(const std::string& url, const FarOptions&);

// A file or directory of an XRootD server (root, roots, xroot, xroots), with the XRootD client library.
Result<std::shared_ptr<const Source>> open_xrootd(const std::string& url, const FarOptions&);
Result<FarListing> list_xrootd(const std::string& url, const FarOptions&);

}  // namespace tfile
