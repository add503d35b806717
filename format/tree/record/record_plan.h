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

// How the members of one version of a class lie in a tree's record, and which of them are kept. Compiled once per class
// and version from its StreamerInfo, then run for each of thousands of branches.

// The members that are kept. Those of a branch, a leaf and a tree never mix, so names they share stand once.
enum class RecordField : std::uint8_t {
  none,
  // Trees.
  auto_flush,
  cluster_range_end,
  cluster_size,
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

// Which record a class (with its bases) belongs to.
enum class RecordKind : std::uint8_t { other, tree, branch, leaf };

// Arrays of a class are as long as one of this many members of it says at most (real classes have one).
inline constexpr std::size_t kRecordCountersMax = 4;

struct RecordStep {
  enum class Kind : std::uint8_t {
    skip,    // `bytes`
    number,  // of element type `type`, kept
    count,   // likewise, and the length of arrays that name it (`slot`)
    string,  // kept if there is a field
    tobject,
    tnamed,    // kept
    base,      // frame and members of `class_name`, of the same object
    features,  // ROOT::TIOFeatures
    object,    // frame and members in place, skipped
    tobjarray,
    tarray,  // TArrayX in place, of `dtype`
    pointer,
    numbers,  // flag, then as many as `slot` says of `type`
    stop,     // what follows cannot be read; the frame leads over it
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
  std::size_t useful = 0;  // steps behind this one keep nothing
};

class RecordPlans {
 public:
  explicit RecordPlans(const StreamerInfos& infos) : infos_(infos) {}

  // The plan of that version (`checksum`: instead of version 0), or nullptr if nobody describes it. Lives as long as
  // this object.
  const RecordPlan* find(std::string_view class_name, std::uint16_t version, std::uint32_t checksum);

  // By name, or by its bases.
  RecordKind kind_of(std::string_view class_name);

 private:
  RecordKind kind_by_bases(std::string_view class_name, int depth) const;

  const StreamerInfos& infos_;
  std::map<std::pair<std::string, std::uint32_t>, std::unique_ptr<RecordPlan>, std::less<>> plans_;
  std::map<std::string, RecordKind, std::less<>> kinds_;
};

}  // namespace tfile
