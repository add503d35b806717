// SPDX-License-Identifier: Apache-2.0
// The part of Commits that finds out why staged contents are not committed.
#include <nlohmann/json.hpp>
#include <utility>

#include "staging/commit/commits.h"
#include "staging/commit/object_offer.h"
#include "staging/overlay/staged_object.h"
#include "staging/overlay/staged_tree.h"

namespace tfilefs {

namespace {

std::string reason_of(const StagedChanges::Misplaced& file) {
  if (file.waits)
    return "a list without offsets, or a table: add offsets.i8 for a list; another column, or a file named .table, for "
           "a table";
  if (is_object_file(split_path(file.path).second)) return "not an object: there is no object.bin next to it";
  return "not a column of a table: its directory is a directory of the file";
}

}  // namespace

bool Commits::is_committing() const {
  const Overlay::Locked lock(overlay_);
  return committing_ > 0;
}

// The present reasons; during a commit those from before it, and never older than the last commit on request.
Commits::Reasons Commits::reasons() {
  {
    const Overlay::Locked lock(overlay_);
    if (committing_ > 0) return known_;
    ++looking_;  // a commit that begins now waits for this look, instead of this for the commit
  }
  struct Looking {
    Commits& commits;
    ~Looking() {
      const Overlay::Locked lock(commits.overlay_);
      if (--commits.looking_ == 0) commits.looked_.notify_all();
    }
  };
  const Looking looking{*this};
  return find_reasons();
}

Commits::Reasons Commits::find_reasons() {
  const Lock commit(mutex);
  Reasons found = look_for_reasons();
  const Overlay::Locked lock(overlay_);
  for (const auto& [path, failure] : failed_) {
    if (failure.at >= lock->last_change) found[path].push_back(failure.text);
  }
  known_ = found;
  return found;
}

Commits::Reasons Commits::look_for_reasons() {
  StagedChanges changes;
  {
    const Overlay::Locked lock(overlay_);
    drop_unused(*overlay_.root);
    changes = staged_changes(overlay_.root);
  }
  Reasons found;
  if (auto followed = overlay_.has_pending() ? follow_file() : Result<>(); !followed) {
    const std::vector<std::string> one{followed.error().text};
    for (const StagedTable& table : changes.tables) found[table.path] = one;
    for (const StagedArrow& file : changes.arrows) found[file.path] = one;
    for (const StagedObject& object : changes.objects) found[object.path] = one;
    if (found.empty()) found[""] = one;
    return found;
  }
  for (const StagedChanges::Misplaced& file : changes.misplaced) {
    found[file.path] = {reason_of(file)};
  }
  for (const StagedChanges::Refused& directory : changes.refused) found[directory.path] = {directory.reason};
  for (StagedTable& table : changes.tables) {
    overlay_.read_columns(table);
    TableProgress done = progress(table);
    if (!done.whole) found[table.path] = std::move(done.reasons);
  }
  for (const StagedArrow& file : changes.arrows) {
    if (auto table = whole_arrow(file); !table) found[file.path] = {table.error().text};
  }
  for (const StagedObject& object : changes.objects) {
    if (auto made = offered_object(object); !made) found[object.path] = {made.error().text};
  }
  return found;
}

// A name that begins with a dot is that of a copy under way.
void Commits::tell_misplaced(const StagedChanges& changes, const std::string& below) {
  for (const StagedChanges::Misplaced& file : changes.misplaced) {
    const bool may_be_renamed = split_path(file.path).second.starts_with('.');
    if (file.waits || file.is_open || may_be_renamed || !concerns(below, file.path)) continue;
    tell(file.path, {reason_of(file)});
  }
}

// Reports in .tfilefs/errors, once each, the reasons that more bytes cannot remove.
void Commits::tell(const std::string& path, const std::vector<std::string>& hopeless) {
  const std::string begin = path + ": ";
  std::set<std::string> now;
  for (const std::string& reason : hopeless) now.insert(begin + reason);
  std::vector<std::string> fresh;
  {
    const Overlay::Locked lock(overlay_);
    std::erase_if(told_, [&](const std::string& line) { return line.starts_with(begin) && !now.contains(line); });
    for (const std::string& line : now) {
      if (told_.insert(line).second) fresh.push_back(line.substr(begin.size()));
    }
  }
  const std::string shown = "/" + joined_path(overlay_.file_path, path);
  for (const std::string& reason : fresh) overlay_.errors.add(shown, "not committed: " + reason);
}

void Commits::keep_error(const CommitWork& planned, const Error& error) {
  const Overlay::Locked lock(overlay_);
  const auto at = overlay_.clock.now();
  if (planned.tables.empty() && planned.objects.empty()) failed_[""] = {error.text, at};
  for (const CommitWork::Table& table : planned.tables) {
    failed_[table.staged.path] = {error.text, at};
    for (const StagedColumn& column : table.staged.columns) column.node->error = error;
  }
  for (const StagedObject& object : planned.objects) {
    failed_[object.path] = {error.text, at};
    for (const StagedColumn& file : object.files) file.node->error = error;
  }
}

std::vector<Commits::Pending> Commits::pending() {
  std::vector<Pending> all;
  for (const auto& [below, reasons] : reasons()) {
    const std::string path = "/" + (below.empty() ? overlay_.file_path : joined_path(overlay_.file_path, below));
    for (const std::string& reason : reasons) all.push_back({path, reason});
  }
  return all;
}

namespace {

nlohmann::json columns_of(const StagedTable& table) {
  nlohmann::json columns = nlohmann::json::array();
  for (const StagedColumn& column : table.columns) {
    columns.push_back({{"path", column.path},
                       {"size", column.size},
                       {"committed", column.base},
                       {"open", column.is_open},
                       {"committing", column.is_committing}});
  }
  return columns;
}

nlohmann::json files_of(const StagedObject& object) {
  nlohmann::json files = nlohmann::json::array();
  for (const StagedColumn& file : object.files)
    files.push_back({{"path", file.path}, {"size", file.size}, {"open", file.is_open}});
  return files;
}

}  // namespace

// The format has a version, see docs/semantics/writing.md. Writers wait for the lock, so the text is made without it.
Result<std::string> Commits::pending_json() {
  Reasons known = reasons();
  StagedChanges changes;
  {
    const Overlay::Locked lock(overlay_);
    changes = staged_changes(overlay_.root);
  }
  nlohmann::json json = {{"tfilefs", 1}, {"tables", nlohmann::json::array()}};
  for (const StagedArrow& file : changes.arrows) {
    json["tables"].push_back({{"path", file.table},
                              {"committed", false},
                              {"arrow", {{"path", file.path}, {"size", file.size}, {"open", file.is_open}}},
                              {"columns", nlohmann::json::array()},
                              {"reasons", known[file.path]}});
    known.erase(file.path);
  }
  for (const StagedTable& table : changes.tables) {
    json["tables"].push_back({{"path", table.path},
                              {"committed", table.committed},
                              {"columns", columns_of(table)},
                              {"reasons", known[table.path]}});
    known.erase(table.path);
  }
  json["objects"] = nlohmann::json::array();
  for (const StagedObject& object : changes.objects) {
    json["objects"].push_back({{"path", object.path}, {"files", files_of(object)}, {"reasons", known[object.path]}});
    known.erase(object.path);
  }
  json["others"] = nlohmann::json::array();
  for (const auto& [path, reasons] : known) json["others"].push_back({{"path", path}, {"reasons", reasons}});
  return json.dump(1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace tfilefs
