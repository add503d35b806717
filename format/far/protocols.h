// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "tfile/far_listing.h"
#include "tfile/source.h"

namespace tfile {

// What each protocol does for open_source(), list_far(), look_far() and origin_of_url(): errors are theirs. All but the
// last block. The first and last bytes of a file come with its opening (SourceTraits::begin_held, end_held).

// A file of an HTTP server (http, https, dav, davs), with libcurl; a directory of such a server, or of S3.
Result<std::shared_ptr<const Source>> open_http(const std::string& url, const FarOptions&);
Result<FarListing> list_http(const std::string& url, const FarOptions&);
Result<Identity> look_http(const std::string& url, const FarOptions&);  // as look_far()
ServerId origin_of_http(const std::string& url);                        // as origin_of_url()

// A file or directory of an XRootD server (root, roots, xroot, xroots), with the XRootD client library.
Result<std::shared_ptr<const Source>> open_xrootd(const std::string& url, const FarOptions&);
Result<FarListing> list_xrootd(const std::string& url, const FarOptions&);
Result<Identity> look_xrootd(const std::string& url, const FarOptions&);
ServerId origin_of_xrootd(const std::string& url);

}  // namespace tfile
