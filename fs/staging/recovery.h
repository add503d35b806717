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

// Replays the records into the tree below `root`: what is left to be committed of them. `last_took_place`: of the last
// intention, as mend_head found. `file`: as committed, null where there is none. `new_bytes` makes the store of a
// staged file. Errors: damaged (records that contradict each other).
Result<RestoredTree> restore_tree(
    const NodePtr& root, const std::vector<JournalRecord>&, bool last_took_place, const tfile::File* file,
    const std::function<std::shared_ptr<StagedBytes>(std::uint64_t id, std::uint64_t base)>& new_bytes);

// What the file has at a path of shown names.
enum class CommittedKind : std::uint8_t { nothing, directory, table, other };
CommittedKind committed_kind(const tfile::File&, std::string_view path);

// Looks whether the last commit that was intended took place, finishes it if the head was the last that it wrote, and
// writes that again if it was torn inside its sector when the machine died. Errors: stale (another program has written
// the file), io.
struct Mended {
  bool was_torn = false;
  bool last_took_place = false;
};
Result<Mended> mend_head(const FilePlace&, const std::vector<JournalRecord>&);

}  // namespace tfilefs
