// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "bytes/cursor.h"

namespace tfile {

// A TKey as it precedes each record, and as key lists contain it (docs/format.md, "Key"). The views point into the
// bytes of the cursor.
struct KeyHeader {
  std::int32_t nbytes = 0;   // fNbytes: size of record and key; negative in a gap
  std::int16_t version = 0;  // above 1000: addresses of 8 bytes
  std::int32_t objlen = 0;   // fObjlen: size of the payload, decompressed
  std::uint32_t datime = 0;
  std::int16_t keylen = 0;  // fKeylen: where the payload begins, possibly after the end of the strings
  std::int16_t cycle = 0;
  std::int64_t seek = 0;       // fSeekKey: own address
  std::int64_t seek_pdir = 0;  // fSeekPdir: address of the directory that owned it, without ROOT's process id offset
  std::string_view class_name, name, title;
};

// fNbytes, fVersion, fObjlen, fDatime, fKeylen, fCycle; two addresses of 4 bytes; three strings of at least 1 byte.
inline constexpr std::size_t kKeyFixedSize = 4 + 2 + 4 + 4 + 2 + 2;
inline constexpr std::size_t kKeySizeMin = kKeyFixedSize + 4 + 4 + 3;

// Enough for nearly every key: three strings of 255 bytes after the fixed part. Longer keys are recognised by fKeylen.
inline constexpr std::size_t kKeySizeGuess = 1024;

// Reads one key, and leaves the cursor after its strings. The caller checks the cursor and the numbers.
KeyHeader read_key(Cursor& in);

// Whether this can be the key of a record of fNbytes bytes: the size is positive and has room for the key, and the key
// has room for its strings.
bool is_record(const KeyHeader& key);

}  // namespace tfile
