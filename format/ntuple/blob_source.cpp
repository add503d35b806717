// SPDX-License-Identifier: Apache-2.0
#include "ntuple/blob_source.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "bytes/endian.h"
#include "tfile/beyond_end.h"
#include "tfile/forwarding_source.h"

namespace tfile {
namespace {

constexpr std::uint64_t kAddressSize = 8;
// Page lists of 10,000 columns and 10,000 clusters have 4 GB. Page lists that make sense in memory are smaller than
// this.
constexpr std::uint64_t kEnvelopeSizeMax = std::uint64_t{1} << 31;

// The number of records of a block of more than `part_max` bytes. The addresses of all but the first take room, too,
// which may need one more record.
std::uint64_t part_count(std::uint64_t size, std::uint64_t part_max) {
  std::uint64_t parts = (size + part_max - 1) / part_max;
  const std::uint64_t room = parts * part_max - size;
  if ((parts - 1) * kAddressSize > room) ++parts;
  return parts;
}

class BlobSource final : public ForwardingSource {
 public:
  BlobSource(std::shared_ptr<const Source> file, std::uint64_t max) : ForwardingSource(std::move(file)), max_(max) {}

  Result<> read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const override {
    const auto in_parts = [&](ByteRange range) { return is_in_parts(range.size, max_); };
    if (std::ranges::none_of(ranges, in_parts)) return inner_->read(ranges, into);
    for (std::size_t i = 0; i < ranges.size(); ++i)
      TRY_VOID(in_parts(ranges[i]) ? read_parts(ranges[i], into[i]) : read_range(*inner_, ranges[i], into[i]));
    return {};
  }

 private:
  Result<> read_parts(ByteRange range, std::span<std::byte> into) const {
    TRY(const auto parts, parts_of_block(*inner_, range, max_));
    std::uint64_t at = 0;
    for (const ByteRange part : parts) {
      TRY_VOID(read_range(*inner_, part, into.subspan(at, part.size)));
      at += part.size;
    }
    return {};
  }

  const std::uint64_t max_;
};

}  // namespace

bool is_in_parts(std::uint64_t size, std::uint64_t max_key_size) {
  // With less, a record has no room for an address and a byte.
  return max_key_size > 2 * kAddressSize && size > max_key_size;
}

Result<std::vector<ByteRange>> parts_of_block(const Source& file, ByteRange range, std::uint64_t max_key_size) {
  if (!is_in_parts(range.size, max_key_size)) return std::vector{range};
  const std::uint64_t count = part_count(range.size, max_key_size);
  const std::uint64_t addresses = (count - 1) * kAddressSize;
  if (addresses >= max_key_size)
    return fail(ErrorKind::damaged,
                "block of " + std::to_string(range.size) + " bytes: the addresses of its " + std::to_string(count) +
                    " records have " + std::to_string(addresses) + " bytes, at most " +
                    std::to_string(max_key_size - 1),
                static_cast<std::int64_t>(range.begin));
  Buffer tail(addresses);
  std::vector<ByteRange> parts = {{range.begin, max_key_size - addresses}};
  TRY_VOID(read_range(file, {parts[0].end(), addresses}, tail.span()));
  std::uint64_t left = range.size - parts[0].size;
  for (std::uint64_t part = 0; part + 1 < count && left > 0; ++part) {
    const auto begin = load_little<std::uint64_t>(tail.data() + part * kAddressSize);
    const std::uint64_t size = std::min(max_key_size, left);
    if (is_beyond_end({begin, size}, file.size()))
      return fail_beyond_end("part of a block: ", {begin, size}, file.size());
    parts.push_back({begin, size});
    left -= size;
  }
  return parts;
}

std::shared_ptr<const Source> source_of_blobs(std::shared_ptr<const Source> file, std::uint64_t max_key_size) {
  return std::make_shared<const BlobSource>(std::move(file), max_key_size);
}

Result<> check_envelope(const Source& source, const EnvelopeLink& link, const SizeClaim& claim) {
  const ByteRange range = link.locator.range;
  if (!link.locator.is_known)
    return fail(ErrorKind::unsupported, "envelope of the RNTuple has an unknown kind of locator");
  if (is_beyond_end(range, source.size())) return fail_beyond_end("envelope of the RNTuple: ", range, source.size());
  if (link.length > kEnvelopeSizeMax || (link.length > claim.size && link.length / claim.ratio > range.size))
    return fail(ErrorKind::unsupported,
                "envelope of the RNTuple is too large: " + std::to_string(link.length) + " bytes");
  return {};
}

Result<Buffer> read_envelope_bytes(const Source& source, const EnvelopeLink& link, const SizeClaim& claim) {
  TRY_VOID(check_envelope(source, link, claim));
  Buffer stored(link.locator.range.size);
  TRY_VOID(read_range(source, link.locator.range, stored.span()));
  if (stored.size() == link.length) return stored;
  return decompress(stored.span(), link.length);
}

}  // namespace tfile
