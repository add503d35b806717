// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "streamer/info/streamer_info.h"
#include "tfile/result.h"
#include "tfile/table.h"

namespace tfile {

using BranchIndex = std::uint32_t;
using LeafIndex = std::uint32_t;

// A TLeaf of any class; `class_name` is "TLeafF", "TLeafElement", ...
struct LeafRecord {
  std::string class_name, name, title;
  BranchIndex branch = 0;  // the branch of the leaf
  std::int32_t len = 1, len_type = 0, offset = 0;
  bool is_range = false, is_unsigned = false;
  std::optional<LeafIndex> count;                   // fLeafCount
  std::int32_t element_id = -1, element_type = -1;  // TLeafElement: fID, fType
};

// A basket inside the tree's own record: its data as in a basket's payload after the key, and its entry offsets
// relative to the data (n + 1 of them; none for entries of one size).
struct EmbeddedBasket {
  std::uint32_t index = 0;      // number of the basket in the branch
  std::int32_t entries = 0;     // fNevBuf
  std::int32_t entry_size = 0;  // fNevBufSize, if there are no offsets
  std::uint32_t keylen = 0;
  std::vector<std::byte> data;
  std::vector<std::int32_t> offsets;
  bool generated_offsets = false;  // no offsets: lengths come from the counter leaf
};

// The address and size of each basket on disk, and the entry boundaries. Branches with equal boundaries share them.
struct BasketTable {
  std::vector<std::uint64_t> seek;    // 0: embedded or lost
  std::vector<std::uint32_t> nbytes;  // according to the branch; the record's own key takes precedence
  std::shared_ptr<const std::vector<std::int64_t>> entry;  // size baskets + 1; the last is the branch's fEntryNumber
};

// All that is needed to read a branch's baskets, and all that is kept of it once the nodes of the table are known.
struct BranchStorage {
  std::string name;
  std::string file_name;  // fFileName: the file that has the baskets; empty: this file
  std::int64_t tot_bytes = 0, zip_bytes = 0;
  std::int32_t entry_offset_len = 0;
  std::uint8_t io_bits = 0;  // TIOFeatures::fIOBits
  BasketTable baskets;       // on disk and embedded, in entry order
  std::vector<EmbeddedBasket> embedded;
};

// A TBranch of any class.
struct BranchRecord : BranchStorage {
  std::string class_name, title;  // class_name: "TBranch", "TBranchElement", "TBranchObject", "TBranchClones"...
  std::optional<BranchIndex> parent;
  std::vector<BranchIndex> children;
  std::vector<LeafIndex> leaves;
  std::int32_t compress = 0, basket_size = 0, split_level = 0;
  std::int64_t entries = 0, first_entry = 0;
  // TBranchElement. (TBranchObject: fClassName. TBranchClones: its class is `clones_class`, and the branch of its
  // counts is `count`, which is also the first of `children`.)
  std::string element_class, parent_class, clones_class;
  std::uint32_t checksum = 0;
  std::int32_t class_version = 0, id = -1, type = 0, streamer_type = -1, maximum = 0;
  std::optional<BranchIndex> count, count2;  // fBranchCount, fBranchCount2
};

struct TreeRecord {
  std::string class_name, name, title;  // class_name: "TTree", "TNtuple", "TNtupleD", a class derived from TTree
  std::int64_t entries = 0, tot_bytes = 0, zip_bytes = 0, auto_flush = 0;
  std::vector<std::int64_t> cluster_range_end, cluster_size;
  std::vector<BranchRecord> branches;  // all of them, parents before children, in file order
  std::vector<BranchIndex> top;
  std::vector<LeafRecord> leaves;
  std::vector<FriendName> friends;
  std::vector<TableAlias> aliases;
  bool has_index = false;  // read_entry_index() gives it
  std::vector<std::string> warnings;
};

// Reads the decompressed payload of a key of class TTree (or a derived class), of any version. Object tags count from
// the start of the key, `keylen` bytes before the payload. Errors: damaged, unsupported (an unknown version).
Result<TreeRecord> read_tree(std::span<const std::byte> payload, std::uint32_t keylen, const std::string& class_name,
                             const StreamerInfos& infos);

// The index in the same payload. Errors: not_found (there is none), damaged, unsupported.
Result<EntryIndex> read_entry_index(std::span<const std::byte> payload, std::uint32_t keylen,
                                    const std::string& class_name, const StreamerInfos& infos);

}  // namespace tfile
