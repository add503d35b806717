// SPDX-License-Identifier: Apache-2.0
#include "remote/disk/disk_source.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "remote/disk/disk_threads.h"
#include "tfile/forwarding_source.h"
#include "tfile/request.h"

namespace tfile {
namespace {

// The part of the read that comes from the server, and then goes to the disk.
Source::Started rest_of(Source::Started& read, const Source& remote, const std::shared_ptr<DiskFile>& disk,
                        const SourceTraits& traits) {
  const std::uint64_t size = remote.size();
  bool is_hit = true;
  Source::Started rest = missing_of(read.ranges, read.into, size, [&](ByteRange range, std::span<std::byte> into) {
    if (is_in_memory(range, traits, size)) return std::vector{range};
    auto missing = disk->read(range, into);
    is_hit &= missing.empty();
    return missing;
  });
  disk->note_read(is_hit);
  rest.done = [disk, pieces = pieces_to_keep(rest, traits, size), done = std::move(read.done)](Result<> result) {
    if (result && !pieces.empty()) disk->keep(pieces);
    if (!result && result.error().kind == ErrorKind::stale) disk->discard();
    done(std::move(result));
  };
  return rest;
}

// A sibling has its own place on the disk: it is opened with the same options.
class DiskSource final : public ForwardingSource {
 public:
  DiskSource(std::shared_ptr<const Source> remote, std::shared_ptr<DiskFile> disk)
      : ForwardingSource(std::move(remote)), disk_(std::move(disk)) {}

  SourceTraits traits() const override;
  SourceCounts counts() const override;
  Result<> read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const override {
    return start_and_wait(*this, ranges, into);
  }
  void start_read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into,
                  ReadDone done) const override {
    start_reads(one_read(ranges, into, std::move(done)));
  }
  void start_reads(std::vector<Started> reads) const override;

 private:
  bool needs_no_disk(std::span<const ByteRange> ranges, const SourceTraits& traits) const;
  void start_from_disk(std::vector<Started> reads) const;

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

// The remote source knows what is wrong with ranges that do not lie in it, and has others in memory.
bool DiskSource::needs_no_disk(std::span<const ByteRange> ranges, const SourceTraits& traits) const {
  const auto is_wrong = [&](ByteRange range) { return is_beyond_end(range, size()); };
  const auto is_here = [&](ByteRange range) { return is_in_memory(range, traits, size()); };
  return std::ranges::any_of(ranges, is_wrong) || std::ranges::all_of(ranges, is_here);
}

// On a thread for the disk; what is not there is asked for. Without a thread, everything is.
void DiskSource::start_from_disk(std::vector<Started> reads) const {
  const auto all = std::make_shared<std::vector<Started>>(std::move(reads));
  const bool is_started = start_disk_read([all, remote = inner_, disk = disk_] {
    const SourceTraits traits = remote->traits();
    auto left = left_of(*all, [&](Started& read) { return rest_of(read, *remote, disk, traits); });
    if (!left.empty()) remote->start_reads(std::move(left));
  });
  if (!is_started) inner_->start_reads(std::move(*all));
}

void DiskSource::start_reads(std::vector<Started> reads) const {
  const SourceTraits traits = inner_->traits();
  const auto remote = std::partition(reads.begin(), reads.end(),
                                     [&](const Started& read) { return !needs_no_disk(read.ranges, traits); });
  std::vector<Started> near(std::make_move_iterator(remote), std::make_move_iterator(reads.end()));
  reads.erase(remote, reads.end());
  if (!near.empty()) inner_->start_reads(std::move(near));
  if (!reads.empty()) start_from_disk(std::move(reads));
}

}  // namespace

Source::Started missing_on_disk(DiskFile* disk, std::span<const ByteRange> ranges,
                                std::span<const std::span<std::byte>> into, std::uint64_t file_size) {
  return missing_of(ranges, into, file_size, [disk](ByteRange range, std::span<std::byte> place) {
    return disk ? disk->read(range, place) : std::vector{range};
  });
}

std::shared_ptr<const Source> keep_on_disk(std::shared_ptr<const Source> remote, std::shared_ptr<DiskFile> disk) {
  if (!disk) return remote;
  return std::make_shared<const DiskSource>(std::move(remote), std::move(disk));
}

}  // namespace tfile
