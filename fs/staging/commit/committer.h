// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cache/cluster_cache.h"
#include "staging/commit/table_commit.h"
#include "staging/commit/write_options.h"
#include "staging/journal/file_place.h"
#include "staging/journal/journal.h"
#include "staging/overlay/staged_table.h"
#include "tfile/writer.h"

namespace tfilefs {

// Brings what is staged into the file. Used by one thread at a time; blocks. After an error nothing of the commit
// counts, and the next one begins anew from what the file holds; but after an error of its last steps what is on disk
// is not known, and every further commit fails.
class Committer {
 public:
  // `left`: bytes of columns that the commit under way has still to encode, for anyone to look at.
  Committer(const WriteOptions& options, ClusterCache& cache, std::shared_ptr<const FilePlace> place,
            std::atomic<std::uint64_t>& left)
      : options_(options), cache_(cache), place_(std::move(place)), left_(left) {}

  // The table of that path as the file holds it, good until the next commit. Errors: not_found, damaged, unsupported,
  // io.
  Result<const CommittedTable*> committed_table(const std::string& path);

  // The first bytes of the file as those know them who staged something, none where there is no file: what was looked
  // at of another state of it is forgotten.
  void follow(std::span<const std::byte> head);

  // Whom a file that it makes belongs to.
  void make_as(const FilePlace::Owner& maker) { maker_ = maker; }

  // Sets in each column how many of its bytes are committed then, and in `head` the file's first bytes. Errors: stale
  // (another program has written the file: it does not begin with `head`).
  // `switching` is called before the first byte that a reader looks at.
  Result<> commit(CommitWork&, Journal&, std::vector<std::byte>& head, const std::function<void()>& switching);

  // Forgets what it knows of the file: the next commit looks at what is there.
  void give_up();

  // Whether the last commit freed space of which the file does not know yet: a commit of nothing makes it known.
  bool is_untidy() const { return untidy_; }

  // Whether the last commit is done to its last step: no reader of the journal has to finish it.
  bool is_settled() const { return !lost_; }

 private:
  Result<> prepare();
  Result<TableCommit*> table(const std::string& path, bool committed, const std::string& title = "");
  Result<> collect(CommitWork&);
  Result<> change_names(const CommitWork&);
  Result<> remove(const CommitWork::Key&);
  Result<> rename_keys(std::vector<CommitWork::Rename>);
  Result<> rename(const CommitWork::Rename&);
  Result<std::int64_t> column_items(const std::string& table, const std::string& column) const;
  Result<> check_head(std::span<const std::byte> head) const;
  std::optional<tfile::Identity> identity() const;
  Result<> apply(const tfile::CommitPlan&, JournalRecord intention, Journal&, const std::function<void()>& switching);
  Result<> replace_file(const tfile::CommitPlan&, JournalRecord intention, Journal&,
                        const std::function<void()>& switching);
  Result<std::vector<std::byte>> head_in_place(std::size_t size) const;  // none where there is no file

  const WriteOptions options_;
  ClusterCache& cache_;
  const std::shared_ptr<const FilePlace> place_;
  std::unique_ptr<tfile::FileWriter> writer_;
  std::vector<std::byte> head_;  // of the state that writer_ knows
  Descriptor file_;
  std::optional<tfile::Identity> seen_;  // file_, when writer_ last was what it holds
  FilePlace::Owner maker_ = process_owner();
  bool temporary_ = false;  // file_ does not stand under its name yet
  bool untidy_ = false;
  bool lost_ = false;  // what is on disk is not known any more
  std::map<std::string, TableCommit> tables_;
  std::set<std::string> ours_;  // tables that were committed since the mount: no older cycle is kept of them
  std::atomic<std::uint64_t>& left_;
};

}  // namespace tfilefs
