// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tfile/mutex.h"
#include "tfile/source.h"

namespace tfile {

// The line to a server, as its answers tell. Thread-safe.
class ServerLine {
 public:
  // An answer whose first byte came after `delay`; then `bytes` in `time`.
  void note(std::chrono::microseconds delay, std::uint64_t bytes, std::chrono::microseconds time);
  std::chrono::microseconds delay() const;
  std::uint64_t bytes_per_second() const;

 private:
  mutable Mutex mutex_{"ServerLine::mutex_", "", "a read"};
  double delay_us_ GUARDED_BY(mutex_) = 0;          // 0: none known
  double bytes_per_second_ GUARDED_BY(mutex_) = 0;  // 0: none known
};

// The state of an HTTP server: shared by all its files of this process, and never forgotten. Thread-safe.
struct HttpHost {
  explicit HttpHost(ServerId number) : origin(number) {}

  enum class Answers : std::uint8_t { unknown, right, wrong };
  const ServerId origin;
  std::atomic<Answers> several = Answers::unknown;   // a request of several ranges
  std::atomic<Answers> one = Answers::unknown;       // a request of one range: if wrong, all of a file comes
  std::atomic<Answers> suffix = Answers::unknown;    // a request of the last bytes
  std::atomic<Answers> dav = Answers::unknown;       // a request for a list by PROPFIND
  std::atomic<bool> multiplexes = false;             // requests of one range cost no connection
  std::atomic<bool> are_abilities_recalled = false;  // remote/http/server_capabilities.h
  std::atomic<unsigned> kept_abilities = 0;          // a bit for each that is on disk
  ServerLine line;
};

// The URL with the scheme http or https, of which dav and davs are other names. Pure.
std::string http_url_of(std::string_view url);

// "https://host:port", without a user's name. Pure.
std::string http_server_of(std::string_view url);

// The server that a URL names.
std::shared_ptr<HttpHost> http_host_of(std::string_view url);

}  // namespace tfile
