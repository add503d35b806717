// SPDX-License-Identifier: Apache-2.0
#include "remote/xrootd/xrootd_servers.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace tfile {
namespace {

using Clock = std::chrono::steady_clock;

struct Servers {
  Mutex mutex{"Servers::mutex"};
  std::map<std::string, std::shared_ptr<XrootdServer>, std::less<>> by_name GUARDED_BY(mutex);
};

Servers& servers() {
  static Servers* const all = new Servers;  // never destroyed: answers may come while the process ends
  return *all;
}

// Bounds on what a server says, so that it makes no requests of one byte, nor vectors that no server takes.
constexpr std::uint64_t kChunksLeast = 2, kChunksMost = 1 << 16;
constexpr std::uint64_t kChunkLeast = 4 << 10, kChunkMost = 1 << 30;

std::uint64_t leading_number(std::string_view line) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  return error == std::errc() && end != line.data() ? value : 0;
}

}  // namespace

XrootdLimits xrootd_limits(std::string_view answer, const XrootdLimits& otherwise) {
  XrootdLimits limits = otherwise;
  const std::size_t end = std::min(answer.find('\n'), answer.size());
  const std::uint64_t chunks = leading_number(answer.substr(0, end));
  const std::uint64_t chunk = leading_number(answer.substr(std::min(end + 1, answer.size())));
  if (chunks >= kChunksLeast) limits.chunks_max = std::min(chunks, kChunksMost);
  if (chunk >= kChunkLeast) limits.chunk_max = std::min(chunk, kChunkMost);
  return limits;
}

LineSpeed::Sent XrootdServer::sent() {
  const Lock lock(mutex_);
  return speed_.sent(Clock::now());
}

void XrootdServer::answered(const LineSpeed::Sent& sent, std::uint64_t bytes) {
  const Lock lock(mutex_);
  const auto now = Clock::now();
  speed_.answered(now, sent, bytes);
  for (XrootdTurn* const turn : turns_) turn->note_answer(sent.at, now);
}

void XrootdServer::failed() {
  const Lock lock(mutex_);
  speed_.failed();
}

void XrootdServer::guess_delay(LineSpeed::Span delay) {
  const Lock lock(mutex_);
  speed_.guess_delay(delay);
}

LineSpeed XrootdServer::speed() const {
  const Lock lock(mutex_);
  return speed_;
}

XrootdLimits XrootdServer::limits() const {
  const Lock lock(mutex_);
  return limits_;
}

void XrootdServer::set_limits(std::string_view answer) {
  const Lock lock(mutex_);
  limits_ = xrootd_limits(answer, limits_);
}

XrootdTurn::XrootdTurn(XrootdServer& server) : server_(server) {
  const Lock lock(server_.mutex_);
  server_.turns_.insert(this);
}

XrootdTurn::~XrootdTurn() {
  const Lock lock(server_.mutex_);
  server_.turns_.erase(this);
}

void XrootdTurn::note_answer(LineSpeed::Time sent, LineSpeed::Time now) {
  if (sent.time_since_epoch() < sent_.load()) last_before_ = now.time_since_epoch();
}

std::shared_ptr<XrootdServer> xrootd_server(std::string_view host_and_port) {
  Servers& all = servers();
  const Lock lock(all.mutex);
  auto found = all.by_name.find(host_and_port);
  if (found == all.by_name.end()) found = all.by_name.emplace(host_and_port, std::make_shared<XrootdServer>()).first;
  return found->second;
}

}  // namespace tfile
