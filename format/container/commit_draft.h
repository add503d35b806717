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

// The layout of one commit: records get places and bytes, directories get lists, and finally everything becomes a plan
// (docs/reliability.md, "The commit"). Changes only a copy of the state, and takes from the space what the plan writes;
// abandon() gives that back.
//
// Call in this order: functions that change keys; place_directories(); functions that add records; finish().
class CommitDraft {
 public:
  // `wide`: with this commit, addresses in the file may exceed 2,000,000,000.
  CommitDraft(const ContainerState& before, Space& space, const Compression& compression, std::uint32_t now, bool wide)
      : state_(before), before_(before), space_(space), compression_(compression), now_(now), wide_(wide) {}

  const ContainerState& state() const { return state_; }
  DirectoryState& directory(std::size_t index) { return state_.directories[index]; }
  bool is_wide() const { return wide_; }

  // Decides which directories are rewritten, and where. Errors: unsupported (the record of the root directory cannot be
  // changed in place).
  Result<> place_directories();

  // The fields of a key that the caller chooses; the numbers are filled in. The views are the caller's.
  struct NewKey {
    std::string_view class_name, name, title;
    std::int16_t cycle = 1;
    std::uint64_t directory_seek = 0;
    std::uint32_t datime = 0;  // 0: the date of the commit
  };
  std::uint32_t keylen(const NewKey& key) const;

  // Adds a record with that key; the payload is compressed if that makes it smaller. Errors: unsupported (above 1 GiB),
  // no_space (memory).
  Result<ListedKey> add_record(const NewKey& key, std::span<const std::byte> payload);

  // Frees the record with this commit.
  void release(ByteRange record) { space_.release(record); }
  // Makes this record the file's StreamerInfo, and frees the previous one.
  void set_streamer_info(ByteRange record);

  // Adds the lists of keys, records of directories, free list and header. `source`: used to check removed keys before
  // their space is freed; nullptr for a new file. Reads.
  Result<CommitPlan> finish(const Source* source);

  // The state after the plan is carried out.
  ContainerState take_state() { return std::move(state_); }
  void abandon();

 private:
  Result<> check_root() const;
  void mark_moves();
  void mark_with_parents(std::size_t index);
  void place_directory(std::size_t index);
  ListedKey add_stored(KeyHeader key, std::span<const std::byte> stored, std::size_t objlen);
  void adopt_copied_keys(DirectoryState& directory);
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
  std::vector<CommitStep> steps_;     // writes to space that the committed state does not use
  std::vector<CommitStep> switches_;  // changes of directories whose records stay in place
};

}  // namespace tfile
