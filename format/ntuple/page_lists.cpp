// SPDX-License-Identifier: Apache-2.0
#include "ntuple/page_lists.h"

#include "ntuple/blob_source.h"

namespace tfile {

Result<PageTable> read_page_lists(const Source& source, const Description& found, const FieldNodes& made) {
  PageTableBuilder builder(made.places, made.encodings.size());
  for (const ClusterGroup& group : found.footer.groups) {
    auto bytes = read_envelope_bytes(source, group.page_list);
    if (!bytes && is_of_storage(bytes.error())) return tl::unexpected<Error>(bytes.error());
    const Result<> added = bytes ? builder.add_group(bytes->span(), found.header.checksum, group)
                                 : Result<>(tl::unexpected<Error>(bytes.error()));
    if (!added) builder.add_lost_group(group, added.error().text);
  }
  return builder.finish(made.per_entry);
}

}  // namespace tfile
