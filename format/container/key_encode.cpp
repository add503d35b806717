// SPDX-License-Identifier: Apache-2.0
#include "container/key.h"

namespace tfile {

std::size_t key_size(const KeyHeader& key) {
  const std::size_t addresses = key.version > kWideVersion ? 8 + 8 : 4 + 4;
  return kKeyFixedSize + addresses + Appender::string_size(key.class_name) + Appender::string_size(key.name) +
         Appender::string_size(key.title);
}

void append_key(Appender& out, const KeyHeader& key) {
  const bool wide = key.version > kWideVersion;
  out.big(key.nbytes);
  out.big(key.version);
  out.big(key.objlen);
  out.big(key.datime);
  out.big(key.keylen);
  out.big(key.cycle);
  out.address(static_cast<std::uint64_t>(key.seek), wide);
  out.address(static_cast<std::uint64_t>(key.seek_pdir), wide);
  out.string(key.class_name);
  out.string(key.name);
  out.string(key.title);
}

}  // namespace tfile
