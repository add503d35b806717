// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
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
#include "staging/journal/file_place.h"
#include "staging/journal/journal.h"
#include "staging/journal/new_file.h"
#include "staging/overlay/staged_table.h"
#include "tfile/writer.h"

namespace tfilefs {

struct WriteOptions {
  tfile::Compression compression;
  tfile::TableFormat format = tfile::TableFormat::tree;  // of new tables
  std::optional<std::uint64_t> cluster_bytes;  // compressed, of the first cluster of a table; none: as is usual
  std::chrono::milliseconds commit{5000};      // time without changes before a complete table is committed
};

// Commits staged contents to the file. Used by one thread at a time; blocks. After an error the whole commit is void,
// and the next one begins anew with the file's contents. But after an error in the last steps the state on disk is not
// known, and every further commit fails.
class Committer {
 public:
  // `left`: bytes of columns that the current commit has still to encode; may be read by any thread.
  Committer(const WriteOptions& options, ClusterCache& cache, std::shared_ptr<const FilePlace> place,
            std::atomic<std::uint64_t>& left)
      : options_(options), cache_(cache), place_(std::move(place)), left_(left) {}

  // The table of that path in the file, valid until the next commit. Errors: not_found, damaged, unsupported, io.
  Result<const CommittedTable*> committed_table(const std::string& path);

  // Sets the first bytes of the file on which the staged contents are based, none if there is no file. What was read of
  // another state of the file is dropped.
  void follow(std::span<const std::byte> head);

  // Sets the owner of a file that it makes.
  void make_as(const FilePlace::Owner& maker) { maker_ = maker; }

  // Sets in each column how many of its bytes are committed afterwards, and in `head` the file's first bytes. Errors:
  // stale (another program has written the file: it does not begin with `head`). `switching` is called before the first
  // byte is written that readers use.
  Result<> commit(CommitWork&, Journal&, std::vector<std::byte>& head, const std::function<void()>& switching);

  // Drops all that it knows of the file: the next commit reads it again.
  void give_up();

  // Whether the last commit freed space that the file does not list as free yet; an empty commit does that.
  bool is_untidy() const { return untidy_; }

  // Whether the last commit has ended with its last step, so that no replay of the journal has to finish it.
  bool is_settled() const { return !lost_; }

 private:
  Result<> prepare();
  Result<> leave_other_names();
  // `title` and `format`: of a table that is not committed yet.
  Result<TableCommit*> table(const std::string& path, bool committed, const std::string& title, tfile::TableFormat);
  Result<> collect(CommitWork&);
  Result<> add_objects(const CommitWork&);
  Result<> change_names(const CommitWork&);
  Result<> remove(const CommitWork::Key&);
  Result<> rename_keys(std::vector<CommitWork::Rename>);
  Result<> rename(const CommitWork::Rename&);
  Result<std::int64_t> column_items(const std::string& table, const std::string& column) const;
  Result<> check_head(std::span<const std::byte> head) const;
  std::optional<tfile::Identity> identity() const;
  int written() const { return made_ ? made_->get() : file_.get(); }
  Result<> apply(const tfile::CommitPlan&, JournalRecord intention, Journal&, const std::function<void()>& switching);
  Result<> replace_file(const tfile::CommitPlan&, JournalRecord intention, Journal&,
                        const std::function<void()>& switching);
  Result<std::vector<std::byte>> head_in_place(std::size_t size) const;  // none if there is no file

  const WriteOptions options_;
  ClusterCache& cache_;
  const std::shared_ptr<const FilePlace> place_;
  std::unique_ptr<tfile::FileWriter> writer_;
  std::vector<std::byte> head_;          // of the state that writer_ has
  std::optional<NewFile> made_;          // the file that is written, until it has its name
  Descriptor file_;                      // the one that has it
  std::optional<tfile::Identity> seen_;  // the state of the file that writer_ has
  FilePlace::Owner maker_ = process_owner();
  bool untidy_ = false;
  bool lost_ = false;          // the state on disk is not known any more
  bool leaves_names_ = false;  // made_ is a copy of file_, which keeps its other names
  std::map<std::string, TableCommit> tables_;
  std::set<std::string> ours_;  // tables committed since the mount began: no older cycles of them are kept
  std::atomic<std::uint64_t>& left_;
};

}  // namespace tfilefs
