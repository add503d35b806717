// SPDX-License-Identifier: Apache-2.0
#include "ntuple/write/envelope_encode.h"

#include <xxhash.h>

#include "bytes/endian.h"

namespace tfile {
namespace {

// The sizes of frames include themselves; that of a list is negative.
constexpr std::int64_t kRecordHead = 8, kListHead = 12;

// A locator of the standard kind has a size of 31 bits.
constexpr std::uint64_t kStandardSizeMax = 0x7FFFFFFF;

}  // namespace

void EnvelopeAppender::text(std::string_view text) {
  little(static_cast<std::uint32_t>(text.size()));
  out_.text(text);
}

void EnvelopeAppender::record(std::span<const std::byte> body) {
  little(kRecordHead + static_cast<std::int64_t>(body.size()));
  bytes(body);
}

void EnvelopeAppender::list(std::uint32_t items, std::span<const std::byte> body) {
  little(-(kListHead + static_cast<std::int64_t>(body.size())));
  little(items);
  bytes(body);
}

void EnvelopeAppender::locator(ByteRange block) {
  if (block.size <= kStandardSizeMax) {
    little(static_cast<std::int32_t>(block.size));
    little(block.begin);
    return;
  }
  // The large kind (type 1): negated as a whole, its own size in the lowest bits.
  constexpr std::int32_t kLargeSize = 4 + 8 + 8, kLargeType = 1;
  little(-(kLargeSize | kLargeType << 24));
  little(block.size);
  little(block.begin);
}

void EnvelopeAppender::link(std::uint64_t length, ByteRange stored) {
  little(length);
  locator(stored);
}

void ListItems::add(std::span<const std::byte> body) {
  EnvelopeAppender item;
  item.record(body);
  bytes.insert(bytes.end(), item.span().begin(), item.span().end());
  ++count;
}

std::vector<std::byte> closed_envelope(EnvelopeType type, std::span<const std::byte> payload) {
  constexpr std::size_t kAround = 8 + 8;
  constexpr int kTypeBits = 16;
  EnvelopeAppender out;
  out.little(static_cast<std::uint64_t>(type) | (payload.size() + kAround) << kTypeBits);
  out.bytes(payload);
  out.little(static_cast<std::uint64_t>(XXH3_64bits(out.span().data(), out.size())));
  return out.take();
}

std::uint64_t envelope_checksum(std::span<const std::byte> envelope) {
  return load_little<std::uint64_t>(envelope.data() + envelope.size() - sizeof(std::uint64_t));
}

}  // namespace tfile
