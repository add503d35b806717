// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "remote/http/byte_ranges.h"
#include "remote/http/http_client.h"
#include "remote/http/http_host.h"
#include "remote/http/request_limiter.h"
#include "remote/server/remote_counts.h"
#include "tfile/mutex.h"
#include "tfile/source.h"

namespace tfile {

// A file of an HTTP server in the state in which it was opened.
struct HttpFile {
  std::string given;  // as the user gave it
  std::string url;    // as curl takes it: of the scheme http or https
  std::string name;   // for messages, without secrets
  RemoteOptions options;
  std::shared_ptr<HttpHost> host;
  Identity identity;
  std::string etag;    // empty: not told
  bool is_s3 = false;  // requests are signed with the user's keys

  // The target of the server's redirect; requests go there at once. Empty: nowhere.
  mutable Mutex mutex{"HttpFile::mutex", "", "a read"};
  mutable std::string target GUARDED_BY(mutex);

  mutable RequestLimiter turns;
  mutable RemoteCounts counts;
  mutable std::atomic<bool> is_stale = false;
};

// The request for some ranges of the file, without the functions that take its answer. The target of a redirect is
// asked. `new_token`: the one that was used before was refused. `same`: an answer is only wanted of the opened state.
HttpRequest request_to(const HttpFile&, std::string range_header, bool new_token, bool same);

// Takes note of where an answer came from, or with none forgets it. Returns whether anything was forgotten.
bool note_target(const HttpFile&, const std::string& url);

// Whether this ETag alone says that the file is the one that was opened. Servers with copies may tell other dates.
bool is_same_by_tag(const HttpFile&, const std::string& etag);

// Whether an answer is of the state that was opened (error: stale): it says all of what the opening said to tell states
// apart. What it does not say may have changed.
Result<> check_state(const HttpFile&, const HttpHead&);

// Whether an answer's head can be followed (error: io): it is not compressed, and does not contradict itself.
Result<> check_head(const HttpFile&, const HttpHead&);

// The error that a status stands for, and whether asking again later may help.
struct StatusError {
  ErrorKind kind = ErrorKind::io;
  bool is_passing = false;
};
StatusError error_of_status(long status);

// Fills the pieces, none of which is empty: sends requests, as many as the server needs, all at once; what did not
// come, is asked for again, until nothing has come for options.timeout. done[i] is called once, from the client's
// thread, as soon as all pieces of read i are filled. Their memory is not touched after that.
void start_http_reads(std::shared_ptr<const HttpFile>, std::vector<WantedPieces::Piece>,
                      std::vector<Source::ReadDone> done);

}  // namespace tfile
