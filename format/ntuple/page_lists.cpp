// SPDX-License-Identifier: Apache-2.0
#include "ntuple/page_lists.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ntuple/blob_source.h"

namespace tfile {
namespace {

// Lists of columns that have no pages compress well.
constexpr SizeClaim kPageListClaim{64 << 20, 1000};

// Bytes of page lists as they are stored that are read together. The list of one group, of 9,700 columns and 50
// clusters, has 2 MB.
constexpr std::uint64_t kTogether = 8 << 20;

// So many links, at least one, are read in one call.
std::size_t count_together(std::span<const EnvelopeLink> links, const SourceTraits& traits) {
  const std::uint64_t bytes_max = std::min(kTogether, traits.request_max);
  std::size_t count = 0;
  for (std::uint64_t bytes = 0; count < std::min(links.size(), traits.ranges_max); ++count) {
    const std::uint64_t more = links[count].locator.range.size;
    if (count > 0 && more > bytes_max - std::min(bytes, bytes_max)) break;
    bytes += std::min(more, bytes_max);
  }
  return std::max<std::size_t>(count, 1);
}

Result<> add_page_list(PageTableBuilder& builder, Result<Buffer> stored, const ClusterGroup& group,
                       std::uint64_t header_checksum) {
  TRY(Buffer bytes, std::move(stored));
  TRY(const Buffer page_list, unpack_envelope(std::move(bytes), group.page_list));
  return builder.add_group(page_list.span(), header_checksum, group);
}

}  // namespace

Result<PageTable> read_page_lists(const Source& source, const Description& found, const FieldNodes& made) {
  PageTableBuilder builder(made.places, made.per_entry);
  std::span<const ClusterGroup> groups = found.footer.groups;
  std::vector<EnvelopeLink> links;
  for (const ClusterGroup& group : groups) links.push_back(group.page_list);
  for (std::size_t begin = 0, count; begin < groups.size(); begin += count) {
    count = count_together(std::span(links).subspan(begin), source.traits());
    auto stored = read_stored(source, std::span(links).subspan(begin, count), kPageListClaim);
    for (std::size_t i = 0; i < count; ++i) {
      const ClusterGroup& group = groups[begin + i];
      if (!stored[i] && is_of_storage(stored[i].error())) return tl::unexpected<Error>(stored[i].error());
      const Result<> added = add_page_list(builder, std::move(stored[i]), group, found.header.checksum);
      if (!added) builder.add_lost_group(group, added.error().text);
    }
  }
  return builder.finish();
}

}  // namespace tfile
