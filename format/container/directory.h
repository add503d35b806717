// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/cursor.h"
#include "container/key.h"
#include "tfile/file.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// The record of a TDirectory, of any version (docs/format.md, "Directories").
struct DirectoryRecord {
  std::int16_t version = 0;  // above 1000: addresses of 8 bytes
  std::uint32_t created = 0, modified = 0;
  std::int32_t nbytes_keys = 0, nbytes_name = 0;
  std::int64_t seek_dir = 0, seek_parent = 0, seek_keys = 0;
};

// The size of the fields above in their longer form. A UUID and reserved bytes may follow, depending on the version;
// they are not read.
inline constexpr std::size_t kDirectoryRecordSizeMax = 2 + 4 + 4 + 4 + 4 + 8 + 8 + 8;

// Whether a key of that class is a directory of keys.
inline bool is_directory_class(std::string_view name) { return name == "TDirectory" || name == "TDirectoryFile"; }

DirectoryRecord read_directory_record(Cursor& in);

// The record at byte `address` of the source. Errors: damaged, io. Reads.
Result<DirectoryRecord> read_directory_record(const Source& source, std::uint64_t address);

// The keys that a directory's record points to, in the order of the list; none if it points nowhere. Leaves `kind` at
// object and `seek` (which identifies the directory) at 0. A list that breaks off gives the keys before the break and a
// warning. Errors: damaged (no list at the address), io. Reads. Memory grows with the bytes read, not with those
// claimed.
Result<DirectoryListing> read_key_list(const Source& source, const DirectoryRecord& record);

// The size of a directory's record in both forms: 12 bytes follow the short form, so that the long form can replace it.
inline constexpr std::size_t kDirectoryRecordSize = 60;

// The version of TDirectoryFile that is written; 1000 more in the long form.
inline constexpr std::int16_t kDirectoryVersion = 5;

// A TUUID: its version and 16 bytes.
using DirectoryUuid = std::array<std::byte, 2 + 16>;

// All bytes of the record, in the form of `record.version`.
std::vector<std::byte> encode_directory_record(const DirectoryRecord& record, const DirectoryUuid& uuid);

// The bytes of the record that a commit changes: fDatimeM to fSeekKeys.
ByteRange switched_part(std::int16_t version);

// The payload of a key list: the number of keys, then the bytes of each.
std::vector<std::byte> encode_key_list(std::span<const std::vector<std::byte>* const> keys);

}  // namespace tfile
