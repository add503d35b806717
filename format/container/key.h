// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bytes/appender.h"
#include "bytes/cursor.h"
#include "tfile/range.h"

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

// Its sizes, for the text of an error.
std::string sizes_of(const KeyHeader& key);

// ROOT's kStartBigFile: larger addresses have 8 bytes everywhere (docs/format.md, "Addresses above 2 GB").
inline constexpr std::uint64_t kNarrowAddressMax = 2'000'000'000;

// The versions that are written: kKeyVersion, plus kWideVersion if the key has addresses of 8 bytes.
inline constexpr std::int16_t kKeyVersion = 4;
inline constexpr std::int16_t kWideVersion = 1000;

// The longest class, name and title together for which fKeylen, an i2, has room.
inline constexpr std::size_t kKeyTextMax = 32'000;

// A record is one object, whose frame counts its bytes in 30 bits.
inline constexpr std::uint64_t kObjectSizeMax = 0x3FFFFFFF;

// The bytes before the strings: the fixed part, and two addresses.
constexpr std::size_t key_strings_begin(std::int16_t version) {
  return kKeyFixedSize + (version > kWideVersion ? 8 + 8 : 4 + 4);
}

// fKeylen of a key with these strings and this version. Valid for all classes but TBasket, whose key has more fields.
std::size_t key_size(const KeyHeader& key);

// Appends the key in the form that read_key reads.
void append_key(Appender& out, const KeyHeader& key);

// The next three write into the key at the beginning of a record, which keeps its form.

// Sets fSeekKey to the place of the record. False, and nothing is written: the key has no room for the address.
bool put_key_address(std::span<std::byte> key, ByteRange record);
// Sets fNbytes and fObjlen for a payload of so many bytes, stored and decompressed. The key is all of `key`.
void put_key_sizes(std::span<std::byte> key, std::size_t stored, std::size_t decompressed);
// Sets the address of the directory in fSeekPdir; of the wide form, other bits above it stay. Returns which bytes were
// written.
ByteRange put_key_directory(std::span<std::byte> key, std::uint64_t seek);

}  // namespace tfile
