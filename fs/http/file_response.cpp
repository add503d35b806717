// SPDX-License-Identifier: Apache-2.0
#include "http/file_response.h"

#include <utility>

#include "http/byte_ranges.h"
#include "http/plain_response.h"

namespace tfilefs {
namespace {

constexpr int kOk = 200, kPartial = 206, kNotModified = 304, kFailedCondition = 412, kNotSatisfiable = 416;

HttpResponse with_validators(int status, const OpenedFile& opened) {
  HttpResponse response = bare_response(status, PagePolicy::source);
  const Validators& state = opened.validators;
  response.headers.emplace_back("Accept-Ranges", "bytes");
  response.headers.emplace_back("Last-Modified", http_date(state.modified));
  if (!state.etag.empty()) response.headers.emplace_back("ETag", state.etag);
  // A file with a tag may be kept, but is asked for anew: whether it is still the same.
  response.headers.emplace_back("Cache-Control", state.etag.empty() ? "no-store" : "private, no-cache");
  return response;
}

HttpResponse ranges_response(const OpenedFile& opened, const std::vector<FileSpan>& ranges) {
  HttpResponse response = with_validators(kPartial, opened);
  if (ranges.size() == 1) {
    response.headers.emplace_back("Content-Type", opened.type);
    response.headers.emplace_back("Content-Range", content_range(ranges[0], opened.size));
    response.body = ResponseBody(opened.file);
    response.body.add(ranges[0]);
    return response;
  }
  constexpr std::string_view kBoundary = "tfilefs-range-5fe1b7c093d24a86";
  response.headers.emplace_back("Content-Type", "multipart/byteranges; boundary=" + std::string(kBoundary));
  response.body = body_of_ranges(opened.file, ranges, opened.size, opened.type, kBoundary);
  return response;
}

}  // namespace

HttpResponse file_response(const HttpRequest& request, const OpenedFile& opened, std::time_t now) {
  const Conditions given{request.header("If-Match"), request.header("If-None-Match"),
                         request.header("If-Modified-Since"), request.header("If-Unmodified-Since"),
                         request.header("If-Range")};
  switch (verdict(given, opened.validators)) {
    case Verdict::not_modified:
      return with_validators(kNotModified, opened);
    case Verdict::failed:
      return with_validators(kFailedCondition, opened);
    case Verdict::send:
      break;
  }
  const auto range = request.header("Range");
  if (range && request.method == "GET" && may_send_range(given, opened.validators, now)) {
    const WantedBytes wanted = wanted_bytes(*range, opened.size);
    if (wanted.part == WantedBytes::Part::some) return ranges_response(opened, wanted.ranges);
    if (wanted.part == WantedBytes::Part::none) {
      HttpResponse response = with_validators(kNotSatisfiable, opened);
      response.headers.emplace_back("Content-Range", "bytes */" + std::to_string(opened.size));
      return response;
    }
  }
  HttpResponse response = with_validators(kOk, opened);
  response.headers.emplace_back("Content-Type", opened.type);
  response.body = ResponseBody(opened.file);
  response.body.add(FileSpan{0, opened.size});
  return response;
}

}  // namespace tfilefs
