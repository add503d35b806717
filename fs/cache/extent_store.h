// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "mutex.h"
#include "once.h"
#include "reply.h"
#include "tfile/stream_set.h"

namespace tfilefs {

struct AttachedSet;

using tfile::Extents;
using ExtentsPtr = std::shared_ptr<const Extents>;

// The extents of the streams of one set, each computed once for all callers, on first need: from metadata at once, from
// headers on a thread that reads, from payloads as decode tasks. Given up when no caller waits any more. Damage is
// remembered; a failure of the storage is not. Thread-safe.
class ExtentStore {
 public:
  // `memory`: the memory of the extents is added to it while they exist.
  explicit ExtentStore(std::atomic<std::uint64_t>& memory) : memory_(memory) {}
  ~ExtentStore() { memory_ -= memory_here_; }
  ExtentsPtr ready(tfile::StreamId) const;

  // Answers at once if `ready` or metadata has the extents.
  void want(const std::shared_ptr<AttachedSet>&, tfile::StreamId, Reply<ExtentsPtr>);
  void want_all(const std::shared_ptr<AttachedSet>&, std::vector<tfile::StreamId>, Reply<bool>);

  // Without `may_decode` the answer is nothing where only payloads have the length.
  void length(const std::shared_ptr<AttachedSet>&, tfile::StreamId, std::uint32_t slot, bool may_decode,
              Reply<std::optional<std::int64_t>>);
  std::optional<std::int64_t> known_length(const AttachedSet&, tfile::StreamId, std::uint32_t slot) const;

 private:
  using Lengths = std::vector<std::int64_t>;
  struct StreamState {
    Once<ExtentsPtr> extents;
    std::optional<Lengths> lengths;  // from headers, whose extents were not kept
    bool headers_asked = false;      // along with those of another stream
  };
  void compute(const std::shared_ptr<AttachedSet>&, tfile::StreamId, Reply<ExtentsPtr>);
  void count(const std::shared_ptr<AttachedSet>&, tfile::StreamId, Reply<ExtentsPtr>);
  std::vector<tfile::StreamId> counted_along(const AttachedSet&, tfile::StreamId first) EXCLUDES(mutex_);
  Result<ExtentsPtr> extents_of_remote(const AttachedSet&, tfile::StreamId) EXCLUDES(mutex_);
  void note_told(tfile::StreamId, Result<ExtentsPtr>) EXCLUDES(mutex_);
  bool is_told(tfile::StreamId) const EXCLUDES(mutex_);
  std::optional<ExtentsPtr> take_told(tfile::StreamId, std::size_t slots) EXCLUDES(mutex_);
  std::vector<tfile::StreamId> without_headers(const AttachedSet&, std::span<const tfile::StreamId>) const;
  void want_each(const std::shared_ptr<AttachedSet>&, std::span<const tfile::StreamId>, Reply<bool>);
  Result<> look(const AttachedSet&, tfile::StreamId, const std::stop_token& stop);
  void look_nearby(const AttachedSet&, tfile::StreamId, std::uint32_t looks, const std::stop_token& stop);
  Result<> look_at_remote(const AttachedSet&, tfile::StreamId, std::uint32_t looks);
  std::vector<tfile::StreamId> looked_at_along(const AttachedSet&, tfile::StreamId from, std::uint32_t looks)
      EXCLUDES(mutex_);
  bool begin_look(tfile::StreamId) EXCLUDES(mutex_);
  void end_look(tfile::StreamId) EXCLUDES(mutex_);
  void await_look(tfile::StreamId) EXCLUDES(mutex_);
  void note_lengths(tfile::StreamId, const Result<ExtentsPtr>&) EXCLUDES(mutex_);
  void length_from_extents(const std::shared_ptr<AttachedSet>&, tfile::StreamId, std::uint32_t slot, bool may_decode,
                           Reply<std::optional<std::int64_t>>);

  std::atomic<std::uint64_t>& memory_;
  std::atomic<std::uint64_t> memory_here_ = 0;  // the part of memory_ that these extents take
  mutable Mutex mutex_{"ExtentStore::mutex_", "State::mutex"};
  mutable std::unordered_map<tfile::StreamId, StreamState> streams_ GUARDED_BY(mutex_);
  std::uint32_t looks_ GUARDED_BY(mutex_) = 0;                     // at headers, for a length
  std::uint32_t counts_ GUARDED_BY(mutex_) = 0;                    // of payloads, of a remote table
  std::map<tfile::StreamId, ExtentsPtr> told_ GUARDED_BY(mutex_);  // and not asked for yet
  std::set<tfile::StreamId> under_look_ GUARDED_BY(mutex_);  // of a remote table: those whose headers are under way
  Condition looked_;
  std::set<tfile::StreamId> counted_ GUARDED_BY(mutex_);  // of a remote table: those whose payloads were asked for
};

}  // namespace tfilefs
