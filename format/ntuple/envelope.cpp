// SPDX-License-Identifier: Apache-2.0
#include "ntuple/envelope.h"

#include <xxhash.h>

#include <array>
#include <bit>
#include <cstdio>
#include <string>

namespace tfile {
namespace {

constexpr std::uint64_t kPreambleSize = 8;
constexpr int kTypeBits = 16;

std::string hex_text(std::uint64_t number) {
  std::array<char, 24> text;
  std::snprintf(text.data(), text.size(), "0x%016llx", static_cast<unsigned long long>(number));
  return text.data();
}

// The size of a frame includes the size itself. For a list it is negative.
EnvelopeFrame take_frame(Cursor& outer, bool is_list, const char* what) {
  const std::size_t begin = outer.position();
  const auto size = outer.little<std::int64_t>(what);
  const std::uint64_t head = is_list ? 12 : 8;
  const std::uint64_t total = size < 0 ? 0 - static_cast<std::uint64_t>(size) : static_cast<std::uint64_t>(size);
  if (!outer.failed() && ((size < 0) != is_list || total < head)) outer.reject(what);
  EnvelopeFrame frame;
  if (is_list) frame.items = outer.little<std::uint32_t>(what);
  frame.body = Cursor(outer.take(outer.failed() ? 0 : total - head, what));
  if (!outer.failed() && frame.items > frame.body.size()) {
    outer.seek(begin, what);
    outer.reject(what);
  }
  return outer.failed() ? EnvelopeFrame() : frame;
}

}  // namespace

Result<> check_checksum(const char* what, std::span<const std::byte> bytes, std::uint64_t told, std::int64_t offset) {
  const std::uint64_t own = XXH3_64bits(bytes.data(), bytes.size());
  if (own == told) return {};
  return fail(ErrorKind::damaged,
              "checksum of " + std::string(what) + " is " + hex_text(told) + ", its bytes have " + hex_text(own),
              offset);
}

tl::unexpected<Error> of_another_header(const char* what, std::uint64_t told, std::uint64_t header_checksum) {
  return fail(ErrorKind::damaged, std::string(what) + " of the RNTuple belongs to another header: its checksum is " +
                                      hex_text(header_checksum) + ", expected " + hex_text(told));
}

Result<Envelope> open_envelope(std::span<const std::byte> bytes, EnvelopeType type) {
  if (bytes.size() < kPreambleSize + kChecksumSize)
    return fail(ErrorKind::damaged, "envelope has only " + std::to_string(bytes.size()) + " of " +
                                        std::to_string(kPreambleSize + kChecksumSize) + " bytes");
  const auto preamble = load_little<std::uint64_t>(bytes.data());
  const auto found = preamble & ((std::uint64_t{1} << kTypeBits) - 1);
  if (found != static_cast<std::uint64_t>(type))
    return fail(ErrorKind::damaged,
                "envelope has type " + std::to_string(found) + ", expected " + std::to_string(static_cast<int>(type)));
  if (preamble >> kTypeBits != bytes.size())
    return fail(ErrorKind::damaged, "envelope length is " + std::to_string(preamble >> kTypeBits) +
                                        " bytes, expected " + std::to_string(bytes.size()));
  const std::span<const std::byte> checked = bytes.first(bytes.size() - kChecksumSize);
  const auto checksum = load_little<std::uint64_t>(bytes.data() + checked.size());
  TRY_VOID(check_checksum("the RNTuple envelope", checked, checksum));
  return Envelope{Cursor(checked.subspan(kPreambleSize)), checksum};
}

EnvelopeFrame take_record(Cursor& outer, const char* what) { return take_frame(outer, false, what); }
EnvelopeFrame take_list(Cursor& outer, const char* what) { return take_frame(outer, true, what); }

std::string_view take_text(Cursor& in, const char* what) {
  const auto size = in.little<std::uint32_t>(what);
  const std::span<const std::byte> text = in.take(size, what);
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

BlockLocator take_locator(Cursor& in, const char* what) {
  const auto head = in.little<std::int32_t>(what);
  BlockLocator locator;
  if (head >= 0) {
    locator.range.size = static_cast<std::uint64_t>(head);
    locator.range.begin = in.little<std::uint64_t>(what);
    return locator;
  }
  // The word is negated as a whole, as ROOT writes it: the locator's own size in the lowest 16 bits, its type in the
  // highest 8.
  constexpr std::uint32_t kHeadSize = 4, kLargeType = 1;
  const std::uint32_t word = 0 - static_cast<std::uint32_t>(head);
  const std::uint32_t size = word & 0xFFFF, type = word >> 24;
  Cursor body(in.take(size < kHeadSize ? UINT64_MAX : size - kHeadSize, what));
  locator.is_known = type == kLargeType;
  if (!locator.is_known || in.failed()) return locator;
  locator.range.size = body.little<std::uint64_t>(what);
  locator.range.begin = body.little<std::uint64_t>(what);
  if (body.failed()) in.reject(what);
  return locator;
}

EnvelopeLink take_link(Cursor& in, const char* what) {
  EnvelopeLink link;
  link.length = in.little<std::uint64_t>(what);
  link.locator = take_locator(in, what);
  return link;
}

Result<> check_feature_flags(Cursor& in) {
  // 63 flags per word; the highest bit says that another word follows.
  for (int first = 0; !in.failed(); first += 63) {
    const auto word = in.little<std::uint64_t>("feature flags");
    const std::uint64_t flags = word & ~(std::uint64_t{1} << 63);
    if (flags != 0)
      return fail(ErrorKind::unsupported, "the RNTuple uses an unknown feature (bit " +
                                              std::to_string(first + std::countr_zero(flags)) +
                                              " of its feature flags)");
    if (flags == word) break;
  }
  return in.finish();
}

}  // namespace tfile
