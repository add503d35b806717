// SPDX-License-Identifier: Apache-2.0
#include "remote/http/http_s3.h"

#include <algorithm>
#include <array>
#include <utility>

#include "remote/http/aws_keys.h"
#include "remote/server/environment.h"
#include "remote/server/url.h"
#include "tfile/percent_text.h"

namespace tfile {
namespace {

constexpr std::string_view kScheme = "s3://";

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
  return service.empty() ? "https://" + bucket + ".s3." + aws_region() + ".amazonaws.com/"
                         : service + "/" + bucket + "/";
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
  std::string prefix = percent_decoded_parts(parts.key);
  if (!prefix.empty() && !prefix.ends_with('/')) prefix += '/';
  return S3Directory{url_of_bucket(parts.bucket), std::move(prefix)};
}

}  // namespace tfile
