// SPDX-License-Identifier: Apache-2.0
#include "streamer/info/object_frame.h"

#include <cstring>

namespace tfile {
namespace {

constexpr std::uint16_t kVersionByteCountBit = 0x4000;  // kByteCountBit, in the first two bytes of the word
constexpr std::uint16_t kMemberWiseBit = 0x4000;        // in a version

// The longest class name sought at a tag; it bounds the cost of a damaged tag.
constexpr std::size_t kClassNameMax = 4096;

// The NUL-terminated name at `position`; empty if there is none.
std::string_view class_name_at(std::span<const std::byte> bytes, std::size_t position) {
  if (position > bytes.size()) return {};
  const std::span<const std::byte> rest = bytes.subspan(position);
  const std::size_t reach = std::min(rest.size(), kClassNameMax + 1);
  const void* nul = reach == 0 ? nullptr : std::memchr(rest.data(), 0, reach);
  if (!nul) return {};
  return {reinterpret_cast<const char*>(rest.data()),
          static_cast<std::size_t>(static_cast<const std::byte*>(nul) - rest.data())};
}

// The class that another slot introduced at the position in `tag`.
std::string_view class_of_tag(const Cursor& in, std::uint32_t tag, std::uint32_t origin, std::int32_t displacement) {
  const std::int64_t position = static_cast<std::int64_t>(tag & ~kClassBit) + displacement - kTagOffset - origin;
  const std::span<const std::byte> bytes = in.bytes();
  if (position < 0 || static_cast<std::uint64_t>(position) + sizeof(kNewClass) > bytes.size()) return {};
  const auto begin = static_cast<std::size_t>(position);
  if (load_big<std::uint32_t>(bytes.data() + begin) != kNewClass) return {};
  return class_name_at(bytes, begin + sizeof(kNewClass));
}

// The position `count` bytes from here.
std::size_t end_of(Cursor& in, std::uint32_t count, const char* what) {
  if (count > in.left()) in.reject(what);
  return in.failed() ? 0 : in.position() + count;
}

}  // namespace

Frame read_frame(Cursor& in) {
  Frame frame;
  const auto first = in.big<std::uint16_t>("object: version");
  frame.version = first;
  if (first & kVersionByteCountBit) {
    const std::uint32_t high = static_cast<std::uint32_t>(first & ~kVersionByteCountBit) << 16;
    const std::uint32_t count = high | in.big<std::uint16_t>("object: byte count");
    frame.counted = true;
    frame.end = end_of(in, count, "object: byte count");
    frame.version = in.big<std::uint16_t>("object: version");
    if (in.position() > frame.end) in.reject("object: byte count");
  }
  frame.member_wise = frame.version & kMemberWiseBit;
  frame.version = static_cast<std::uint16_t>(frame.version & ~kMemberWiseBit);
  if (frame.version == 0 && frame.counted && !in.failed() && frame.end - in.position() >= sizeof frame.checksum) {
    frame.checksum = in.big<std::uint32_t>("object: checksum");
  }
  return frame;
}

void leave_frame(Cursor& in, const Frame& frame) {
  if (!frame.counted || in.failed()) return;
  if (in.position() > frame.end) return in.reject("object: longer than its byte count");
  in.seek(frame.end, "object: end");
}

TObjectParts read_object_bits(Cursor& in) {
  TObjectParts parts;
  parts.bits = in.take(4, "TObject: fBits");
  if (!parts.bits.empty()) parts.flags = load_big<std::uint32_t>(parts.bits.data());
  if (parts.flags & kIsReferencedBit) parts.process_id = in.take(2, "TObject: process id");
  return parts;
}

TObjectParts read_tobject(Cursor& in) {
  const auto version = in.big<std::uint16_t>("TObject: version");
  if (version & kVersionByteCountBit) in.skip(4, "TObject: byte count");  // the rest of the count, and the version
  const auto unique_id = in.take(4, "TObject: fUniqueID");
  TObjectParts parts = read_object_bits(in);
  parts.unique_id = unique_id;
  return parts;
}

NamedText read_tnamed(Cursor& in) {
  const Frame frame = read_frame(in);
  read_tobject(in);
  NamedText text;
  text.name = in.string("TNamed: fName");
  text.title = in.string("TNamed: fTitle");
  leave_frame(in, frame);
  return text;
}

ObjectTag read_object_tag(Cursor& in, std::uint32_t origin, std::int32_t displacement) {
  ObjectTag tag;
  tag.identity = static_cast<std::uint32_t>(in.position()) + origin + kTagOffset;
  auto word = in.big<std::uint32_t>("pointer: tag");
  if ((word & kByteCountBit) && word != kNewClass) {
    tag.counted = true;
    tag.end = end_of(in, word & ~kByteCountBit, "pointer: byte count");
    word = in.big<std::uint32_t>("pointer: class tag");
  }
  if (!(word & kClassBit)) {
    tag.kind = word == 0 ? ObjectTag::Kind::null : ObjectTag::Kind::reference;
    tag.identity = word;
    return tag;
  }
  tag.kind = ObjectTag::Kind::object;
  if (word == kNewClass) {
    tag.class_name = class_name_at(in.bytes(), in.position());
    in.skip(tag.class_name.size() + 1, "pointer: class name");
  } else {
    tag.class_name = class_of_tag(in, word, origin, displacement);
  }
  if (tag.class_name.empty() || (tag.counted && in.position() > tag.end)) in.reject("pointer: class");
  return tag;
}

}  // namespace tfile
