// SPDX-License-Identifier: Apache-2.0
#include "ntuple/write/anchor_encode.h"

#include <xxhash.h>

#include "bytes/appender.h"

namespace tfile {

std::vector<std::byte> encode_anchor(const Anchor& anchor) {
  // The version of the class ROOT::RNTuple. The byte count counts what follows it, without the checksum.
  constexpr std::uint16_t kClassVersion = 2;
  constexpr std::uint32_t kByteCountBit = 0x40000000;
  Appender members;
  for (const std::uint16_t part : {anchor.epoch, anchor.major, anchor.minor, anchor.patch}) members.big(part);
  for (const EnvelopeLink* link : {&anchor.header, &anchor.footer}) {
    members.big(link->locator.range.begin);
    members.big(link->locator.range.size);
    members.big(link->length);
  }
  members.big(anchor.max_key_size);
  Appender out;
  out.big(static_cast<std::uint32_t>(sizeof kClassVersion + members.size()) | kByteCountBit);
  out.big(kClassVersion);
  out.bytes(members.span());
  out.big(static_cast<std::uint64_t>(XXH3_64bits(members.span().data(), members.size())));
  return out.take();
}

}  // namespace tfile
