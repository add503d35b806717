// SPDX-License-Identifier: Apache-2.0
#include "far/kept_source.h"

#include <utility>
#include <vector>

#include "far/kept_bytes.h"
#include "far/line_speed.h"
#include "tfile/forwarding_source.h"
#include "tfile/request.h"

namespace tfile {
namespace {

// All of a small file; the first baskets of a thousand branches of a large one.
constexpr std::uint64_t kKeptMax = 32 << 20, kKeptRangeMax = 4 << 20;

class KeptSource final : public ForwardingSource {
 public:
  using ForwardingSource::ForwardingSource;

  Result<std::shared_ptr<const Source>> sibling(std::string_view path) const override {
    auto found = inner_->sibling(path);
    return found ? keep_bytes(*std::move(found)) : std::move(found);
  }
  Result<> read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const override;
  void start_read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into,
                  ReadDone done) const override;
  void start_reads(std::vector<Started> reads) const override;

 private:
  // What of a read is not kept; of one that ends behind the file, the range that does, which fails.
  struct Missing {
    std::vector<ByteRange> ranges;
    std::vector<std::span<std::byte>> into;
  };
  Missing copy_kept(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const;

  const std::shared_ptr<KeptBytes> kept_ = std::make_shared<KeptBytes>(kKeptMax);
};

KeptSource::Missing KeptSource::copy_kept(std::span<const ByteRange> ranges,
                                          std::span<const std::span<std::byte>> into) const {
  Missing missing;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].begin > size() || ranges[i].size > size() - ranges[i].begin) return {{ranges[i]}, {into[i]}};
    for (const ByteRange range : kept_->copy(ranges[i], into[i])) {
      missing.ranges.push_back(range);
      missing.into.push_back(into[i].subspan(range.begin - ranges[i].begin, range.size));
    }
  }
  return missing;
}

void keep_read(KeptBytes& kept, std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> bytes,
               const SourceTraits& traits, std::uint64_t size) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const ByteRange range = ranges[i];
    const bool is_held = range.end() <= traits.begin_held || size - range.begin <= traits.end_held;
    if (!is_held && range.size <= kKeptRangeMax) kept.keep(range.begin, bytes[i]);
  }
}

Result<> KeptSource::read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const {
  return start_and_wait(*this, ranges, into);
}

void KeptSource::start_read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into,
                            ReadDone done) const {
  auto missing = std::make_shared<const Missing>(copy_kept(ranges, into));
  if (missing->ranges.empty()) return done({});
  auto finish = [missing, kept = kept_, traits = traits(), size = size(), done = std::move(done)](Result<> result) {
    if (result) keep_read(*kept, missing->ranges, missing->into, traits, size);
    done(std::move(result));
  };
  inner_->start_read(missing->ranges, missing->into, std::move(finish));
}

// Of these only gaps that were read through are worth keeping.
void KeptSource::start_reads(std::vector<Started> reads) const {
  const SourceTraits traits = this->traits();
  const bool has_gaps = traits.gap_free > kRangeCost;
  std::vector<Started> left;
  for (Started& read : reads) {
    Missing missing = copy_kept(read.ranges, read.into);
    if (missing.ranges.empty()) {
      read.done({});
      continue;
    }
    if (has_gaps)
      read.done = [missing, kept = kept_, traits, size = size(), done = std::move(read.done)](Result<> result) {
        if (result) keep_read(*kept, missing.ranges, missing.into, traits, size);
        done(std::move(result));
      };
    left.push_back({std::move(missing.ranges), std::move(missing.into), std::move(read.done)});
  }
  if (!left.empty()) inner_->start_reads(std::move(left));
}

}  // namespace

std::shared_ptr<const Source> keep_bytes(std::shared_ptr<const Source> far) {
  return std::make_shared<const KeptSource>(std::move(far));
}

}  // namespace tfile
