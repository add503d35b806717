// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cstring>

#include "bytes/endian.h"
#include "bytes/offset_at.h"
#include "tfile/streamed_class.h"

namespace tfile {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kStreamedOffsetSize = sizeof(std::int64_t);
constexpr std::uint32_t kByteCountMask = 0x40000000;
constexpr std::size_t kCountSize = 4, kHeaderSize = 6;

// The first object of a class in a buffer has the class's name behind this word. Others refer to it, and to each other,
// by positions in the buffer in which they were written.
bool may_have_references(Bytes object) {
  constexpr std::size_t kTagSize = 4;
  const auto is_tag = [](std::byte byte) { return byte == std::byte{0xFF}; };
  for (std::size_t at = 0; at + kTagSize < object.size(); ++at) {
    const std::byte* found = static_cast<const std::byte*>(std::memchr(object.data() + at, 0xFF, object.size() - at));
    if (found == nullptr) return false;
    at = static_cast<std::size_t>(found - object.data());
    if (at + kTagSize >= object.size()) return false;
    const bool is_name = std::isalpha(std::to_integer<unsigned char>(object[at + kTagSize])) != 0 ||
                         object[at + kTagSize] == std::byte{'_'};
    if (is_name && std::all_of(found, found + kTagSize, is_tag)) return true;
  }
  return false;
}

// A streamer first writes this: a byte count, and the version of the class, or 0 and its checksum.
std::vector<std::byte> header_of(const StreamedClass& streamed, std::uint64_t size) {
  const bool has_version = streamed.version > 1;
  std::vector<std::byte> header(has_version ? kHeaderSize : kHeaderSize + sizeof streamed.checksum);
  store_big(header.data(), static_cast<std::uint32_t>(kByteCountMask | (header.size() - kCountSize + size)));
  store_big(header.data() + kCountSize, static_cast<std::int16_t>(has_version ? streamed.version : 0));
  if (!has_version) store_big(header.data() + kHeaderSize, streamed.checksum);
  return header;
}

// Whether it begins with a byte count and a version, and its items are not stored member by member.
bool has_plain_header(Bytes collection) {
  constexpr std::uint16_t kMemberWise = 0x4000;
  if (collection.size() < kHeaderSize) return false;
  return load_big<std::uint32_t>(collection.data()) == (kByteCountMask | (collection.size() - kCountSize)) &&
         (load_big<std::uint16_t>(collection.data() + kCountSize) & kMemberWise) == 0;
}

// The objects of some entries.
struct Objects {
  Bytes offsets, bytes;
  std::int64_t offset(std::size_t i) const { return offset_at(offsets, i); }
  std::size_t count() const { return offsets.size() / kStreamedOffsetSize - 1; }
  Bytes at(std::size_t i) const {
    return bytes.subspan(static_cast<std::size_t>(offset(i) - offset(0)),
                         static_cast<std::size_t>(offset(i + 1) - offset(i)));
  }
};

Result<> check(const StreamedClass& streamed, const Objects& objects) {
  for (std::size_t i = 0; i < objects.count(); ++i) {
    if (streamed.may_refer && may_have_references(objects.at(i)))
      return fail(ErrorKind::unsupported, "its objects may refer to each other by positions in a basket");
    if (streamed.header == StreamedClass::Header::has_superfluous && !has_plain_header(objects.at(i)))
      return fail(ErrorKind::unsupported, "its collections are not stored item by item");
  }
  return {};
}

}  // namespace

Result<> complete_streamed(const StreamedClass& streamed, std::int64_t before, Bytes& offsets, Bytes& bytes,
                           std::vector<Buffer>& memory) {
  const Objects objects{offsets, bytes};
  TRY_VOID(check(streamed, objects));
  if (streamed.header == StreamedClass::Header::right) return {};
  const bool lacks = streamed.header == StreamedClass::Header::lacks;
  const std::size_t header = lacks ? header_of(streamed, 0).size() : kHeaderSize;
  const std::int64_t grows = lacks ? static_cast<std::int64_t>(header) : -static_cast<std::int64_t>(header);
  const auto count = static_cast<std::int64_t>(objects.count());
  Buffer ends(offsets.size(), Use::passing);
  Buffer made(static_cast<std::size_t>(static_cast<std::int64_t>(bytes.size()) + grows * count), Use::passing);
  std::byte* to = made.data();
  for (std::size_t i = 0; i <= objects.count(); ++i) {
    const std::int64_t moved = objects.offset(i) + (before + static_cast<std::int64_t>(i)) * grows;
    std::memcpy(ends.data() + kStreamedOffsetSize * i, &moved, kStreamedOffsetSize);
    if (i == objects.count()) break;
    const Bytes each = objects.at(i);
    if (lacks) to = std::ranges::copy(header_of(streamed, each.size()), to).out;
    to = std::ranges::copy(lacks ? each : each.subspan(header), to).out;
  }
  offsets = memory.emplace_back(std::move(ends)).span();
  bytes = memory.emplace_back(std::move(made)).span();
  return {};
}

}  // namespace tfile
