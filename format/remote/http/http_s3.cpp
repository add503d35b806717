// SPDX-License-Identifier: Apache-2.0
#include "remote/http/http_s3.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "remote/server/url.h"

namespace tfile {
namespace {

constexpr std::string_view kScheme = "s3://";
// A file of credentials has some lines for each account.
constexpr std::size_t kLinesMax = 10'000;

std::string first_of_environment(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* value = std::getenv(name); value && *value) return value;
  return {};
}

std::string region() {
  std::string named = first_of_environment({"AWS_REGION", "AWS_DEFAULT_REGION"});
  return named.empty() ? "us-east-1" : named;
}

// Keys may have any characters; a URL and the signature have them percent-encoded. What is encoded already stays.
std::string encoded(std::string_view key) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string text;
  for (const char c : key) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          std::string_view("-_.~/%").find(c) != std::string_view::npos;
    const auto byte = static_cast<unsigned char>(c);
    text += is_plain ? std::string(1, c) : std::string{'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return text;
}

// The bucket of s3://BUCKET/KEY, and the rest of the URL.
struct S3Parts {
  std::string bucket;
  std::string_view key, query;
};
S3Parts parts_of(std::string_view url) {
  const std::string_view rest = url.substr(kScheme.size());
  const std::string_view path = rest.substr(0, rest.find('?'));
  const std::size_t slash = std::min(path.find('/'), path.size());
  return {std::string(path.substr(0, slash)), path.substr(std::min(slash + 1, path.size())), rest.substr(path.size())};
}

bool is_bucket_name(std::string_view bucket) {
  return !bucket.empty() && bucket.find_first_of("@:#[]") == std::string_view::npos;
}

// With a slash at its end.
std::string url_of_bucket(const std::string& bucket) {
  std::string service = first_of_environment({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  while (service.ends_with('/')) service.pop_back();
  return service.empty() ? "https://" + bucket + ".s3." + region() + ".amazonaws.com/" : service + "/" + bucket + "/";
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::optional<AwsKeys> keys_in_file() {
  std::string path = first_of_environment({"AWS_SHARED_CREDENTIALS_FILE"});
  if (path.empty()) path = first_of_environment({"HOME"}) + "/.aws/credentials";
  const std::string named = first_of_environment({"AWS_PROFILE"});
  const std::string wanted = "[" + (named.empty() ? "default" : named) + "]";
  std::ifstream file(path);
  AwsKeys keys;
  bool is_wanted = false;
  std::string line;
  for (std::size_t i = 0; i < kLinesMax && std::getline(file, line); ++i) {
    const std::string_view text = without_blanks(line);
    if (text.starts_with('[')) is_wanted = text == wanted;
    const std::size_t equals = text.find('=');
    if (!is_wanted || equals == std::string_view::npos) continue;
    const std::string_view name = without_blanks(text.substr(0, equals)),
                           value = without_blanks(text.substr(equals + 1));
    if (name == "aws_access_key_id") keys.id = value;
    if (name == "aws_secret_access_key") keys.secret = value;
    if (name == "aws_session_token") keys.session_token = value;
  }
  return keys.id.empty() || keys.secret.empty() ? std::nullopt : std::optional(keys);
}

}  // namespace

bool is_s3(std::string_view url) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return url.size() >= kScheme.size() && std::ranges::equal(url.substr(0, kScheme.size()), kScheme, {}, lower);
}

Result<std::string> http_url_of_s3(std::string_view url) {
  const S3Parts parts = parts_of(url);
  if (!is_bucket_name(parts.bucket) || parts.key.empty())
    return fail(ErrorKind::invalid, parts.bucket + "/" + std::string(parts.key) + ": expected s3://BUCKET/KEY");
  return url_of_bucket(parts.bucket) + encoded(parts.key) + std::string(parts.query);
}

Result<S3Directory> s3_directory(std::string_view url) {
  const S3Parts parts = parts_of(url);
  if (!is_bucket_name(parts.bucket))
    return fail(ErrorKind::invalid, parts.bucket + ": expected s3://BUCKET or s3://BUCKET/DIRECTORY");
  std::string prefix = percent_decoded(parts.key);
  if (!prefix.empty() && !prefix.ends_with('/')) prefix += '/';
  return S3Directory{url_of_bucket(parts.bucket), std::move(prefix)};
}

std::optional<AwsKeys> find_aws_keys() {
  AwsKeys keys{first_of_environment({"AWS_ACCESS_KEY_ID"}),
               first_of_environment({"AWS_SECRET_ACCESS_KEY"}),
               first_of_environment({"AWS_SESSION_TOKEN"}),
               {}};
  std::optional<AwsKeys> found = keys.id.empty() || keys.secret.empty() ? keys_in_file() : std::optional(keys);
  if (found) found->region = region();
  return found;
}

}  // namespace tfile
