// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bytes/cursor.h"
#include "tfile/file.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// A TDirectory's own record, of any version (docs/format.md, "Directories").
struct DirectoryRecord {
  std::int16_t version = 0;  // above 1000: addresses of 8 bytes
  std::uint32_t created = 0, modified = 0;
  std::int32_t nbytes_keys = 0, nbytes_name = 0;
  std::int64_t seek_dir = 0, seek_parent = 0, seek_keys = 0;
};

// The fields above in their longer form. What follows (a UUID, reserved bytes) depends on the version and is not read.
inline constexpr std::size_t kDirectoryRecordSizeMax = 2 + 4 + 4 + 4 + 4 + 8 + 8 + 8;

DirectoryRecord read_directory_record(Cursor& in);

// The record at byte `address` of the source. Errors: damaged, io. Reads.
Result<DirectoryRecord> read_directory_record(const Source& source, std::uint64_t address);

// The keys that a directory's record points to, in the order of the list; none where it points nowhere. `kind` is left
// at object and `seek` (the directory's identity) at 0. A list that breaks off gives the keys before the break and a
// warning. Errors: damaged (no list where it should be), io. Reads; memory grows with what is read, not with what is
// claimed.
Result<DirectoryListing> read_key_list(const Source& source, const DirectoryRecord& record);

}  // namespace tfile
