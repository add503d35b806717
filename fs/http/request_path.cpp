// SPDX-License-Identifier: Apache-2.0
#include "http/request_path.h"

#include <algorithm>

#include "tfile/percent_text.h"

namespace tfilefs {
namespace {

constexpr std::size_t kNamesMax = 512;  // of a path; no mount shows one so deep

// "http://HOST/PATH", as a request to a proxy has it, and any server must take.
std::string_view without_origin(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (target.starts_with(scheme)) return target.substr(std::min(target.find('/', scheme.size()), target.size()));
  }
  return target;
}

}  // namespace

std::optional<RequestPath> parse_request_path(std::string_view target) {
  target = without_origin(target);
  if (!target.starts_with('/')) return std::nullopt;
  RequestPath path;
  path.ends_in_slash = target.ends_with('/');
  while (!target.empty()) {
    target.remove_prefix(1);
    const std::size_t end = std::min(target.find('/'), target.size());
    auto name = tfile::percent_decoded(target.substr(0, end));
    target.remove_prefix(end);
    constexpr std::string_view kNotInNames("/\0", 2);
    if (!name || name->find_first_of(kNotInNames) != std::string::npos || *name == "..") return std::nullopt;
    if (*name == ".") {  // as rclone has it before a name with a colon
      path.ends_in_slash = path.ends_in_slash || target.empty();
      continue;
    }
    if (name->empty()) continue;
    if (path.names.size() == kNamesMax) return std::nullopt;
    path.names.push_back(*std::move(name));
  }
  return path;
}

std::string url_path(const std::vector<std::string>& names, bool is_directory) {
  std::string path;
  for (const std::string& name : names) path += "/" + tfile::percent_encoded(name);
  return is_directory ? path + "/" : path;
}

}  // namespace tfilefs
