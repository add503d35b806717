// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bytes/cursor.h"
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

DirectoryRecord read_directory_record(Cursor& in);

// The record at byte `address` of the source. Errors: damaged, io. Reads.
Result<DirectoryRecord> read_directory_record(const Source& source, std::uint64_t address);

// The keys that a directory's record points to, in the order of the list; none if it points nowhere. Leaves `kind` at
// object and `seek` (which identifies the directory) at 0. A list that breaks off gives the keys before the break and a
// warning. Errors: damaged (no list at the address), io. Reads. Memory grows with the bytes read, not with those
// claimed.
Result<DirectoryListing> read_key_list(const Source& source, const DirectoryRecord& record);

}  // namespace tfile
