// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "descriptor.h"
#include "mutex.h"
#include "staging/journal/journal_record.h"

namespace tfilefs {

class Journal;

// The contents of a journal, in order.
struct Replayed {
  std::shared_ptr<Journal> journal;    // for reading data
  JournalBegin begin;                  // the last one
  std::vector<JournalRecord> records;  // without the first begin; data as locations
  uid_t owner = 0;
  gid_t group = 0;
  std::string cut;  // why reading stopped before the end ("checksum of the record at 4711"); empty: it did not
};

// NAME.root.tfilefs-journal, beside the file: staged changes that are not in the file yet, in order. Its lock is held
// while this lives, and ensures that a file has only one writer. Plain libc calls. Thread-safe. Every function may
// block, but `read` never waits for another thread.
//
// After a failed sync the kernel may have dropped what it could not write, and a second sync would succeed in spite of
// the loss. So a journal that has failed stays failed. Every later append and sync returns that error, and so does a
// read of bytes that no successful sync has covered; bytes synced before can still be read. The file keeps its
// committed state, staged bytes in memory stay readable, and the next mount replays what did reach the disk.
class Journal {
 public:
  // Makes the journal (O_EXCL, 0600) of a file owned by `owner` and `group`, and syncs it and its name. Errors: busy
  // (another mount writes the file; names its pid), exists (there is one without a writer, which must be taken over),
  // no_space, io.
  static Result<std::shared_ptr<Journal>> create(int directory_fd, std::string name, const JournalBegin&, uid_t owner,
                                                 gid_t group);

  // Errors: as create() gives them if there is a journal of that name: busy, exists.
  static Result<> check_none(int directory_fd, const std::string& name);

  // The same beside a journal of that name, under a temporary one (an older temporary journal is replaced): to hold the
  // same contents in fewer bytes. It is not read before it has taken the place of the other.
  static Result<std::shared_ptr<Journal>> create_beside(int directory_fd, std::string name, const JournalBegin&,
                                                        uid_t owner, gid_t group);
  // Syncs all that was appended, then gives this journal the name, and syncs that. If an error comes before the
  // renaming, nothing has changed; if only the last sync failed, this journal has the name, but counts as failed.
  Result<> take_place();

  // Reads an existing journal. `take_over`: under the writers' lock, the bytes behind the last good record are cut off,
  // and the journal is continued. Otherwise it is only read, and every append fails (denied). Stops at the first record
  // that is short or has a wrong checksum. Errors: not_found (also if a crash came before its begin record was on
  // disk), busy (as above), denied (it is not owned by `owner`), damaged (not a journal, no begin, too many records),
  // unsupported (version), io.
  enum class Use : std::uint8_t { read, take_over };
  static Result<Replayed> replay(int directory_fd, std::string name, std::optional<uid_t> owner, Use);

  // Appends a record; it is on disk after the next sync. All or nothing: the remains of a failed append are overwritten
  // by the next one. append_data() returns the place of the bytes (at most kPayloadMax). Errors: no_space, io, denied.
  Result<> append(const JournalRecord&);
  Result<ByteRange> append_data(std::uint64_t id, std::uint64_t offset, std::span<const std::byte>);

  // Returns when all that was appended before the call is on disk. Concurrent calls share one fdatasync.
  Result<> sync();

  // Reads bytes of data, at a location or part of one.
  Result<> read(ByteRange location, std::span<std::byte> into) const;

  // Reserves space on the disk for `bytes` more, headers of records included. No error if the file system cannot
  // reserve space. Errors: no_space, io.
  Result<> preallocate(std::uint64_t bytes);

  // Removes the name. Nothing else changes, and the lock is held until this is destroyed. Not synced: a journal that
  // reappears after a crash is recognized as done, or says that nothing is staged, if that was synced. No error if the
  // name is gone or belongs to another file. A journal with other names (a directory that was copied as links) is
  // emptied, so that they promise nothing, either.
  Result<> remove();

  std::uint64_t size() const;  // bytes of good records, including the head
  std::size_t records() const;
  bool has_failed() const;
  bool has_other_names() const;
  bool has_name() const;  // false if it was removed by another program: then it is lost when this is destroyed

 private:
  Journal(Descriptor directory, std::string name, Descriptor file, std::uint64_t salt, bool writable);
  static Result<std::shared_ptr<Journal>> begin(std::shared_ptr<Journal>, const JournalBegin&, uid_t owner,
                                                gid_t group);
  Result<ByteRange> append_record(RecordHeader, std::span<const std::byte> payload);

  const Descriptor directory_;
  std::string name_;  // changes once, before this is shared
  const Descriptor file_;
  const std::uint64_t salt_;
  const bool writable_;

  // Held during the write of a record, which keeps records in order. Taken before state_mutex_.
  Mutex append_mutex_{"Journal::append_mutex_", "Journal::state_mutex_"};

  mutable Mutex state_mutex_{"Journal::state_mutex_"};
  Condition synced_changed_;
  std::uint64_t size_ GUARDED_BY(state_mutex_) = 0;
  std::uint64_t synced_ GUARDED_BY(state_mutex_) = 0;
  std::size_t records_ GUARDED_BY(state_mutex_) = 0;
  bool syncing_ GUARDED_BY(state_mutex_) = false;
  bool name_synced_ GUARDED_BY(state_mutex_) = false;
  bool failed_ GUARDED_BY(state_mutex_) = false;
  Error failure_ GUARDED_BY(state_mutex_);
};

// "out.root" -> "out.root.tfilefs-journal".
std::string journal_name(std::string_view file_name);

}  // namespace tfilefs
