// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "remote/xrootd/xrootd_servers.h"
#include "tfile/range.h"
#include "tfile/remote_listing.h"
#include "tfile/result.h"

namespace XrdCl {
class File;
}

// The XRootD client library, as far as it is needed. Requests are sent without waiting. Their answers come on one of
// the library's threads, or, if a request could not even be sent, before the function returns.
namespace tfile::xrootd {

struct Failure {
  ErrorKind kind = ErrorKind::io;
  std::string text;         // one line, which may repeat parts of the URL
  bool connection = false;  // the connection failed, not the request: it may succeed on another one
};
template <class T = void>
using Answer = tl::expected<T, Failure>;
template <class T = void>
using Done = std::function<void(Answer<T>)>;

struct FileState {
  std::uint64_t size = 0;
  std::int64_t modified = 0;  // seconds since the epoch
  std::string server;         // which told it: "host:port"
};

// A file that is open on a server. Closed without waiting, when the last owner lets go of it.
class OpenFile {
 public:
  explicit OpenFile(std::shared_ptr<XrdCl::File> file) : file_(std::move(file)) {}
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  // Reads the chunks, which lie in `into` one after the other: one by a read, several by a vectored read. `into` and
  // this file must exist until `done` is called. Less than all bytes is a failure.
  void read(std::span<const ByteRange> chunks, std::span<std::byte> into, Done<> done) const;
  // Asks the server for the state of the open file.
  void look(Done<FileState> done) const;
  // Without a request: the state that the server told last, which is when the file was opened, or at the last look.
  Answer<FileState> last_state() const;

 private:
  std::shared_ptr<XrdCl::File> file_;
};

// Sets the library's time-outs, the first time; see there. Must come before anything else of this header.
void prepare_client(std::chrono::milliseconds timeout);

// "host:port" of the URL, or empty if the library cannot use it.
std::string server_of(const std::string& url);

void open_file(const std::string& url, Done<std::shared_ptr<OpenFile>> done);
// The state of what now stands at the path.
void look_at_path(const std::string& url, Done<FileState> done);

// The names in a directory, as one server has them.
struct ServerListing {
  std::vector<RemoteEntry> entries;  // as they came
  std::vector<std::string> untold;   // names of which the server does not tell what they are
};
// `server`: "host:port"; empty for the URL's own.
void list_directory(const std::string& url, const std::string& server, Done<ServerListing> done);
// Asks for the role of a server ("host:port"; empty: the URL's own).
void ask_role(const std::string& url, const std::string& server, Done<XrootdServer::Role> done);
// All servers ("host:port") that a redirector knows to have the path.
void locate(const std::string& url, Done<std::vector<std::string>> done);

// "query config" of a server ("host:port"): the answer's text.
void query_config(const std::string& url, const std::string& server, const std::string& names, Done<std::string> done);

}  // namespace tfile::xrootd
