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

// The journal's bytes (docs/journal.md): a head, then records. Little-endian. Pure.

inline constexpr std::uint32_t kJournalVersion = 1;

// The head: 16 bytes of magic, u4 version, u4 pid of the process that writes now (for messages: no checksum covers it,
// for it changes when another mount takes the journal over), u8 salt, with which no staged bytes can look like a
// record.
inline constexpr std::size_t kJournalHeadSize = 32;
inline constexpr std::size_t kJournalPidOffset = 20;
struct JournalHead {
  std::uint32_t version = kJournalVersion;
  std::uint32_t pid = 0;
  std::uint64_t salt = 0;
};
std::array<std::byte, kJournalHeadSize> encode_head(const JournalHead&);
// Errors: damaged (not a journal), unsupported (a version this code does not know).
Result<JournalHead> decode_head(std::span<const std::byte>);

enum class JournalKind : std::uint32_t {
  begin = 1,  // what the journal builds on: the first record; a later one if another program has written the file since
  data = 2,   // `bytes` of the staged file `id` at `offset`
  create = 3,  // the staged file `id` at the path `text`, of file_kind
  remove = 4,  // the staged file `id`; or 0 and what is committed, but under another name, is gone from the path `text`
  rename = 5,  // `id`, or 0 and what is committed at the path `from`, is at the path `text` now
  truncate = 6,  // `id` has `offset` bytes now
  title = 7,     // of `id`: `text`
  whiteout = 8,  // what is committed at the path `text` (key, table, column) goes with the next commit
  intend = 9,    // `intention`: of the commit that begins now
  done = 10,     // that commit took place, to its last step
  date = 11,     // of `id`, when it had `size` bytes: `offset`, nanoseconds since the epoch, or kNoDate
};
// A date that was set is no more.
inline constexpr std::uint64_t kNoDate = std::uint64_t{1} << 63;
// continued: a column of which the file has a part, should that be no items at all.
enum class StagedKind : std::uint8_t { directory = 1, column = 2, other = 3, continued = 4 };

// What a commit makes of the file. It took place if the file begins with the bytes `after`, then `switches` are written
// again; or if the next intention says that it did when that commit began. Paths are as shown, from the file's root.
struct Intention {
  struct Column {
    std::uint64_t id = 0;     // of the staged file
    std::uint64_t bytes = 0;  // of it, that are in the file then
    friend bool operator==(const Column&, const Column&) = default;
  };
  struct Patch {
    std::uint64_t offset = 0;
    std::vector<std::byte> bytes;
    friend bool operator==(const Patch&, const Patch&) = default;
  };
  std::vector<std::byte> before, after;  // the first bytes of the file; before: none where there is no file
  std::vector<Patch> switches;  // what is written behind a barrier after those, and makes readers see the commit
  std::vector<Column> columns;
  std::vector<std::string> tables, directories;  // that the file has under these names then
  std::vector<std::string> gone;                 // names that it has no longer
  friend bool operator==(const Intention&, const Intention&) = default;
};

// One record. Which members mean something depends on the kind.
struct JournalRecord {
  JournalKind kind = JournalKind::data;
  std::uint64_t id = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  StagedKind file_kind = StagedKind::column;
  std::string text = {};
  std::string from = {};
  Intention intention = {};
  std::vector<std::byte> bytes = {};  // of data that was replayed: empty, see `location`
  ByteRange location = {};            // of replayed data: where its bytes lie in the journal
};

// What the journal builds on: the file as it was when the record was made.
struct JournalBegin {
  std::array<std::uint8_t, 16> file_uuid{};
  std::int64_t file_end = 0;    // fEND; 0 for a file that is not there yet
  std::vector<std::byte> head;  // its first bytes; none for a file that is not there, or where nobody has noted them
};

// A record's own header, in front of its payload: u8 checksum, u4 length of the payload, u4 kind, u8 id, u8 offset. The
// checksum is XXH64 of all that follows it in the record; the seed is the salt plus the record's place in the journal.
inline constexpr std::size_t kRecordHeaderSize = 32;
// A payload's limit: four blocks of staged bytes in one record and more paths than a commit can name.
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

// Checksum of a record whose payload comes piece by piece.
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

// The payload of all kinds but data (whose bytes are the payload), and back. Errors: damaged.
std::vector<std::byte> encode_payload(const JournalRecord&);
Result<JournalRecord> decode_payload(const RecordHeader&, std::span<const std::byte> payload);
JournalRecord begin_record(const JournalBegin&);
Result<JournalBegin> begin_of(const JournalRecord&);

}  // namespace tfilefs
