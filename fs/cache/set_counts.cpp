// SPDX-License-Identifier: Apache-2.0
#include "cache/set_counts.h"

#include <algorithm>
#include <bit>

namespace tfilefs {
namespace {

constexpr Count kOfReads[] = {Count::read_calls, Count::bytes_read, Count::gap_bytes, Count::disk_ns};

// The object at `place`; else the one that `make` gives, unless another thread was faster. `Free` undoes a `make` in
// vain.
template <class T, class Make, class Free>
T* made_once(std::atomic<T*>& place, Make make, Free free) {
  if (T* there = place.load(std::memory_order_acquire)) return there;
  T* const mine = make();
  T* there = nullptr;
  if (place.compare_exchange_strong(there, mine, std::memory_order_acq_rel)) return mine;
  free(mine);
  return there;
}

// Leaves one share per stream, and returns their sum.
std::uint64_t gather(std::vector<SetCounts::Share>& shares) {
  std::sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.stream < b.stream; });
  std::uint64_t sum = 0;
  std::size_t kept = 0;
  for (const SetCounts::Share share : shares) {
    sum += share.bytes;
    if (kept > 0 && shares[kept - 1].stream == share.stream)
      shares[kept - 1].bytes += share.bytes;
    else
      shares[kept++] = share;
  }
  shares.resize(kept);
  return sum;
}

std::uint64_t share_of(std::uint64_t whole, std::uint64_t part, std::uint64_t all) {
  if (all == 0) return whole;
  return static_cast<std::uint64_t>(static_cast<double>(whole) * static_cast<double>(part) / static_cast<double>(all));
}

}  // namespace

SetCounts::~SetCounts() {
  for (std::size_t s = 0; s < kSegments; ++s) {
    Slot* const segment = segments_[s].load(std::memory_order_acquire);
    if (!segment) continue;
    for (std::size_t i = 0; i < segment_size(s); ++i) delete segment[i].load(std::memory_order_acquire);
    delete[] segment;
  }
}

SetCounts::Slot& SetCounts::slot(tfile::StreamId stream) {
  const std::uint64_t number = std::uint64_t{stream} + 1;
  const auto s = static_cast<std::size_t>(std::bit_width(number) - 1);
  Slot* const segment = made_once(
      segments_[s], [s] { return new Slot[segment_size(s)](); }, [](Slot* slots) { delete[] slots; });
  return segment[number - segment_size(s)];
}

AtomicReadCounts& SetCounts::stream(tfile::StreamId stream) {
  if (!by_stream_) return of_all_;
  return *made_once(
      slot(stream), [] { return new AtomicReadCounts; }, [](AtomicReadCounts* counts) { delete counts; });
}

void SetCounts::add_reads(std::uint64_t calls, std::uint64_t bytes, std::uint64_t disk_ns, std::vector<Share>& shares) {
  const std::uint64_t wanted = gather(shares);
  reads_.add(Count::read_calls, calls);
  reads_.add(Count::bytes_read, bytes);
  reads_.add(Count::disk_ns, disk_ns);
  if (bytes > wanted) reads_.add(Count::gap_bytes, bytes - wanted);
  for (const Share& share : shares) {
    AtomicReadCounts& counts = stream(share.stream);
    counts.add(Count::read_calls, 1);
    counts.add(Count::bytes_read, share.bytes);
    counts.add(Count::disk_ns, share_of(disk_ns, share.bytes, wanted));
  }
}

void SetCounts::add_decoding(std::uint64_t decode_ns, std::vector<Share>& shares) {
  const std::uint64_t all = gather(shares);
  for (const Share& share : shares) stream(share.stream).add(Count::decode_ns, share_of(decode_ns, share.bytes, all));
}

void SetCounts::each_stream(const std::function<void(tfile::StreamId, const ReadCounts&)>& visit) const {
  for (std::size_t s = 0; s < kSegments; ++s) {
    const Slot* const segment = segments_[s].load(std::memory_order_acquire);
    if (!segment) continue;
    for (std::size_t i = 0; i < segment_size(s); ++i) {
      const AtomicReadCounts* const counts = segment[i].load(std::memory_order_acquire);
      if (counts) visit(static_cast<tfile::StreamId>(segment_size(s) - 1 + i), counts->now());
    }
  }
}

ReadCounts SetCounts::total() const {
  ReadCounts sum = of_all_.now();
  each_stream([&](tfile::StreamId, const ReadCounts& counts) { sum += counts; });
  const ReadCounts reads = reads_.now();
  for (const Count count : kOfReads) sum[count] = reads[count];
  return sum;
}

std::uint64_t SetCounts::memory() const {
  std::uint64_t bytes = sizeof *this;
  for (std::size_t s = 0; s < kSegments; ++s)
    if (segments_[s].load(std::memory_order_acquire)) bytes += segment_size(s) * sizeof(Slot);
  each_stream([&](tfile::StreamId, const ReadCounts&) { bytes += sizeof(AtomicReadCounts); });
  return bytes;
}

}  // namespace tfilefs
