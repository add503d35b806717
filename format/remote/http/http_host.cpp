// SPDX-License-Identifier: Apache-2.0
#include "remote/http/http_host.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>

#include "remote/server/origins.h"

namespace tfile {
namespace {

// Before anything was measured: a line within a country. Too much would read through gaps for nothing.
constexpr double kDelayGuess = 20'000, kSpeedGuess = 10e6;
// Less arrives in one piece, whatever the line.
constexpr std::uint64_t kMeasurable = 64 << 10;

}  // namespace

// The delay of the line is the shortest seen; an answer that took longer was made longer by the server. It rises
// slowly, for lines change. The speed is that of the fastest answers: the first bytes of a connection come slowly.
void ServerLine::note(std::chrono::microseconds delay, std::uint64_t bytes, std::chrono::microseconds time) {
  const Lock lock(mutex_);
  const auto now = static_cast<double>(delay.count());
  if (now > 0) delay_us_ = delay_us_ == 0 || now < delay_us_ ? now : delay_us_ + (now - delay_us_) / 64;
  if (bytes < kMeasurable || time.count() <= 0) return;
  const double speed = static_cast<double>(bytes) * 1e6 / static_cast<double>(time.count());
  bytes_per_second_ = speed > bytes_per_second_ ? speed : bytes_per_second_ + (speed - bytes_per_second_) / 16;
}

std::chrono::microseconds ServerLine::delay() const {
  const Lock lock(mutex_);
  return std::chrono::microseconds(static_cast<std::int64_t>(delay_us_ > 0 ? delay_us_ : kDelayGuess));
}

std::uint64_t ServerLine::bytes_per_second() const {
  const Lock lock(mutex_);
  return static_cast<std::uint64_t>(bytes_per_second_ > 0 ? bytes_per_second_ : kSpeedGuess);
}

std::string http_url_of(std::string_view url) {
  const std::size_t end = url.find("://");
  std::string scheme(url.substr(0, end));
  std::ranges::transform(scheme, scheme.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (scheme == "dav") scheme = "http";
  if (scheme == "davs") scheme = "https";
  return scheme.append(url.substr(end));
}

std::string http_server_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  std::string_view host = url.substr(begin, url.find_first_of("/?#", begin) - begin);
  if (const std::size_t at = host.rfind('@'); at != std::string_view::npos) host.remove_prefix(at + 1);
  return std::string(url.substr(0, begin)) + std::string(host);
}

std::shared_ptr<HttpHost> http_host_of(std::string_view url) {
  static Mutex hosts_mutex{"hosts_mutex", "Origins::mutex"};
  static std::map<std::string, std::shared_ptr<HttpHost>> hosts GUARDED_BY(hosts_mutex);
  const std::string server = http_server_of(url);
  const Lock lock(hosts_mutex);
  auto& known = hosts[server];
  if (!known) known = std::make_shared<HttpHost>(origin_of_server(server));
  return known;
}

}  // namespace tfile
