// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <new>
#include <random>
#include <set>
#include <thread>

#include "cache/cluster_cache.h"

namespace tfilefs {

// Memory that acts as a file: it counts reads, waits, and fails when told to.
class MemorySource : public tfile::Source {
 public:
  explicit MemorySource(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) { identity_.size = bytes_.size(); }
  const tfile::Identity& identity() const override { return identity_; }
  Result<tfile::Identity> identity_now() const override { return identity_; }
  const std::string& name() const override { return name_; }
  tfile::SourceTraits traits() const override { return told; }
  Result<> read(std::span<const tfile::ByteRange> ranges, std::span<const std::span<std::byte>> into) const override {
    ++calls;
    if (ranges.size() > told.ranges_max) return tfile::fail(ErrorKind::invalid, "too many ranges");
    std::uint64_t size = 0;
    for (const tfile::ByteRange& range : ranges) size += range.size;
    if (ranges.size() > 1 && size > told.request_max) return tfile::fail(ErrorKind::invalid, "too many bytes");
    const unsigned now = ++under_way;
    for (unsigned most = most_at_once; now > most && !most_at_once.compare_exchange_weak(most, now);) {
    }
    if (gate.valid()) gate.wait();
    if (throwing) {
      --under_way;
      throw std::bad_alloc();
    }
    if (delay.count() > 0) std::this_thread::sleep_for(delay);
    --under_way;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const std::uint64_t bad = bad_byte;
      if (failing || (bad >= ranges[i].begin && bad < ranges[i].end()))
        return tfile::fail(ErrorKind::io, "the disk is broken", static_cast<std::int64_t>(ranges[i].begin), EIO);
      if (ranges[i].end() > bytes_.size()) return tfile::fail(ErrorKind::damaged, "beyond the end");
      std::memcpy(into[i].data(), bytes_.data() + ranges[i].begin, ranges[i].size);
      bytes_read += ranges[i].size;
    }
    return {};
  }
  Result<std::shared_ptr<const tfile::Source>> sibling(std::string_view) const override {
    return tfile::fail(ErrorKind::not_found, "no sibling");
  }

  void start_reads(std::vector<Started> reads) const override {
    ++requests;
    if (!dropping) Source::start_reads(std::move(reads));
  }

  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
  mutable std::atomic<std::uint64_t> calls = 0, bytes_read = 0, requests = 0;
  mutable std::atomic<unsigned> under_way = 0, most_at_once = 0;  // reads
  std::atomic<std::uint64_t> bad_byte = kNowhere;
  std::atomic<bool> failing = false;
  std::atomic<bool> throwing = false;  // as without memory
  std::atomic<bool> dropping = false;  // reads that are started, without an answer
  std::chrono::microseconds delay{0};
  tfile::SourceTraits told;
  std::shared_future<void> gate;  // reads wait for it; set only while no read is under way

 private:
  std::vector<std::byte> bytes_;
  tfile::Identity identity_;
  std::string name_ = "memory";
};

// A stream of numbers. The stored bytes of a chunk are an 8-byte header (the number of items) and the items,
// big-endian. Item i of stream s is value(s, i). `input`: a stream whose chunk of the same index must be passed to
// decode.
struct SyntheticStream {
  std::vector<std::int64_t> items;  // of each chunk
  tfile::ItemsFrom from = tfile::ItemsFrom::metadata;
  std::optional<tfile::StreamId> input;
  std::optional<std::vector<std::int64_t>> quick;  // the result of lengths()
  std::optional<tfile::StreamId> told_by;          // once the items of that stream were counted, lengths() is known
  bool embedded = false;
  std::uint64_t stored_gap = 0;  // bytes between chunks
  bool counting_decodes = false;
  std::vector<tfile::EntryRange> entries;  // of each chunk; {}: one entry per chunk
};

class SyntheticStreams : public tfile::StreamSet, public tfile::ItemCounter {
 public:
  using Item = std::uint32_t;
  static constexpr std::size_t kHeader = 8;

  explicit SyntheticStreams(std::vector<SyntheticStream> streams) : streams_(std::move(streams)) {
    std::vector<std::byte> bytes(64);
    for (std::size_t s = 0; s < streams_.size(); ++s) {
      places_.emplace_back();
      std::int64_t item = 0;
      for (const std::int64_t n : streams_[s].items) {
        places_[s].push_back({bytes.size(), kHeader + static_cast<std::uint64_t>(n) * sizeof(Item)});
        append(bytes, static_cast<std::uint64_t>(n), kHeader);
        for (std::int64_t i = 0; i < n; ++i, ++item)
          append(bytes, value(static_cast<tfile::StreamId>(s), item), sizeof(Item));
        bytes.resize(bytes.size() + streams_[s].stored_gap);
      }
    }
    source = std::make_shared<MemorySource>(std::move(bytes));
  }

  static Item value(tfile::StreamId stream, std::int64_t item) {
    return static_cast<Item>(item * 2654435761u + stream * 97u);
  }
  std::int64_t length(tfile::StreamId s) const {
    std::int64_t sum = 0;
    for (const std::int64_t n : streams_[s].items) sum += n;
    return sum;
  }

  std::size_t stream_count() const override { return streams_.size(); }
  tfile::StreamShape shape(tfile::StreamId s) const override {
    return {.chunks = streams_[s].items.size(),
            .slots = 1,
            .items_from = streams_[s].from,
            .stored_bytes = static_cast<std::uint64_t>(length(s)) * sizeof(Item)};
  }
  tfile::EntryRange chunk_entries(tfile::ChunkKey key) const override {
    if (looked_at) looked_at(key.stream);
    const auto& entries = streams_[key.stream].entries;
    return entries.empty() ? tfile::EntryRange{key.index, key.index + 1} : entries[key.index];
  }
  Result<tfile::Locator> locate(tfile::ChunkKey key) const override {
    if (lost.contains({key.stream, key.index})) return tfile::fail(ErrorKind::damaged, "basket is lost");
    if (streams_[key.stream].embedded) return tfile::Locator{nullptr, {}, embedded_bytes(key)};
    tfile::ByteRange range = places_[key.stream][key.index];
    if (beyond.contains({key.stream, key.index})) range.begin += source->size();
    return tfile::Locator{source.get(), range, {}};
  }
  std::uint64_t decoded_size(tfile::ChunkKey key) const override {
    const auto claimed = claims.find({key.stream, key.index});
    if (claimed != claims.end()) return claimed->second;
    return static_cast<std::uint64_t>(streams_[key.stream].items[key.index]) * sizeof(Item);
  }
  std::vector<tfile::ChunkKey> inputs(tfile::ChunkKey key) const override {
    if (!streams_[key.stream].input) return {};
    return {{*streams_[key.stream].input, key.index}};
  }
  std::vector<std::int64_t> lengths(tfile::StreamId s) const override {
    if (streams_[s].from == tfile::ItemsFrom::metadata) return {length(s)};
    const std::lock_guard lock(mutex_);
    if (streams_[s].told_by && counted_streams_.contains(*streams_[s].told_by)) return {length(s)};
    return streams_[s].quick.value_or(std::vector<std::int64_t>{-1});
  }
  Result<tfile::Extents> extents(tfile::StreamId s) const override {
    ++counted;
    tfile::ExtentSum sum(1);
    for (const std::int64_t& n : streams_[s].items) sum.add({&n, 1});
    return sum.take();
  }
  const tfile::ItemCounter* counter() const override { return this; }
  Result<tfile::Locator> header_locator(tfile::ChunkKey key) const override {
    if (lost.contains({key.stream, key.index})) return tfile::fail(ErrorKind::damaged, "basket is lost");
    return tfile::Locator{source.get(), {places_[key.stream][key.index].begin, kHeader}, {}};
  }
  Result<Counted> count(tfile::ChunkKey key, std::span<const std::byte> bytes,
                        std::span<const std::shared_ptr<const tfile::Chunk>> inputs) const override {
    ++counted;
    const bool by_payload = streams_[key.stream].from == tfile::ItemsFrom::payloads;
    if (by_payload && bad_payload.contains({key.stream, key.index}))
      return tfile::fail(ErrorKind::damaged, "payload is damaged");
    if (by_payload && !inputs_right(key, inputs)) return tfile::fail(ErrorKind::invalid, "inputs are wrong");
    if (bytes.size() < kHeader) return tfile::fail(ErrorKind::damaged, "no header");
    Counted counted_items{{static_cast<std::int64_t>(big(bytes.first(kHeader)))}, {}};
    if (by_payload && streams_[key.stream].counting_decodes) {
      TRY(counted_items.chunk, decode(key, bytes, inputs, counted_items.items));
    }
    return counted_items;
  }
  void place(tfile::ChunkKey key, tfile::Chunk&, std::span<const std::int64_t> first) const override {
    std::int64_t before = 0;
    for (std::uint32_t i = 0; i < key.index; ++i) before += streams_[key.stream].items[i];
    if (first.size() != 1 || first[0] != before) ++wrongly_placed;
  }
  void note_counted(tfile::StreamId s, std::span<const std::int64_t> lengths,
                    std::span<const std::byte> header) const override {
    const std::lock_guard lock(mutex_);
    if (lengths.size() == 1 && lengths[0] == length(s) && header.size() >= kHeader) counted_streams_.insert(s);
  }
  std::vector<tfile::StreamId> telling_streams() const override {
    std::vector<tfile::StreamId> all;
    for (tfile::StreamId s = 0; s < streams_.size(); ++s)
      if (streams_[s].from == tfile::ItemsFrom::headers && !streams_[s].told_by) all.push_back(s);
    return all;
  }
  Result<tfile::Chunk> decode(tfile::ChunkKey key, std::span<const std::byte> stored,
                              std::span<const std::shared_ptr<const tfile::Chunk>> inputs,
                              std::span<const std::int64_t> first) const override {
    {
      std::lock_guard lock(mutex_);
      ++decodes[{key.stream, key.index}];
    }
    if (decode_delay.count() > 0) std::this_thread::sleep_for(decode_delay);
    if (bad_payload.contains({key.stream, key.index})) return tfile::fail(ErrorKind::damaged, "payload is damaged");
    if (!inputs_right(key, inputs)) return tfile::fail(ErrorKind::invalid, "inputs are wrong");
    if (first.size() != 1) return tfile::fail(ErrorKind::invalid, "first is wrong");
    if (stored.size() < kHeader) return tfile::fail(ErrorKind::damaged, "too short");
    std::size_t items = (stored.size() - kHeader) / sizeof(Item);
    if (short_by_one.contains({key.stream, key.index}) && items > 0) --items;
    tfile::Chunk chunk;
    chunk.owned.emplace_back(items * sizeof(Item));
    for (std::size_t i = 0; i < items; ++i) {
      const Item item = static_cast<Item>(big(stored.subspan(kHeader + i * sizeof(Item), sizeof(Item))));
      std::memcpy(chunk.owned[0].data() + i * sizeof(Item), &item, sizeof item);
    }
    chunk.arrays.emplace_back(chunk.owned[0].span());
    return chunk;
  }
  std::uint64_t decodes_of(tfile::StreamId s, std::uint32_t index) const {
    std::lock_guard lock(mutex_);
    const auto found = decodes.find({s, index});
    return found == decodes.end() ? 0 : found->second;
  }
  std::uint64_t decodes_max() const {
    std::lock_guard lock(mutex_);
    std::uint64_t most = 0;
    for (const auto& [key, n] : decodes) most = std::max(most, n);
    return most;
  }
  std::size_t chunks_decoded() const {
    std::lock_guard lock(mutex_);
    return decodes.size();
  }
  const tfile::ByteRange& place_of(tfile::StreamId s, std::uint32_t index) const { return places_[s][index]; }

  using Place = std::pair<tfile::StreamId, std::uint32_t>;
  std::set<Place> lost, beyond, bad_payload, short_by_one;
  std::map<Place, std::uint64_t> claims;  // claimed results of decoded_size()
  std::chrono::microseconds decode_delay{0};
  std::function<void(tfile::StreamId)> looked_at;  // called when the entries of a stream's chunks are requested
  std::shared_ptr<MemorySource> source;
  mutable std::atomic<std::uint64_t> counted = 0;  // chunks whose items were counted, and requested extents
  mutable std::atomic<std::uint64_t> wrongly_placed = 0;
  mutable std::map<Place, std::uint64_t> decodes;

 private:
  static void append(std::vector<std::byte>& to, std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = bytes; i-- > 0;) to.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  static std::uint64_t big(std::span<const std::byte> bytes) {
    std::uint64_t value = 0;
    for (const std::byte b : bytes) value = value << 8 | static_cast<std::uint8_t>(b);
    return value;
  }
  std::span<const std::byte> embedded_bytes(tfile::ChunkKey key) const {
    std::lock_guard lock(mutex_);
    auto& bytes = embedded_[{key.stream, key.index}];
    const tfile::ByteRange range = places_[key.stream][key.index];
    if (bytes.empty()) {
      bytes.resize(range.size);
      const std::span<std::byte> into(bytes);
      (void)source->read(std::span(&range, 1), std::span(&into, 1));
    }
    return bytes;
  }
  bool inputs_right(tfile::ChunkKey key, std::span<const std::shared_ptr<const tfile::Chunk>> inputs) const {
    if (!streams_[key.stream].input) return inputs.empty();
    if (inputs.size() != 1 || !inputs[0]) return false;
    const auto items = static_cast<std::size_t>(streams_[*streams_[key.stream].input].items[key.index]);
    return inputs[0]->arrays[0].size() == items * sizeof(Item);
  }

  std::vector<SyntheticStream> streams_;
  std::vector<std::vector<tfile::ByteRange>> places_;
  mutable std::mutex mutex_;
  mutable std::set<tfile::StreamId> counted_streams_;
  mutable std::map<Place, std::vector<std::byte>> embedded_;
};

// A stream of chunks with `items` items each.
inline SyntheticStream even_stream(std::size_t chunks, std::int64_t items) {
  SyntheticStream stream;
  stream.items.assign(chunks, items);
  return stream;
}

// Waits for an answer.
template <class T>
class Answer {
 public:
  Reply<T> reply() {
    return Reply<T>([state = state_](Result<T> result) {
      std::lock_guard lock(state->mutex);
      state->result = std::move(result);
      state->condition.notify_all();
    });
  }
  bool is_there() const {
    std::lock_guard lock(state_->mutex);
    return state_->result.has_value();
  }
  Result<T> wait() {
    std::unique_lock lock(state_->mutex);
    state_->condition.wait(lock, [&] { return state_->result.has_value(); });
    return std::move(*state_->result);
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable condition;
    std::optional<Result<T>> result;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

inline Result<std::string> read_bytes(CachedStreams& streams, tfile::StreamId s, std::uint64_t offset,
                                      std::size_t size) {
  Answer<Slices> answer;
  streams.read(s, 0, sizeof(SyntheticStreams::Item), offset, size, answer.reply());
  auto slices = answer.wait();
  if (!slices) return tl::unexpected<Error>(slices.error());
  std::string bytes;
  for (const auto piece : slices->pieces) bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  return bytes;
}

inline Result<std::int64_t> length_of(CachedStreams& streams, tfile::StreamId s) {
  Answer<std::int64_t> answer;
  streams.length(s, 0, answer.reply());
  return answer.wait();
}

// The expected bytes of the column.
inline std::string expected_bytes(const SyntheticStreams& streams, tfile::StreamId s, std::uint64_t offset,
                                  std::uint64_t size) {
  const std::uint64_t end = std::min(offset + size, static_cast<std::uint64_t>(streams.length(s)) * 4);
  std::string bytes;
  for (std::uint64_t at = offset; at < end; ++at) {
    const SyntheticStreams::Item item = SyntheticStreams::value(s, static_cast<std::int64_t>(at / 4));
    bytes.push_back(static_cast<char>(item >> (8 * (at % 4))));
  }
  return bytes;
}

}  // namespace tfilefs
