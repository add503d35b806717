// SPDX-License-Identifier: Apache-2.0
#include "bytes/appender.h"
#include "container/directory.h"
#include "container/key.h"

namespace tfile {

std::vector<std::byte> encode_directory_record(const DirectoryRecord& record, const DirectoryUuid& uuid) {
  const bool wide = record.version > kWideVersion;
  Appender out;
  out.big(record.version);
  out.big(record.created);
  out.big(record.modified);
  out.big(record.nbytes_keys);
  out.big(record.nbytes_name);
  for (const std::int64_t address : {record.seek_dir, record.seek_parent, record.seek_keys})
    out.address(static_cast<std::uint64_t>(address), wide);
  out.bytes(uuid);
  out.zeros(kDirectoryRecordSize - out.size());
  return out.take();
}

ByteRange switched_part(std::int16_t version) {
  constexpr std::uint64_t kSwitchedBegin = 2 + 4;
  return {kSwitchedBegin, 4 + 4 + 4 + 3 * (version > kWideVersion ? 8u : 4u)};
}

std::vector<std::byte> encode_key_list(std::span<const std::vector<std::byte>* const> keys) {
  Appender out;
  out.big(static_cast<std::int32_t>(keys.size()));
  for (const std::vector<std::byte>* key : keys) out.bytes(*key);
  return out.take();
}

}  // namespace tfile
