// SPDX-License-Identifier: Apache-2.0
#include "repack/unit_copy.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exec/ordered_jobs.h"
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
  if (is_cancelled(error)) return error;
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
  UnitPipeline(const tfile::TableCopy& copy, const TableWork& work, Finish finish)
      : copy_(copy), work_(work), finish_(std::move(finish)) {}

  // While a batch is encoded, the next are read, and the one before is written.
  Result<> run() {
    start_read();
    start_read();
    TRY_VOID(reading_.take_down_to(0));
    return encoding_.take_down_to(0);
  }

 private:
  void start_read() {
    if (next_ == copy_.unit_count()) return;
    const std::uint64_t room = std::min(kBatchMax, work_.options.memory / kBatchShare);
    auto batch = std::make_shared<Batch>();
    batch->first = next_;
    for (std::uint64_t bytes = 0; next_ < copy_.unit_count(); ++next_) {
      tfile::TableCopy::Unit unit = copy_.unit(next_);
      bytes += stored_bytes(unit) + unit.raw_bytes;
      if (bytes > room && !batch->units.empty()) break;
      batch->units.push_back(std::move(unit));
    }
    reading_.start(work_.reader, Urgency::awaited, [this, batch]() -> Result<BatchPtr> {
      TRY_VOID(not_stopped(work_.stop));
      read_inputs(*batch);
      return BatchPtr(batch);
    });
  }

  Result<> start_encoding(const BatchPtr& batch) {
    start_read();
    std::size_t input = 0;
    for (std::size_t i = 0; i < batch->units.size(); ++i) {
      const std::size_t first = input;
      input += batch->units[i].inputs.size();
      encoding_.start(work_.coders, Urgency::ahead, [this, batch, i, first, input] {
        return encode(*batch, i, {first, input});
      });
    }
    return encoding_.take_down_to(batch->units.size());
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

  Result<> take(Result<Part> part) {
    TRY_VOID(not_stopped(work_.stop));
    const std::size_t unit = taken_++;
    if (!part) part = tl::unexpected(with_unit(copy_, unit, std::move(part).error()));
    return finish_(unit, std::move(part));
  }

  const tfile::TableCopy& copy_;
  const TableWork& work_;
  const Finish finish_;
  std::size_t next_ = 0, taken_ = 0;  // units: to be read, and written
  OrderedJobs<Part> encoding_{[this](Result<Part> part) { return take(std::move(part)); }};
  OrderedJobs<BatchPtr> reading_{[this](Result<BatchPtr> read) -> Result<> {
    TRY(const BatchPtr batch, std::move(read));
    return start_encoding(batch);
  }};
};

}  // namespace

std::uint64_t stored_bytes(const tfile::TableCopy::Unit& unit) {
  std::uint64_t bytes = 0;
  for (const tfile::Locator& input : unit.inputs) bytes += input.range.size;
  return bytes;
}

Result<std::uint64_t> copy_units(tfile::TableCopy& copy, const TableWork& work,
                                 const std::function<void(std::uint64_t)>& done) {
  std::uint64_t written = 0;
  UnitPipeline pipeline(copy, work, [&](std::size_t unit, Result<Part> part) -> Result<> {
    if (!part) return tl::unexpected(std::move(part).error());
    const std::uint64_t address = work.writer.place(part->stored.size());
    if (auto added = copy.add_unit(unit, *part, address); !added)
      return tl::unexpected(with_unit(copy, unit, std::move(added).error()));
    written += part->stored.size();
    done(stored_bytes(copy.unit(unit)));
    return work.writes()->write(address, std::move(part->stored));
  });
  TRY_VOID(pipeline.run());
  return written;
}

Result<> try_units(tfile::TableCopy& copy, const TableWork& work,
                   const std::function<void(tfile::EntryRange, const Error&)>& damaged) {
  UnitPipeline pipeline(copy, work, [&](std::size_t unit, const Result<Part>& part) -> Result<> {
    if (part) return {};
    if (is_cancelled(part.error())) return tl::unexpected(part.error());
    damaged(copy.unit(unit).entries, part.error());
    return {};
  });
  return pipeline.run();
}

}  // namespace tfilefs
