// SPDX-License-Identifier: Apache-2.0
#include "bytes/kept_source.h"

#include "tfile/request.h"

namespace tfile {
namespace {

// All of a small file; the first baskets of a thousand branches of a large one.
constexpr std::uint64_t kRemoteKeptMax = 32 << 20, kRemoteRangeMax = 4 << 20;

class RemoteSource final : public KeptSource {
 public:
  explicit RemoteSource(std::shared_ptr<const Source> remote)
      : KeptSource(std::move(remote), kRemoteKeptMax, kRemoteRangeMax) {}
  Result<std::shared_ptr<const Source>> sibling(std::string_view path) const override {
    auto found = inner_->sibling(path);
    return found ? keep_bytes(*std::move(found)) : std::move(found);
  }
};

}  // namespace

Source::Started KeptSource::rest_of(std::span<const ByteRange> ranges,
                                    std::span<const std::span<std::byte>> into) const {
  return missing_of(ranges, into, size(),
                    [this](ByteRange range, std::span<std::byte> place) { return kept_->copy(range, place); });
}

// Keeps the rest when it has come.
Source::ReadDone KeptSource::keeping(const Started& rest, ReadDone done) const {
  if (range_max_ == 0) return done;
  return [kept = kept_, pieces = pieces_to_keep(rest, traits(), size(), range_max_),
          done = std::move(done)](Result<> result) {
    if (result)
      for (const FilePiece& piece : pieces) kept->keep(piece.begin, piece.bytes);
    done(std::move(result));
  };
}

Result<> KeptSource::read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const {
  if (range_max_ > 0) return start_and_wait(*this, ranges, into);
  const Started rest = rest_of(ranges, into);
  return rest.ranges.empty() ? Result<>() : inner_->read(rest.ranges, rest.into);
}

void KeptSource::start_read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into,
                            ReadDone done) const {
  Started rest = rest_of(ranges, into);
  if (rest.ranges.empty()) return done({});
  rest.done = keeping(rest, std::move(done));
  start_alone(*inner_, std::move(rest));
}

// Only gaps that were read through are worth keeping here.
void KeptSource::start_reads(std::vector<Started> reads) const {
  const bool has_gaps = traits().gap_free > kRangeCost;
  std::vector<Started> left = left_of(reads, [&](Started& read) {
    Started rest = rest_of(read.ranges, read.into);
    rest.done = has_gaps && !rest.ranges.empty() ? keeping(rest, std::move(read.done)) : std::move(read.done);
    return rest;
  });
  if (!left.empty()) inner_->start_reads(std::move(left));
}

std::shared_ptr<const Source> keep_bytes(std::shared_ptr<const Source> remote) {
  return std::make_shared<const RemoteSource>(std::move(remote));
}

}  // namespace tfile
