// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tfile/source.h"
#include "tree/record/record_outline.h"
#include "tree/record/tree_record.h"
#include "tree/write/branch_form.h"
#include "tree/write/branch_record.h"

namespace tfile {

// A branch of the file that entries can be appended to.
struct CommittedBranch {
  WrittenBranch form;
  BranchBaskets baskets;  // those in the file
};

// A tree that is in a file, as far as writing needs it.
struct CommittedTree {
  std::vector<std::byte> payload;
  RecordOutline outline;  // of it; its views are into `payload`
  TreeRecord record;
  CommittedForm form;
  std::vector<CommittedBranch> branches;  // as form.fields, in the order of outline.top
};

// `source`: where the baskets lie, for a look at the keys of those that entries are appended to. Blocks. Errors:
// damaged, unsupported (as outline_record), io.
Result<CommittedTree> read_committed_tree(std::span<const std::byte> payload, std::uint32_t keylen,
                                          const std::string& class_name, const StreamerInfos& infos,
                                          const std::string& tree_name, const Source& source);

}  // namespace tfile
