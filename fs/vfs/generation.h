// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cache/cluster_cache.h"
#include "error_log.h"
#include "mutex.h"
#include "once.h"
#include "tfile/file.h"
#include "tfile/table.h"
#include "vfs/attributes.h"
#include "vfs/directory.h"
#include "vfs/guarded_source.h"
#include "view/columnar_form.h"

namespace tfilefs {

class LoadedTable;
class MountedFile;
struct Writing;

// Keeps the files that were used last open, whether or not anything refers to them, as far as what they and their
// tables take stays within a share of the mount's memory.
class RecentGenerations {
 public:
  // `memory`: of the mount.
  explicit RecentGenerations(std::uint64_t memory) : memory_max_(memory / kMemoryShare) {}
  void keep(std::shared_ptr<const Generation>);
  void clear();
  std::size_t count() const;

 private:
  // The decoded columns are what memory is for.
  static constexpr std::uint64_t kMemoryShare = 8;
  // Whoever goes from file to file and back opens none anew; nor has the process more descriptors than most systems
  // allow, each file having two.
  static constexpr std::size_t kFilesMin = 4, kFilesMax = 256;
  const std::uint64_t memory_max_;
  mutable Mutex mutex_;
  std::deque<std::shared_ptr<const Generation>> kept_ GUARDED_BY(mutex_);
};

// What the parts of a mount share. Outlives all of them.
struct MountContext {
  ClusterCache& cache;
  ErrorLog& errors;
  Ownership ownership;
  bool views_listed = false;
  StringsAs strings = StringsAs::seen;
  Writing* writing = nullptr;  // of a mount that may be written
  bool is_shared = false;      // FileSystemOptions::is_shared
  RecentGenerations recent{cache.budget()->size()};
  std::atomic<std::uint64_t> files_memory = 0;        // of open files
  std::atomic<std::uint64_t> directories_memory = 0;  // by which names in tables are found
};

// Where a ROOT file lies: looked at by its name, so that another file put in its place is seen. Both block.
struct SourceState {
  tfile::Identity identity;
  Provenance from;
};
class Origin {
 public:
  virtual ~Origin() = default;
  virtual Result<SourceState> look() const = 0;
  virtual Result<std::shared_ptr<const GuardedSource>> open() const = 0;
  // What a caller finds when he opens it himself, or a file named relative to it. Blocks. Error: denied.
  virtual Result<tfile::Identity> reach(const CallerPtr&, Access, const std::string& sibling) const;
  // The file in what was opened.
  virtual Result<std::shared_ptr<const tfile::File>> read(std::shared_ptr<const GuardedSource>) const;
};

// One state of a ROOT file, and what was loaded of it. What belongs to it stays consistent: when the file changes it
// becomes stale (source->is_stale()), and a new one takes its place.
struct Generation : std::enable_shared_from_this<Generation> {
  Generation(MountContext& context, std::shared_ptr<MountedFile> owner, std::shared_ptr<const GuardedSource> source,
             std::shared_ptr<const tfile::File> file, SourceState state);
  ~Generation();

  MountContext& context;
  const std::shared_ptr<MountedFile> owner;
  const std::shared_ptr<const GuardedSource> source;
  const std::shared_ptr<const tfile::File> file;
  const SourceState state;
  const std::uint64_t serial;                    // of all generations of this process, from 1
  mutable std::atomic<bool> superseded = false;  // by a commit of this mount: what it has stays as it is, and readable

  // The file's root directory.
  std::shared_ptr<const Directory> root() const;

  // Whether a caller may have what he wants of anything that is made of the file; with `siblings`, of something that is
  // made of these as well.
  void admit(Access, const CallerPtr&, Reply<void>, std::vector<tfile::Sibling> siblings = {}) const;

  // The table whose key is at `seek`, loaded once for all cycles and paths that lead to it.
  Once<std::shared_ptr<const LoadedTable>> table(std::uint64_t seek) const;

  // Counts again what the file takes, which grows when something is first read of it, and a table that was read.
  void note_memory(std::uint64_t of_table = 0) const;
  // Of the file and its tables, in bytes.
  std::uint64_t memory() const;

  // .map.txt.
  mutable Once<std::shared_ptr<Content>> map;

  // .streamerinfo.json and .classes.
  mutable Once<std::shared_ptr<const tfile::FileClasses>> classes;
  mutable Once<std::shared_ptr<Content>> streamer_info;

 private:
  Result<> check(Access, const CallerPtr&, const std::vector<tfile::Sibling>&) const;
  bool was_admitted(const Caller&) const;
  void note_admitted(const Caller&) const;

  // Who could read the file when last asked.
  struct Admitted {
    Caller caller;
    std::chrono::steady_clock::time_point when;
  };
  mutable Mutex mutex_;
  mutable std::vector<Admitted> admitted_ GUARDED_BY(mutex_);
  mutable std::weak_ptr<const Directory> root_ GUARDED_BY(mutex_);  // it holds this
  mutable std::uint64_t memory_ GUARDED_BY(mutex_) = 0;             // as counted in context.files_memory
  mutable std::uint64_t tables_memory_ GUARDED_BY(mutex_) = 0;      // of those that were read
  mutable std::unordered_map<std::uint64_t, Once<std::shared_ptr<const LoadedTable>>> tables_ GUARDED_BY(mutex_);
};

using GenerationPtr = std::shared_ptr<const Generation>;

// A ROOT file of the mount through all its changes.
class MountedFile : public std::enable_shared_from_this<MountedFile> {
 public:
  // `path`: in the mount, for messages; empty for the mount's root.
  MountedFile(MountContext& context, std::unique_ptr<const Origin> origin, std::string path)
      : context_(context), origin_(std::move(origin)), path_(std::move(path)) {}

  // The generation that is now; opens the file if need be. Answers at once for `recent` when the source was looked at
  // less than kRecent ago. Errors: what Origin and File::open give.
  void current(Freshness, Reply<GenerationPtr>);

  // A commit of this mount begins: what is open does not change by it. And it is done: who comes now sees what it made.
  // Or it has failed.
  // From expect_switch() on, whoever asks waits for one or the other.
  void expect_commit();
  void expect_switch();
  void supersede();
  void expect_no_commit();

  // Another file may stand at the path from now on: whoever asks next is told after a look of his own.
  void expect_another() EXCLUDES(mutex_);

  const std::string& path() const { return path_; }

  // The generation that was last looked at, null where nobody has it any more.
  GenerationPtr known() EXCLUDES(mutex_);
  const Origin& origin() const { return *origin_; }

  // As Holder::admit: of the file as a thing that stands somewhere, or of what is in it now.
  void admit(Access, const CallerPtr&, Reply<void>);

  // With the time that the kernel believes what it was told (kAnswerTimeout, file_system.h) it makes less than the
  // second within which a change is promised to be seen.
  static constexpr std::chrono::milliseconds kRecent{200};

 private:
  using Clock = std::chrono::steady_clock;
  void end_switch() EXCLUDES(mutex_);
  void start_check();
  void check();
  Result<GenerationPtr> look_again();
  std::optional<tfile::Identity> identity_now() const;
  struct OpenedFile {
    std::shared_ptr<const GuardedSource> source;
    std::shared_ptr<const tfile::File> file;
  };
  Result<OpenedFile> open_settled();
  Result<GenerationPtr> open_new(const SourceState&);

  MountContext& context_;
  const std::unique_ptr<const Origin> origin_;
  const std::string path_;

  Mutex mutex_;
  std::weak_ptr<const Generation> current_ GUARDED_BY(mutex_);
  Clock::time_point checked_ GUARDED_BY(mutex_);
  std::uint64_t files_ GUARDED_BY(mutex_) = 0;  // how often another was expected
  bool checking_ GUARDED_BY(mutex_) = false;
  std::uint64_t commits_ GUARDED_BY(mutex_) = 0;  // of this mount, that have changed the file
  const std::shared_ptr<OwnChanges> own_changes_ = std::make_shared<OwnChanges>();
  bool committing_ GUARDED_BY(mutex_) = false;  // by a commit of this mount that has not ended
  bool switching_ GUARDED_BY(mutex_) = false;   // a commit changes what a look would see
  std::vector<Reply<GenerationPtr>> waiters_ GUARDED_BY(mutex_);
  // Why the file in this state cannot be opened: not tried again until it changes.
  std::optional<std::pair<tfile::Identity, Error>> refused_ GUARDED_BY(mutex_);
};

}  // namespace tfilefs
