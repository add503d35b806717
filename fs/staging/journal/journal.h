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

// What a journal says, in order.
struct Replayed {
  std::shared_ptr<Journal> journal;    // data is read from it
  JournalBegin begin;                  // the last
  std::vector<JournalRecord> records;  // without the first begin; data as locations
  uid_t owner = 0;
  gid_t group = 0;
  std::string cut;  // why reading stopped before the end ("checksum of the record at 4711"); empty: at the end
};

// NAME.root.tfilefs-journal, beside the file: staged changes that are not in the file yet, in order. Its lock, held
// while this lives, is what makes one writer of a file. Plain libc calls. Thread-safe; every function may block, `read`
// alone never waits for another thread.
//
// After a failed sync the kernel may have dropped what it could not write and a second sync would succeed over the
// loss: so a journal that failed stays failed. Every later append and sync gives that error, and so does a read of
// bytes that no good sync has covered; what was synced before is read as ever. The file keeps its committed state,
// staged bytes in memory stay readable, and the next mount replays what did reach the disk.
class Journal {
 public:
  // Makes it (O_EXCL, 0600) for a file that `owner` and `group` own, and syncs it and its name. Errors: busy (another
  // mount writes the file; names its pid), exists (one is there that nobody writes: to be taken over), no_space, io.
  static Result<std::shared_ptr<Journal>> create(int directory_fd, std::string name, const JournalBegin&, uid_t owner,
                                                 gid_t group);

  // The same beside a journal of that name, under a temporary one (an older one of which is replaced): to say the same
  // in fewer bytes. Nobody reads it before it has taken the place of the other.
  static Result<std::shared_ptr<Journal>> create_beside(int directory_fd, std::string name, const JournalBegin&,
                                                        uid_t owner, gid_t group);
  // All that was appended is on disk, then the name leads to this one, on disk, too. On an error before that nothing
  // has changed; where only the last is not known, this one has its name and has failed.
  Result<> take_place();

  // Reads one that is there. `take_over`: with the writers' lock, what follows the last good record is cut off, and it
  // goes on; else it is only read, and every append fails (denied). Stops at the first record that is short or whose
  // checksum is wrong. Errors: not_found (also one that a crash left before it was begun), busy (as above), denied (it
  // belongs to another than `owner`), damaged (no journal, no begin, more than can be), unsupported (version), io.
  enum class Use : std::uint8_t { read, take_over };
  static Result<Replayed> replay(int directory_fd, std::string name, std::optional<uid_t> owner, Use);

  // Puts a record at the end; on disk after the next sync. All or nothing: what a failed append left is written over by
  // the next. `data` gives where its bytes lie from now on (at most kPayloadMax). Errors: no_space, io, denied.
  Result<> append(const JournalRecord&);
  Result<ByteRange> append_data(std::uint64_t id, std::uint64_t offset, std::span<const std::byte>);

  // What was appended before the call is on disk when this returns. Calls at the same time share one fdatasync.
  Result<> sync();

  // Bytes of data, from a location or part of one.
  Result<> read(ByteRange location, std::span<std::byte> into) const;

  // Space on the disk for `bytes` more, headers of records included. Where the filesystem cannot promise it: no error.
  // Errors: no_space, io.
  Result<> preallocate(std::uint64_t bytes);

  // Takes the name away; nothing else changes, and the lock is held until this goes. Not synced: a journal that comes
  // back after a crash is found to be done. No error when the name is gone or another's.
  Result<> remove();

  std::uint64_t size() const;  // bytes of good records, head included
  std::size_t records() const;
  bool has_failed() const;
  bool has_name() const;  // nobody else has taken it away: what has none is gone with this

 private:
  Journal(Descriptor directory, std::string name, Descriptor file, std::uint64_t salt, bool writable);
  static Result<std::shared_ptr<Journal>> begin(std::shared_ptr<Journal>, const JournalBegin&, uid_t owner,
                                                gid_t group);
  Result<ByteRange> append_record(RecordHeader, std::span<const std::byte> payload);

  const Descriptor directory_;
  std::string name_;  // changes once, before anyone else has this
  const Descriptor file_;
  const std::uint64_t salt_;
  const bool writable_;

  // Held over the write of a record: it is what gives records an order. Taken before state_mutex_.
  Mutex append_mutex_;

  mutable Mutex state_mutex_;
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
