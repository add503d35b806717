// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "bytes/cursor.h"

namespace tfile {

// A TKey as it stands before each record and in key lists (docs/format.md, "Key"). The views are into what the cursor
// reads.
struct KeyHeader {
  std::int32_t nbytes = 0;   // fNbytes: record with its key; negative in a gap
  std::int16_t version = 0;  // above 1000: addresses of 8 bytes
  std::int32_t objlen = 0;   // fObjlen: payload, decompressed
  std::uint32_t datime = 0;
  std::int16_t keylen = 0;  // fKeylen: where the payload begins, which may be behind the strings' end
  std::int16_t cycle = 0;
  std::int64_t seek = 0;       // fSeekKey: own address
  std::int64_t seek_pdir = 0;  // fSeekPdir: address of the directory that owned it, without ROOT's process id offset
  std::string_view class_name, name, title;
};

// fNbytes, fVersion, fObjlen, fDatime, fKeylen, fCycle; two addresses of 4 bytes; three strings of at least 1 byte.
inline constexpr std::size_t kKeyFixedSize = 4 + 2 + 4 + 4 + 2 + 2;
inline constexpr std::size_t kKeySizeMin = kKeyFixedSize + 4 + 4 + 3;

// Enough for nearly every key: three strings of 255 bytes behind the fixed part. fKeylen tells who needs more.
inline constexpr std::size_t kKeySizeGuess = 1024;

// Reads one key, and leaves the cursor behind its strings. Check the cursor, then the numbers: none is judged here.
KeyHeader read_key(Cursor& in);

// Whether this can be the key of a record of fNbytes bytes: a positive size that holds the key, which holds its
// strings.
bool is_record(const KeyHeader& key);

}  // namespace tfile
