// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "staging/journal/file_place.h"
#include "staging/journal/journal.h"
#include "staging/overlay/staged_tree.h"
#include "tfile/file.h"

namespace tfilefs {

// What a journal's records make of an empty tree.
struct RestoredTree {
  std::uint64_t last_id = 0;
  bool makes_file = false;  // the file itself was made by its name
  std::optional<std::vector<std::byte>>
      head;  // with which the file begins since the last commit that took place, or begin
};

// Replays the records into the tree below `root`: what is left to be committed of them. `last_took_place`: of the last
// intention, as mend_head found. `file`: as committed, null where there is none. `new_bytes` makes the store of a
// staged file. Errors: damaged (records that contradict each other).
Result<RestoredTree> restore_tree(
    const NodePtr& root, const std::vector<JournalRecord>&, bool last_took_place, const tfile::File* file,
    const std::function<std::shared_ptr<StagedBytes>(std::uint64_t id, std::uint64_t base)>& new_bytes);

// Whether something staged means what it means only as long as the file has what it had: entries behind others, what is
// put into a table, what is removed or renamed. New directories and tables do not.
bool rests_on_committed(const StagedNode& root);

// Removals of what the file does not have any more, since another program has removed it, are forgotten. `file`: as
// above.
void drop_whiteouts_of_nothing(StagedNode& root, const tfile::File* file);

// The last record of an intention, or that one was done; null where there is none since the last begin.
const JournalRecord* last_of_commits(const std::vector<JournalRecord>&);

// The key at a path of shown names, or the one above which the path leads no further; nothing where a name is missing.
struct FoundKey {
  std::shared_ptr<const tfile::DirectoryListing> listing;  // in which the key's names live
  tfile::KeyInfo key;
  bool is_whole_path = false;
};
std::optional<FoundKey> find_key(const tfile::File&, std::string_view path);

// What the file has at a path of shown names.
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
