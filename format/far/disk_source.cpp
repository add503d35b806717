// SPDX-License-Identifier: Apache-2.0
#include "far/disk_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "far/disk_threads.h"
#include "tfile/request.h"

namespace tfile {
namespace {

bool is_held(ByteRange range, const SourceTraits& traits, std::uint64_t size) {
  return range.end() <= traits.begin_held || size - range.begin <= traits.end_held;
}

// One read, and what of it comes from where.
struct DiskRead {
  std::shared_ptr<const Source> far;
  std::shared_ptr<DiskFile> disk;
  std::vector<ByteRange> ranges;
  std::vector<std::span<std::byte>> into;
  Source::ReadDone done;

  void start();
};

// The pieces that came from the server, for the disk.
void keep_missing(DiskFile& disk, std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> bytes,
                  const SourceTraits& traits, std::uint64_t size) {
  std::vector<DiskPiece> pieces;
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (!is_held(ranges[i], traits, size)) pieces.push_back({ranges[i].begin, bytes[i]});
  if (!pieces.empty()) disk.keep(pieces);
}

void DiskRead::start() {
  const SourceTraits traits = far->traits();
  const std::uint64_t size = far->size();
  std::vector<ByteRange> missing;
  std::vector<std::span<std::byte>> places;
  bool is_hit = true;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const bool held = is_held(ranges[i], traits, size);
    for (const ByteRange range : held ? std::vector{ranges[i]} : disk->read(ranges[i], into[i])) {
      missing.push_back(range);
      places.push_back(into[i].subspan(range.begin - ranges[i].begin, range.size));
      is_hit &= held;
    }
  }
  disk->note_read(is_hit);
  if (missing.empty()) return done({});
  const auto finish = [missing, places, traits, size, disk = disk, done = std::move(done)](Result<> result) {
    if (result) keep_missing(*disk, missing, places, traits, size);
    if (!result && result.error().kind == ErrorKind::stale) disk->discard();
    done(std::move(result));
  };
  far->start_read(missing, places, finish);
}

class DiskSource final : public Source {
 public:
  DiskSource(std::shared_ptr<const Source> far, std::shared_ptr<DiskFile> disk)
      : far_(std::move(far)), disk_(std::move(disk)) {}

  const Identity& identity() const override { return far_->identity(); }
  Result<Identity> identity_now() const override { return far_->identity_now(); }
  SourceOrigin origin() const override { return far_->origin(); }
  const std::string& name() const override { return far_->name(); }
  SourceTraits traits() const override;
  SourceCounts counts() const override;
  // Has its own place on the disk: it was opened with the same options.
  Result<std::shared_ptr<const Source>> sibling(std::string_view path) const override { return far_->sibling(path); }
  Result<> read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const override {
    return start_and_wait(*this, ranges, into);
  }
  void start_read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into,
                  ReadDone done) const override;

 private:
  const std::shared_ptr<const Source> far_;
  const std::shared_ptr<DiskFile> disk_;
};

SourceTraits DiskSource::traits() const {
  SourceTraits traits = far_->traits();
  // A gap that is worth reading through on the way to the server may be on no disk.
  if (disk_->is_warm()) traits.delay = {};
  return traits;
}

SourceCounts DiskSource::counts() const {
  SourceCounts counts = far_->counts();
  disk_->add_counts(counts);
  return counts;
}

void DiskSource::start_read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into,
                            ReadDone done) const {
  const SourceTraits traits = far_->traits();
  const auto is_wrong = [&](ByteRange range) { return range.begin > size() || range.size > size() - range.begin; };
  const auto needs_no_disk = [&](ByteRange range) { return is_held(range, traits, size()); };
  // The far source knows what is wrong with them, and has these in memory.
  if (std::ranges::any_of(ranges, is_wrong) || std::ranges::all_of(ranges, needs_no_disk))
    return far_->start_read(ranges, into, std::move(done));
  auto read = std::make_shared<DiskRead>(
      DiskRead{far_, disk_, {ranges.begin(), ranges.end()}, {into.begin(), into.end()}, std::move(done)});
  start_disk_read([read] { read->start(); });
}

}  // namespace

std::shared_ptr<const Source> keep_on_disk(std::shared_ptr<const Source> far, std::shared_ptr<DiskFile> disk) {
  if (!disk) return far;
  return std::make_shared<const DiskSource>(std::move(far), std::move(disk));
}

}  // namespace tfile
