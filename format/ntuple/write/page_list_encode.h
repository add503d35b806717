// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ntuple/schema_records.h"
#include "tfile/range.h"
#include "tfile/result.h"

namespace tfile {

// A page in the file, with its checksum behind it.
struct WrittenPage {
  std::uint32_t elements = 0;
  ByteRange range;  // without the checksum
};

// A cluster as a page list has it. The frames of its columns are kept as bytes, so that those of other writers stay as
// they are.
struct ClusterRecord {
  std::uint64_t first_entry = 0;
  std::uint64_t entries = 0;  // with flags in the highest byte, as stored
  std::uint32_t columns = 0;  // how many have a frame: those with the first numbers
  std::vector<std::byte> frames;

  // Appends the frame of the next column. `first_element`: of the cluster. `settings`: of compression.
  void add_column(std::span<const WrittenPage> pages, std::int64_t first_element, std::uint32_t settings);
  // The same for a column of a representation that the cluster does not use.
  void add_suppressed_column();
};

// The whole envelope of a page list.
std::vector<std::byte> encode_page_list(std::uint64_t header_checksum, std::span<const ClusterRecord> clusters);

// The clusters of a decompressed page list, in its order. Errors: damaged.
Result<std::vector<ClusterRecord>> read_cluster_records(std::span<const std::byte> bytes);

// The frames without those of columns for which `keep` is false.
void keep_columns(ClusterRecord&, const std::vector<bool>& keep);

}  // namespace tfile
