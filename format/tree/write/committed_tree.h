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

// A branch in the file to which entries can be appended.
struct CommittedBranch {
  WrittenBranch form;
  BranchBaskets baskets;  // those in the file
};

// A tree in a file, as far as writing needs it.
struct CommittedTree {
  std::vector<std::byte> payload;
  RecordOutline outline;  // of `payload`, into which its views point
  TreeRecord record;
  CommittedForm form;
  std::vector<CommittedBranch> branches;  // one for each of form.fields, in the order of outline.top
};

// `source`: the file, to look at keys of baskets of branches to which entries can be appended. Blocks. Errors: damaged,
// unsupported (as for outline_record), io.
Result<CommittedTree> read_committed_tree(std::span<const std::byte> payload, std::uint32_t keylen,
                                          const std::string& class_name, const StreamerInfos& infos,
                                          const std::string& tree_name, const Source& source);

}  // namespace tfile
