// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tfile/classes.h"
#include "tfile/object.h"
#include "tfile/result.h"
#include "tfile/source.h"
#include "tfile/stream_set.h"
#include "tfile/table.h"

namespace tfile {

// The fields of the file's header record, as they are (docs/format.md, "Header").
struct FileHeader {
  std::int32_t version = 0;  // as stored: 64000, or 1064000 in the form with 64-bit addresses
  bool big = false;
  std::int64_t begin = 0, end = 0, seek_free = 0, seek_info = 0;
  std::int32_t nbytes_free = 0, nfree = 0, nbytes_name = 0, nbytes_info = 0, compress = 0;
  std::uint8_t units = 0;
  std::array<std::uint8_t, 16> uuid{};
  std::uint16_t uuid_version = 0;
  std::string name, title;  // of the root directory
};

enum class KeyKind : std::uint8_t { directory, table, object };

// One key of a directory. The views are into the listing that holds it.
struct KeyInfo {
  std::string_view name, class_name, title;
  std::uint64_t seek = 0;  // address of the record
  std::uint32_t nbytes = 0, objlen = 0;
  std::uint16_t keylen = 0;
  std::uint16_t cycle = 0;
  std::uint32_t datime = 0;
  KeyKind kind = KeyKind::object;
  bool can_change = true;   // whether what it holds may be written anew; else it goes, or gets a name, as a whole
  bool is_bare = false;     // no key stands in front of its bytes, which begin at `seek`: keylen is 0
  std::string_view reason;  // why a table is not read, where that is known without a look at it; else empty
};

// The keys of one directory, in file order (newest cycle of a name first), and the memory that their names live in.
struct DirectoryListing {
  std::vector<KeyInfo> keys;
  std::uint32_t created = 0, modified = 0;  // TDatime
  std::uint64_t seek = 0;  // address of the directory's record: its identity, for cycles of directories
  std::vector<Buffer> arena;
  std::vector<std::string> warnings;  // damage that left keys out
};

// One stretch of the file, as TFile::Map tells it.
struct Record {
  enum class Kind : std::uint8_t { header, record, gap, trailing } kind = Kind::record;
  std::uint64_t begin = 0, size = 0;
  std::uint32_t objlen = 0;
  std::uint16_t keylen = 0, cycle = 0;
  std::uint32_t datime = 0;
  std::string class_name, name, title;
};

// Seconds since the epoch of a TDatime, which has no zone, read as UTC; 0 for 0.
std::int64_t unix_time(std::uint32_t datime);
// The other way, in UTC; what lies before 1995 or behind 2058, which a TDatime cannot say, is the nearest that it can.
std::uint32_t datime_of(std::int64_t unix_time);

// An open ROOT file. Const; every function may be called from any thread; those that say so read from the source and
// may block.
class File {
 public:
  // Reads header and root directory; the StreamerInfo is read when a table first needs it. A file that was never closed
  // or is cut is recovered as TFile::Recover does: `recovered` is true and `warnings` says so. Errors: damaged (not a
  // ROOT file, nothing recoverable), io. Blocks.
  static Result<std::shared_ptr<const File>> open(std::shared_ptr<const Source>);
  virtual ~File() = default;

  virtual const Source& source() const = 0;
  virtual std::shared_ptr<const Source> shared_source() const = 0;
  virtual const FileHeader& header() const = 0;
  virtual bool recovered() const = 0;
  virtual const std::vector<std::string>& warnings() const = 0;

  virtual std::shared_ptr<const DirectoryListing> root() const = 0;

  // The listing of a key of kind directory. Blocks. A directory that holds itself is the caller's to notice (`seek`).
  virtual Result<std::shared_ptr<const DirectoryListing>> directory(const KeyInfo&) const = 0;

  // The table behind a key of kind table. Where it cannot be read at all (trial RNTuple, unknown version) the table
  // has no columns and `reason` says why; damage of the record itself is an error. Blocks.
  virtual Result<std::shared_ptr<const Table>> table(const KeyInfo&) const = 0;

  // The same without a look at any entry: an outline, or all of it (Table::is_whole). Blocks.
  virtual Result<std::shared_ptr<const Table>> outline(const KeyInfo& key) const { return table(key); }

  // Tables that describe ranges of entries of the table behind a key (the attribute sets of an RNTuple): keys that
  // stand in no directory. Errors: damaged (of what lists them), io. Blocks.
  virtual Result<std::shared_ptr<const DirectoryListing>> attribute_sets(const KeyInfo&) const {
    return std::make_shared<const DirectoryListing>();
  }

  // The decompressed payload of any key: one stream of one slot, u1. Blocks only for a first look at the record's key.
  virtual Result<std::shared_ptr<const StreamSet>> payload(const KeyInfo&) const = 0;

  // Memory that the open file holds (the keys of its root directory, what it knows of classes), estimated.
  virtual std::size_t memory() const = 0;

  // What the file says about its classes, and headers that declare them. Blocks.
  virtual Result<std::shared_ptr<const FileClasses>> classes() const = 0;

  // What stands behind a key of kind object; `payload`: what its stream of payload() decodes to, not kept. Errors: io
  // (of the StreamerInfo). Blocks where the StreamerInfo was not read yet.
  virtual Result<std::shared_ptr<const Object>> object(const KeyInfo&, std::span<const std::byte> payload) const = 0;

  // Whether objects of this class have plots, as a rule (of functions only those that are understood): a look at no
  // object. False where the StreamerInfo cannot be read. Blocks where it was not read yet.
  virtual bool may_be_drawn(std::string_view class_name) const = 0;

  // Every record from the first byte to the last, gaps included. Blocks.
  virtual Result<std::vector<Record>> record_map() const = 0;
};

}  // namespace tfile
