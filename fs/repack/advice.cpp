// SPDX-License-Identifier: Apache-2.0
#include "repack/advice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include "repack/file_keys.h"
#include "repack/repack.h"
#include "root_file.h"

namespace tfilefs {

using tfile::StreamId;

namespace {

constexpr std::uint64_t kMemory = 256 << 20;
constexpr std::size_t kFew = 5;

// fKeylen lies at that place of a record, and has two bytes.
constexpr std::size_t kKeylenAt = 4 + 2 + 4 + 4;
// From so many streams the share of keys is taken.
constexpr std::size_t kKeysSampled = 32;

// With more chunks than this for each stream and cluster, or smaller ones, new clusters pay.
constexpr double kChunksEachMax = 4, kChunkBytesMin = 4000;
// An RNTuple of less than this share of the size is worth being named.
constexpr double kNtupleShare = 0.9;

struct PlacedChunk {
  std::int64_t entry = 0;
  StreamId stream = 0;
  std::uint64_t begin = 0, end = 0;
};

// The stored chunks of these streams, in the order in which a reader of entries wants them.
std::vector<PlacedChunk> chunks_of(const tfile::Table& table, std::span<const StreamId> streams) {
  std::vector<PlacedChunk> chunks;
  for (const StreamId stream : streams) {
    const auto count = static_cast<std::uint32_t>(table.chunk_count(stream));
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto at = table.locate({stream, i});
      if (!at || at->source == nullptr || at->range.size == 0) continue;
      chunks.push_back({table.chunk_entries({stream, i}).begin, stream, at->range.begin, at->range.end()});
    }
  }
  std::ranges::sort(chunks, {}, [](const PlacedChunk& c) { return std::tuple(c.entry, c.stream, c.begin); });
  return chunks;
}

std::size_t steps_back(std::span<const PlacedChunk> chunks) {
  std::size_t steps = 0;
  for (std::size_t i = 1; i < chunks.size(); ++i) steps += chunks[i].begin < chunks[i - 1].end ? 1 : 0;
  return steps;
}

std::string usual_codec(const tfile::Table& table) {
  std::map<std::string, std::uint64_t> bytes;
  for (const tfile::Column& column : table.columns)
    bytes[column.compression] += 1 + table.shape(column.stream).stored_bytes;
  const auto most = std::ranges::max_element(bytes, {}, [](const auto& each) { return each.second; });
  return most == bytes.end() || most->first.empty() ? "none" : most->first;
}

// The bytes of keys of baskets, as a share of all; from the first basket of some branches.
std::optional<double> share_of_keys(const tfile::Table& table) {
  double keys = 0, all = 0;
  const std::size_t step = std::max<std::size_t>(1, table.stream_count() / kKeysSampled);
  for (std::size_t i = 0; i < table.stream_count(); i += step) {
    const auto stream = static_cast<StreamId>(i);
    if (table.chunk_count(stream) == 0) continue;
    const auto at = table.locate({stream, 0});
    if (!at || at->source == nullptr || at->range.size < kKeylenAt + 2) continue;
    std::array<std::byte, 2> keylen{};
    if (!tfile::read_range(*at->source, {at->range.begin + kKeylenAt, keylen.size()}, keylen)) continue;
    const double each = std::to_integer<int>(keylen[0]) * 256 + std::to_integer<int>(keylen[1]);
    keys += each * static_cast<double>(table.chunk_count(stream));
    all += static_cast<double>(table.shape(stream).stored_bytes);
  }
  return all > 0 ? std::optional(keys / all) : std::nullopt;
}

// Options for `tfilefs repack`; nothing, if it would bring nothing.
std::optional<std::string> command_for(const TableAdvice& told) {
  std::string options;
  const bool scattered =
      told.chunks > 0 && (told.chunks_each() > kChunksEachMax ||
                          static_cast<double>(told.stored) / static_cast<double>(told.chunks) < kChunkBytesMin);
  const bool is_large = told.stored > (1 << 20);  // less is read at once, however it lies
  if (scattered && is_large) options += " --cluster 30M";
  if (told.codec.starts_with("zlib") || told.codec.starts_with("lzma")) options += " --compression zstd:5";
  const bool shrinks =
      told.as_ntuple && static_cast<double>(*told.as_ntuple) < kNtupleShare * static_cast<double>(told.stored);
  if (shrinks && told.kind != "rntuple") options += " --format rntuple";
  const bool is_in_order = told.steps_back <= told.clusters * told.streams / 10 + told.clusters;
  if (options.empty() && is_in_order) return std::nullopt;
  return options;
}

// Whether the error tells nothing of the table: another look, with more of what the machine has, may succeed.
bool is_of_machine(const Error& error) {
  return error.kind != tfile::ErrorKind::damaged && error.kind != tfile::ErrorKind::unsupported &&
         error.kind != tfile::ErrorKind::invalid;
}

class Adviser {
 public:
  Adviser(std::string source, const tfile::RemoteOptions& remote, unsigned threads)
      : source_(std::move(source)), remote_(remote), threads_(threads) {}

  Result<std::vector<TableAdvice>> run() {
    TRY(const auto file, open_root_file(source_, remote_));
    TRY(const FileKeys keys, keys_in(*file));
    std::vector<TableAdvice> all;
    for (const KeyPlace& place : keys.tables) {
      auto reply = look(*file, place);
      if (!reply && is_of_machine(reply.error())) return tl::unexpected(reply.error());
      TableAdvice advice;
      if (!reply) advice.reason = reply.error().text;
      if (reply) advice = *std::move(reply);
      advice.path = place.path();
      all.push_back(std::move(advice));
    }
    return all;
  }

 private:
  Result<TableAdvice> look(const tfile::File& file, const KeyPlace& place) {
    TRY(auto table, file.table(place.info()));
    if (!table->is_resolved()) {
      TRY(table, table->resolve_all());
    }
    TableAdvice told;
    told.kind = table->kind;
    told.entries = table->entries;
    told.reason = table->reason;
    if (!told.reason.empty()) return told;
    std::vector<StreamId> streams;
    for (StreamId i = 0; i < table->stream_count(); ++i) {
      if (table->shape(i).stored_bytes > 0) streams.push_back(i);
    }
    const std::vector<PlacedChunk> chunks = chunks_of(*table, streams);
    told.streams = streams.size();
    told.clusters = std::max<std::size_t>(table->clusters.size(), 2) - 1;
    told.chunks = chunks.size();
    for (const PlacedChunk& chunk : chunks) told.stored += chunk.end - chunk.begin;
    told.steps_back = steps_back(chunks);
    told.steps_back_of_five = steps_back(chunks_of(*table, few_of(streams)));
    told.codec = usual_codec(*table);
    if (place.info().format == tfile::TableFormat::tree) told.keys = share_of_keys(*table);
    TRY(told.as_ntuple, size_as_ntuple(place));
    told.command = command_for(told);
    return told;
  }

  static std::vector<StreamId> few_of(const std::vector<StreamId>& streams) {
    std::vector<StreamId> few;
    for (std::size_t i = 0; i < std::min(kFew, streams.size()); ++i)
      few.push_back(streams[i * streams.size() / std::min(kFew, streams.size())]);
    return few;
  }

  // By a dry run, which encodes samples. Nothing: not all of the table can be written.
  Result<std::optional<std::uint64_t>> size_as_ntuple(const KeyPlace& place) const {
    RepackOptions options;
    options.sources = {source_ + ":" + place.path()};
    options.out = "rntuple.root";
    options.format = tfile::TableFormat::rntuple;
    options.threads = threads_;
    options.memory = kMemory;
    options.is_dry = true;
    options.remote = remote_;
    const auto report = repack(options, {});
    if (!report && is_of_machine(report.error())) return tl::unexpected(report.error());
    if (!report || report->tables.empty() || !report->left_out.empty()) return std::nullopt;
    return report->tables[0].bytes;
  }

  const std::string source_;
  const tfile::RemoteOptions& remote_;
  const unsigned threads_;
};

}  // namespace

double TableAdvice::chunks_each() const {
  return static_cast<double>(chunks) / std::max(1.0, static_cast<double>(clusters) * static_cast<double>(streams));
}

Result<std::vector<TableAdvice>> advise(const std::string& source, const tfile::RemoteOptions& remote,
                                        unsigned threads) {
  return Adviser(source, remote, threads).run();
}

}  // namespace tfilefs
