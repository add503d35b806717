// SPDX-License-Identifier: Apache-2.0
#include "container/directory_state.h"

#include <algorithm>
#include <utility>

#include "bytes/cursor.h"
#include "container/key.h"
#include "container/space.h"
#include "tfile/beyond_end.h"
#include "tfile/buffer.h"

namespace tfile {
namespace {

// Reads the key, the record and the keys of a directory whose record begins `record_at` bytes after `address`. (For the
// root directory, that is not the length of the key.)
Result<DirectoryState> read_state(const Source& source, std::uint64_t address, std::uint64_t record_at) {
  DirectoryState directory;
  const std::uint64_t wanted = std::max<std::uint64_t>(record_at + kDirectoryRecordSize, kKeySizeGuess);
  if (address >= source.size())
    return fail_beyond_end("directory: ", {address, record_at + kDirectoryRecordSize}, source.size());
  Buffer bytes(std::min<std::uint64_t>(wanted, source.size() - address));
  TRY_VOID(read_range(source, {address, bytes.size()}, bytes.span()));
  Cursor in(bytes.span(), static_cast<std::int64_t>(address));
  const KeyHeader key = read_key(in);
  directory.class_name = key.class_name;
  directory.name = key.name;
  directory.title = key.title;
  in.seek(record_at, "directory: record");
  directory.record = read_directory_record(in);
  if (directory.record.version % kWideVersion > 1) {
    const auto uuid = in.take(std::min(directory.uuid.size(), in.left()), "directory: UUID");
    std::copy(uuid.begin(), uuid.end(), directory.uuid.begin());
  }
  TRY_VOID(in.finish());
  directory.own = {address, static_cast<std::uint64_t>(std::max(key.nbytes, 0))};
  if (!is_record(key) || directory.record.seek_dir != static_cast<std::int64_t>(address) ||
      directory.record.nbytes_name != static_cast<std::int32_t>(record_at) || directory.own.end() > source.size() ||
      directory.own.end() < address + record_at + switched_part(directory.record.version).end()) {
    return fail(ErrorKind::damaged,
                "directory: record of " + sizes_of(key) + " has fSeekDir " + std::to_string(directory.record.seek_dir) +
                    ", fNbytesName " + std::to_string(directory.record.nbytes_name) + "; its key says " +
                    std::to_string(address) + ", " + std::to_string(record_at),
                static_cast<std::int64_t>(address));
  }
  return directory;
}

Result<> read_keys(const Source& source, DirectoryState& directory) {
  const DirectoryRecord& record = directory.record;
  if (record.seek_keys == 0) return {};
  const auto at = static_cast<std::uint64_t>(record.seek_keys);
  if (record.seek_keys < 0 || record.nbytes_keys <= 0 || at > source.size() ||
      static_cast<std::uint64_t>(record.nbytes_keys) > source.size() - at)
    return fail(ErrorKind::damaged,
                "directory: key list of " + std::to_string(record.nbytes_keys) + " bytes at " +
                    std::to_string(record.seek_keys) + " is not within the file",
                record.seek_keys);
  directory.key_list = {at, static_cast<std::uint64_t>(record.nbytes_keys)};
  Buffer bytes(directory.key_list.size);
  TRY_VOID(read_range(source, directory.key_list, bytes.span()));
  Cursor in(bytes.span(), record.seek_keys);
  const KeyHeader own = read_key(in);
  if (in.failed() || !is_record(own))
    return fail(ErrorKind::damaged, "directory: no key list at the address in its record: " + sizes_of(own),
                record.seek_keys);
  in.seek(static_cast<std::uint64_t>(own.keylen), "key list");
  const auto count = in.big<std::int32_t>("key list: number of keys");
  for (std::int32_t i = 0; i < count && !in.failed(); ++i) {
    const std::size_t begin = in.position();
    const KeyHeader key = read_key(in);
    if (in.failed()) break;
    ListedKey listed = listed_key(key);
    const auto header = in.bytes().subspan(begin, in.position() - begin);
    listed.bytes.assign(header.begin(), header.end());
    directory.keys.push_back(std::move(listed));
  }
  if (count < 0) in.reject("key list: number of keys");
  return in.finish();
}

Result<DirectoryState> read_whole(const Source& source, std::uint64_t address, std::uint64_t record_at) {
  TRY(DirectoryState directory, read_state(source, address, record_at));
  TRY_VOID(read_keys(source, directory));
  return directory;
}

}  // namespace

ListedKey listed_key(const KeyHeader& key) {
  ListedKey listed;
  listed.class_name = key.class_name;
  listed.name = key.name;
  listed.cycle = key.cycle;
  listed.keylen = static_cast<std::uint16_t>(key.keylen);
  listed.record = {static_cast<std::uint64_t>(key.seek), static_cast<std::uint64_t>(std::max(key.nbytes, 0))};
  Appender out;
  append_key(out, key);
  listed.bytes = out.take();
  return listed;
}

Result<DirectoryState> read_directory_state(const Source& source, const FileHeader& header) {
  return read_whole(source, static_cast<std::uint64_t>(header.begin), static_cast<std::uint64_t>(header.nbytes_name));
}

Result<DirectoryState> read_directory_state(const Source& source, const ListedKey& key) {
  return read_whole(source, key.record.begin, key.keylen);
}

const ListedKey* newest_key(const DirectoryState& directory, std::string_view name) {
  const ListedKey* newest = nullptr;
  for (const ListedKey& key : directory.keys) {
    if (key.name == name && (newest == nullptr || key.cycle > newest->cycle)) newest = &key;
  }
  return newest;
}

void insert_key(DirectoryState& directory, ListedKey key) {
  const auto first = std::ranges::find(directory.keys, key.name, &ListedKey::name);
  directory.keys.insert(first, std::move(key));
}

bool can_switch_in_place(const DirectoryState& directory, bool wide) {
  const bool was_wide = directory.record.version > kWideVersion;
  const bool new_form = wide && !was_wide;
  // The longer form needs the bytes reserved for it, and moves the UUID to the end of its addresses.
  if (new_form && directory.record_room() < kDirectoryRecordSize) return false;
  const ByteRange part = new_form ? ByteRange{0, kDirectoryRecordSize} : switched_part(directory.record.version);
  return (directory.record_address() + part.begin) % kSectorSize + part.size <= kSectorSize;
}

RecordPatch record_patch(const DirectoryState& before, const DirectoryRecord& after) {
  std::vector<std::byte> bytes = encode_directory_record(after, before.uuid);
  if (after.version != before.record.version) return {before.record_address(), std::move(bytes)};
  const ByteRange part = switched_part(after.version);
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(part.begin);
  return {before.record_address() + part.begin, {begin, begin + static_cast<std::ptrdiff_t>(part.size)}};
}

}  // namespace tfile
