// SPDX-License-Identifier: Apache-2.0
#include "remote/http/server_capabilities.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "remote/disk/disk_cache.h"
#include "remote/disk/disk_threads.h"

namespace tfile {
namespace {

using Answers = HttpHost::Answers;

// Each has a byte of its own in the cache: the byte is there if the server cannot do it.
constexpr std::array<std::atomic<Answers> HttpHost::*, 3> kAbilities{&HttpHost::several, &HttpHost::one,
                                                                     &HttpHost::suffix};

Identity identity_today() {
  Identity identity;
  identity.size = kAbilities.size();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  identity.state = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::hours>(now).count() / 24);
  return identity;
}

// Not the URL of any file.
std::string key_of(const std::string& url) { return "abilities of " + http_server_of(url); }

}  // namespace

void recall_abilities(HttpHost& host, const RemoteOptions& options, const std::string& url) {
  if (options.cache_directory.empty() || host.are_abilities_recalled.exchange(true)) return;
  const auto kept = DiskFile::find(options, key_of(url));
  if (!kept->is_there()) return;
  kept->use(identity_today());
  for (std::size_t i = 0; i < kAbilities.size(); ++i) {
    std::byte byte{};
    if (!kept->read({i, 1}, {&byte, 1}).empty()) continue;
    auto unknown = Answers::unknown;
    (host.*kAbilities[i]).compare_exchange_strong(unknown, Answers::wrong);
    host.kept_abilities |= 1U << i;
  }
}

void keep_abilities(HttpHost& host, const RemoteOptions& options, const std::string& url) {
  if (options.cache_directory.empty()) return;
  static constexpr std::byte kByte{1};
  std::vector<FilePiece> pieces;
  for (std::size_t i = 0; i < kAbilities.size(); ++i)
    if (host.*kAbilities[i] == Answers::wrong && !(host.kept_abilities.fetch_or(1U << i) & 1U << i))
      pieces.push_back({i, {&kByte, 1}});
  if (pieces.empty()) return;
  start_disk_write(pieces.size(), [options, key = key_of(url), pieces = std::move(pieces)] {
    const auto kept = DiskFile::find(options, key);
    kept->use(identity_today());
    kept->keep(pieces);
  });
}

}  // namespace tfile
