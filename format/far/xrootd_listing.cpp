// SPDX-License-Identifier: Apache-2.0
#include "far/xrootd_listing.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "far/listing_draft.h"
#include "far/url.h"
#include "far/xrootd_awaited.h"
#include "far/xrootd_client.h"

namespace tfile {
namespace xrootd {
namespace {

using Clock = std::chrono::steady_clock;

// Asks the servers, and brings their answers together. All must have answered when the time-out has passed since the
// beginning.
class Listing {
 public:
  Listing(std::string url, const FarOptions& options)
      : url_(std::move(url)), shown_(without_secrets(url_)), options_(options) {}

  Result<FarListing> read();

 private:
  template <class T>
  using Pending = std::shared_ptr<Awaited<Answer<T>>>;

  Pending<ServerListing> ask(const std::string& server);
  Result<std::vector<std::string>> data_servers();
  template <class T>
  Result<T> answer_of(Awaited<Answer<T>>&);
  Result<> add(ServerListing);
  Result<> add_others(const std::string& asked_already);

  const std::string url_, shown_;
  const FarOptions options_;
  const Clock::time_point begun_ = Clock::now();
  SourceCounts counts_;
  ListingDraft draft_{ListingDraft::Twice::copy};
  std::optional<Error> gap_;
};

auto Listing::ask(const std::string& server) -> Pending<ServerListing> {
  auto pending = std::make_shared<Awaited<Answer<ServerListing>>>();
  ++counts_.requests;
  list_directory(url_, server, [pending](Answer<ServerListing> answer) { pending->set(std::move(answer)); });
  return pending;
}

template <class T>
Result<T> Listing::answer_of(Awaited<Answer<T>>& pending) {
  FarOptions rest = options_;
  rest.timeout -= std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun_);
  rest.timeout = std::max(rest.timeout, std::chrono::milliseconds(0));
  if (!pending.wait(rest)) return tl::unexpected<Error>(no_answer(shown_, options_));
  Answer<T> answer = pending.take();
  if (answer) return *std::move(answer);
  return fail(answer.error().kind, shown_ + ": " + without_secrets_of(url_, answer.error().text));
}

Result<> Listing::add(ServerListing listing) {
  for (const std::string& name : listing.untold) draft_.leave_out(name, "the server does not tell what it is");
  for (FarEntry& entry : listing.entries) {
    // These would begin another part of a URL.
    if (entry.name.find('?') != std::string::npos || entry.name.ends_with(':'))
      draft_.leave_out(entry.name, "it is no name in a URL of XRootD");
    else
      TRY_VOID(draft_.add(std::move(entry)));
  }
  return {};
}

Result<std::vector<std::string>> Listing::data_servers() {
  const auto located = std::make_shared<Awaited<Answer<std::vector<std::string>>>>();
  ++counts_.requests;
  locate(url_, [located](Answer<std::vector<std::string>> answer) { located->set(std::move(answer)); });
  return answer_of(*located);
}

// A redirector sends a question for a list to one of its data servers. The others have other files, and copies of the
// same. One that has no such directory has no files in it; one that does not answer may have some.
Result<> Listing::add_others(const std::string& asked_already) {
  TRY(const std::vector<std::string> servers, data_servers());
  std::vector<Pending<ServerListing>> pending;
  for (const std::string& server : servers)
    if (server != asked_already) pending.push_back(ask(server));
  for (const auto& one : pending) {
    auto listing = answer_of(*one);
    if (listing) {
      TRY_VOID(add(*std::move(listing)));
    } else if (listing.error().kind != ErrorKind::not_found && !gap_) {
      gap_ = std::move(listing).error();
    }
  }
  return {};
}

Result<FarListing> Listing::read() {
  TRY(ServerListing first, answer_of(*ask({})));
  const std::string server = first.server;
  const bool is_redirected = first.is_redirected;
  TRY_VOID(add(std::move(first)));
  if (is_redirected) TRY_VOID(add_others(server));
  FarListing listing = std::move(draft_).finish();
  listing.gap = std::move(gap_);
  listing.counts = counts_;
  return listing;
}

}  // namespace
}  // namespace xrootd

Result<FarListing> list_xrootd(const std::string& url, const FarOptions& options) {
  using namespace xrootd;
  prepare_client(options.timeout);
  if (server_of(url).empty()) return fail(ErrorKind::invalid, without_secrets(url) + ": not a URL of an XRootD server");
  return Listing(url, options).read();
}

}  // namespace tfile
