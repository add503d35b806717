// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "streamer/info/basic_type.h"
#include "streamer/info/own_class.h"
#include "streamer/info/streamer_info.h"

namespace tfile {

// The layout of one version of a class in a tree's record, and which of its members are kept. Compiled once per class
// and version from the StreamerInfo, then run for each of thousands of branches.

// The members that are kept. Branches, leaves and trees never mix, so members with a common name occur once.
enum class RecordField : std::uint8_t {
  none,
  // Trees.
  auto_flush,
  cluster_range_end,
  cluster_size,
  tree_index,
  friends,
  aliases,
  branch_ref,
  // Trees and branches.
  entries,
  tot_bytes,
  zip_bytes,
  branches,
  leaves,
  // Branches.
  compress,
  basket_size,
  entry_offset_len,
  write_basket,
  entry_number,
  io_features,
  max_baskets,
  split_level,
  first_entry,
  baskets,
  basket_bytes,
  basket_entry,
  basket_seek,
  file_name,
  class_name,
  parent_name,
  clones_name,
  checksum,
  class_version,
  maximum,
  branch_count,
  branch_count2,
  streamer_type,
  // Branches and leaves.
  id,
  type,
  // Leaves.
  len,
  len_type,
  offset,
  is_range,
  is_unsigned,
  leaf_count,
};

// The kind of record to which a class (or one of its bases) belongs.
enum class RecordKind : std::uint8_t { other, tree, branch, leaf };

// The most members of one class that give the sizes of its arrays. Real classes have one.
inline constexpr std::size_t kRecordCountersMax = 4;

struct RecordStep {
  enum class Kind : std::uint8_t {
    skip,    // `bytes`
    number,  // of element type `type`, kept
    count,   // likewise, and the length of arrays that refer to it (`slot`)
    string,  // kept if there is a field
    tobject,
    tnamed,    // kept
    base,      // frame and members of `class_name`, of the same object
    features,  // ROOT::TIOFeatures
    object,    // frame and members in place, skipped
    tobjarray,
    tarray,  // TArrayX in place, of `dtype`
    pointer,
    numbers,  // flag, then as many numbers of `type` as `slot` says
    stop,     // the rest cannot be read; the frame gives its end
  };
  Kind kind = Kind::stop;
  RecordField field = RecordField::none;
  std::uint8_t type = 0;
  std::uint8_t slot = 0;
  std::uint32_t bytes = 0;
  Dtype dtype = Dtype::u1;
  std::string class_name;
};

struct RecordPlan {
  RecordKind kind = RecordKind::other;
  std::vector<RecordStep> steps;
  std::size_t useful = 0;  // steps after this one keep nothing
};

class RecordPlans {
 public:
  explicit RecordPlans(const StreamerInfos& infos) : infos_(infos) {}

  // The plan of that version (`checksum` replaces version 0), or nullptr if the class is not described. Valid as long
  // as this object exists.
  const RecordPlan* find(std::string_view class_name, std::uint16_t version, std::uint32_t checksum);

  // According to the name, or the bases.
  RecordKind kind_of(std::string_view class_name);

 private:
  RecordKind kind_by_bases(std::string_view class_name, int depth) const;

  const StreamerInfos& infos_;
  std::map<std::pair<std::string, std::uint32_t>, std::unique_ptr<RecordPlan>, std::less<>> plans_;
  std::map<std::string, RecordKind, std::less<>> kinds_;
};

}  // namespace tfile
