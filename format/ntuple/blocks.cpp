// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "ntuple/blob_source.h"
#include "ntuple/description.h"
#include "ntuple/field_nodes.h"
#include "ntuple/ntuple_table.h"
#include "ntuple/page_lists.h"

namespace tfile {
namespace {

class BlockWalk {
 public:
  BlockWalk(const Source& file, std::uint64_t max_key_size, const std::function<void(const NtupleBlock&)>& see)
      : file_(file), max_key_size_(max_key_size), see_(see) {}

  // If the parts of a block cannot be found, reports only its beginning.
  Result<> tell(ByteRange range, bool is_page, std::string_view holds) const {
    const auto parts = parts_of_block(file_, range, max_key_size_);
    if (!parts && is_of_storage(parts.error())) return tl::unexpected<Error>(parts.error());
    if (!parts) see_({range, is_page, holds});
    for (std::size_t i = 0; parts && i < parts->size(); ++i) see_({(*parts)[i], is_page, holds});
    return {};
  }
  Result<> tell(const EnvelopeLink& link, std::string_view holds) const {
    return link.locator.is_known ? tell(link.locator.range, false, holds) : Result<>();
  }

 private:
  const Source& file_;
  const std::uint64_t max_key_size_;
  const std::function<void(const NtupleBlock&)>& see_;
};

// The qualified names of the fields to which the columns belong.
std::vector<std::string> names_of_columns(const SchemaRecords& schema, const FieldNodes& made) {
  std::vector<std::string> names(made.encodings.size());
  for (ColumnNumber number = 0; number < schema.columns.size(); ++number) {
    std::string& name = names[made.places[number].column];
    if (name.empty()) name = path_of_field(schema, schema.columns[number].field);
  }
  return names;
}

Result<> tell_page_lists(const BlockWalk& walk, const FooterRecords& footer) {
  std::uint64_t cluster = 0;
  for (const ClusterGroup& group : footer.groups) {
    const std::string first = std::to_string(cluster);
    cluster += group.clusters;
    TRY_VOID(walk.tell(group.page_list, "page list of clusters " + first + " to " + std::to_string(cluster - 1)));
  }
  return {};
}

}  // namespace

Result<> each_block(std::shared_ptr<const Source> source, std::span<const std::byte> payload,
                    const std::function<void(const NtupleBlock&)>& see) {
  const auto anchor = read_anchor(payload);
  if (!anchor) return {};
  const BlockWalk walk(*source, anchor->max_key_size, see);
  TRY_VOID(walk.tell(anchor->header, "header"));
  TRY_VOID(walk.tell(anchor->footer, "footer"));
  const auto metadata = source_of_blobs(source, anchor->max_key_size);
  const auto found = read_description(*metadata, *anchor);
  if (!found) return is_of_storage(found.error()) ? Result<>(tl::unexpected<Error>(found.error())) : Result<>();
  TRY_VOID(tell_page_lists(walk, found->footer));
  const FieldNodes made = make_field_nodes(found->schema);
  const auto pages = read_page_lists(source, anchor->max_key_size, *found, made);
  if (!pages) return is_of_storage(pages.error()) ? Result<>(tl::unexpected<Error>(pages.error())) : Result<>();
  const std::vector<std::string> names = names_of_columns(found->schema, made);
  for (PageColumn column = 0; column < names.size(); ++column) {
    for (std::size_t index = 0; index < pages->columns[column].size(); ++index) {
      const Page page = pages->columns[column].page(index);
      if (page.kind == Page::Kind::stored) TRY_VOID(walk.tell(page.range, true, names[column]));
    }
  }
  return {};
}

}  // namespace tfile
