// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "remote/server/line_speed.h"
#include "remote/xrootd/xrootd_requests.h"
#include "tfile/mutex.h"

namespace tfile {

class XrootdTurn;

// The process's knowledge of one XRootD server, shared by all files on it. Callable from any thread.
class XrootdServer {
 public:
  LineSpeed::Sent sent();
  void answered(const LineSpeed::Sent&, std::uint64_t bytes);
  void failed();

  void guess_delay(LineSpeed::Span);
  LineSpeed speed() const;
  // A redirector sends to others; a proxy has the files of others. `untold`: it was not asked yet.
  enum class Role : std::uint8_t { untold, data_server, proxy, redirector };
  std::atomic<Role> role = Role::untold;

  XrootdLimits limits() const;
  // True for the first caller, which then asks the server for them.
  bool are_limits_unasked() { return !limits_asked_.exchange(true); }
  // The answer to "readv_iov_max readv_ior_max": a number in each line, or the name if the server does not know it.
  void set_limits(std::string_view answer);

 private:
  friend class XrootdTurn;

  mutable Mutex mutex_{"XrootdServer::mutex_", "", "a read"};
  LineSpeed speed_ GUARDED_BY(mutex_);
  XrootdLimits limits_ GUARDED_BY(mutex_);
  std::set<XrootdTurn*> turns_ GUARDED_BY(mutex_);
  std::atomic<bool> limits_asked_ = false;
};

// Requests that wait for their answers. A server answers in about the order in which it was asked. So an answer to a
// request that was sent before them tells that the server has not come to them yet; one to a later request tells
// nothing of them. Callable from any thread.
class XrootdTurn {
 public:
  explicit XrootdTurn(XrootdServer&);
  ~XrootdTurn();
  XrootdTurn(const XrootdTurn&) = delete;
  XrootdTurn& operator=(const XrootdTurn&) = delete;

  // One of the requests is sent now.
  void sent(LineSpeed::Time now) { sent_ = now.time_since_epoch(); }
  // When something that was sent before them was last answered; else the clock's epoch.
  LineSpeed::Time last_before() const { return LineSpeed::Time(last_before_.load()); }

 private:
  friend class XrootdServer;
  void note_answer(LineSpeed::Time sent, LineSpeed::Time now);

  XrootdServer& server_;
  std::atomic<LineSpeed::Span> sent_{LineSpeed::Span(0)}, last_before_{LineSpeed::Span(0)};
};

// The limits that an answer tells; those of `otherwise` where it tells none that make sense. Pure.
XrootdLimits xrootd_limits(std::string_view answer, const XrootdLimits& otherwise);

// The same object for the same name ("host:port") as long as the process runs.
std::shared_ptr<XrootdServer> xrootd_server(std::string_view host_and_port);

}  // namespace tfile
