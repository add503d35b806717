// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "http/served_connections.h"
#include "reply.h"

namespace tfilefs {

// An answer that a connection waits for without a thread: it is suspended until the answer is there. begin() and
// take() are called by the thread of libmicrohttpd that has the connection; the answer comes from any.
template <class T>
class Arrival {
 public:
  Arrival(ServedConnections& server, MHD_Connection* connection) : server_(server), connection_(connection) {}

  // Calls ask(Reply<T>). False when the server ends. `may_be_asked`: as ClientWatch::begin_work().
  template <class Ask>
  bool begin(ClientWatch::Client* client, bool may_be_asked, Ask ask) {
    if (!server_.gate->enter()) return false;
    is_begun_ = true;
    std::stop_source work;
    server_.watch.begin_work(client, work, may_be_asked);
    // Behind the answer nothing of this may be used: a connection that goes on may be over before its answer ends.
    ask(Reply<T>(
        [this, gate = server_.gate](Result<T> result) {
          arrive(std::move(result));
          gate->leave();
        },
        work.get_token()));
    return true;
  }
  bool is_begun() const { return is_begun_; }

  // The answer; or nothing: then the connection is suspended, and comes back when the answer is there.
  std::optional<Result<T>> take() {
    const Lock lock(mutex_);
    if (result_) {
      is_begun_ = false;
      return std::exchange(result_, std::nullopt);
    }
    is_suspended_ = true;
    server_.library.suspend_connection(connection_);
    return std::nullopt;
  }

 private:
  void arrive(Result<T> result) {
    const Microhttpd& library = server_.library;
    MHD_Connection* const connection = connection_;
    {
      const Lock lock(mutex_);
      result_.emplace(std::move(result));
      if (!std::exchange(is_suspended_, false)) return;
    }
    library.resume_connection(connection);
  }

  ServedConnections& server_;
  MHD_Connection* const connection_;
  bool is_begun_ = false;
  Mutex mutex_{"Arrival::mutex_"};
  std::optional<Result<T>> result_ GUARDED_BY(mutex_);
  bool is_suspended_ GUARDED_BY(mutex_) = false;
};

}  // namespace tfilefs
