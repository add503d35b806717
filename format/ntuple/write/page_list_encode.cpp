// SPDX-License-Identifier: Apache-2.0
#include "ntuple/write/page_list_encode.h"

#include <limits>

#include "ntuple/write/envelope_encode.h"

namespace tfile {
namespace {

constexpr const char* kPageListName = "RNTuple page list";

void add_frame(ClusterRecord& cluster, std::uint32_t pages, std::span<const std::byte> body) {
  EnvelopeAppender frame;
  frame.list(pages, body);
  cluster.frames.insert(cluster.frames.end(), frame.span().begin(), frame.span().end());
  ++cluster.columns;
}

// Takes the next frame of any kind as it is.
std::span<const std::byte> take_whole_list(Cursor& in) {
  const std::size_t begin = in.position();
  take_list(in, kPageListName);
  return in.failed() ? std::span<const std::byte>() : in.bytes().subspan(begin, in.position() - begin);
}

}  // namespace

void ClusterRecord::add_column(std::span<const WrittenPage> pages, std::int64_t first_element, std::uint32_t settings) {
  EnvelopeAppender body;
  for (const WrittenPage& page : pages) {
    body.little(-static_cast<std::int32_t>(page.elements));  // negative: a checksum follows the page
    body.locator(page.range);
  }
  body.little(first_element);
  body.little(settings);
  add_frame(*this, static_cast<std::uint32_t>(pages.size()), body.span());
}

void ClusterRecord::add_suppressed_column() {
  EnvelopeAppender body;
  body.little(std::numeric_limits<std::int64_t>::min());
  add_frame(*this, 0, body.span());
}

std::vector<std::byte> encode_page_list(std::uint64_t header_checksum, std::span<const ClusterRecord> clusters) {
  ListItems summaries;
  EnvelopeAppender locations;
  for (const ClusterRecord& cluster : clusters) {
    EnvelopeAppender summary;
    summary.little(cluster.first_entry);
    summary.little(cluster.entries);
    summaries.add(summary.span());
    locations.list(cluster.columns, cluster.frames);
  }
  EnvelopeAppender out;
  out.little(header_checksum);
  out.list(summaries.count, summaries.bytes);
  out.list(summaries.count, locations.span());
  return closed_envelope(EnvelopeType::page_list, out.span());
}

Result<std::vector<ClusterRecord>> read_cluster_records(std::span<const std::byte> bytes) {
  TRY(Envelope envelope, open_envelope(bytes, EnvelopeType::page_list));
  Cursor& in = envelope.payload;
  in.skip(sizeof(std::uint64_t), kPageListName);  // the header's checksum
  EnvelopeFrame summaries = take_list(in, kPageListName);
  EnvelopeFrame locations = take_list(in, kPageListName);
  if (summaries.items != locations.items) in.reject(kPageListName);
  TRY_VOID(in.finish());
  std::vector<ClusterRecord> clusters;
  for (std::uint32_t i = 0; i < summaries.items; ++i) {
    EnvelopeFrame summary = take_record(summaries.body, kPageListName);
    ClusterRecord& cluster = clusters.emplace_back();
    cluster.first_entry = summary.body.little<std::uint64_t>(kPageListName);
    cluster.entries = summary.body.little<std::uint64_t>(kPageListName);
    EnvelopeFrame columns = take_list(locations.body, kPageListName);
    cluster.columns = columns.items;
    const std::span<const std::byte> frames = columns.body.take(columns.body.size(), kPageListName);
    cluster.frames.assign(frames.begin(), frames.end());
    TRY_VOID(summary.body.finish());
    TRY_VOID(locations.body.finish());
  }
  return clusters;
}

void keep_columns(ClusterRecord& cluster, const std::vector<bool>& keep) {
  const std::vector<std::byte> before = std::move(cluster.frames);
  cluster.frames.clear();
  Cursor in(before);
  const std::uint32_t columns = cluster.columns;
  cluster.columns = 0;
  for (std::uint32_t number = 0; number < columns && !in.failed(); ++number) {
    const std::span<const std::byte> frame = take_whole_list(in);
    if (number >= keep.size() || !keep[number]) continue;
    cluster.frames.insert(cluster.frames.end(), frame.begin(), frame.end());
    ++cluster.columns;
  }
}

}  // namespace tfile
