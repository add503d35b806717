// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "container/key.h"
#include "ntuple/write/stored_columns.h"
#include "tfile/writer.h"

namespace tfile {

// The fields of the keys of an RNTuple's blobs, and how pages are compressed.
struct BlobPlace {
  std::uint64_t directory_seek = 0;  // fSeekPdir: the file's root directory
  Compression compression;
  std::uint32_t datime = 0;
  // Completes the schema of an RNTuple with fields that streamers wrote: versions and descriptions of their classes.
  std::function<void(SchemaRecords&)> describe = nullptr;
  // Whether the committed file may have a record in a range, in bytes that nothing else is written to.
  std::function<bool(ByteRange)> is_taken = nullptr;
};

// The largest record that an anchor announces: ROOT's default, and the largest object of a file.
inline constexpr std::uint64_t kKeySizeMax = std::uint64_t{1} << 30;

// The key of a blob, but for its sizes and its address.
KeyHeader blob_key(const BlobPlace&);

// Encodes a part: a key and the pages of the field's columns, each with a checksum. Pure; for any thread. Errors:
// invalid, with the entry; no_space.
Result<Part> encode_part(const StoredField&, const BlobPlace&, const OfferedPart&);

// Writes the address of a part into its key.
void put_part_address(Part&, std::uint64_t address);

// A part without the units that have an address already; nothing is left of one that has only such.
void cut_stored_units(Part&);

}  // namespace tfile
