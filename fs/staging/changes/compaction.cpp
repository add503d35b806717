// SPDX-License-Identifier: Apache-2.0
// The part of Changes that rewrites a journal when most of it is obsolete.
#include <utility>
#include <vector>

#include "staging/changes/changes.h"
#include "staging/changes/date_record.h"

namespace tfilefs {

namespace {

// Saving fewer bytes is not worth a new file and its barriers.
constexpr std::uint64_t kLittle = 1 << 20;

// The records that make the present tree and its files from an empty one, parents first. False if an entry has another
// name than in the file, which records of a single state cannot express.
class TreeRecords {
 public:
  bool take(const NodePtr& directory, const std::string& path);
  std::vector<JournalRecord> records;
  std::vector<NodePtr> files, committed;  // the committed directories

 private:
  void add(JournalKind kind, const NodePtr& node, const std::string& path);
  void add_attributes(const NodePtr& node);
};

void TreeRecords::add(JournalKind kind, const NodePtr& node, const std::string& path) {
  JournalRecord& record = records.emplace_back();
  record.kind = kind;
  record.id = node->id;
  record.offset = node->base;
  const bool is_rntuple = node->format == tfile::TableFormat::rntuple;
  record.file_kind = node->directory   ? (is_rntuple ? StagedKind::rntuple : StagedKind::directory)
                     : node->continues ? StagedKind::continued
                                       : StagedKind::column;
  record.text = path;
}

void TreeRecords::add_attributes(const NodePtr& node) {
  if (node->attributes.time_was_set) records.push_back(date_record(*node));
  for (const auto& [kind, text] : {std::pair(JournalKind::title, node->attributes.title),
                                   std::pair(JournalKind::encoding, node->attributes.encoding),
                                   std::pair(JournalKind::class_name, node->attributes.class_name)}) {
    if (text.empty()) continue;
    add(kind, node, text);
    records.back().offset = 0;
  }
}

bool TreeRecords::take(const NodePtr& directory, const std::string& path) {
  for (const std::string& name : directory->whiteouts) {
    JournalRecord& record = records.emplace_back();
    record.kind = JournalKind::whiteout;
    record.text = joined_path(path, name);
  }
  for (const auto& [name, node] : directory->children) {
    const std::string at = joined_path(path, name);
    if (!node->directory) {
      add(JournalKind::create, node, at);
      add_attributes(node);
      files.push_back(node);
      continue;
    }
    if (node->base_name.empty()) {
      add(JournalKind::create, node, at);
      add_attributes(node);
    } else if (node->base_name != name) {
      return false;
    } else {
      committed.push_back(node);
    }
    if (!take(node, at)) return false;
  }
  return true;
}

}  // namespace

bool Changes::is_worth_compacting() const {
  const std::uint64_t size = journal_->size();
  if (size < kLittle || size < compact_at_ || journal_->has_failed()) return false;
  if (journal_->has_other_names()) return false;  // they would keep the former contents
  const Overlay::Locked lock(overlay_);
  TreeRecords tree;
  if (!tree.take(overlay_.root, "")) return false;
  std::uint64_t live = 0;
  for (const NodePtr& file : tree.files) live += file->bytes->journaled_bytes();
  return size > 2 * live + kLittle;
}

// The new journal describes the staged contents over the present state of the file, which no commit is changing.
// `mutex` is held over all its writes: a change added to the old journal meanwhile would be in neither. Reads, and
// writes for which memory is free, go on.
Result<> Changes::compact_journal() {
  TRY(const JournalBegin begin, journal_begin());
  {
    const Overlay::Locked lock(overlay_);
    if (!is_same_head(lock->basis.head, begin.head)) return {};  // another program has written the file
  }
  TreeRecords tree;
  {
    const Overlay::Locked lock(overlay_);
    if (lock->made_by_name && !lock->there)
      tree.records.emplace_back().kind = JournalKind::create, tree.records[0].file_kind = StagedKind::directory;
    (void)tree.take(overlay_.root, "");
  }
  const FilePlace::Owner belongs = overlay_.owner();
  TRY(auto fresh,
      Journal::create_beside(place_->directory.get(), journal_name(place_->name), begin, belongs.uid, belongs.gid));
  std::vector<std::unique_ptr<StagedBytes::Move>> moves;
  const auto write = [&]() -> Result<> {
    for (const JournalRecord& record : tree.records) TRY_VOID(fresh->append(record));
    for (const NodePtr& file : tree.files) {
      TRY(auto move, file->bytes->copy_to(fresh));
      moves.push_back(std::move(move));
    }
    return fresh->take_place();
  };
  if (auto written = write(); !written) {
    (void)fresh->remove();
    return written;
  }
  for (const auto& move : moves) move->settle();
  moves.clear();
  journal_ = std::move(fresh);
  const Overlay::Locked lock(overlay_);
  for (const NodePtr& node : tree.committed) node->forgotten = true;
  return {};
}

}  // namespace tfilefs
