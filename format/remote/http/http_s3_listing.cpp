// SPDX-License-Identifier: Apache-2.0
#include "remote/http/http_s3_listing.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "remote/server/remote_dates.h"
#include "remote/server/url.h"
#include "tfile/percent_text.h"

namespace tfile {
namespace {

// A key that is encoded in the way of HTML's forms.
std::string decoded(std::string key) {
  std::ranges::replace(key, '+', ' ');
  return percent_decoded_parts(key);
}

// "%XX" for slashes, too.
std::string encoded_value(std::string_view value) {
  std::string text;
  for (std::size_t begin = 0;; ++begin) {
    const std::size_t end = std::min(value.find('/', begin), value.size());
    text += percent_encoded(value.substr(begin, end - begin));
    if (end == value.size()) return text;
    text += "%2F";
    begin = end;
  }
}

}  // namespace

S3Page::S3Page(std::string_view prefix, ListingDraft& draft)
    : xml_([this](std::span<const std::string> path, std::string_view text) { return take(path, text); }),
      prefix_(prefix),
      draft_(draft) {}

Result<> S3Page::feed(std::span<const std::byte> bytes) {
  bytes_ += bytes.size();
  if (bytes_ > kBytesMax)
    return fail(ErrorKind::damaged, "the server's listing has more than " + std::to_string(kBytesMax) + " bytes");
  return xml_.feed(bytes);
}

Result<> S3Page::take(std::span<const std::string> path, std::string_view text) {
  const auto of = [&](std::string_view name) { return is(path, {"ListBucketResult", name}); };
  const auto in = [&](std::string_view list, std::string_view name) {
    return is(path, {"ListBucketResult", list, name});
  };
  if (of("EncodingType")) is_encoded_ = text == "url";
  if (of("IsTruncated")) goes_on_ = text == "true";
  if (of("NextContinuationToken")) next_ = text;
  if (in("Contents", "Key") || in("CommonPrefixes", "Prefix")) listed_.key = text;
  if (in("Contents", "Size")) listed_.entry.size = number_of(text);
  if (in("Contents", "LastModified")) listed_.entry.modified_ns = time_of_iso_date(text);
  if (!of("Contents") && !of("CommonPrefixes")) return {};
  listed_.entry.is_directory = of("CommonPrefixes");
  if (all_.size() == kListedMax)
    return fail(ErrorKind::damaged,
                "the server's listing has more than " + std::to_string(kListedMax) + " keys in one page");
  all_.push_back(std::exchange(listed_, {}));
  return {};
}

// The key of the directory itself marks it where it is empty.
Result<> S3Page::add(Listed listed) const {
  std::string key = is_encoded_ ? decoded(std::move(listed.key)) : std::move(listed.key);
  if (key == prefix_ && !listed.entry.is_directory) return {};
  if (!key.starts_with(prefix_)) {
    draft_.leave_out(key, "it is not in the directory");
    return {};
  }
  listed.entry.name = key.substr(prefix_.size());
  if (listed.entry.is_directory && listed.entry.name.ends_with('/')) listed.entry.name.pop_back();
  return draft_.add(std::move(listed.entry));
}

Result<S3Page::End> S3Page::finish() && {
  TRY_VOID(xml_.finish());
  for (Listed& listed : all_) TRY_VOID(add(std::move(listed)));
  if (goes_on_ && next_.empty())
    return fail(ErrorKind::damaged, "the server's listing continues after " + std::to_string(all_.size()) +
                                        " keys, but has no continuation token");
  return End{all_.size(), goes_on_ ? std::move(next_) : std::string()};
}

// Keys may have characters that XML has not, so they are to come percent-encoded.
std::string s3_page_query(std::string_view prefix, std::string_view token) {
  std::string query = "?";
  if (!token.empty()) query += "continuation-token=" + encoded_value(token) + "&";
  query += "delimiter=%2F&encoding-type=url&list-type=2";
  if (!prefix.empty()) query += "&prefix=" + encoded_value(prefix);
  return query;
}

std::int64_t time_of_iso_date(std::string_view text) {
  std::tm time{};
  const std::string terminated(text);
  const char* const end = ::strptime(terminated.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  return end ? date_of_seconds(::timegm(&time)) : 0;
}

}  // namespace tfile
