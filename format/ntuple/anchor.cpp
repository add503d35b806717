// SPDX-License-Identifier: Apache-2.0
#include "ntuple/anchor.h"

#include <xxhash.h>

#include <string>

namespace tfile {
namespace {

// Byte count and class version, which the checksum leaves out; all of it is big-endian, as objects are.
constexpr std::size_t kFrameSize = 6, kChecksumSize = 8;
constexpr std::size_t kSizeMin = 78;

EnvelopeLink take_big_link(Cursor& in) {
  EnvelopeLink link;
  link.locator.range.begin = in.big<std::uint64_t>("RNTuple anchor");
  link.locator.range.size = in.big<std::uint64_t>("RNTuple anchor");
  link.length = in.big<std::uint64_t>("RNTuple anchor");
  return link;
}

}  // namespace

Result<Anchor> read_anchor(std::span<const std::byte> payload) {
  if (payload.size() < kSizeMin)
    return fail(ErrorKind::damaged, "an RNTuple anchor of " + std::to_string(payload.size()) + " bytes");
  // Later versions append members, and the checksum stays last.
  const std::span<const std::byte> members = payload.subspan(kFrameSize, payload.size() - kFrameSize - kChecksumSize);
  const auto checksum = load_big<std::uint64_t>(payload.data() + payload.size() - kChecksumSize);
  if (XXH3_64bits(members.data(), members.size()) != checksum)
    return fail(ErrorKind::damaged, "the checksum of the RNTuple anchor is wrong");
  Cursor in(members);
  Anchor anchor;
  for (std::uint16_t* part : {&anchor.epoch, &anchor.major, &anchor.minor, &anchor.patch})
    *part = in.big<std::uint16_t>("RNTuple anchor");
  anchor.header = take_big_link(in);
  anchor.footer = take_big_link(in);
  anchor.max_key_size = in.big<std::uint64_t>("RNTuple anchor");
  return in.finish(anchor);
}

}  // namespace tfile
