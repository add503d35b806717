// SPDX-License-Identifier: Apache-2.0
#include "container/key.h"

namespace tfile {

KeyHeader read_key(Cursor& in) {
  KeyHeader key;
  key.nbytes = in.big<std::int32_t>("key: fNbytes");
  key.version = in.big<std::int16_t>("key: fVersion");
  key.objlen = in.big<std::int32_t>("key: fObjlen");
  key.datime = in.big<std::uint32_t>("key: fDatime");
  key.keylen = in.big<std::int16_t>("key: fKeylen");
  key.cycle = in.big<std::int16_t>("key: fCycle");
  if (key.version > 1000) {
    // The upper 16 bits of fSeekPdir are an offset to process ids.
    constexpr std::int64_t kAddressBits = (std::int64_t{1} << 48) - 1;
    key.seek = in.big<std::int64_t>("key: fSeekKey");
    key.seek_pdir = in.big<std::int64_t>("key: fSeekPdir") & kAddressBits;
  } else {
    key.seek = in.big<std::int32_t>("key: fSeekKey");
    key.seek_pdir = in.big<std::int32_t>("key: fSeekPdir");
  }
  key.class_name = in.string("key: fClassName");
  key.name = in.string("key: fName");
  key.title = in.string("key: fTitle");
  return key;
}

bool is_record(const KeyHeader& key) {
  const std::size_t strings = key.class_name.size() + key.name.size() + key.title.size() + 3;
  return key.nbytes > 0 && key.keylen > 0 && key.keylen <= key.nbytes &&
         key_strings_begin(key.version) + strings <= static_cast<std::size_t>(key.keylen) && key.objlen >= 0;
}

std::string sizes_of(const KeyHeader& key) {
  return "fNbytes " + std::to_string(key.nbytes) + ", fKeylen " + std::to_string(key.keylen);
}

}  // namespace tfile
