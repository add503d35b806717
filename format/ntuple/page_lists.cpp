// SPDX-License-Identifier: Apache-2.0
#include "ntuple/page_lists.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ntuple/blob_source.h"
#include "tfile/read_together.h"

namespace tfile {
namespace {

// Lists of columns without pages compress well.
constexpr SizeClaim kPageListClaim{64 << 20, 1000};

// When page lists of this stored size were read, they are added to the table before more are read. The list of a group
// with 9,700 columns and 50 clusters has 2 MB.
constexpr std::uint64_t kTogether = 8 << 20;

std::size_t count_together(std::span<const ClusterGroup> groups) {
  std::size_t count = 0;
  for (std::uint64_t bytes = 0; count < groups.size() && bytes < kTogether; ++count)
    bytes += std::min(groups[count].page_list.locator.range.size, kTogether);
  return count;
}

class PageListReader {
 public:
  PageListReader(std::shared_ptr<const Source> file, std::uint64_t max_key_size)
      : file_(std::move(file)), max_key_size_(max_key_size) {}

  // Reads the lists of some groups, in one call if possible. They are valid as long as this object.
  std::vector<WantedBytes> read(std::span<const ClusterGroup> groups) {
    std::vector<WantedBytes> lists;
    for (const ClusterGroup& group : groups) lists.push_back(wanted(group.page_list));
    memory_ = read_together(lists);
    return lists;
  }

 private:
  WantedBytes wanted(const EnvelopeLink& link) {
    WantedBytes list;
    list.source = file_.get();
    if (const Result<> checked = check_envelope(*file_, link, kPageListClaim); !checked) {
      list.bytes = tl::unexpected<Error>(checked.error());
      return list;
    }
    list.range = link.locator.range;
    if (is_in_parts(list.range.size, max_key_size_))
      list.source = in_parts_.emplace_back(source_of_blobs(file_, max_key_size_)).get();
    return list;
  }

  const std::shared_ptr<const Source> file_;
  const std::uint64_t max_key_size_;
  std::vector<std::shared_ptr<const Source>> in_parts_;  // one per list
  std::vector<Buffer> memory_;
};

Result<> add_page_list(PageTableBuilder& builder, const WantedBytes& stored, const ClusterGroup& group,
                       std::uint64_t header_checksum) {
  TRY(const std::span<const std::byte> bytes, stored.bytes);
  TRY(const Buffer page_list, decompress(bytes, group.page_list.length));
  return builder.add_group(page_list.span(), header_checksum, group);
}

}  // namespace

Result<PageTable> read_page_lists(std::shared_ptr<const Source> file, std::uint64_t max_key_size,
                                  const Description& found, const FieldNodes& made) {
  PageTableBuilder builder(made.places, made.per_entry);
  PageListReader reader(std::move(file), max_key_size);
  std::span<const ClusterGroup> groups = found.footer.groups;
  for (std::size_t count; !groups.empty(); groups = groups.subspan(count)) {
    count = count_together(groups);
    const std::vector<WantedBytes> lists = reader.read(groups.first(count));
    for (std::size_t i = 0; i < count; ++i) {
      if (!lists[i].bytes && is_of_storage(lists[i].bytes.error()))
        return tl::unexpected<Error>(lists[i].bytes.error());
      const Result<> added = add_page_list(builder, lists[i], groups[i], found.header.checksum);
      if (!added) builder.add_lost_group(groups[i], added.error().text);
    }
  }
  return builder.finish();
}

}  // namespace tfile
