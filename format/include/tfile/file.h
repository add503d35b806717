// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <algorithm>
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

// The fields of the file's header record, as stored (docs/format.md, "Header").
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

// One key of a directory. The views point into the listing that holds the key.
struct KeyInfo {
  std::string_view name, class_name, title;
  std::uint64_t seek = 0;  // address of the record
  std::uint32_t nbytes = 0, objlen = 0;
  std::uint16_t keylen = 0;
  std::uint16_t cycle = 0;
  std::uint32_t datime = 0;
  KeyKind kind = KeyKind::object;
  TableFormat format = TableFormat::tree;  // of a table
  bool can_change = true;   // whether its content may be rewritten; else it can only be removed or renamed as a whole
  bool is_bare = false;     // no key precedes its bytes, which begin at `seek`; keylen is 0
  std::string_view reason;  // why a table cannot be read, if that is known without a look at it; else empty
};

// The keys of one directory, in file order (newest cycle of a name first), and the memory that holds their names.
struct DirectoryListing {
  std::vector<KeyInfo> keys;
  std::uint32_t created = 0, modified = 0;  // TDatime
  std::uint64_t seek = 0;  // address of the directory's record: identifies the directory, to find cycles of directories
  std::vector<Buffer> arena;
  std::vector<std::string> warnings;  // damage because of which keys are missing
};

// One stretch of the file, as TFile::Map reports it.
struct Record {
  enum class Kind : std::uint8_t { header, record, gap, trailing } kind = Kind::record;
  std::uint64_t begin = 0, size = 0;
  std::uint32_t objlen = 0;
  std::uint16_t keylen = 0, cycle = 0;
  std::uint32_t datime = 0;
  std::string class_name, name, title;
};

// Seconds since the epoch of a TDatime, which has no time zone, read as UTC; 0 gives 0.
std::int64_t unix_time(std::uint32_t datime);
// The reverse, in UTC. A time before 1995 or after 2058 becomes the nearest one that a TDatime can hold.
std::uint32_t datime_of(std::int64_t unix_time);

// An open ROOT file. Const; every function may be called from any thread. Those that say "Blocks" read from the source.
class File {
 public:
  // Reads the header and the root directory. The StreamerInfo is read when a table first needs it. A file that was
  // never closed, or is cut, is recovered as TFile::Recover does: `recovered` is then true, and `warnings` says so.
  // Errors: damaged (not a ROOT file, or nothing recoverable), io. Blocks.
  static Result<std::shared_ptr<const File>> open(std::shared_ptr<const Source>);
  virtual ~File() = default;

  virtual const Source& source() const = 0;
  virtual std::shared_ptr<const Source> shared_source() const = 0;
  virtual const FileHeader& header() const = 0;
  virtual bool recovered() const = 0;
  virtual const std::vector<std::string>& warnings() const = 0;

  virtual std::shared_ptr<const DirectoryListing> root() const = 0;

  // The listing of a key of kind directory. A directory may contain itself: the caller must detect that (`seek`).
  // Blocks.
  virtual Result<std::shared_ptr<const DirectoryListing>> directory(const KeyInfo&) const = 0;

  // The table of a key of kind table. If it cannot be read at all (trial RNTuple, unknown version), the table has no
  // columns, and its `reason` says why. Damage of the record itself is an error. Blocks.
  virtual Result<std::shared_ptr<const Table>> table(const KeyInfo&) const = 0;

  // The same without a look at any entry: as far as it is resolved without (Table::is_resolved).
  // Blocks.
  virtual Result<std::shared_ptr<const Table>> unresolved_table(const KeyInfo& key) const { return table(key); }

  // Tables that describe ranges of entries of a key's table (the attribute sets of an RNTuple). Their keys are in no
  // directory. Errors: damaged (the list of the sets), io. Blocks.
  virtual Result<std::shared_ptr<const DirectoryListing>> attribute_sets(const KeyInfo&) const {
    return std::make_shared<const DirectoryListing>();
  }

  // The index that is stored with a key's table. Takes 24 bytes for each entry. Errors: not_found (it has none),
  // damaged, io. Blocks.
  virtual Result<EntryIndex> entry_index(const KeyInfo&) const {
    return fail(ErrorKind::not_found, "the table has no index");
  }

  // The decompressed payload of any key: one stream of one slot, u1. Blocks only to read the record's own key.
  virtual Result<std::shared_ptr<const StreamSet>> payload(const KeyInfo&) const = 0;

  // Estimated memory of the open file (keys of its root directory, class descriptions).
  virtual std::size_t memory() const = 0;

  // The class descriptions of the file, and headers that declare the classes. Blocks.
  virtual Result<std::shared_ptr<const FileClasses>> classes() const = 0;

  // The object of a key of kind object. `payload`: the bytes to which the stream of payload() decodes; not kept.
  // Errors: io (of the StreamerInfo). Blocks if the StreamerInfo was not read before.
  virtual Result<std::shared_ptr<const Object>> object(const KeyInfo&, std::span<const std::byte> payload) const = 0;

  // The same of a large object that is mostly contents of histograms and profiles, itself or in it (a canvas, a list):
  // these are not brought into memory, the rest is. nullptr for all others. large_payload: as payload(), but in chunks
  // if it is large. Errors: damaged, unsupported, io. Block.
  virtual Result<std::shared_ptr<const Object>> large_object(const KeyInfo&) const {
    return std::shared_ptr<const Object>();
  }
  virtual Result<std::shared_ptr<const StreamSet>> large_payload(const KeyInfo& key) const { return payload(key); }
  static bool is_large(const KeyInfo& key) { return std::max(key.objlen, key.nbytes) > kLargeObject; }
  // One block of ROOT's compression. What is made of a smaller object may take some times as much.
  static constexpr std::uint64_t kLargeObject = 16 << 20;
  // The most that is brought into memory of a large_object().
  static constexpr std::uint64_t kKeptOfLarge = 4 << 20;

  // Whether objects of this class usually have plots (functions: only those that this library understands). Looks at no
  // object. False if the StreamerInfo cannot be read. Blocks if it was not read before.
  virtual bool may_be_drawn(std::string_view class_name) const = 0;

  // Every record from the first byte to the last, including gaps. Blocks.
  virtual Result<std::vector<Record>> record_map() const = 0;
};

}  // namespace tfile
