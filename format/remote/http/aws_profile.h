// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "remote/http/aws_keys.h"

namespace tfile {

// The wanted profile, from the environment, else the files of the AWS command line. Empty: not said.
struct AwsProfile {
  AwsKeys keys;                    // a pair or none; with the region
  std::string credential_process;  // only without keys
};
AwsProfile aws_profile();

struct AwsCredentials {
  AwsKeys keys;
  std::optional<std::chrono::system_clock::time_point> expiration;
};

// The answer of a credential_process: an object of JSON, without a region. Error: io (it is something else). Pure.
Result<AwsCredentials> aws_credentials_of(std::string_view printed);

// Runs a credential_process, a line for the shell, and returns what it prints. It is killed if it takes longer than a
// minute. Error: io, with its first line of complaint.
Result<AwsCredentials> run_credential_process(const std::string& line);

}  // namespace tfile
