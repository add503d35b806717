// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tfile/result.h"

namespace tfile {

// Whether a URL is of the scheme s3. Pure.
bool is_s3(std::string_view url);

// The https URL of s3://BUCKET/KEY: at the service that AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL names, else at Amazon's
// in the region. A query string is kept. Errors: invalid (no bucket, or no key).
Result<std::string> http_url_of_s3(std::string_view url);

// Where the keys of s3://BUCKET/DIRECTORY are listed: the bucket's own URL, with a slash at its end, and what all keys
// of the directory begin with. Error: invalid (no bucket).
struct S3Directory {
  std::string bucket_url, prefix;
};
Result<S3Directory> s3_directory(std::string_view url);

// What signs requests (AWS Signature Version 4).
struct AwsKeys {
  std::string id, secret, session_token, region;
};
// From AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, else from the profile AWS_PROFILE ("default") of
// AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials). Nothing, if there are none: requests are not signed then. Reads a
// file.
std::optional<AwsKeys> find_aws_keys();

}  // namespace tfile
