// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "remote/http/http_xml.h"
#include "remote/server/listing_draft.h"

namespace tfile {

// Reads one answer to ListObjectsV2 with the delimiter "/": keys and common prefixes, which become files and
// directories of the draft.
class S3Page {
 public:
  // `prefix`: that was asked for. The page refers to the draft and to the prefix.
  S3Page(std::string_view prefix, ListingDraft& draft);
  S3Page(const S3Page&) = delete;
  S3Page& operator=(const S3Page&) = delete;

  Result<> feed(std::span<const std::byte> bytes);
  // After the last bytes. Errors: damaged, unsupported.
  struct End {
    std::size_t count = 0;  // of what was listed, the key of the directory itself included
    std::string next;       // the token of the next page; empty: this is the last one
  };
  Result<End> finish() &&;

 private:
  struct Listed {
    std::string key;  // as the server writes it
    RemoteEntry entry;
  };
  Result<> take(std::span<const std::string> path, std::string_view text);
  Result<> add(Listed) const;

  // The service gives 1,000 at most.
  static constexpr std::size_t kListedMax = 10'000;
  // A key has 1,024 bytes at most, and some 500 of properties. Bytes beyond that tell nothing, and might never end.
  static constexpr std::size_t kBytesMax = 64 << 20;

  XmlReader xml_;
  std::size_t bytes_ = 0;
  const std::string_view prefix_;
  ListingDraft& draft_;
  Listed listed_;  // that is being read
  std::vector<Listed> all_;
  bool is_encoded_ = false, goes_on_ = false;
  std::string next_;
};

// The query string that asks for a page, its parameters sorted as the signature wants them. `token`: empty for the
// first. Pure.
std::string s3_page_query(std::string_view prefix, std::string_view token);

// "2026-11-25T03:30:09.000Z" in nanoseconds since the epoch, to the second; 0 if it is no such date. Pure.
std::int64_t time_of_iso_date(std::string_view text);

}  // namespace tfile
