// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "tfile/result.h"

namespace tfile {

// Keys that sign requests to S3 (AWS Signature Version 4).
struct AwsKeys {
  std::string id, secret, session_token, region;
  friend bool operator==(const AwsKeys&, const AwsKeys&) = default;
};

// AWS_REGION or AWS_DEFAULT_REGION, else the region of the profile, else us-east-1. Reads a file.
std::string aws_region();

// The user's keys: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, else those of the profile
// AWS_PROFILE
// ("default") in AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials) or AWS_CONFIG_FILE (~/.aws/config), else what the
// credential_process of that profile prints. Nothing if there are none: requests are not signed then. The process has
// them once for all. They are found again before they expire, which a program does on a thread of its own. The first
// call may wait for that program. Errors: io (the program fails). Any thread.
Result<std::optional<AwsKeys>> aws_keys();

// Whether a request that these keys signed, and that was answered with an error of this status, may be answered better
// with others: these are there, or are being found. Looks at the files at once, and never waits for a program. Any
// thread.
bool may_be_signed_anew(const std::optional<AwsKeys>& keys, long status);

}  // namespace tfile
