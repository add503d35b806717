// SPDX-License-Identifier: Apache-2.0
#include "container/key_payload.h"

namespace tfile {
namespace {

// A compression block has 9 bytes of header and at least one of data, and decodes to less than 16 MiB. A larger claim
// is refused at once.
constexpr std::uint64_t kBlockSizeMin = 10;
constexpr std::uint64_t kBlockContentMax = (1 << 24) - 1;

constexpr std::size_t kShownMax = 100;  // of a name: that of a damaged key may be as long as the record

std::string described(const KeyHeader& key) {
  return std::string(key.class_name.substr(0, kShownMax)) + " '" + std::string(key.name.substr(0, kShownMax)) +
         "' with " + sizes_of(key);
}

}  // namespace

KeyInfo info_of_record(const KeyHeader& key, std::uint64_t address) {
  KeyInfo info;
  info.class_name = key.class_name;
  info.seek = address;
  info.nbytes = static_cast<std::uint32_t>(key.nbytes);
  info.objlen = static_cast<std::uint32_t>(key.objlen);
  info.keylen = static_cast<std::uint16_t>(key.keylen);
  return info;
}

Result<KeyPayload> payload_of(const Source& source, const KeyInfo& key) {
  KeyPayload payload{{key.seek, key.nbytes}, key.keylen, key.objlen, std::string(key.class_name), key.is_bare};
  const auto at = static_cast<std::int64_t>(key.seek);
  if (key.nbytes < key.keylen || (key.is_bare ? key.keylen != 0 : key.keylen < kKeySizeMin)) {
    return fail(ErrorKind::damaged,
                "key: fNbytes " + std::to_string(key.nbytes) + ", fKeylen " + std::to_string(key.keylen), at);
  }
  if (key.seek > source.size() || key.nbytes > source.size() - key.seek) {
    return fail(ErrorKind::damaged,
                "key: record of " + std::to_string(key.nbytes) + " bytes extends beyond the end of the file", at);
  }
  const std::uint64_t stored = key.nbytes - key.keylen;
  // Like ROOT, reads a size of 0 as the stored size.
  if (payload.size == 0 || payload.size < stored) payload.size = stored;
  if (payload.size > stored && payload.size / kBlockContentMax > stored / kBlockSizeMin) {
    return fail(ErrorKind::damaged,
                "key: " + std::to_string(stored) + " bytes cannot hold fObjlen " + std::to_string(key.objlen), at);
  }
  return payload;
}

tl::unexpected<Error> not_the_listed(const KeyHeader& own, const KeyHeader& listed, std::uint64_t at) {
  return fail(ErrorKind::damaged,
              "key: the record is not the one in the key list: " + described(own) + ", expected " + described(listed),
              static_cast<std::int64_t>(at));
}

Result<> check_told(const KeyPayload& payload, std::span<const std::byte> record) {
  Cursor in(record);
  const KeyHeader own = read_key(in);
  if (!in.failed() && is_record(own) && own.keylen == static_cast<std::int32_t>(payload.keylen) &&
      static_cast<std::uint32_t>(own.nbytes) == payload.record.size && own.class_name == payload.name)
    return {};
  KeyHeader listed;
  listed.nbytes = static_cast<std::int32_t>(payload.record.size);
  listed.keylen = static_cast<std::int16_t>(payload.keylen);
  listed.class_name = payload.name;
  listed.name = own.name;  // not compared
  return not_the_listed(own, listed, payload.record.begin);
}

}  // namespace tfile
