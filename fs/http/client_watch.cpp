// SPDX-License-Identifier: Apache-2.0
#include "http/client_watch.h"

#include <poll.h>
#include <sys/socket.h>

#include <string_view>
#include <utility>

namespace tfilefs {
namespace {

constexpr std::chrono::milliseconds kLookInterval{500};

short signs_of(int socket) {
  pollfd looked{socket, POLLRDHUP, 0};
  return ::poll(&looked, 1, 0) > 0 ? looked.revents : static_cast<short>(0);
}

// The library may miss the end of what a client sends, if it came together with the last bytes.
bool sends_no_more(int socket) {
  char next;
  return (signs_of(socket) & POLLRDHUP) != 0 && ::recv(socket, &next, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

// To a client that has closed both directions this is too much: its kernel says so, and ends the connection. Others
// leave out an interim response that they did not ask for (RFC 9110, 15.2).
void ask_whether_it_is_there(int socket) {
  constexpr std::string_view kInterim = "HTTP/1.1 100 Continue\r\n\r\n";
  (void)::send(socket, kInterim.data(), kInterim.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

ClientWatch::ClientWatch() : thread_([this] { run(); }) {}

ClientWatch::~ClientWatch() {
  {
    const Lock lock(mutex_);
    is_over_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

ClientWatch::Client* ClientWatch::add(int socket) {
  const Lock lock(mutex_);
  clients_.emplace_front(socket);
  clients_.front().place_ = clients_.begin();
  changed_.notify_all();
  return &clients_.front();
}

void ClientWatch::remove(Client* client) {
  std::optional<std::stop_source> work;  // goes without the lock
  const Lock lock(mutex_);
  work = std::move(client->work_);
  clients_.erase(client->place_);
}

void ClientWatch::await_request(Client* client, Clock::duration time) {
  const Lock lock(mutex_);
  client->awaited_since_ = Clock::now();
  client->until_ = *client->awaited_since_ + time;
  client->work_.reset();
}

void ClientWatch::allow(Client* client, Clock::duration time) {
  const Lock lock(mutex_);
  client->awaited_since_.reset();
  client->until_ = Clock::now() + time;
  client->work_.reset();
}

void ClientWatch::begin_work(Client* client, std::stop_source work, bool may_be_asked) {
  const Lock lock(mutex_);
  client->may_be_asked_ = may_be_asked;
  client->until_.reset();
  client->awaited_since_.reset();
  if (is_stopped_) work.request_stop();
  client->work_ = std::move(work);
}

void ClientWatch::stop_all() {
  std::list<std::stop_source> all;
  {
    const Lock lock(mutex_);
    is_stopped_ = true;
    for (const Client& each : clients_)
      if (each.work_) all.push_back(*each.work_);
  }
  for (std::stop_source& each : all) each.request_stop();
}

// A client that sends nothing more may still wait for its answer: nc -N closes one direction, and a client that closes
// both looks the same until something is sent to it.
bool ClientWatch::has_gone(Client& client, Clock::time_point now) {
  constexpr std::chrono::seconds kAskInterval{5};
  const short signs = signs_of(client.socket_);
  if ((signs & (POLLHUP | POLLERR)) != 0) return true;
  if ((signs & POLLRDHUP) == 0 || !client.may_be_asked_ || now < client.ask_next_) return false;
  client.ask_next_ = now + kAskInterval;
  ask_whether_it_is_there(client.socket_);
  return false;
}

void ClientWatch::look(Clock::time_point now) {
  constexpr std::chrono::seconds kHandled{2};  // what has come of a request is being handled meanwhile
  for (Client& each : clients_) {
    const bool is_over = each.awaited_since_ && now >= *each.awaited_since_ + kHandled && sends_no_more(each.socket_);
    if (is_over || (each.until_ && now >= *each.until_)) {
      // libmicrohttpd sees the end, and closes it.
      ::shutdown(each.socket_, SHUT_RDWR);
      each.until_.reset();
      each.awaited_since_.reset();
    }
  }
}

void ClientWatch::run() {
  for (;;) {
    std::list<std::stop_source> gone;
    {
      const Lock lock(mutex_);
      while (!is_over_ && clients_.empty()) changed_.wait(mutex_);
      if (is_over_) return;
      changed_.wait_for(mutex_, kLookInterval);
      if (is_over_) return;
      look(Clock::now());
      for (Client& each : clients_)
        if (each.work_ && has_gone(each, Clock::now())) gone.push_back(*each.work_);
    }
    for (std::stop_source& each : gone) each.request_stop();
  }
}

}  // namespace tfilefs
