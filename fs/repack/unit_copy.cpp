// SPDX-License-Identifier: Apache-2.0
#include "repack/unit_copy.h"

#include <algorithm>
#include <deque>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exec/started.h"
#include "repack/stopped.h"
#include "tfile/buffer.h"
#include "tfile/read_together.h"

namespace tfilefs {

using tfile::Part;

namespace {

// Units that are read, encoded and written together, stored and decompressed, are at most this part of the memory: so
// many may be under way.
constexpr std::uint64_t kBatchShare = 6;
// More than that brings nothing: the calls are few, and caches small.
constexpr std::uint64_t kBatchMax = 16 << 20;

// Units that follow each other, and the bytes of their inputs.
struct Batch {
  std::size_t first = 0;
  std::vector<tfile::TableCopy::Unit> units;
  std::vector<Result<std::span<const std::byte>>> inputs;  // of all units, one after the other
  std::vector<tfile::Buffer> memory;                       // holds those that were read
  std::uint64_t stored = 0;
};
using BatchPtr = std::shared_ptr<const Batch>;

void read_inputs(Batch& batch) {
  std::vector<tfile::WantedBytes> wanted;
  for (const auto& unit : batch.units) {
    for (const tfile::Locator& input : unit.inputs) {
      if (input.source) wanted.push_back({input.source, input.range});
    }
  }
  batch.memory = read_together(wanted);
  auto read = wanted.begin();
  for (const auto& unit : batch.units) {
    for (const tfile::Locator& input : unit.inputs)
      batch.inputs.push_back(input.source ? std::move((read++)->bytes) : input.embedded);
  }
}

Error with_unit(const tfile::TableCopy& copy, std::size_t unit, Error error) {
  if (is_stopped(error)) return error;
  const tfile::TableCopy::Unit what = copy.unit(unit);
  if (error.offset < 0 && !what.inputs.empty() && what.inputs[0].embedded.empty())
    error.offset = static_cast<std::int64_t>(what.inputs[0].range.begin);
  error.text = copy.name_of_unit(unit) + ", entries " + std::to_string(what.entries.begin) + " to " +
               std::to_string(what.entries.end - 1) + ": " + error.text;
  return error;
}

class UnitPipeline {
 public:
  using Finish = std::function<Result<>(std::size_t unit, Result<Part>)>;
  UnitPipeline(const tfile::TableCopy& copy, const UnitSink& sink, Finish finish)
      : copy_(copy), sink_(sink), finish_(std::move(finish)) {}

  // Tasks use the copy, so that none is left behind.
  ~UnitPipeline() {
    for (auto& read : reading_) read.wait();
    for (Encoding& each : encoding_)
      for (auto& part : each.parts) part.wait();
  }
  UnitPipeline(const UnitPipeline&) = delete;
  UnitPipeline& operator=(const UnitPipeline&) = delete;

  // While a batch is encoded, the next is read, and the one before is written.
  Result<> run() {
    while (next_ < copy_.unit_count() || !reading_.empty()) {
      while (reading_.size() < 2 && next_ < copy_.unit_count()) start_read();
      std::future<Result<BatchPtr>> first = std::move(reading_.front());
      reading_.pop_front();
      TRY(const BatchPtr batch, first.get());
      if (next_ < copy_.unit_count()) start_read();
      start_encoding(batch);
      while (encoding_.size() > 1) TRY_VOID(finish_first());
    }
    while (!encoding_.empty()) TRY_VOID(finish_first());
    return {};
  }

 private:
  struct Encoding {
    BatchPtr batch;
    std::deque<std::future<Result<Part>>> parts;
  };

  void start_read() {
    const std::uint64_t room = std::min(kBatchMax, sink_.memory / kBatchShare);
    auto batch = std::make_shared<Batch>();
    batch->first = next_;
    for (std::uint64_t bytes = 0; next_ < copy_.unit_count(); ++next_) {
      tfile::TableCopy::Unit unit = copy_.unit(next_);
      std::uint64_t stored = 0;
      for (const tfile::Locator& input : unit.inputs) stored += input.range.size;
      bytes += stored + unit.raw_bytes;
      if (bytes > room && !batch->units.empty()) break;
      batch->stored += stored;
      batch->units.push_back(std::move(unit));
    }
    reading_.push_back(started(sink_.reader, Urgency::awaited, [this, batch]() -> Result<BatchPtr> {
      TRY_VOID(not_stopped(sink_.stop));
      read_inputs(*batch);
      return BatchPtr(batch);
    }));
  }

  void start_encoding(const BatchPtr& batch) {
    Encoding& encoding = encoding_.emplace_back();
    encoding.batch = batch;
    std::size_t input = 0;
    for (std::size_t i = 0; i < batch->units.size(); ++i) {
      const std::size_t first = input;
      input += batch->units[i].inputs.size();
      encoding.parts.push_back(started(sink_.coders, Urgency::ahead, [this, batch, i, first, input] {
        return encode(*batch, i, {first, input});
      }));
    }
  }

  struct Inputs {
    std::size_t first = 0, end = 0;
  };
  Result<Part> encode(const Batch& batch, std::size_t unit, Inputs inputs) const {
    std::vector<std::span<const std::byte>> stored;
    for (std::size_t at = inputs.first; at < inputs.end; ++at) {
      TRY(const std::span<const std::byte> bytes, batch.inputs[at]);
      stored.push_back(bytes);
    }
    return copy_.encode(batch.first + unit, stored);
  }

  Result<> finish_first() {
    Encoding& first = encoding_.front();
    std::size_t unit = first.batch->first;
    for (; !first.parts.empty(); ++unit) {
      TRY_VOID(not_stopped(sink_.stop));
      Result<Part> part = first.parts.front().get();
      first.parts.pop_front();
      if (!part) part = tl::unexpected(with_unit(copy_, unit, std::move(part).error()));
      TRY_VOID(finish_(unit, std::move(part)));
    }
    if (sink_.done) sink_.done(first.batch->stored);
    encoding_.pop_front();
    return {};
  }

  const tfile::TableCopy& copy_;
  const UnitSink& sink_;
  const Finish finish_;
  std::size_t next_ = 0;
  std::deque<std::future<Result<BatchPtr>>> reading_;
  std::deque<Encoding> encoding_;
};

}  // namespace

Result<std::uint64_t> copy_units(tfile::TableCopy& copy, const UnitSink& sink) {
  std::uint64_t written = 0;
  UnitPipeline pipeline(copy, sink, [&](std::size_t unit, Result<Part> part) -> Result<> {
    if (!part) return tl::unexpected(std::move(part).error());
    const std::uint64_t address = sink.places.place(part->stored.size());
    if (auto added = copy.add_unit(unit, *part, address); !added)
      return tl::unexpected(with_unit(copy, unit, std::move(added).error()));
    written += part->stored.size();
    return sink.file->write(address, std::move(part->stored));
  });
  TRY_VOID(pipeline.run());
  return written;
}

Result<> try_units(tfile::TableCopy& copy, const UnitSink& sink,
                   const std::function<void(tfile::EntryRange, const Error&)>& damaged) {
  UnitPipeline pipeline(copy, sink, [&](std::size_t unit, const Result<Part>& part) -> Result<> {
    if (part) return {};
    if (is_stopped(part.error())) return tl::unexpected(part.error());
    damaged(copy.unit(unit).entries, part.error());
    return {};
  });
  return pipeline.run();
}

}  // namespace tfilefs
