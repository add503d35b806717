// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "remote/http/http_xml.h"
#include "remote/server/listing_draft.h"

namespace tfile {

// Reads the answer to PROPFIND with Depth: 1 (RFC 4918): a directory, and what it has.
class DavListing {
 public:
  DavListing();
  DavListing(const DavListing&) = delete;
  DavListing& operator=(const DavListing&) = delete;

  // The next bytes of the answer. Errors: damaged, unsupported.
  Result<> feed(std::span<const std::byte> bytes);
  // After the last. `url`: where the answer came from. Errors: damaged, invalid (it is a file).
  Result<RemoteListing> finish(std::string_view url) &&;

 private:
  struct Response {
    std::string href;  // as it came
    std::string path;  // of the server, without a slash at its end
    RemoteEntry entry;
  };
  Result<> take(std::span<const std::string> path, std::string_view text);
  Result<> take_response();

  // As many as ListingDraft takes, and the directory itself; each is at least some bytes long.
  static constexpr std::size_t kResponsesMax = 300'001;

  // Names come with some 1 kB of properties; a long path in each of them may take more. Bytes beyond that tell nothing,
  // and might never end.
  static constexpr std::size_t kBytesFree = 4 << 20, kBytesOfResponse = 20 << 10;

  XmlReader xml_;
  std::size_t bytes_ = 0;
  Response response_;  // that is being read
  std::vector<Response> responses_;
};

}  // namespace tfile
