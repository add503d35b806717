// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "remote/server/listing_draft.h"
#include "remote/server/protocols.h"
#include "remote/server/url.h"
#include "remote/xrootd/xrootd_awaited.h"
#include "remote/xrootd/xrootd_client.h"
#include "remote/xrootd/xrootd_servers.h"

namespace tfile {
namespace xrootd {
namespace {

using Clock = std::chrono::steady_clock;

// Asks the servers, and brings their answers together. All must have answered when the time-out has passed since the
// beginning.
class Listing {
 public:
  Listing(std::string url, const RemoteOptions& options)
      : url_(std::move(url)), shown_(without_secrets(url_)), options_(options) {}

  Result<RemoteListing> read();

 private:
  template <class T>
  using Pending = std::shared_ptr<Awaited<Answer<T>>>;
  using Servers = std::vector<std::string>;

  Pending<ServerListing> ask(const std::string& server);
  Pending<Servers> ask_for_servers();
  Pending<XrootdServer::Role> ask_for_role();
  template <class T>
  Result<T> answer_of(Awaited<Answer<T>>&);
  Result<bool> is_redirector(XrootdServer&, const Pending<XrootdServer::Role>&);
  Result<> add(ServerListing);
  Result<> add_own(const Pending<ServerListing>&);
  Result<> add_all(const Servers&);
  RemoteListing finish();

  const std::string url_, shown_;
  const RemoteOptions options_;
  const Clock::time_point begun_ = Clock::now();
  SourceCounts counts_;
  ListingDraft draft_{ListingDraft::Twice::copy};
  std::optional<Error> gap_;
};

auto Listing::ask(const std::string& server) -> Pending<ServerListing> {
  auto pending = std::make_shared<Awaited<Answer<ServerListing>>>();
  ++counts_.requests;
  ++counts_.round_trips;
  list_directory(url_, server, [pending](Answer<ServerListing> answer) { pending->set(std::move(answer)); });
  return pending;
}

auto Listing::ask_for_servers() -> Pending<Servers> {
  auto pending = std::make_shared<Awaited<Answer<Servers>>>();
  ++counts_.requests;
  ++counts_.round_trips;
  locate(url_, [pending](Answer<Servers> answer) { pending->set(std::move(answer)); });
  return pending;
}

auto Listing::ask_for_role() -> Pending<XrootdServer::Role> {
  auto pending = std::make_shared<Awaited<Answer<XrootdServer::Role>>>();
  ++counts_.requests;
  ++counts_.round_trips;
  ask_role(url_, {}, [pending](Answer<XrootdServer::Role> answer) { pending->set(std::move(answer)); });
  return pending;
}

template <class T>
Result<T> Listing::answer_of(Awaited<Answer<T>>& pending) {
  RemoteOptions rest = options_;
  rest.timeout -= std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun_);
  rest.timeout = std::max(rest.timeout, std::chrono::milliseconds(0));
  if (!pending.wait(rest)) return tl::unexpected<Error>(no_answer(shown_, options_));
  Answer<T> answer = pending.take();
  if (answer) return *std::move(answer);
  return fail(answer.error().kind, shown_ + ": " + without_secrets_of(url_, answer.error().text));
}

Result<> Listing::add(ServerListing listing) {
  for (const std::string& name : listing.untold) draft_.leave_out(name, "the server does not say what it is");
  for (RemoteEntry& entry : listing.entries) {
    // These would begin another part of a URL.
    if (entry.name.find('?') != std::string::npos || entry.name.ends_with(':'))
      draft_.leave_out(entry.name, "its name is not possible in an XRootD URL");
    else
      TRY_VOID(draft_.add(std::move(entry)));
  }
  return {};
}

// `told`: if the server was asked for it.
Result<bool> Listing::is_redirector(XrootdServer& server, const Pending<XrootdServer::Role>& told) {
  if (told) {
    TRY(const XrootdServer::Role role, answer_of(*told));
    server.role = role;
  }
  return server.role == XrootdServer::Role::redirector;
}

Result<> Listing::add_own(const Pending<ServerListing>& own) {
  TRY(ServerListing listing, answer_of(*own));
  return add(std::move(listing));
}

// Each has other files, and copies of the same. One that has no such directory has no files in it; one that does not
// answer may have some.
Result<> Listing::add_all(const Servers& servers) {
  std::vector<Pending<ServerListing>> pending;
  for (const std::string& server : servers) pending.push_back(ask(server));
  std::optional<Error> missing;
  std::size_t listed = 0;
  for (const auto& one : pending) {
    auto listing = answer_of(*one);
    if (listing) {
      ++listed;
      TRY_VOID(add(*std::move(listing)));
    } else {
      (listing.error().kind == ErrorKind::not_found ? missing : gap_) = std::move(listing).error();
    }
  }
  if (listed == 0) return tl::unexpected<Error>(gap_ ? *gap_ : *missing);
  return {};
}

RemoteListing Listing::finish() {
  RemoteListing listing = std::move(draft_).finish();
  listing.gap = std::move(gap_);
  listing.counts = counts_;
  return listing;
}

// A redirector has no files; what it has itself is only asked for where it names no servers (it may have a name space
// of its own). What the server is, is asked with the first list, and all that may be needed with it.
Result<RemoteListing> Listing::read() {
  const auto server = xrootd_server(server_of(url_));
  const XrootdServer::Role role = server->role;
  const bool is_untold = role == XrootdServer::Role::untold, may_redirect = role == XrootdServer::Role::redirector;
  const auto told = is_untold ? ask_for_role() : nullptr;
  const auto servers = is_untold || may_redirect ? ask_for_servers() : nullptr;
  auto own = !may_redirect ? ask({}) : nullptr;
  TRY(const bool redirects, is_redirector(*server, told));
  if (redirects) {
    const auto found = answer_of(*servers);
    if (!found && found.error().kind != ErrorKind::not_found) return tl::unexpected<Error>(found.error());
    if (found && !found->empty()) {
      TRY_VOID(add_all(*found));
      return finish();
    }
    if (!own) own = ask({});
  }
  TRY_VOID(add_own(own));
  return finish();
}

}  // namespace
}  // namespace xrootd

Result<RemoteListing> list_xrootd(const std::string& url, const RemoteOptions& options) {
  using namespace xrootd;
  prepare_client(options.timeout);
  if (server_of(url).empty())
    return fail(ErrorKind::invalid, without_secrets(url) + ": not the URL of an XRootD server");
  return Listing(url, options).read();
}

}  // namespace tfile
