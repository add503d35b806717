// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "tfile/result.h"

namespace tfile {

// Whether a URL is of the scheme s3. Pure.
bool is_s3(std::string_view url);

// The https URL of s3://BUCKET/KEY: at the service that AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL names, else at Amazon's
// in the region. A query string is kept. Errors: invalid (no bucket, or no key).
Result<std::string> http_url_of_s3(std::string_view url);

// The list of the keys of s3://BUCKET/DIRECTORY: the bucket's own URL, with a slash at its end, and what all keys
// of the directory begin with. Error: invalid (no bucket).
struct S3Directory {
  std::string bucket_url, prefix;
};
Result<S3Directory> s3_directory(std::string_view url);

}  // namespace tfile
