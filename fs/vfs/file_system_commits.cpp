// SPDX-License-Identifier: Apache-2.0
// What is written through a mount reaches its files: on request, when the mount is idle, and at its end.
#include <nlohmann/json.hpp>
#include <utility>

#include "vfs/chain/chain.h"
#include "vfs/file_system.h"
#include "vfs/metrics_file.h"
#include "vfs/mirror/source_tree.h"
#include "vfs/written/written_file.h"

namespace tfilefs {

Result<> FileSystem::make_source() {
  if (!written_ || written_->staged().is_wanted()) return {};
  return written_->staged().make(process_owner());
}

std::vector<std::shared_ptr<WrittenFile>> FileSystem::written_files() const {
  std::vector<std::shared_ptr<WrittenFile>> files;
  if (tree_) files = tree_->written_files();
  if (written_) files.push_back(written_);
  return files;
}

std::vector<std::string> FileSystem::finish_writing() {
  std::vector<std::string> left;
  for (const auto& file : written_files()) {
    file->staged().stop();
    for (const auto& [path, reason] : file->staged().pending()) left.push_back(path + ": " + reason);
  }
  return left;
}

Result<> FileSystem::commit_all() {
  Result<> done;
  for (const auto& file : written_files()) {
    auto committed = file->staged().commit(file->staged().root());
    if (done) done = std::move(committed);
  }
  return done;
}

// Before the mount ends: the files cannot be used from then on.
Result<> FileSystem::discard_all() {
  Result<> done;
  for (const auto& file : written_files()) {
    auto discarded = file->staged().discard();
    if (!discarded) errors_.add("/" + file->path(), discarded.error());
    if (done) done = std::move(discarded);
  }
  return done;
}

std::vector<StagedFile::Unkept> FileSystem::unkept() const {
  std::vector<StagedFile::Unkept> files;
  for (const auto& file : written_files()) {
    for (const auto& [path, is_written] : file->staged().unkept()) files.push_back({"/" + path, is_written});
  }
  return files;
}

bool FileSystem::may_end() {
  (void)commit_all();
  const auto files = unkept();
  for (const auto& file : files)
    errors_.add(file.path, "saved neither to its file nor to the journal: not unmounted, although idle");
  return files.empty();
}

// Files are committed first while requests are still answered. Then what these requests have opened in the meantime,
// such as a journal that was just taken over, is committed when there are no more requests.
std::vector<std::string> FileSystem::end() {
  files_.clear();  // including those that are open for writing
  finish_writing();
  for (const auto& chain : chains_) chain->save();
  end_of_requests_.request_stop();
  cache_->settle();
  timers().stop();
  locks_.clear();
  files_.clear();
  finish_writing();
  std::vector<std::string> lost;
  for (auto& file : unkept()) lost.push_back(std::move(file.path));
  metrics_writer_.reset();
  return lost;
}

// For `tfilefs umount`: progress, what could not be committed when last tried, and what is kept nowhere.
Result<std::string> FileSystem::pending_json() const {
  nlohmann::json json = {{"tfilefs", 1}, {"left", 0}};
  for (const char* list : {"pending", "unkept", "written", "reasons"}) json[list] = nlohmann::json::array();
  for (const auto& [path, is_written] : unkept()) json[is_written ? "written" : "unkept"].push_back(path);
  const auto add = [&](const std::string& path, const std::string& reason) {
    json["pending"].push_back(path + ": " + reason);
    json["reasons"].push_back({{"path", path}, {"reason", reason}});
  };
  std::uint64_t left = 0;
  for (const auto& file : written_files()) {
    left += file->staged().bytes_left();
    for (const auto& [path, reason] : file->staged().pending()) add(path, reason);
  }
  if (tree_) {
    for (const auto& [path, reason] : tree_->refused_journals()) add("/" + path, reason);
  }
  json["left"] = left;
  return json.dump(1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace tfilefs
