// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "remote/http/aws_keys.h"
#include "remote/http/http_autoindex.h"
#include "remote/http/http_dav.h"
#include "remote/http/http_host.h"
#include "remote/http/http_question.h"
#include "remote/http/http_s3.h"
#include "remote/http/http_s3_listing.h"
#include "remote/server/protocols.h"
#include "remote/server/url.h"

namespace tfile {
namespace {

using Answers = HttpHost::Answers;

// A list in JSON takes some 100 bytes for each name, and is parsed as a whole.
constexpr std::size_t kJsonMax = 64 << 20;
// More than ListingDraft has names, at 1,000 names a page. A server may tell of pages without end.
constexpr std::size_t kPagesMax = 1'000;

// All that is asked of XRootD anyway; other servers then tell nothing else.
constexpr const char* kProperties =
    R"(<?xml version="1.0"?><propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/><getlastmodified/></prop></propfind>)";

// The directory's URL with a slash at its end, without which nginx redirects.
std::string with_slash(const std::string& url) {
  const UrlParts parts = url_parts(url);
  std::string directory = url.substr(0, url.size() - parts.query.size());
  if (!directory.ends_with('/')) directory += '/';
  return directory.append(parts.query);
}

tl::unexpected<Error> named(const std::string& shown, Error error) {
  error.text = shown + ": " + error.text;
  return tl::unexpected<Error>(std::move(error));
}

// The result of one way of asking for a list: the list; or the status with which the server refuses that way.
struct Attempted {
  std::optional<RemoteListing> listing;
  long status = 0;
};

// The question for one list.
struct Asked {
  std::string url;    // of the scheme http or https
  std::string shown;  // for messages
  RemoteOptions options;
  SourceCounts counts;
};

HttpQuestion question_for(const Asked& asked, std::vector<std::string> headers) {
  HttpQuestion question;
  question.url = asked.url;
  question.shown = asked.shown;
  question.headers = std::move(headers);
  question.headers.push_back("Accept-Encoding: identity");
  return question;
}

Result<Attempted> ask_dav(Asked& asked) {
  std::unique_ptr<DavListing> reader;
  HttpQuestion question = question_for(asked, {"Depth: 1", "Content-Type: application/xml"});
  question.method = "PROPFIND";
  question.body = kProperties;
  question.wanted = 207;
  question.begin = [&] { reader = std::make_unique<DavListing>(); };
  question.take = [&](std::span<const std::byte> bytes) { return reader->feed(bytes); };
  TRY(const HttpReply reply, ask(question, asked.options, asked.counts));
  if (reply.status != question.wanted) return Attempted{{}, reply.status};
  auto listing = std::move(*reader).finish(reply.url);
  if (!listing) return named(asked.shown, std::move(listing).error());
  return Attempted{*std::move(listing), reply.status};
}

Result<Attempted> ask_autoindex(Asked& asked) {
  std::string text;
  HttpQuestion question = question_for(asked, {"Accept: application/json"});
  question.url = with_slash(question.url);
  question.begin = [&] { text.clear(); };
  question.take = [&](std::span<const std::byte> bytes) -> Result<> {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && text[first] != '[')
      return fail(ErrorKind::unsupported, "the server returned no directory listing (tried PROPFIND and nginx JSON)");
    if (text.size() > kJsonMax)
      return fail(ErrorKind::unsupported, "directory listing larger than " + std::to_string(kJsonMax >> 20) + " MiB");
    return {};
  };
  TRY(const HttpReply reply, ask(question, asked.options, asked.counts));
  if (reply.status != question.wanted) return Attempted{{}, reply.status};
  auto listing = read_autoindex(text);
  if (!listing) return named(asked.shown, std::move(listing).error());
  return Attempted{*std::move(listing), reply.status};
}

// Servers without WebDAV do not know the method, or take it for a GET.
bool is_unknown_method(long status) { return status == 405 || status == 501; }
bool may_mean_method(long status) {
  return status == 200 || status == 400 || status == 403 || is_unknown_method(status);
}

Result<RemoteListing> list_directory(Asked& asked) {
  const auto host = http_host_of(asked.url);
  if (host->dav != Answers::wrong) {
    TRY(Attempted dav, ask_dav(asked));
    if (dav.listing) host->dav = Answers::right;
    if (dav.listing) return *std::move(dav.listing);
    if (host->dav == Answers::right || !may_mean_method(dav.status))
      return refused_with(question_for(asked, {}), dav.status);
    if (is_unknown_method(dav.status)) host->dav = Answers::wrong;
  }
  TRY(Attempted autoindex, ask_autoindex(asked));
  if (autoindex.listing) return *std::move(autoindex.listing);
  return refused_with(question_for(asked, {}), autoindex.status);
}

// ---- S3

class S3Pages {
 public:
  S3Pages(Asked& asked, S3Directory directory) : asked_(asked), directory_(std::move(directory)) {}

  Result<RemoteListing> read() {
    for (std::size_t page = 0; page < kPagesMax; ++page) {
      TRY(S3Page::End end, ask_page());
      listed_ += end.count;
      if (end.next.empty()) return finish();
      if (end.next == token_)
        return fail(ErrorKind::damaged, asked_.shown + ": the server repeats page " + std::to_string(page + 1) +
                                            " of the directory listing");
      if (is_slow())
        return fail(ErrorKind::timed_out, asked_.shown + ": the server sends the directory listing too slowly");
      token_ = std::move(end.next);
    }
    return fail(ErrorKind::unsupported,
                asked_.shown + ": directory listing with more than " + std::to_string(kPagesMax) + " pages");
  }

 private:
  using Clock = std::chrono::steady_clock;

  Result<S3Page::End> ask_page() {
    std::unique_ptr<S3Page> page;
    HttpQuestion question = question_for(asked_, {});
    question.url = directory_.bucket_url + s3_page_query(directory_.prefix, token_);
    question.is_s3 = true;
    question.begin = [&] { page = std::make_unique<S3Page>(directory_.prefix, draft_); };
    question.take = [&](std::span<const std::byte> bytes) { return page->feed(bytes); };
    TRY(const HttpReply reply, ask(question, asked_.options, asked_.counts));
    if (reply.status != question.wanted) return refused_with(question, reply.status);
    auto end = std::move(*page).finish();
    if (!end) return named(asked_.shown, std::move(end).error());
    return end;
  }

  // Beyond the time-out, 100 names a second are wanted: a page that has 1,000 may take 10 s.
  bool is_slow() const {
    const auto late = Clock::now() - begun_ - asked_.options.timeout;
    return std::chrono::duration<double>(late).count() > static_cast<double>(listed_) / 100;
  }

  // A directory that is not there is one without keys.
  Result<RemoteListing> finish() {
    if (listed_ == 0 && !directory_.prefix.empty())
      return fail(ErrorKind::not_found, asked_.shown + ": no key starts with this name and a slash");
    return std::move(draft_).finish();
  }

  Asked& asked_;
  const S3Directory directory_;
  const Clock::time_point begun_ = Clock::now();
  ListingDraft draft_;
  std::size_t listed_ = 0;
  std::string token_;
};

Result<RemoteListing> list_s3(const std::string& url, Asked& asked) {
  TRY(S3Directory directory, s3_directory(url));
  if (auto keys = aws_keys(); !keys) return named(asked.shown, std::move(keys).error());
  asked.url = directory.bucket_url;
  return S3Pages(asked, std::move(directory)).read();
}

}  // namespace

Result<RemoteListing> list_http(const std::string& url, const RemoteOptions& options) {
  Asked asked{{}, without_secrets(url), options, {}};
  if (!is_s3(url)) asked.url = http_url_of(url);
  auto listing = is_s3(url) ? list_s3(url, asked) : list_directory(asked);
  if (listing) listing->counts = asked.counts;
  return listing;
}

}  // namespace tfile
