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

// The result of applying a journal's records to an empty tree.
struct RestoredTree {
  std::uint64_t last_id = 0;
  bool makes_file = false;  // the file itself was made by its name
  std::optional<std::vector<std::byte>>
      head;  // with which the file begins since the last commit that took place, or begin
};

// Replays the records into the tree below `root`, leaving what is still to be committed. `last_took_place`: whether the
// last intention did, as mend_head found. `file`: the committed file, null if there is none. `new_bytes` makes the
// store of a staged file. Errors: damaged (records that contradict each other).
Result<RestoredTree> restore_tree(
    const NodePtr& root, const std::vector<JournalRecord>&, bool last_took_place, const tfile::File* file,
    const std::function<std::shared_ptr<StagedBytes>(std::uint64_t id, std::uint64_t base)>& new_bytes);

// Whether some staged content depends on the file's present contents: entries behind committed ones, columns added to a
// table, removals and renames. New directories and tables do not.
bool rests_on_committed(const StagedNode& root);

// Drops removals of entries that the file no longer has, since another program has removed them. `file`: as above.
void drop_whiteouts_of_nothing(StagedNode& root, const tfile::File* file);

// The last record of an intention, or of its end; null if there is none since the last begin.
const JournalRecord* last_of_commits(const std::vector<JournalRecord>&);

// The key at a path of shown names, or the last key on the way if it is not a directory; nothing if a name is missing.
struct FoundKey {
  std::shared_ptr<const tfile::DirectoryListing> listing;  // owns the key's names
  tfile::KeyInfo key;
  bool is_whole_path = false;
};
std::optional<FoundKey> find_key(const tfile::File&, std::string_view path);

// The kind of the committed entry at a path of shown names.
CommittedKind committed_kind(const tfile::File&, std::string_view path);

// Checks whether the last intended commit took place. If it did, finishes it; if its head was torn within its sector
// when the machine died, writes the head again first. Errors: stale (another program has written the file), io.
struct Mended {
  bool was_torn = false;
  bool last_took_place = false;
};
Result<Mended> mend_head(const FilePlace&, const std::vector<JournalRecord>&);

}  // namespace tfilefs
