// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "tfile/remote_listing.h"
#include "tfile/source.h"

namespace tfile {

// The parts of open_source(), list_remote(), look_remote() and origin_of_url() by protocol: errors are theirs. All
// but the last block. The first and last bytes of a file come with its opening (SourceTraits::begin_held, end_held).

// A file of an HTTP server (http, https, dav, davs), with libcurl; a directory of such a server, or of S3.
Result<std::shared_ptr<const Source>> open_http(const std::string& url, const RemoteOptions&);
Result<RemoteListing> list_http(const std::string& url, const RemoteOptions&);
Result<Identity> look_http(const std::string& url, const RemoteOptions&);  // as look_remote()
ServerId origin_of_http(const std::string& url);                           // as origin_of_url()

// A file or directory of an XRootD server (root, roots, xroot, xroots), with the XRootD client library.
Result<std::shared_ptr<const Source>> open_xrootd(const std::string& url, const RemoteOptions&);
Result<RemoteListing> list_xrootd(const std::string& url, const RemoteOptions&);
Result<Identity> look_xrootd(const std::string& url, const RemoteOptions&);
ServerId origin_of_xrootd(const std::string& url);

}  // namespace tfile
