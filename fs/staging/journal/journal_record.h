// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tfile/range.h"
#include "tfile/result.h"

struct XXH64_state_s;

namespace tfilefs {

using tfile::ByteRange;
using tfile::Error;
using tfile::ErrorKind;
using tfile::Result;

// The format of the journal (docs/journal.md): a head, then records. Little-endian. Pure.

inline constexpr std::uint32_t kJournalVersion = 1;

// The head: 16 bytes of magic, u4 version, u4 pid of the present writer (for messages only: no checksum covers it,
// since it changes when another mount takes the journal over), u8 salt, which prevents staged bytes from looking like a
// record.
inline constexpr std::size_t kJournalHeadSize = 32;
inline constexpr std::size_t kJournalPidOffset = 20;
struct JournalHead {
  std::uint32_t version = kJournalVersion;
  std::uint32_t pid = 0;
  std::uint64_t salt = 0;
};
std::array<std::byte, kJournalHeadSize> encode_head(const JournalHead&);
// Errors: damaged (not a journal), unsupported (an unknown version).
Result<JournalHead> decode_head(std::span<const std::byte>);
// Whether a file that begins so may have become a journal: not all of its head came to disk, or only zeros.
bool may_have_begun(std::span<const std::byte>);

enum class JournalKind : std::uint32_t {
  begin = 1,   // the state of the file: the first record; again if another program has written the file since
  data = 2,    // `bytes` of the staged file `id` at `offset`
  create = 3,  // the staged file `id` at the path `text`, of file_kind
  remove = 4,  // removed: the staged file `id`; or with id 0, a committed thing that had been moved to the path `text`
  rename = 5,  // `id`, or with id 0 the committed thing at the path `from`, moves to the path `text`
  truncate = 6,     // the size of `id` becomes `offset`
  title = 7,        // of `id`: `text`
  whiteout = 8,     // the committed thing at the path `text` (key, table, column) is removed by the next commit
  intend = 9,       // `intention`: of the commit that begins
  done = 10,        // that commit has ended with its last step
  class_name = 13,  // of `id`: `text`
  encoding = 12,    // of `id`: `text`
  date = 11,        // of `id`, when it had `size` bytes: `offset`, nanoseconds since the epoch, or kNoDate
};
// The offset of a date record that takes back a date.
inline constexpr std::uint64_t kNoDate = std::uint64_t{1} << 63;
// continued: a column that is committed in part, perhaps without any items. rntuple: a directory that is stored as an
// RNTuple if it becomes a table.
enum class StagedKind : std::uint8_t { directory = 1, column = 2, other = 3, continued = 4, rntuple = 5 };

// The result of a commit. It took place if the file begins with the bytes `after` (then `switches` are written again),
// or if the next intention says so by its `before`. Paths are as shown, from the file's root.
struct Intention {
  struct Column {
    std::uint64_t id = 0;     // of the staged file
    std::uint64_t bytes = 0;  // bytes of it that are then in the file
    friend bool operator==(const Column&, const Column&) = default;
  };
  struct Patch {
    std::uint64_t offset = 0;
    std::vector<std::byte> bytes;
    friend bool operator==(const Patch&, const Patch&) = default;
  };
  std::vector<std::byte> before, after;  // the first bytes of the file; before: none if there is no file
  std::vector<Patch> switches;  // written behind a barrier after those; they make the commit visible to readers
  std::vector<Column> columns;
  std::vector<std::string> tables, directories;  // that the file then has under these names
  std::vector<std::string> gone;                 // names that it then no longer has
  friend bool operator==(const Intention&, const Intention&) = default;
};

// One record. The kind decides which members are used.
struct JournalRecord {
  JournalKind kind = JournalKind::data;
  std::uint64_t id = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  StagedKind file_kind = StagedKind::column;
  std::string text = {};
  std::string from = {};
  Intention intention = {};
  std::vector<std::byte> bytes = {};  // of data; empty when replayed, see `location`
  ByteRange location = {};            // of replayed data: the place of its bytes in the journal
};

// The basis of a journal: the file at the time of the record.
struct JournalBegin {
  std::array<std::uint8_t, 16> file_uuid{};
  std::int64_t file_end = 0;    // fEND; 0 for a file that does not exist yet
  std::vector<std::byte> head;  // its first bytes; none for a file that does not exist, or if they were not noted
};

// The header of a record, in front of its payload: u8 checksum, u4 length of the payload, u4 kind, u8 id, u8 offset.
// The checksum is XXH64 of all that follows it in the record; the seed is the salt plus the record's position in the
// journal.
inline constexpr std::size_t kRecordHeaderSize = 32;
// The largest payload: enough for four blocks of staged bytes in one record, and for more paths than a commit can name.
inline constexpr std::uint32_t kPayloadMax = 16u << 20;
struct RecordHeader {
  std::uint64_t checksum = 0;
  std::uint32_t length = 0;
  JournalKind kind = JournalKind::data;
  std::uint64_t id = 0;
  std::uint64_t offset = 0;
};
RecordHeader decode_record_header(std::span<const std::byte, kRecordHeaderSize>);
std::array<std::byte, kRecordHeaderSize> encode_record_header(const RecordHeader&);

// Computes the checksum of a record whose payload comes in pieces.
class RecordChecksum {
 public:
  RecordChecksum(const RecordHeader&, std::uint64_t seed);
  ~RecordChecksum();
  RecordChecksum(const RecordChecksum&) = delete;
  RecordChecksum& operator=(const RecordChecksum&) = delete;
  void add(std::span<const std::byte> payload);
  std::uint64_t value() const;

 private:
  XXH64_state_s* state_;
};

// Encodes and decodes the payload of all kinds but data, whose payload is the bytes themselves. Errors: damaged.
std::vector<std::byte> encode_payload(const JournalRecord&);
Result<JournalRecord> decode_payload(const RecordHeader&, std::span<const std::byte> payload);
JournalRecord begin_record(const JournalBegin&);
Result<JournalBegin> begin_of(const JournalRecord&);

}  // namespace tfilefs
