// SPDX-License-Identifier: Apache-2.0
#include "ntuple/copy/source_ntuple.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include "container/payload.h"
#include "ntuple/blob_source.h"
#include "ntuple/write/field_removal.h"
#include "ntuple/write/page_list_encode.h"
#include "ntuple/write/part_encode.h"

namespace tfile {
namespace {

constexpr const char* kWhat = "RNTuple page list";

// Header, footer and page lists as readers accept them (ntuple/description.cpp, ntuple/page_lists.cpp).
constexpr SizeClaim kEnvelopeClaim{64 << 20, 1000};

constexpr std::uint64_t kEntriesBits = (std::uint64_t{1} << 56) - 1;  // above them are flags
constexpr std::uint32_t kElementsMax = std::numeric_limits<std::int32_t>::max();

Result<SourcePage> read_page(Cursor& in) {
  const auto claimed = in.little<std::int32_t>(kWhat);
  const BlockLocator locator = take_locator(in, kWhat);
  const std::int64_t elements = std::abs(std::int64_t{claimed});
  if (elements > kElementsMax) in.reject(kWhat);
  if (!locator.is_known && !in.failed())
    return fail(ErrorKind::unsupported, "pages of the RNTuple have an unknown kind of locator");
  return SourcePage{static_cast<std::uint32_t>(elements), claimed < 0, locator.range};
}

Result<SourceColumn> read_column(Cursor& columns) {
  EnvelopeFrame frame = take_list(columns, kWhat);
  SourceColumn column;
  for (std::uint32_t i = 0; i < frame.items && !frame.body.failed(); ++i) {
    TRY(const SourcePage page, read_page(frame.body));
    column.pages.push_back(page);
  }
  column.first_element = frame.body.little<std::int64_t>(kWhat);
  column.is_suppressed = column.first_element < 0;
  if (!column.is_suppressed) column.settings = frame.body.little<std::uint32_t>(kWhat);
  return frame.body.finish(std::move(column));
}

Result<SourceCluster> read_cluster(const ClusterRecord& record) {
  SourceCluster cluster;
  cluster.first_entry = record.first_entry;
  cluster.entries = record.entries;
  if ((record.entries & ~kEntriesBits) != 0)
    return fail(ErrorKind::unsupported, "clusters of the RNTuple have unknown flags");
  Cursor in(record.frames);
  for (std::uint32_t i = 0; i < record.columns && !in.failed(); ++i) {
    TRY(SourceColumn column, read_column(in));
    cluster.columns.push_back(std::move(column));
  }
  return in.finish(std::move(cluster));
}

void note_split_pages(SourceNtuple& found) {
  for (const SourceCluster& cluster : found.clusters) {
    for (const SourceColumn& column : cluster.columns) {
      for (const SourcePage& page : column.pages) {
        const std::uint64_t size = page.range.size + (page.has_checksum ? kChecksumSize : 0);
        if (is_in_parts(size, found.anchor.max_key_size))
          found.split_pages.try_emplace(page.range.begin, source_of_blobs(found.file, found.anchor.max_key_size));
      }
    }
  }
}

Result<> read_clusters(const Source& blobs, SourceNtuple& found, const std::vector<ClusterGroup>& groups) {
  for (const ClusterGroup& group : groups) {
    TRY(const Buffer bytes, read_envelope_bytes(blobs, group.page_list, kEnvelopeClaim));
    TRY(const std::vector<ClusterRecord> records, read_cluster_records(bytes.span()));
    for (const ClusterRecord& record : records) {
      TRY(SourceCluster cluster, read_cluster(record));
      found.clusters.push_back(std::move(cluster));
    }
  }
  std::ranges::stable_sort(found.clusters, {}, &SourceCluster::first_entry);
  std::uint64_t end = 0;
  for (const SourceCluster& cluster : found.clusters) {
    if (cluster.first_entry != end || cluster.entries > kEntriesBits - end)
      return fail(ErrorKind::damaged, "cluster of the RNTuple of " + std::to_string(cluster.entries) +
                                          " entries begins at entry " + std::to_string(cluster.first_entry) +
                                          ", expected " + std::to_string(end));
    end += cluster.entries;
  }
  found.entries = static_cast<std::int64_t>(end);
  return {};
}

}  // namespace

Result<SourceNtuple> read_source_ntuple(const File& file, const KeyInfo& key) {
  SourceNtuple found;
  TRY(const Buffer payload, read_payload(file.source(), key));
  TRY(found.anchor, read_anchor(payload.span()));
  const Anchor& anchor = found.anchor;
  found.file = file.shared_source();
  const auto blobs = source_of_blobs(found.file, anchor.max_key_size);
  TRY(Description description, read_description(*blobs, anchor));
  TRY(const Buffer header, read_envelope_bytes(*blobs, anchor.header, kEnvelopeClaim));
  found.header.assign(header.span().begin(), header.span().end());
  TRY(found.header_lists, lists_of_header(header.span()));
  TRY(const Buffer footer, read_envelope_bytes(*blobs, anchor.footer, kEnvelopeClaim));
  TRY(found.footer, take_apart(footer.span()));
  found.has_attribute_sets = !description.footer.attribute_sets.empty();
  TRY_VOID(read_clusters(*blobs, found, description.footer.groups));
  note_split_pages(found);
  found.schema = std::move(description.schema);
  return found;
}

}  // namespace tfile
