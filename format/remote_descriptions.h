// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>

#include "container/directory.h"
#include "container/edge_source.h"
#include "tfile/file.h"
#include "tfile/mutex.h"
#include "tfile/result.h"

namespace tfile {

// Brings what describes the tables of a remote file, each part in one round trip, into the file's edges,
// where those who open tables find it. Of a local file nothing is read. Errors: io. All functions block; any thread.
class RemoteDescriptions {
 public:
  explicit RemoteDescriptions(std::shared_ptr<const EdgeSource> edges) : edges_(std::move(edges)) {}

  // The list of keys of the root directory, with what is written right before it, and the StreamerInfo.
  Result<> hold_keys(const DirectoryRecord& root, ByteRange streamer_info) const;

  // The StreamerInfo and the records of all tables.
  Result<> hold_tables(std::span<const KeyInfo> root, ByteRange streamer_info) const;

  // Header and footer of an RNTuple, and of those of the root directory that nobody has asked for; and then the page
  // lists of these.
  Result<> hold_ntuples(const KeyInfo& first, std::span<const KeyInfo> root);

 private:
  std::vector<KeyInfo> not_held(const KeyInfo& first, std::span<const KeyInfo> root) REQUIRES(ntuples_mutex_);

  const std::shared_ptr<const EdgeSource> edges_;
  // Held while they are read: a second one finds them.
  Mutex ntuples_mutex_{"RemoteDescriptions::ntuples_mutex_", "a read"};
  std::set<std::uint64_t> ntuples_held_ GUARDED_BY(ntuples_mutex_);  // by the addresses of their keys
};

}  // namespace tfile
