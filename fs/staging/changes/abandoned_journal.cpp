// SPDX-License-Identifier: Apache-2.0
#include "staging/changes/abandoned_journal.h"

#include <fcntl.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "cache/budget.h"
#include "staging/changes/recovery.h"
#include "staging/journal/file_claim.h"
#include "staging/journal/journal.h"
#include "staging/overlay/staged_tree.h"
#include "tfile/file.h"
#include "tfile/writer.h"
#include "told_names.h"

namespace tfilefs {

namespace {

constexpr std::size_t kNamesMax = 5;  // in the line

// Lists the staged names below, and the names to be removed.
void list_names(const StagedNode& node, const std::string& path, std::vector<std::string>& into) {
  for (const std::string& name : node.whiteouts) into.push_back(joined_path(path, name) + " (removed or renamed)");
  for (const auto& [name, child] : node.children) {
    const std::string at = joined_path(path, name);
    if (!child->directory) into.push_back(at);
    list_names(*child, at, into);
  }
}

// Whether the last intended commit has written the head.
bool took_place(const FilePlace& place, const std::vector<JournalRecord>& records) {
  const JournalRecord* const last = last_of_commits(records);
  if (!last) return false;
  if (last->kind == JournalKind::done) return true;
  const auto& before = last->intention.before;
  const auto& after = last->intention.after;
  const Descriptor file(::openat(place.directory.get(), place.name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return false;
  const auto head = read_at(file.get(), 0, std::max(before.size(), after.size()));
  return head && tfile::head_state(*head, before, after) != tfile::HeadState::before;
}

Result<std::vector<std::string>> names_in_journal(const FilePlace& place) {
  TRY(const Replayed replayed,
      Journal::replay(place.directory.get(), journal_name(place.name), place.journal_owner(), Journal::Use::read));
  std::shared_ptr<const tfile::File> file;
  if (auto source = place.source()) {
    TRY(file, tfile::File::open(*source));
  }
  SerialQueues serial_queues;
  StagingMemory memory(std::make_shared<Budget>(0), 0, serial_queues);  // no bytes are read or written
  const auto root = std::make_shared<StagedNode>(0, true, "", nullptr);
  TRY_VOID(restore_tree(root, replayed.records, took_place(place, replayed.records), file.get(),
                        [&](std::uint64_t id, std::uint64_t base) {
                          auto bytes = StagedBytes::create(id, replayed.journal, memory);
                          (void)bytes->truncate(base);  // a hole: cannot fail
                          return bytes;
                        }));
  std::vector<std::string> names;
  list_names(*root, "", names);
  return names;
}

// As left_in_journal(), of the journal beside this name alone.
Result<std::optional<std::string>> left_by_name(const FilePlace& place) {
  const std::string remedy = "; commit it with `tfilefs recover`, or a mount with -o rw";
  const auto names = names_in_journal(place);
  if (!names) {
    if (names.error().kind == ErrorKind::busy) return tl::unexpected(names.error());
    if (names.error().kind == ErrorKind::not_found) return std::nullopt;
    return std::optional("there is an abandoned journal next to it: " + names.error().text);
  }
  if (names->empty()) return std::nullopt;
  ToldNames told(kNamesMax);
  for (const std::string& name : *names) told.add(name);
  return std::optional("not committed, in the abandoned journal next to it: " + told.text() + remedy);
}

}  // namespace

Result<std::optional<std::string>> left_in_journal(const FilePlace& place) {
  TRY(auto left, left_by_name(place));
  if (left) return left;
  const auto other = other_name_with_journal(place);
  if (!other) return std::nullopt;
  TRY(left, left_by_name(*other));
  if (left) left->insert(0, "under another of its names, " + other->shown + ": ");
  return left;
}

}  // namespace tfilefs
