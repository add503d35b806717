// SPDX-License-Identifier: Apache-2.0
#include "ntuple/page_lists.h"

#include "ntuple/blob_source.h"

namespace tfile {
namespace {

// Lists of columns that have no pages compress well.
constexpr SizeClaim kPageListClaim{64 << 20, 1000};

}  // namespace

Result<PageTable> read_page_lists(const Source& source, const Description& found, const FieldNodes& made) {
  PageTableBuilder builder(made.places, made.per_entry);
  for (const ClusterGroup& group : found.footer.groups) {
    auto bytes = read_envelope_bytes(source, group.page_list, kPageListClaim);
    if (!bytes && is_of_storage(bytes.error())) return tl::unexpected<Error>(bytes.error());
    const Result<> added = bytes ? builder.add_group(bytes->span(), found.header.checksum, group)
                                 : Result<>(tl::unexpected<Error>(bytes.error()));
    if (!added) builder.add_lost_group(group, added.error().text);
  }
  return builder.finish();
}

}  // namespace tfile
