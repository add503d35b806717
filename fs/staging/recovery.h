// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "staging/file_place.h"
#include "staging/journal.h"
#include "staging/staged_tree.h"
#include "tfile/file.h"

namespace tfilefs {

// What a journal's records make of an empty tree.
struct RestoredTree {
  std::uint64_t last_id = 0;
  bool makes_file = false;  // the file itself was made by its name
};

// Replays the records into the tree below `root`. `file`: as committed, null where there is none. `new_bytes` makes the
// store of a staged file. Errors: damaged (records that contradict each other).
Result<RestoredTree> restore_tree(const NodePtr& root, const std::vector<JournalRecord>&, const tfile::File* file,
                                  const std::function<std::shared_ptr<StagedBytes>(std::uint64_t id, std::uint64_t base)>& new_bytes);

// What the file has at a path of shown names.
enum class CommittedKind : std::uint8_t { nothing, directory, table, other };
CommittedKind committed_kind(const tfile::File&, std::string_view path);

// The record by which a commit that begins says what the first bytes of the file are, and what they will be.
JournalRecord intention(std::span<const std::byte> before, std::span<const std::byte> after);

// Writes the head again that was torn inside its sector when the machine died, as the last intention has it. Gives
// whether it was. Errors: stale (another program has written the file), damaged, io.
Result<bool> mend_head(const FilePlace&, const JournalRecord& intention);

}  // namespace tfilefs
