// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bytes/endian.h"
#include "container/key.h"

namespace tfile {
namespace {

bool is_wide(std::span<const std::byte> key) {
  return load_big<std::int16_t>(key.data() + sizeof(std::int32_t)) > kWideVersion;
}

}  // namespace

std::size_t key_size(const KeyHeader& key) {
  return key_strings_begin(key.version) + Appender::string_size(key.class_name) + Appender::string_size(key.name) +
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

bool put_key_address(std::span<std::byte> key, ByteRange record) {
  const bool wide = is_wide(key);
  if (!wide && record.end() > kNarrowAddressMax) return false;
  Appender address;
  address.address(record.begin, wide);
  std::ranges::copy(address.span(), key.data() + kKeyFixedSize);
  return true;
}

void put_key_sizes(std::span<std::byte> key, std::size_t stored, std::size_t decompressed) {
  store_big(key.data(), static_cast<std::int32_t>(key.size() + stored));
  store_big(key.data() + sizeof(std::int32_t) + sizeof(std::int16_t), static_cast<std::int32_t>(decompressed));
}

ByteRange put_key_directory(std::span<std::byte> key, std::uint64_t seek) {
  const ByteRange low = is_wide(key) ? ByteRange{kKeyFixedSize + 8 + 2, 6} : ByteRange{kKeyFixedSize + 4, 4};
  Appender address;
  address.big(seek);
  std::ranges::copy(address.span().last(low.size), key.data() + low.begin);
  return low;
}

}  // namespace tfile
