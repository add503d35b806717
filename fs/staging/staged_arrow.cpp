// SPDX-License-Identifier: Apache-2.0
#include "staging/staged_arrow.h"

#include <cerrno>
#include <utility>

#include "staging/arrow_columns.h"
#include "staging/staged_file.h"
#include "staging/staged_tree.h"

namespace tfilefs {

using tfile::fail;

std::optional<std::string> arrow_table_name(std::string_view file_name) {
  constexpr std::string_view kSuffix = ".arrow";
  if (file_name.size() <= kSuffix.size() || file_name[0] == '.' || !file_name.ends_with(kSuffix)) return std::nullopt;
  return std::string(file_name.substr(0, file_name.size() - kSuffix.size()));
}

Result<StagedTable> read_staged_arrow(const StagedArrow& file, StagingMemory& memory) {
  TRY(const bool whole, is_whole_arrow(*file.node->bytes, file.size));
  if (!whole) return fail(ErrorKind::invalid, "not a whole Arrow IPC file");
  TRY(const auto columns, arrow_columns(file.node->bytes, file.size, memory));
  StagedTable table;
  table.node = file.node;
  table.path = file.table;
  table.arrow_size = file.size;
  table.modified = file.modified;
  for (const ArrowColumn& column : columns) {
    StagedColumn staged;
    staged.node = file.node;
    staged.path = column.path;
    staged.bytes = column.bytes;
    staged.size = column.size;
    table.columns.push_back(std::move(staged));
  }
  return table;
}

// ---- of StagedFile

// Of those files that nobody writes any more: what is whole is committed with the tables.
void StagedFile::plan_arrows(const StagedChanges& changes, const std::string& below, CommitWork& work) {
  for (const StagedArrow& file : changes.arrows) {
    auto table =
        concerns(below, file.table) ? whole_arrow(file) : Result<StagedTable>(fail(ErrorKind::busy, "not now"));
    if (table) {
      const std::int64_t entries = progress_of(*table, nullptr).entries;
      work.tables.push_back({*std::move(table), entries, true});
    } else {
      file.node->bytes->thaw();
    }
  }
}

Result<StagedTable> StagedFile::whole_arrow(const StagedArrow& file) {
  if (file.is_open) return fail(ErrorKind::busy, "open for writing");
  if (is_taken(file)) return fail(ErrorKind::exists, "there is " + file.table + " already");
  return arrow_table(file);
}

Result<StagedTable> StagedFile::arrow_table(const StagedArrow& file) const {
  TRY(StagedTable table, read_staged_arrow(file, writing_.memory));
  const TableProgress progress = progress_of(table, nullptr);
  if (!progress.whole) return fail(ErrorKind::invalid, progress.reasons[0]);
  return table;
}

// Another table of that name, staged or committed.
bool StagedFile::is_taken(const StagedArrow& file) {
  bool there = false;
  {
    const Lock lock(mutex_);
    if (node_at(root_, file.table)) return true;
    there = there_;
  }
  if (!there) return false;
  const auto committed = committer_.committed_table(file.table);
  return committed || committed.error().kind != ErrorKind::not_found;
}

void StagedFile::settle_whole(const NodePtr& file) {
  StagedNode& node = *file;
  if (const NodePtr parent = node.parent.lock()) became_committed(parent);
  node.settled = true;
  detach(file);
  // Whoever opened it while it was committed writes into nothing.
  if (node.writers > 0) node.error = Error{ErrorKind::stale, "committed while it was open", -1, ESTALE};
}

Result<> StagedFile::check_arrow(const NodePtr& node) const {
  const StagedArrow file{node, "", "", node->bytes->size(), false, std::nullopt};
  TRY(const bool whole, is_whole_arrow(*node->bytes, file.size));
  if (!whole) return {};  // somebody may go on
  TRY_VOID(arrow_table(file));
  return {};
}

}  // namespace tfilefs
