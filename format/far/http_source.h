// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "tfile/source.h"

namespace tfile {

// Opens a file of an HTTP server (http, https, dav, davs) with libcurl. Its first and last bytes come with the opening
// (SourceTraits::begin_held, end_held). Errors: as open_source(). Blocks.
Result<std::shared_ptr<const Source>> open_http(const std::string& url, const FarOptions&);

// As look_far(), and origin_of_url().
Result<Identity> look_http(const std::string& url, const FarOptions&);
SourceOrigin origin_of_http(const std::string& url);

}  // namespace tfile
