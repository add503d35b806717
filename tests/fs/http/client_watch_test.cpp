// SPDX-License-Identifier: Apache-2.0
#include "http/client_watch.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <stop_token>
#include <thread>
#include <utility>

#include "descriptor.h"
#include "wait_until.h"

namespace tfilefs {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The two ends of a connection by TCP.
struct Connected {
  Descriptor client, server;
};

Connected connected() {
  const Descriptor listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const named = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(listening.get(), named, size), 0);
  EXPECT_EQ(::listen(listening.get(), 1), 0);
  EXPECT_EQ(::getsockname(listening.get(), named, &size), 0);
  Descriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(client.get(), named, size), 0);
  Descriptor server(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
  return {std::move(client), std::move(server)};
}

Connected connected_by_file_system() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

bool is_stopped_within(const std::stop_source& work, milliseconds time) {
  return wait_until([&] { return work.stop_requested(); }, time);
}

TEST(ClientWatch, TellsAClosedConnectionFromOneThatSendsNothingMore) {
  for (const auto connect : {connected, connected_by_file_system}) {
    Connected ends = connect();
    ClientWatch watch;
    ClientWatch::Client* const client = watch.add(ends.server.get());
    std::stop_source work;
    watch.begin_work(client, work, true);
    EXPECT_EQ(::shutdown(ends.client.get(), SHUT_WR), 0);
    // Longer than it takes of one that has gone.
    EXPECT_FALSE(is_stopped_within(work, milliseconds(6000)));
    ends.client = Descriptor();
    EXPECT_TRUE(is_stopped_within(work, seconds(30)));
    watch.remove(client);
  }
}

TEST(ClientWatch, FindsThatAClientHasClosed) {
  Connected ends = connected();
  ClientWatch watch;
  ClientWatch::Client* const client = watch.add(ends.server.get());
  std::stop_source work;
  watch.begin_work(client, work, true);
  ends.client = Descriptor();
  EXPECT_TRUE(is_stopped_within(work, seconds(30)));
  watch.remove(client);
}

}  // namespace
}  // namespace tfilefs
