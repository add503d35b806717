// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "ntuple/description.h"

namespace tfile {
namespace {

// Byte count and class version, which the checksum does not cover. The whole anchor is big-endian, like all objects.
constexpr std::size_t kFrameSize = 6;
constexpr std::size_t kSizeMin = 78;
// From this class version on, anchors of trial formats begin with the version of the format.
constexpr std::uint16_t kTellsFormat = 4;

void take_format_version(Cursor& in, Anchor& anchor) {
  for (std::uint16_t* part : {&anchor.epoch, &anchor.major, &anchor.minor, &anchor.patch})
    *part = in.big<std::uint16_t>("RNTuple anchor");
}

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
    return fail(ErrorKind::damaged, "RNTuple anchor has only " + std::to_string(payload.size()) + " of " +
                                        std::to_string(kSizeMin) + " bytes");
  // Later versions append members; the checksum stays at the end.
  const std::span<const std::byte> members = payload.subspan(kFrameSize, payload.size() - kFrameSize - kChecksumSize);
  const auto checksum = load_big<std::uint64_t>(payload.data() + payload.size() - kChecksumSize);
  TRY_VOID(check_checksum("the RNTuple anchor", members, checksum));
  Cursor in(members);
  Anchor anchor;
  take_format_version(in, anchor);
  anchor.header = take_big_link(in);
  anchor.footer = take_big_link(in);
  anchor.max_key_size = in.big<std::uint64_t>("RNTuple anchor");
  return in.finish(anchor);
}

std::string version_text(const Anchor& anchor) {
  std::string text = std::to_string(anchor.epoch);
  for (const std::uint16_t part : {anchor.major, anchor.minor, anchor.patch}) text += "." + std::to_string(part);
  return text;
}

std::string trial_version(std::span<const std::byte> payload) {
  Cursor in(payload);
  in.big<std::uint32_t>("byte count");
  const auto class_version = in.big<std::uint16_t>("class version");
  if (in.failed()) return "unknown version";
  const std::string text = "class version " + std::to_string(class_version);
  if (class_version < kTellsFormat) return text;
  Anchor anchor;
  take_format_version(in, anchor);
  return in.failed() ? text : text + ", format " + version_text(anchor);
}

}  // namespace tfile
