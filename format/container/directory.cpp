// SPDX-License-Identifier: Apache-2.0
#include "container/directory.h"

#include <algorithm>
#include <string>
#include <utility>

#include "container/key.h"
#include "tfile/beyond_end.h"

namespace tfile {
namespace {

// Key lists are read in pieces of this size. So a list with a false length costs at most one piece past its true end. A
// million keys of 80 bytes take 20 reads.
constexpr std::uint64_t kPieceSize = 4 << 20;

// Larger than any key, since fKeylen has 16 bits. A key that does not fit is damaged.
constexpr std::uint64_t kKeySizeMax = 1 << 16;
static_assert(kKeySizeMax <= kPieceSize);

KeyInfo key_info(const KeyHeader& key) {
  KeyInfo info;
  info.name = key.name;
  info.class_name = key.class_name;
  info.title = key.title;
  // A negative number is damage of that key alone. It becomes an impossible size, which is refused when it is used.
  info.seek = static_cast<std::uint64_t>(key.seek);
  info.nbytes = static_cast<std::uint32_t>(std::max(key.nbytes, 0));
  info.objlen = static_cast<std::uint32_t>(std::max(key.objlen, 0));
  info.keylen = static_cast<std::uint16_t>(std::max<std::int16_t>(key.keylen, 0));
  info.cycle = static_cast<std::uint16_t>(key.cycle);
  info.datime = key.datime;
  return info;
}

// Reads keys one after the other from [position, end) of the source. Their bytes stay in the arena.
class KeyListReader {
 public:
  KeyListReader(const Source& source, std::uint64_t begin, std::uint64_t end)
      : source_(source), position_(begin), end_(end) {}

  // The next key of the list, or the key of the list itself.
  Result<KeyHeader> key() {
    Cursor in(rest(), static_cast<std::int64_t>(position_));
    KeyHeader key = read_key(in);
    if (in.failed() && can_refill()) {
      TRY_VOID(refill());
      in = Cursor(rest(), static_cast<std::int64_t>(position_));
      key = read_key(in);
    }
    if (in.failed()) return tl::unexpected<Error>(in.error());
    advance(in.position());
    return key;
  }

  Result<std::int32_t> count() {
    if (rest().size() < sizeof(std::int32_t) && can_refill()) TRY_VOID(refill());
    Cursor in(rest(), static_cast<std::int64_t>(position_));
    const auto count = in.big<std::int32_t>("key list: number of keys");
    if (count < 0) in.reject("key list: number of keys");
    if (in.failed()) return tl::unexpected<Error>(in.error());
    advance(in.position());
    return count;
  }

  // Moves to an address in or after the current piece. False if it is not inside the list.
  bool seek(std::uint64_t address) {
    if (address < position_ || address > end_) return false;
    advance(address - position_);
    return true;
  }

  std::uint64_t position() const { return position_; }
  std::vector<Buffer> take_arena() { return std::move(arena_); }

 private:
  std::span<const std::byte> rest() const { return piece_; }
  bool can_refill() const { return piece_.size() < kKeySizeMax && position_ + piece_.size() < end_; }
  void advance(std::uint64_t size) {
    piece_ = piece_.subspan(std::min<std::uint64_t>(size, piece_.size()));
    position_ += size;
  }
  Result<> refill() {
    Buffer buffer(std::min(kPieceSize, end_ - position_));
    TRY_VOID(read_range(source_, {position_, buffer.size()}, buffer.span()));
    piece_ = buffer.span();
    arena_.push_back(std::move(buffer));
    return {};
  }

  const Source& source_;
  std::uint64_t position_;
  std::uint64_t end_;
  std::span<const std::byte> piece_;  // bytes at position_; the end of the arena's last buffer
  std::vector<Buffer> arena_;
};

}  // namespace

DirectoryRecord read_directory_record(Cursor& in) {
  DirectoryRecord record;
  record.version = in.big<std::int16_t>("directory: version");
  record.created = in.big<std::uint32_t>("directory: fDatimeC");
  record.modified = in.big<std::uint32_t>("directory: fDatimeM");
  record.nbytes_keys = in.big<std::int32_t>("directory: fNbytesKeys");
  record.nbytes_name = in.big<std::int32_t>("directory: fNbytesName");
  if (record.version > 1000) {
    record.seek_dir = in.big<std::int64_t>("directory: fSeekDir");
    record.seek_parent = in.big<std::int64_t>("directory: fSeekParent");
    record.seek_keys = in.big<std::int64_t>("directory: fSeekKeys");
  } else {
    record.seek_dir = in.big<std::int32_t>("directory: fSeekDir");
    record.seek_parent = in.big<std::int32_t>("directory: fSeekParent");
    record.seek_keys = in.big<std::int32_t>("directory: fSeekKeys");
  }
  if (record.version <= 0) in.reject("directory: version");
  return record;
}

Result<DirectoryRecord> read_directory_record(const Source& source, std::uint64_t address) {
  if (address >= source.size()) {
    return fail_beyond_end("directory: ", {address, kDirectoryRecordSizeMax}, source.size());
  }
  std::array<std::byte, kDirectoryRecordSizeMax> bytes;
  const std::span<std::byte> there(bytes.data(), std::min<std::uint64_t>(bytes.size(), source.size() - address));
  TRY_VOID(read_range(source, {address, there.size()}, there));
  Cursor in(there, static_cast<std::int64_t>(address));
  const DirectoryRecord record = read_directory_record(in);
  return in.finish(record);
}

Result<DirectoryListing> read_key_list(const Source& source, const DirectoryRecord& record) {
  DirectoryListing listing;
  listing.created = record.created;
  listing.modified = record.modified;
  if (record.seek_keys == 0) return listing;
  const auto begin = static_cast<std::uint64_t>(record.seek_keys);
  if (record.seek_keys < 0 || record.nbytes_keys < 0 || begin > source.size() ||
      static_cast<std::uint64_t>(record.nbytes_keys) > source.size() - begin) {
    return fail(ErrorKind::damaged,
                "directory: key list of " + std::to_string(record.nbytes_keys) + " bytes at " +
                    std::to_string(record.seek_keys) + " is not within the file",
                record.seek_keys);
  }
  KeyListReader reader(source, begin, begin + static_cast<std::uint64_t>(record.nbytes_keys));
  TRY(const KeyHeader own, reader.key());
  if (!is_record(own) || !reader.seek(begin + static_cast<std::uint64_t>(own.keylen))) {
    return fail(ErrorKind::damaged, "directory: no key list at the address in its record: " + sizes_of(own),
                record.seek_keys);
  }
  TRY(const std::int32_t count, reader.count());
  for (std::int32_t i = 0; i < count; ++i) {
    Result<KeyHeader> key = reader.key();
    if (!key) {
      if (key.error().kind != ErrorKind::damaged) return tl::unexpected<Error>(std::move(key).error());
      listing.warnings.push_back("key list at byte " + std::to_string(begin) + " is truncated after " +
                                 std::to_string(i) + " of " + std::to_string(count) + " keys: " + key.error().text);
      break;
    }
    listing.keys.push_back(key_info(*key));
  }
  listing.arena = reader.take_arena();
  return listing;
}

}  // namespace tfile
