// SPDX-License-Identifier: Apache-2.0
#include "far/disk_source.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "far/disk_threads.h"
#include "tfile/forwarding_source.h"
#include "tfile/request.h"

namespace tfile {
namespace {

bool is_held(ByteRange range, const SourceTraits& traits, std::uint64_t size) {
  return range.end() <= traits.begin_held || size - range.begin <= traits.end_held;
}

// Reads that were started together, and what of them comes from where.
struct DiskReads {
  std::shared_ptr<const Source> far;
  std::shared_ptr<DiskFile> disk;
  std::vector<Source::Started> reads;

  // What the disk does not have.
  std::vector<Source::Started> missing();
  Source::Started missing_of(Source::Started& read, const SourceTraits& traits);
};

// The pieces that came from the server, for the disk.
void keep_missing(DiskFile& disk, std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> bytes,
                  const SourceTraits& traits, std::uint64_t size) {
  std::vector<DiskPiece> pieces;
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (!is_held(ranges[i], traits, size)) pieces.push_back({ranges[i].begin, bytes[i]});
  if (!pieces.empty()) disk.keep(pieces);
}

Source::Started DiskReads::missing_of(Source::Started& read, const SourceTraits& traits) {
  const std::uint64_t size = far->size();
  Source::Started missing;
  bool is_hit = true;
  for (std::size_t i = 0; i < read.ranges.size(); ++i) {
    const ByteRange whole = read.ranges[i];
    const bool held = is_held(whole, traits, size);
    for (const ByteRange range : held ? std::vector{whole} : disk->read(whole, read.into[i])) {
      missing.ranges.push_back(range);
      missing.into.push_back(read.into[i].subspan(range.begin - whole.begin, range.size));
      is_hit &= held;
    }
  }
  disk->note_read(is_hit);
  missing.done = [ranges = missing.ranges, into = missing.into, traits, size, disk = disk,
                  done = std::move(read.done)](Result<> result) {
    if (result) keep_missing(*disk, ranges, into, traits, size);
    if (!result && result.error().kind == ErrorKind::stale) disk->discard();
    done(std::move(result));
  };
  return missing;
}

std::vector<Source::Started> DiskReads::missing() {
  const SourceTraits traits = far->traits();
  std::vector<Source::Started> all;
  for (Source::Started& read : reads) {
    Source::Started missing = missing_of(read, traits);
    if (missing.ranges.empty())
      missing.done({});
    else
      all.push_back(std::move(missing));
  }
  return all;
}

// A sibling has its own place on the disk: it is opened with the same options.
class DiskSource final : public ForwardingSource {
 public:
  DiskSource(std::shared_ptr<const Source> far, std::shared_ptr<DiskFile> disk)
      : ForwardingSource(std::move(far)), disk_(std::move(disk)) {}

  SourceTraits traits() const override;
  SourceCounts counts() const override;
  Result<> read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const override {
    return start_and_wait(*this, ranges, into);
  }
  void start_read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into,
                  ReadDone done) const override;
  void start_reads(std::vector<Started> reads) const override;

 private:
  bool needs_no_disk(std::span<const ByteRange> ranges, const SourceTraits& traits) const;
  void start_from_disk(std::vector<Started> reads, void (*ask)(const Source&, std::vector<Started>)) const;

  const std::shared_ptr<DiskFile> disk_;
};

SourceTraits DiskSource::traits() const {
  SourceTraits traits = inner_->traits();
  // A gap that is worth reading through on the way to the server may be on no disk.
  if (disk_->is_warm()) traits.delay = {};
  return traits;
}

SourceCounts DiskSource::counts() const {
  SourceCounts counts = inner_->counts();
  disk_->add_counts(counts);
  return counts;
}

// The far source knows what is wrong with ranges that do not lie in it, and has others in memory.
bool DiskSource::needs_no_disk(std::span<const ByteRange> ranges, const SourceTraits& traits) const {
  const auto is_wrong = [&](ByteRange range) { return range.begin > size() || range.size > size() - range.begin; };
  const auto is_here = [&](ByteRange range) { return is_held(range, traits, size()); };
  return std::ranges::any_of(ranges, is_wrong) || std::ranges::all_of(ranges, is_here);
}

// On a thread for the disk; what is not there is asked for. Without a thread, everything is.
void DiskSource::start_from_disk(std::vector<Started> reads, void (*ask)(const Source&, std::vector<Started>)) const {
  auto all = std::make_shared<DiskReads>(DiskReads{inner_, disk_, std::move(reads)});
  const bool is_started = start_disk_read([all, ask] {
    if (auto missing = all->missing(); !missing.empty()) ask(*all->far, std::move(missing));
  });
  if (!is_started) ask(*all->far, std::move(all->reads));
}

void DiskSource::start_read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into,
                            ReadDone done) const {
  if (needs_no_disk(ranges, inner_->traits())) return inner_->start_read(ranges, into, std::move(done));
  std::vector<Started> one;
  one.push_back({{ranges.begin(), ranges.end()}, {into.begin(), into.end()}, std::move(done)});
  start_from_disk(std::move(one), [](const Source& far, std::vector<Started> missing) {
    const auto left = std::make_shared<const Started>(std::move(missing.front()));
    far.start_read(left->ranges, left->into, [left](Result<> result) { left->done(std::move(result)); });
  });
}

void DiskSource::start_reads(std::vector<Started> reads) const {
  const SourceTraits traits = inner_->traits();
  const auto far = std::partition(reads.begin(), reads.end(),
                                  [&](const Started& read) { return !needs_no_disk(read.ranges, traits); });
  std::vector<Started> near(std::make_move_iterator(far), std::make_move_iterator(reads.end()));
  reads.erase(far, reads.end());
  if (!near.empty()) inner_->start_reads(std::move(near));
  if (!reads.empty())
    start_from_disk(std::move(reads),
                    [](const Source& source, std::vector<Started> missing) { source.start_reads(std::move(missing)); });
}

}  // namespace

std::shared_ptr<const Source> keep_on_disk(std::shared_ptr<const Source> far, std::shared_ptr<DiskFile> disk) {
  if (!disk) return far;
  return std::make_shared<const DiskSource>(std::move(far), std::move(disk));
}

}  // namespace tfile
