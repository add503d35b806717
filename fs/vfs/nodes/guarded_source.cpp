// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/guarded_source.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "wall_clock.h"

namespace tfilefs {
namespace {

// The header (at most 75 bytes) and the record of the root directory, which lies behind the file's name, given twice,
// and its title: enough unless these are longer than a path may be.
constexpr std::size_t kHeadSize = 1024;
// If another file was written over a tenth of what was read, so many miss it once in a thousand times. They are read
// again for each state of a file that grows: 64 short reads from the kernel's pages take some 50 us.
constexpr std::size_t kSamplesMax = 64;

// Blocks that the kernel has read from disks for this thread.
long blocks_read() {
  struct rusage usage {};
  return ::getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_inblock : 0;
}

// A read, from here on. A server's file has counts for all its reads at once: where several are under way, what one of
// them took from the server, all did.
class LoggableRead {
 public:
  explicit LoggableRead(const tfile::Source& source)
      : is_local_(source.origin() == tfile::kLocalOrigin),
        blocks_(is_local_ ? blocks_read() : 0),
        before_(is_local_ ? tfile::SourceCounts() : source.counts()) {}

  // To be called by the same thread, if the source is local.
  void note(ReadLog& log, const tfile::Source& source, std::span<const tfile::ByteRange> ranges) const {
    log.note(source.name(), source.size(), ranges, begin_, ReadLog::Clock::now(), from(source));
  }

 private:
  ReadFrom from(const tfile::Source& source) const {
    if (is_local_) return blocks_read() != blocks_ ? ReadFrom::disk : ReadFrom::kernel;
    const tfile::SourceCounts now = source.counts();
    if (now.bytes != before_.bytes) return ReadFrom::server;
    return now.disk_bytes != before_.disk_bytes ? ReadFrom::disk_cache : ReadFrom::memory;
  }

  const bool is_local_;
  const long blocks_;
  const tfile::SourceCounts before_;
  const ReadLog::Clock::time_point begin_ = ReadLog::Clock::now();
};

}  // namespace

Result<std::shared_ptr<const GuardedSource>> GuardedSource::guard(std::shared_ptr<const tfile::Source> inner) {
  std::shared_ptr<GuardedSource> made(new GuardedSource(std::move(inner)));
  TRY(made->head_, made->read_head());
  return std::shared_ptr<const GuardedSource>(std::move(made));
}

Result<std::string> GuardedSource::read_head() const {
  std::string head(std::min<std::uint64_t>(kHeadSize, inner_->size()), '\0');
  TRY_VOID(tfile::read_range(*inner_, {0, head.size()}, std::as_writable_bytes(std::span(head))));
  return head;
}

bool GuardedSource::may_be_filled(const tfile::Identity& before, const tfile::Identity& now) const {
  if (!now.is_same_object(before)) return false;
  return now.size > before.size || (now.size == before.size && now.size > saved_end_);
}

void GuardedSource::trust(std::shared_ptr<const OwnChanges> changes, std::uint64_t age) const {
  const Lock lock(mutex_);
  trusted_ = {std::move(changes), age};
}

GuardedSource::Trusted GuardedSource::trusted() const {
  const Lock lock(mutex_);
  return trusted_;
}

bool GuardedSource::is_own(const tfile::Identity& now) const {
  const Trusted own = trusted();
  return own.changes && own.changes->made(own.age, now);
}

tfile::Identity GuardedSource::accepted() const {
  const Lock lock(mutex_);
  return accepted_;
}

bool GuardedSource::accepts(const tfile::Identity& before, const tfile::Identity& now) const {
  if (now == before || (now.is_same_object(before) && is_own(now))) return true;
  // No job fills a file at a server; there, every other state is another file.
  if (traits().tells_changes || !may_be_filled(before, now)) return false;
  const auto head = read_head();
  if (!head || *head != head_ || !keeps_samples()) return false;
  const Lock lock(mutex_);
  if (now.size >= accepted_.size) accepted_ = now;
  return true;
}

void GuardedSource::note_kept(std::uint64_t offset, std::span<const std::byte> bytes, tfile::EntryRange entries) const {
  if (log_) log_->note_entries(name(), offset, entries);
  if (!bytes.empty() && !traits().tells_changes) sample(offset, bytes);
}

void GuardedSource::sample(std::uint64_t offset, std::span<const std::byte> bytes) const {
  Sample sample{{0, std::min(bytes.size(), kSampleSize)}, {}};
  const std::size_t skipped = (bytes.size() - sample.range.size) / 2;
  sample.range.begin = offset + skipped;
  std::ranges::copy(bytes.subspan(skipped, sample.range.size), sample.bytes.begin());
  const Lock lock(mutex_);
  const std::uint64_t place = std::uniform_int_distribution<std::uint64_t>(0, noted_++)(chance_);
  if (samples_.size() < kSamplesMax)
    samples_.push_back(sample);
  else if (place < kSamplesMax)
    samples_[place] = sample;
}

bool GuardedSource::keeps_samples() const {
  std::vector<Sample> samples;
  {
    const Lock lock(mutex_);
    samples = samples_;
  }
  if (samples.empty()) return true;
  std::ranges::sort(samples, {}, [](const Sample& sample) { return sample.range.begin; });
  std::vector<Sample> now = samples;
  std::vector<tfile::ByteRange> ranges;
  std::vector<std::span<std::byte>> into;
  for (Sample& sample : now) {
    ranges.push_back(sample.range);
    into.push_back(std::span(sample.bytes).first(sample.range.size));
  }
  return inner_->read(ranges, into) &&
         std::ranges::equal(now, samples, [](const Sample& a, const Sample& b) { return a.bytes == b.bytes; });
}

bool GuardedSource::is_changing() const {
  constexpr std::int64_t kRecentNs = 2'000'000'000;  // during a save a job writes more often than that
  // Between writing the keys and the head of a file the job may wait for the disk, or for a busy processor.
  constexpr std::chrono::milliseconds kWait{500}, kStep{5};
  if (traits().tells_changes) return false;  // a save would have been told
  const auto seen = inner_->identity_now();
  if (!seen || (*seen != accepted() && !is_own(*seen))) return true;
  if (nanoseconds_of(wall_clock()) - seen->modified_ns > kRecentNs) return false;
  for (auto waited = std::chrono::milliseconds::zero(); waited < kWait; waited += kStep) {
    std::this_thread::sleep_for(kStep);
    const auto later = inner_->identity_now();
    if (!later || (*later != *seen && !is_own(*later))) return true;
  }
  return false;
}

Result<> GuardedSource::read(std::span<const tfile::ByteRange> ranges,
                             std::span<const std::span<std::byte>> into) const {
  std::optional<LoggableRead> logged;
  if (log_) logged.emplace(*inner_);
  const Result<> done = inner_->read(ranges, into);
  if (logged && done) logged->note(*log_, *inner_, ranges);
  if (!done && done.error().kind == ErrorKind::stale) set_stale();
  if (!done || traits().tells_changes) return done;
  // If a commit begins or ends meanwhile, the state seen may be one in between, so the file is looked at again.
  for (bool is_told = false; !is_told;) {
    const Trusted own = trusted();
    const std::uint64_t moment = own.changes ? own.changes->moment() : 0;
    const tfile::Identity before = accepted();
    TRY(const tfile::Identity now, inner_->identity_now());
    if (accepts(before, now)) return {};
    is_told = trusted().changes == own.changes && (!own.changes || own.changes->moment() == moment);
  }
  set_stale();
  return tfile::fail(ErrorKind::stale, name() + ": changed since it was opened");
}

// Sources that start reads tell changes by themselves.
void GuardedSource::start_read(std::span<const tfile::ByteRange> ranges, std::span<const std::span<std::byte>> into,
                               ReadDone done) const {
  const tfile::SourceTraits traits = this->traits();
  if (!traits.starts_reads || !traits.tells_changes) return done(read(ranges, into));
  inner_->start_read(ranges, into, noting({ranges.begin(), ranges.end()}, std::move(done)));
}

void GuardedSource::start_reads(std::vector<Started> reads) const {
  const tfile::SourceTraits traits = this->traits();
  if (!traits.starts_reads || !traits.tells_changes) return Source::start_reads(std::move(reads));
  for (Started& one : reads) one.done = noting(one.ranges, std::move(one.done));
  inner_->start_reads(std::move(reads));
}

tfile::Source::ReadDone GuardedSource::noting(std::vector<tfile::ByteRange> ranges, ReadDone done) const {
  std::optional<LoggableRead> logged;
  if (log_) logged.emplace(*inner_);
  return [self = shared_from_this(), logged, ranges = std::move(ranges), done = std::move(done)](Result<> result) {
    if (logged && result) logged->note(*self->log_, *self->inner_, ranges);
    if (!result && result.error().kind == ErrorKind::stale) self->set_stale();
    done(std::move(result));
  };
}

Result<std::shared_ptr<const tfile::Source>> GuardedSource::sibling(std::string_view relative_path) const {
  TRY(auto found, inner_->sibling(relative_path));
  TRY(auto guarded, guard(std::move(found)));
  guarded->log_reads(log_);
  return std::shared_ptr<const tfile::Source>(std::move(guarded));
}

}  // namespace tfilefs
