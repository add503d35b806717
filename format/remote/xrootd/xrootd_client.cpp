// SPDX-License-Identifier: Apache-2.0
#include "remote/xrootd/xrootd_client.h"

#include <XrdCl/XrdClDefaultEnv.hh>
#include <XrdCl/XrdClFile.hh>
#include <XrdCl/XrdClFileSystem.hh>
#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "remote/server/remote_dates.h"
#include "remote/xrootd/xrootd_watch.h"

namespace tfile::xrootd {
namespace {

using XrdCl::XRootDStatus;

// The library's own limits are right for long batch jobs. A mount is waited for. XRD_* variables win over these.
void set_timeouts(std::chrono::milliseconds timeout) {
  XrdCl::Env* const env = XrdCl::DefaultEnv::GetEnv();
  const int seconds = static_cast<int>(std::clamp<std::int64_t>((timeout.count() + 999) / 1000, 1, 3600));
  const int half = std::max(1, seconds / 2);
  // A server that is silent for so long is given up. The other half of the time is for another server, if there is one:
  // the redirector may first name the silent one again, and it does not answer a new connection either.
  env->PutInt("StreamTimeout", std::min(half, 60));
  env->PutInt("ConnectionWindow", std::max(1, seconds / 4));
  // A refused connection would be tried again only at the end of the window. The transfers try again by themselves.
  env->PutInt("ConnectionRetry", 1);
  // After a failure no connection to that server is tried for so long: 30 minutes, if it were not set.
  env->PutInt("StreamErrorWindow", 1);
  env->PutInt("TimeoutResolution", 1);
  // Forked children of a mount run other programs. The library's handler would stop its threads at each fork.
  env->PutInt("RunForkHandler", 0);
  // RequestTimeout stays: 30 minutes. It ends a request whether or not its bytes are arriving. Transfers have time-outs
  // of their own, after which nothing but the memory of the request waits for the library.
}

bool is_connection_failure(const XRootDStatus& status) {
  switch (status.code) {
    case XrdCl::errHandShakeFailed:
    case XrdCl::errOperationExpired:
    case XrdCl::errOperationInterrupted:
    case XrdCl::errNoMoreFreeSIDs:
    case XrdCl::errInvalidResponse:
    case XrdCl::errCorruptedHeader:
    case XrdCl::errRedirectLimit:  // a redirector that does not know yet that a server is gone
    case XrdCl::errInvalidOp:      // of a file whose connection has failed meanwhile
      return true;
    default:
      return XrdCl::Status::IsSocketError(status.code) && status.code != XrdCl::errInvalidAddr;
  }
}

ErrorKind kind_of_answer(std::uint32_t number) {
  switch (number) {
    case kXR_NotFound:
      return ErrorKind::not_found;
    case kXR_NotAuthorized:
    case kXR_AuthFailed:
    case kXR_TLSRequired:
      return ErrorKind::denied;
    case kXR_NotFile:
    case kXR_isDirectory:
      return ErrorKind::invalid;
    case kXR_ReqTimedOut:
      return ErrorKind::timed_out;
    default:
      return ErrorKind::io;
  }
}

ErrorKind kind_of(const XRootDStatus& status) {
  switch (status.code) {
    case XrdCl::errErrorResponse:
      return kind_of_answer(status.errNo);
    case XrdCl::errNotFound:
      return ErrorKind::not_found;
    case XrdCl::errLoginFailed:
    case XrdCl::errAuthFailed:
      return ErrorKind::denied;
    case XrdCl::errSocketTimeout:
    case XrdCl::errOperationExpired:
      return ErrorKind::timed_out;
    default:
      return ErrorKind::io;
  }
}

std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string status_text(const XRootDStatus& status) {
  if (status.code == XrdCl::errErrorResponse && !status.GetErrorMessage().empty())
    return one_line(status.GetErrorMessage());
  std::string text = status.ToStr();
  if (const std::size_t mark = text.find("] "); text.starts_with('[') && mark != std::string::npos)
    text.erase(0, mark + 2);  // "[ERROR] "
  return one_line(text);
}

Failure failure_of(const XRootDStatus& status) {
  return {kind_of(status), status_text(status), is_connection_failure(status)};
}

tl::unexpected<Failure> broken(const char* text) { return tl::unexpected<Failure>(Failure{ErrorKind::io, text}); }

// Calls `answer(status, response, hosts)` once, and goes.
template <class Function>
class Handler final : public XrdCl::ResponseHandler {
 public:
  explicit Handler(Function answer) : answer_(std::move(answer)) {}
  void HandleResponseWithHosts(XRootDStatus* status, XrdCl::AnyObject* response, XrdCl::HostList* hosts) override {
    const std::unique_ptr<Handler> self(this);
    const std::unique_ptr<XRootDStatus> owned_status(status);
    const std::unique_ptr<XrdCl::AnyObject> owned_response(response);
    const std::unique_ptr<XrdCl::HostList> owned_hosts(hosts);
    answer_(*status, response, hosts);
  }
  // Called in its place for what takes several requests.
  void HandleResponse(XRootDStatus* status, XrdCl::AnyObject* response) override {
    HandleResponseWithHosts(status, response, nullptr);
  }

 private:
  Function answer_;
};

// `send` gives the handler to the library, which owns it unless it fails at once.
template <class Send, class Function>
void ask_server(Send send, Function answer) {
  auto* const handler = new Handler<Function>(std::move(answer));
  const XRootDStatus status = send(handler);
  if (!status.IsOK()) handler->HandleResponseWithHosts(new XRootDStatus(status), nullptr, nullptr);
}

template <class T>
T* inside(XrdCl::AnyObject* response) {
  T* object = nullptr;
  if (response) response->Get(object);
  return object;
}

Answer<> check_read(const ByteRange& wanted, XrdCl::AnyObject* response) {
  const auto* const got = inside<XrdCl::ChunkInfo>(response);
  if (!got || got->offset != wanted.begin) return broken("the server answered a different request");
  if (got->length != wanted.size) return broken("the server sent fewer bytes than the file has");
  return {};
}

Answer<> check_vector(std::span<const ByteRange> wanted, XrdCl::AnyObject* response) {
  auto* const got = inside<XrdCl::VectorReadInfo>(response);
  if (!got || got->GetChunks().size() != wanted.size()) return broken("the server answered a different request");
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const XrdCl::ChunkInfo& chunk = got->GetChunks()[i];
    if (chunk.offset != wanted[i].begin || chunk.length != wanted[i].size)
      return broken("the server sent other bytes than requested");
    size += wanted[i].size;
  }
  if (got->GetSize() != size) return broken("the server sent fewer bytes than requested");
  return {};
}

FileState state_of(const XrdCl::StatInfo& info, std::string server) {
  return {info.GetSize(), static_cast<std::int64_t>(info.GetModTime()), std::move(server)};
}

std::string host_of(const XrdCl::URL& url) { return url.GetHostName() + ":" + std::to_string(url.GetPort()); }

// The URL at a server ("host:port"); empty: at its own.
XrdCl::URL at_server(const std::string& url, const std::string& server) {
  XrdCl::URL parsed(url);
  const std::size_t colon = server.rfind(':');
  if (colon != std::string::npos) parsed.SetHostPort(server.substr(0, colon), std::atoi(server.c_str() + colon + 1));
  return parsed;
}

// The library (5.5) leaves the number in the order of the network's bytes; one of the two lowest bits is always set.
XrootdServer::Role role_of(std::uint32_t host) {
  const bool is_swapped = (host & (kXR_isManager | kXR_isServer)) == 0;
  const std::uint32_t bits = is_swapped ? (host >> 24 & 0xff) | (host >> 8 & 0xff00) : host;  // the lower half
  if (bits & kXR_isManager) return XrootdServer::Role::redirector;
  return bits & kXR_attrProxy ? XrootdServer::Role::proxy : XrootdServer::Role::data_server;
}

// A URL without a path is that of the server's root.
std::string path_of_directory(const XrdCl::URL& url) {
  return url.GetPath().empty() ? "/" + url.GetParamsAsString() : url.GetPathWithParams();
}

ServerListing listing_of(XrdCl::DirectoryList& list) {
  ServerListing listing;
  for (std::uint32_t i = 0; i < list.GetSize(); ++i) {
    const XrdCl::DirectoryList::ListEntry& entry = *list.At(i);
    const XrdCl::StatInfo* const info = entry.GetStatInfo();
    if (!info) {
      listing.untold.push_back(entry.GetName());
      continue;
    }
    listing.entries.push_back({entry.GetName(), info->TestFlags(XrdCl::StatInfo::IsDir), info->GetSize(),
                               date_of_seconds(static_cast<std::int64_t>(info->GetModTime()))});
  }
  return listing;
}

// The server that holds the open file. The library names it with the user's name before "@".
std::string server_of_open(const XrdCl::File& file) {
  std::string host;
  file.GetProperty("DataServer", host);
  return host.substr(host.find('@') + 1);
}

}  // namespace

void prepare_client(std::chrono::milliseconds timeout) {
  static std::once_flag once;
  std::call_once(once, [&] { set_timeouts(timeout); });
}

std::string server_of(const std::string& url) {
  const XrdCl::URL parsed(url);
  return parsed.IsValid() && !parsed.GetHostName().empty() ? host_of(parsed) : std::string();
}

// The last owner may be an answer of this very file, and in some versions of the library a file waits when it is
// destroyed. In 5.5 its destructor sends the request to close, and waits for nothing.
OpenFile::~OpenFile() { let_go_later(std::move(file_)); }

void OpenFile::read(std::span<const ByteRange> chunks, std::span<std::byte> into, Done<> done) const {
  if (chunks.size() == 1) {
    const ByteRange chunk = chunks[0];
    ask_server(
        [&](XrdCl::ResponseHandler* handler) {
          return file_->Read(chunk.begin, static_cast<std::uint32_t>(chunk.size), into.data(), handler);
        },
        [chunk, done = std::move(done)](const XRootDStatus& status, XrdCl::AnyObject* response, XrdCl::HostList*) {
          done(status.IsOK() ? check_read(chunk, response) : tl::unexpected<Failure>(failure_of(status)));
        });
    return;
  }
  XrdCl::ChunkList list;
  std::byte* place = into.data();
  for (const ByteRange& chunk : chunks) {
    list.emplace_back(chunk.begin, static_cast<std::uint32_t>(chunk.size), place);
    place += chunk.size;
  }
  ask_server([&](XrdCl::ResponseHandler* handler) { return file_->VectorRead(list, nullptr, handler); },
             [wanted = std::vector(chunks.begin(), chunks.end()), done = std::move(done)](
                 const XRootDStatus& status, XrdCl::AnyObject* response, XrdCl::HostList*) {
               done(status.IsOK() ? check_vector(wanted, response) : tl::unexpected<Failure>(failure_of(status)));
             });
}

void OpenFile::look(Done<FileState> done) const {
  ask_server([&](XrdCl::ResponseHandler* handler) { return file_->Stat(true, handler); },
             [this, done = std::move(done)](const XRootDStatus& status, XrdCl::AnyObject* response, XrdCl::HostList*) {
               const auto* const info = inside<XrdCl::StatInfo>(response);
               if (!status.IsOK()) return done(tl::unexpected<Failure>(failure_of(status)));
               if (!info) return done(broken("the server returned no status of the file"));
               done(state_of(*info, server_of_open(*file_)));
             });
}

Answer<FileState> OpenFile::last_state() const {
  XrdCl::StatInfo* info = nullptr;
  const XRootDStatus status = file_->Stat(false, info);
  const std::unique_ptr<XrdCl::StatInfo> owned(info);
  if (!status.IsOK()) return tl::unexpected<Failure>(failure_of(status));
  if (!info) return broken("the server returned no status of the file");
  return state_of(*info, server_of_open(*file_));
}

void open_file(const std::string& url, Done<std::shared_ptr<OpenFile>> done) {
  auto file = std::make_shared<XrdCl::File>();
  // The library (5.5, and still 6.0) opens a file whose connection was lost once for each request that waits for it.
  // Each answer replaces what the answers before it still use. So transfers open the file again, on a new handle.
  file->SetProperty("ReadRecovery", "false");
  // Made at once, so that the file is let go on another thread than that of its answer.
  auto open = std::make_shared<OpenFile>(file);
  ask_server(
      [&](XrdCl::ResponseHandler* handler) {
        return file->Open(url, XrdCl::OpenFlags::Read, XrdCl::Access::None, handler);
      },
      [open, done = std::move(done)](const XRootDStatus& status, XrdCl::AnyObject*, XrdCl::HostList*) {
        if (!status.IsOK()) return done(tl::unexpected<Failure>(failure_of(status)));
        done(open);
      });
}

void look_at_path(const std::string& url, Done<FileState> done) {
  const XrdCl::URL parsed(url);
  const auto server = std::make_shared<XrdCl::FileSystem>(parsed);
  ask_server([&](XrdCl::ResponseHandler* handler) { return server->Stat(parsed.GetPathWithParams(), handler); },
             [server, name = host_of(parsed), done = std::move(done)](
                 const XRootDStatus& status, XrdCl::AnyObject* response, XrdCl::HostList* hosts) {
               let_go_later(server);
               const auto* const info = inside<XrdCl::StatInfo>(response);
               if (!status.IsOK()) return done(tl::unexpected<Failure>(failure_of(status)));
               if (!info) return done(broken("the server returned no status of the file"));
               if (info->TestFlags(XrdCl::StatInfo::IsDir))
                 return done(tl::unexpected<Failure>(Failure{ErrorKind::not_found, "is a directory now"}));
               done(state_of(*info, hosts && !hosts->empty() ? host_of(hosts->back().url) : name));
             });
}

void list_directory(const std::string& url, const std::string& server_name, Done<ServerListing> done) {
  const XrdCl::URL parsed = at_server(url, server_name);
  const auto server = std::make_shared<XrdCl::FileSystem>(parsed);
  ask_server(
      [&](XrdCl::ResponseHandler* handler) {
        return server->DirList(path_of_directory(parsed), XrdCl::DirListFlags::Stat, handler);
      },
      [server, done = std::move(done)](const XRootDStatus& status, XrdCl::AnyObject* response, XrdCl::HostList*) {
        let_go_later(server);
        auto* const list = inside<XrdCl::DirectoryList>(response);
        if (!status.IsOK()) return done(tl::unexpected<Failure>(failure_of(status)));
        if (!list) return done(broken("the server returned no directory listing"));
        done(listing_of(*list));
      });
}

void ask_role(const std::string& url, const std::string& server_name, Done<XrootdServer::Role> done) {
  const auto server = std::make_shared<XrdCl::FileSystem>(at_server(url, server_name));
  ask_server(
      [&](XrdCl::ResponseHandler* handler) { return server->Protocol(handler); },
      [server, done = std::move(done)](const XRootDStatus& status, XrdCl::AnyObject* response, XrdCl::HostList*) {
        let_go_later(server);
        auto* const told = inside<XrdCl::ProtocolInfo>(response);
        if (!status.IsOK()) return done(tl::unexpected<Failure>(failure_of(status)));
        if (!told) return done(broken("the server returned no configuration"));
        done(role_of(told->GetHostInfo()));
      });
}

void locate(const std::string& url, Done<std::vector<std::string>> done) {
  const XrdCl::URL parsed(url);
  const auto server = std::make_shared<XrdCl::FileSystem>(parsed);
  ask_server(
      [&](XrdCl::ResponseHandler* handler) {
        return server->DeepLocate(path_of_directory(parsed), XrdCl::OpenFlags::PrefName, handler);
      },
      [server, done = std::move(done)](const XRootDStatus& status, XrdCl::AnyObject* response, XrdCl::HostList*) {
        let_go_later(server);
        const auto* const found = inside<XrdCl::LocationInfo>(response);
        if (!status.IsOK()) return done(tl::unexpected<Failure>(failure_of(status)));
        if (!found) return done(broken("the server returned no data servers"));
        std::vector<std::string> servers;
        for (auto one = found->Begin(); one != found->End(); ++one) servers.push_back(one->GetAddress());
        done(std::move(servers));
      });
}

void query_config(const std::string& url, const std::string& server_name, const std::string& names,
                  Done<std::string> done) {
  const auto server = std::make_shared<XrdCl::FileSystem>(at_server(url, server_name));
  XrdCl::Buffer argument;
  argument.FromString(names);
  ask_server(
      [&](XrdCl::ResponseHandler* handler) { return server->Query(XrdCl::QueryCode::Config, argument, handler); },
      [server, done = std::move(done)](const XRootDStatus& status, XrdCl::AnyObject* response, XrdCl::HostList*) {
        let_go_later(server);
        const auto* const answer = inside<XrdCl::Buffer>(response);
        if (!status.IsOK()) return done(tl::unexpected<Failure>(failure_of(status)));
        done(answer ? answer->ToString() : std::string());
      });
}

}  // namespace tfile::xrootd
