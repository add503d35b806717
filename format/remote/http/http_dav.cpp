// SPDX-License-Identifier: Apache-2.0
#include "remote/http/http_dav.h"

#include <curl/curl.h>

#include <algorithm>
#include <utility>

#include "remote/server/remote_dates.h"
#include "remote/server/url.h"
#include "tfile/percent_text.h"

namespace tfile {
namespace {

// Whether a server that encodes names as it must can have written this. XRootD 5 writes them as they are.
bool is_encoded(std::string_view href) {
  constexpr std::string_view kNever = " \"<>\\^`{|}";
  return std::ranges::none_of(href, [&](char c) {
    return static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~' || kNever.find(c) != kNever.npos;
  });
}

// The path of what a server names by a URL, or by its path alone; without slashes at its end and twice in a row, of
// which servers are not sparing.
std::string path_of(std::string_view href, bool is_encoded) {
  if (const std::size_t scheme = href.find("://"); scheme != std::string_view::npos && !href.starts_with('/'))
    href.remove_prefix(std::min(href.find('/', scheme + 3), href.size()));
  std::string path = is_encoded ? percent_decoded_parts(href.substr(0, href.find_first_of("?#"))) : std::string(href);
  const auto both_slashes = [](char a, char b) { return a == '/' && b == '/'; };
  path.erase(std::unique(path.begin(), path.end(), both_slashes), path.end());
  if (path.ends_with('/')) path.pop_back();
  return path;
}

std::int64_t time_of(std::string_view text) {
  return date_of_seconds(curl_getdate(std::string(text).c_str(), nullptr));
}

}  // namespace

DavListing::DavListing()
    : xml_([this](std::span<const std::string> path, std::string_view text) { return take(path, text); }) {}

Result<> DavListing::feed(std::span<const std::byte> bytes) {
  bytes_ += bytes.size();
  if (bytes_ > kBytesFree + responses_.size() * kBytesOfResponse)
    return fail(ErrorKind::damaged, "the server's directory listing has " + std::to_string(bytes_) + " bytes for " +
                                        std::to_string(responses_.size()) + " names");
  return xml_.feed(bytes);
}

Result<> DavListing::take(std::span<const std::string> path, std::string_view text) {
  if (is(path, {"multistatus", "response"})) return take_response();
  if (is(path, {"multistatus", "response", "href"})) response_.href = text;
  if (path.size() < 5 || !is(path.first(4), {"multistatus", "response", "propstat", "prop"})) return {};
  // A property that the server does not have comes empty, in a part of its own.
  RemoteEntry& entry = response_.entry;
  if (is(path.subspan(4), {"resourcetype", "collection"})) entry.is_directory = true;
  if (is(path.subspan(4), {"getcontentlength"}) && !text.empty()) entry.size = number_of(text);
  if (is(path.subspan(4), {"getlastmodified"}) && !text.empty()) entry.modified_ns = time_of(text);
  return {};
}

Result<> DavListing::take_response() {
  if (responses_.size() == kResponsesMax)
    return fail(ErrorKind::unsupported, "directory with more than " + std::to_string(kResponsesMax - 1) + " names");
  responses_.push_back(std::exchange(response_, {}));
  return {};
}

// One name that is not encoded tells that none is. The directory itself is among the responses. A proxy may have given
// the server another path of it than ours: then it is the one that is not longer than any other.
Result<RemoteListing> DavListing::finish(std::string_view url) && {
  TRY_VOID(xml_.finish());
  if (responses_.empty())
    return fail(ErrorKind::damaged, "the server's directory listing of " + std::to_string(bytes_) +
                                        " bytes does not have the directory itself");
  const bool all_encoded = std::ranges::all_of(responses_, is_encoded, &Response::href);
  for (Response& response : responses_) response.path = path_of(response.href, all_encoded);
  auto self = std::ranges::find(responses_, path_of(url, true), &Response::path);
  if (self == responses_.end())
    self = std::ranges::min_element(responses_, {}, [](const Response& one) { return one.path.size(); });
  if (!self->entry.is_directory) return fail(ErrorKind::invalid, "is a file, not a directory");
  const std::string directory = self->path + "/";
  ListingDraft draft;
  for (Response& response : responses_) {
    if (&response == &*self) continue;
    if (response.path.starts_with(directory)) {
      response.entry.name = response.path.substr(directory.size());
      TRY_VOID(draft.add(std::move(response.entry)));
    } else {
      draft.leave_out(response.path, "it is not in the directory");
    }
  }
  return std::move(draft).finish();
}

}  // namespace tfile
