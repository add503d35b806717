// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bytes/kept_bytes.h"
#include "remote/server/remote_counts.h"
#include "remote/xrootd/xrootd_client.h"
#include "remote/xrootd/xrootd_servers.h"
#include "tfile/mutex.h"
#include "tfile/source.h"

namespace tfile::xrootd {

// The identity of what a server has under a URL. Behind a redirector it is that of a copy, and at a caching proxy, once
// it has said that it is one.
Identity identity_of_state(const std::string& url, const FileState&);

// One opened file: what its source and the transfers under way share. It exists until the last of them has ended.
//
// A server does not tell by itself that a file has changed. The file has changed if it is told a state other than at
// opening: when the file is opened again after a connection was lost, or by a look. A look asks about the path if the
// server that the URL names has the file. Then a file that was replaced is seen, too. Behind a redirector a path may
// lead to another copy with another date, or to nothing that this user may ask for; there a look asks about the open
// file. A caching proxy tells the date of its own copy, which moves as the copy grows; there only the size counts.
// Dates are whole seconds: a change within the second of another one, to the same size, is not seen.
//
// As long as anyone has a file open, a server gives that file to all who open its path, even if another one has been
// put there. So a file that has changed is closed at once: else it could never be opened anew.
class XrootdFile : public std::enable_shared_from_this<XrootdFile> {
 public:
  // `path_tells`: false if another file is known to stand at the path, so that looks must ask about the open file.
  XrootdFile(std::string url, RemoteOptions options, std::shared_ptr<OpenFile> connection, const FileState& opened,
             bool path_tells);

  const std::string& url() const { return url_; }
  const std::string& shown() const { return shown_; }  // the URL for messages
  const RemoteOptions& options() const { return options_; }
  const Identity& identity() const { return identity_; }
  XrootdServer& server() const { return *server_; }
  XrootdLimits limits() const;  // of requests now
  RemoteCounts& counts() const { return counts_; }
  Error error(const Failure&) const;

  // The first and the last bytes. Written before the file is used by several threads.
  KeptBytes held;
  std::uint64_t begin_held = 0, end_held = 0;

  // Calls `ready` with an open connection: at once if there is one, else when the file is open again.
  using Connected = Done<std::shared_ptr<OpenFile>>;
  void with_connection(Connected ready);
  // The connection has failed (null: the one that there is): the next request opens the file again.
  void drop(const OpenFile* failed);

  // Whether the last look was too long ago. True for one caller, which then looks.
  bool is_look_due();
  // Asks for the file's state. Whether it has changed is then told by is_stale().
  void look(const std::shared_ptr<OpenFile>& connection, Done<> done);
  // False if the server lets neither the path nor the open file be asked about.
  bool can_look() const { return way_ != Way::none; }
  bool looks_at_path() const { return way_ == Way::path; }
  // The same about the path. `now` is the opened state, or the one that has taken its place.
  void look_at_path(Done<Identity> done);
  bool is_stale() const { return stale_; }
  Error stale_error() const;

 private:
  // How to look. A way that the server refuses gives way to the next.
  enum class Way : unsigned char { path, open_file, none };

  void opened(Answer<std::shared_ptr<OpenFile>> connection);
  void look_by(Way way, const std::shared_ptr<OpenFile>& connection, Done<> done);
  void judge(const FileState& now);
  void set_stale();
  bool is_same_at_path(const FileState& now);
  bool has_moving_dates() const;

  const std::string url_, shown_;
  const RemoteOptions options_;
  const std::string server_name_;  // which had the file when it was opened
  const std::int64_t modified_;
  const Identity identity_;
  const std::shared_ptr<XrootdServer> server_;
  mutable RemoteCounts counts_;
  std::atomic<bool> stale_ = false;
  std::atomic<Way> way_;
  std::atomic<std::chrono::steady_clock::duration> last_look_;

  Mutex mutex_{"XrootdFile::mutex_", "Watch::mutex_", "a read"};
  std::shared_ptr<OpenFile> connection_ GUARDED_BY(mutex_);  // null if it has failed
  bool opening_ GUARDED_BY(mutex_) = false;
  std::vector<Connected> waiting_ GUARDED_BY(mutex_);
  // For each server that was asked about the path: the date of the file there. Servers with copies differ in it.
  std::vector<std::pair<std::string, std::int64_t>> dates_ GUARDED_BY(mutex_);
};

}  // namespace tfile::xrootd
