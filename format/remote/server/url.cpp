// SPDX-License-Identifier: Apache-2.0
#include "remote/server/url.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "tfile/percent_text.h"
#include "tfile/remote_listing.h"

namespace tfile {
namespace {

constexpr std::string_view kHidden = "***";

// Tokens and signatures are long. What a user writes by hand to choose a service is not.
constexpr std::size_t kShownValueMax = 40;

// Parts of the names of parameters that carry credentials: authz, access_token, X-Amz-Signature, sig, AWSAccessKeyId,
// cap.msg (EOS), macaroon, ...
constexpr std::array<std::string_view, 11> kSecretNames = {"auth", "token", "sig",    "secret",   "pass", "pwd",
                                                           "cred", "key",   "ticket", "macaroon", "cap."};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

bool is_secret(std::string_view name, std::string_view value) {
  const std::string known = lower(name);
  return value.size() > kShownValueMax || std::ranges::any_of(kSecretNames, [&](std::string_view part) {
           return known.find(part) != std::string::npos;
         });
}

struct Piece {
  std::size_t begin, size;
};

// "user:password@" after each "://": the path of a caching proxy's URL is a URL itself.
std::vector<Piece> logins(std::string_view url) {
  std::vector<Piece> found;
  const std::string_view path = url.substr(0, url.find('?'));
  for (std::size_t at = path.find("://"); at != std::string_view::npos; at = path.find("://", at + 3)) {
    const std::size_t begin = at + 3;
    const std::string_view authority = path.substr(begin, path.find('/', begin) - begin);
    const std::size_t end = authority.rfind('@');
    if (end != std::string_view::npos) found.push_back({begin, end + 1});
  }
  return found;
}

std::vector<Piece> secret_values(std::string_view url) {
  std::vector<Piece> found;
  for (std::size_t at = url.find('?'); at < url.size();) {
    const std::size_t begin = at + 1;
    const std::size_t end = std::min(url.find_first_of("&?#", begin), url.size());
    const std::size_t equals = url.find('=', begin);
    if (equals < end) {
      const std::string_view value = url.substr(equals + 1, end - equals - 1);
      if (!value.empty() && is_secret(url.substr(begin, equals - begin), value))
        found.push_back({equals + 1, value.size()});
    } else if (is_secret({}, url.substr(begin, end - begin))) {
      found.push_back({begin, end - begin});
    }
    at = end;
  }
  return found;
}

bool is_http(std::string_view url) {
  const std::string scheme = lower(url.substr(0, url.find("://")));
  return scheme == "http" || scheme == "https" || scheme == "dav" || scheme == "davs";
}

bool has_encoded_path(std::string_view url) { return is_http(url) || lower(url.substr(0, url.find("://"))) == "s3"; }

// Whether a query string is at the text's beginning: a parameter's name and "=".
bool begins_with_parameter(std::string_view text) {
  const std::size_t end = text.find_first_of("=?&/");
  return end != std::string_view::npos && end > 0 && text[end] == '=';
}

// The position of the query string's question mark, or the text's end. Others may belong to a pattern: those behind
// which a name of a ROOT file ends.
std::size_t query_begin(std::string_view url) {
  std::size_t query = url.size();
  for (std::size_t at = url.find('?'); at < query; at = url.find('?', at + 1))
    if (begins_with_parameter(url.substr(at + 1))) query = at;
  const std::size_t first = url.find('?');
  return url.substr(0, query).ends_with(".root") ? query : std::min(first, query);
}

// The path without "." and ".."; empty if it leads out of its directory, or to no file in it.
std::string normal_path(std::string_view relative) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= relative.size();) {
    const std::size_t end = std::min(relative.find('/', begin), relative.size());
    const std::string_view part = relative.substr(begin, end - begin);
    begin = end + 1;
    if (part == "..") {
      if (parts.empty()) return {};
      parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
  }
  std::string path;
  for (const std::string_view part : parts) path.append(path.empty() ? "" : "/").append(part);
  return path;
}

}  // namespace

UrlParts url_parts(std::string_view url) {
  const std::string_view before = url.substr(0, query_begin(url.substr(0, is_http(url) ? url.find('#') : url.npos)));
  const std::size_t scheme = before.rfind("://");
  const std::size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
  const std::size_t path = std::min(before.find('/', host), before.size());
  // Behind the slash that ends a host's name, XRootD has the path with its own.
  const std::size_t begin = has_encoded_path(url) ? path : std::min(path + 1, before.size());
  return {url.substr(0, begin), before.substr(begin), url.substr(before.size())};
}

std::string url_below(std::string_view directory, std::string_view name) {
  const UrlParts parts = url_parts(directory);
  std::string below(directory.substr(0, directory.size() - parts.query.size()));
  const bool is_encoded = has_encoded_path(directory);
  if (!below.ends_with('/')) below += '/';
  if (!is_encoded && parts.path.empty()) below += '/';  // the root of a server: "root://host//name"
  return below.append(is_encoded ? percent_encoded(name, "/") : name).append(parts.query);
}

std::string path_as_named(std::string_view url, std::string_view path) {
  return has_encoded_path(url) ? percent_decoded_parts(path) : std::string(path);
}

Result<std::string> sibling_url(std::string_view url, std::string_view relative) {
  const std::string shown = without_secrets(url) + ": file \"" + std::string(relative) + "\" next to it";
  if (relative.empty()) return fail(ErrorKind::not_found, shown + ": no name");
  if (relative.front() == '/' || relative.find('\0') != std::string_view::npos)
    return fail(ErrorKind::denied, shown + ": not a relative path");
  // "root:/" would make a caching proxy ask another server; "?" and "#" end a path.
  if (relative.find(":/") != std::string_view::npos ||
      (!is_http(url) && relative.find_first_of("?#") != std::string_view::npos))
    return fail(ErrorKind::denied, shown + ": not valid in a URL path");
  const std::string path = normal_path(relative);
  if (path.empty()) return fail(ErrorKind::denied, shown + ": outside of its directory");

  const std::size_t host = std::min(url.find("://"), url.size() - std::min<std::size_t>(url.size(), 3)) + 3;
  const std::size_t path_end = std::min(url.find_first_of(is_http(url) ? "?#" : "?", host), url.size());
  const std::size_t slash = url.substr(0, path_end).rfind('/');
  if (slash == std::string_view::npos || slash < host)
    return fail(ErrorKind::denied, shown + ": the URL has no directory");
  return std::string(url.substr(0, slash + 1))
      .append(is_http(url) ? percent_encoded(path, "/") : path)
      .append(url.substr(path_end));
}

std::string without_secrets(std::string_view url) {
  std::string shown(url);
  // From the end, so that positions before stay right.
  const std::vector<Piece> values = secret_values(url), names = logins(url);
  for (auto piece = values.rbegin(); piece != values.rend(); ++piece) shown.replace(piece->begin, piece->size, kHidden);
  for (auto piece = names.rbegin(); piece != names.rend(); ++piece) shown.erase(piece->begin, piece->size);
  return shown;
}

std::string without_secrets_of(std::string_view url, std::string text) {
  std::vector<Piece> secrets = secret_values(url);
  for (const Piece& login : logins(url)) secrets.push_back(login);
  for (const auto& [begin, size] : secrets) {
    const std::string_view secret = url.substr(begin, size);
    for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + kHidden.size()))
      text.replace(at, size, kHidden);
  }
  return text;
}

}  // namespace tfile
