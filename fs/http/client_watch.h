// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <list>
#include <optional>
#include <stop_token>
#include <thread>

#include "mutex.h"

namespace tfilefs {

// Ends connections whose clients are too slow: whole requests must arrive in time, and each piece of an answer must be
// taken in time. (libmicrohttpd ends those on which nothing happens at all, so a byte now and then would hold one.) And
// it tells work that its client has gone. Thread-safe.
class ClientWatch {
 public:
  using Clock = std::chrono::steady_clock;

  class Client;

  ClientWatch();
  ~ClientWatch();
  ClientWatch(const ClientWatch&) = delete;
  ClientWatch& operator=(const ClientWatch&) = delete;

  // `socket` stays open until remove().
  Client* add(int socket) EXCLUDES(mutex_);
  void remove(Client*) EXCLUDES(mutex_);

  // The client has so long to send a request, or what is missing of one. If it sends nothing more, it is ended sooner.
  void await_request(Client*, Clock::duration) EXCLUDES(mutex_);
  // The client has so long to take a piece of its answer.
  void allow(Client*, Clock::duration) EXCLUDES(mutex_);
  // The server works for it, for as long as it takes. The work is told when the client has gone, or after stop_all().
  // `may_be_asked`: nothing of the answer is sent, and the client takes interim responses, which HTTP/1.0 has not.
  void begin_work(Client*, std::stop_source work, bool may_be_asked) EXCLUDES(mutex_);
  void stop_all() EXCLUDES(mutex_);

 private:
  void run() EXCLUDES(mutex_);
  static bool has_gone(Client&, Clock::time_point now);
  void look(Clock::time_point now) REQUIRES(mutex_);

  Mutex mutex_{"ClientWatch::mutex_"};
  Condition changed_;
  std::list<Client> clients_ GUARDED_BY(mutex_);
  bool is_stopped_ GUARDED_BY(mutex_) = false;
  bool is_over_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

class ClientWatch::Client {
 public:
  explicit Client(int socket) : socket_(socket) {}

 private:
  friend class ClientWatch;
  const int socket_;
  std::list<Client>::iterator place_;
  std::optional<Clock::time_point> until_;          // none: the server works
  std::optional<Clock::time_point> awaited_since_;  // a request, or what is missing of one
  std::optional<std::stop_source> work_;
  bool may_be_asked_ = false;  // whether it is still there
  Clock::time_point ask_next_{};
};

}  // namespace tfilefs
