// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "remote/disk/disk_log.h"
#include "remote/server/held_edges.h"
#include "tfile/mutex.h"
#include "tfile/source.h"

namespace tfile {

// As prepare_cache_directory() (tfile/disk_cache.h).
Result<> make_cache_directory(const std::string& path);

// The cached bytes of one remote file, for one source that reads it. The directory has one file for
// each URL, under a hash of it, and nobody else can read it; no URL is written down. Processes share the directory
// without knowing of each other: files are appended to under a lock, and removed at any time. All trouble with the
// disk, such as a full one, costs fetches, and is counted. Every function may be called from any thread.
class DiskFile : public std::enable_shared_from_this<DiskFile> {
 public:
  // Looks for the URL in whatever state it was read. Null if the options name no directory, or one that cannot be used.
  // Blocks.
  static std::shared_ptr<DiskFile> find(const RemoteOptions&, const std::string& url);
  DiskFile(const RemoteOptions& options, const DiskKey& key);

  // Whether anything was kept, of whatever state.
  bool is_there() const { return log() != nullptr; }
  // Whether all that an opening reads (remote/server/held_edges.h) is there, if the file is still the same.
  bool has_edges() const;
  // The file's state now. Only its bytes are given out and kept from now on. Not called again. Blocks.
  void use(const Identity&);

  // Fills what is there; returns the rest, by address. The memory of the rest may be written to. Blocks.
  std::vector<ByteRange> read(ByteRange, std::span<std::byte> into);
  // Keeps copies of these bytes, soon; or does not, if the disk is too slow or does not take them.
  void keep(std::span<const FilePiece>);
  // Bytes that were kept may be of another state.
  void discard();

  // Whether reads are answered from here: the last ones were, or an opening was and nothing was asked for since.
  bool is_warm() const { return hits_in_row_ >= kHitsWarm; }
  void note_read(bool is_hit) { hits_in_row_ = is_hit ? hits_in_row_ + 1 : 0; }
  void add_counts(SourceCounts&) const;

 private:
  // One miss makes others likely, and each is a round trip.
  static constexpr std::uint64_t kHitsWarm = 8;
  struct Copies;
  std::shared_ptr<DiskLog> log() const;
  std::shared_ptr<DiskLog> begin_log();
  std::shared_ptr<DiskLog> begin_log_at(int directory) const;
  void write(std::span<const FilePiece>);
  void trim(std::uint64_t appended);  // of the thread that writes
  void note_failure();

  const std::string directory_, name_;
  const DiskKey key_;
  const std::uint64_t bytes_max_;
  const HeldEdges edges_;
  Identity identity_;  // constant after use()

  mutable Mutex mutex_{"DiskFile::mutex_", "", "a read"};
  std::shared_ptr<DiskLog> log_ GUARDED_BY(mutex_);  // null if nothing is kept

  std::atomic<bool> is_used_ = false, has_failed_ = false;
  std::atomic<std::uint64_t> hits_in_row_ = 0;
  std::atomic<std::uint64_t> hits_ = 0, bytes_ = 0, failures_ = 0;
};

}  // namespace tfile
