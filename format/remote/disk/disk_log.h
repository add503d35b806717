// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bytes/kept_bytes.h"
#include "tfile/descriptor.h"
#include "tfile/mutex.h"
#include "tfile/range.h"
#include "tfile/source.h"

namespace tfile {

using DiskKey = std::array<std::uint64_t, 2>;  // a hash of the URL

// A file on this machine with parts of one state of a remote file. It only grows: behind a header that names the state,
// each append is a group of a head, a table of records, and their bytes. Other processes append to it, too. Nothing in
// it is believed: a group counts if the checksums of its head and its table are right and its bytes are there, and a
// record is given out after its bytes were found right. Whatever else follows the last group, such as the rest of an
// append that was broken off, is written over by the next append.
//
// Every function may be called from any thread. No lock is held over I/O.
class DiskLog {
 public:
  // Opens a file that was begun before; null if it is no such file, or one of another URL.
  static std::shared_ptr<DiskLog> open(Descriptor file, const DiskKey& key);
  // Begins an empty file. Null if the disk does not take it; errno says why.
  static std::shared_ptr<DiskLog> begin(Descriptor file, const DiskKey& key, const Identity&);

  const Identity& identity() const { return identity_; }  // without `object`
  bool is_of(const Identity&) const;

  // Takes note of what was appended since.
  void scan();
  bool has(ByteRange) const;
  // Fills what of the range is known and right; returns the rest, by address. The memory of the rest may be written to.
  std::vector<ByteRange> read(ByteRange, std::span<std::byte> into);

  enum class Appended : unsigned char {
    done,    // or there was nothing new to append
    busy,    // another process is at it
    gone,    // the file was removed
    failed,  // the disk takes no more
  };
  // Appends what of the pieces is not there.
  Appended append(std::span<const FilePiece>);

  std::uint64_t end() const;                       // bytes of the file
  bool has_failed() const { return has_failed_; }  // a read
  // For the order in which files are removed.
  void note_use() const;
  // Removes the name, if it is still this file's.
  void remove(int directory, const std::string& name) const;

 private:
  struct Place {
    std::uint64_t at = 0, hash = 0;
    std::uint32_t size = 0;
  };
  using Places = std::map<std::uint64_t, Place>;
  struct Entry;  // of a group's table
  struct Group {
    std::vector<Entry> entries;
    std::uint64_t bytes_at = 0, end = 0;
  };

  DiskLog(Descriptor file, const Identity& identity, std::uint64_t seed);
  struct Split {
    std::vector<std::pair<std::uint64_t, Place>> known;
    std::vector<ByteRange> missing;
  };
  bool read_group(std::uint64_t at, std::uint64_t file_size, Group&) const;
  bool write_group(std::uint64_t at, std::span<const FilePiece>) const;
  void note(const Group&) REQUIRES(mutex_);
  void forget(std::uint64_t begin, const Place&);
  Places::const_iterator first_at(std::uint64_t begin) const REQUIRES(mutex_);
  Split split(ByteRange) const;
  bool read_record(std::uint64_t begin, const Place&, ByteRange, std::span<std::byte> into);

  const Descriptor file_;
  const Identity identity_;
  const std::uint64_t seed_;  // of all checksums: a hash of the header
  std::atomic<bool> has_failed_ = false;

  mutable Mutex mutex_{"DiskLog::mutex_", "", "a read"};
  Places places_ GUARDED_BY(mutex_);  // by where they begin in the remote file; none overlap
  std::uint64_t end_ GUARDED_BY(mutex_);
  mutable std::int64_t used_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tfile
