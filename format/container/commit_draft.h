// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "container/container_state.h"
#include "tfile/result.h"
#include "tfile/source.h"
#include "tfile/writer.h"

namespace tfile {

// One commit while it is being laid out: records get their places and bytes, directories their lists, and at last
// everything becomes a plan (docs/reliability.md, "The commit"). Changes a copy of the state alone, and takes from the
// space what the plan writes; abandon() gives that back.
//
// In this order: what changes keys; place_directories(); records; finish().
class CommitDraft {
 public:
  // `wide`: addresses of the file may pass 2,000,000,000 with this commit.
  CommitDraft(const ContainerState& before, Space& space, const Compression& compression, std::uint32_t now, bool wide)
      : state_(before), before_(before), space_(space), compression_(compression), now_(now), wide_(wide) {}

  const ContainerState& state() const { return state_; }
  DirectoryState& directory(std::size_t index) { return state_.directories[index]; }
  bool is_wide() const { return wide_; }

  // Which directories are written anew, and where. Errors: unsupported (a root directory whose record cannot be
  // switched).
  Result<> place_directories();

  // What a key says of itself; its numbers are filled in. Views of the caller's.
  struct NewKey {
    std::string_view class_name, name, title;
    std::int16_t cycle = 1;
    std::uint64_t directory_seek = 0;
    std::uint32_t datime = 0;  // 0: of the commit
  };
  std::uint32_t keylen(const NewKey& key) const;

  // A record with that key, its payload compressed where that is smaller. Errors: unsupported (above 1 GiB), no_space
  // (memory).
  Result<ListedKey> add_record(const NewKey& key, std::span<const std::byte> payload);

  // This commit frees the record.
  void release(ByteRange record) { space_.release(record); }
  // The file's StreamerInfo is this record from now on; an earlier one is freed.
  void set_streamer_info(ByteRange record);

  // Lists of keys, records of directories, the list of free segments, header. `source`: where keys that are removed are
  // looked up, before their space is trusted to be theirs; nullptr for a new file. Reads.
  Result<CommitPlan> finish(const Source* source);

  // The state after the plan.
  ContainerState take_state() { return std::move(state_); }
  void abandon();

 private:
  Result<> check_root() const;
  void mark_moves();
  void mark_with_parents(std::size_t index);
  void place_directory(std::size_t index);
  ListedKey add_stored(KeyHeader key, std::span<const std::byte> stored, std::size_t objlen);
  void write_key_list(DirectoryState& directory);
  void write_directory(std::size_t index);
  void release_removed(const Source* source);
  void mark_gaps();
  void write_free_list();
  void write_head();
  CommitPlan plan();
  void add_step(std::uint64_t offset, std::vector<std::byte> bytes);
  void add_sync();
  std::int16_t version(std::int16_t narrow) const;
  bool is_new(std::size_t index) const { return before_.directories[index].own.size == 0; }

  ContainerState state_;
  const ContainerState& before_;
  Space& space_;
  const Compression compression_;
  const std::uint32_t now_;
  const bool wide_;
  std::vector<ByteRange> taken_;
  std::vector<bool> moved_;           // by index: gets a new place
  std::vector<CommitStep> steps_;     // what nothing points to yet
  std::vector<CommitStep> switches_;  // of directories whose records stay where they are
};

}  // namespace tfile
