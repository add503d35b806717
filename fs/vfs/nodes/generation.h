// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/cluster_cache.h"
#include "error_log.h"
#include "mutex.h"
#include "once.h"
#include "steady_clock.h"
#include "tfile/file.h"
#include "tfile/table.h"
#include "vfs/names/friend_source.h"
#include "vfs/names/table_shaping.h"
#include "vfs/nodes/attributes.h"
#include "vfs/nodes/directory.h"
#include "vfs/nodes/guarded_source.h"
#include "view/columnar_form.h"
#include "view/known_ranges.h"

namespace tfilefs {

class LoadedTable;
class MountedFile;
class ShownFriends;
struct Writing;

// Keeps the files used last open, even if they are not referred to any more, as long as they and their tables together
// take no more than a share of the mount's memory.
class RecentGenerations {
 public:
  // `memory`: of the mount.
  explicit RecentGenerations(std::uint64_t memory) : memory_max_(memory / kMemoryShare) {}
  void keep(std::shared_ptr<const Generation>);
  void clear();
  std::size_t count() const;

 private:
  // The rest of the memory is for decoded columns.
  static constexpr std::uint64_t kMemoryShare = 8;
  // A program that goes from file to file and back causes no new opening. The maximum keeps the number of descriptors,
  // two per file, below the limit of most systems.
  static constexpr std::size_t kFilesMin = 4, kFilesMax = 256;
  const std::uint64_t memory_max_;
  mutable Mutex mutex_{"RecentGenerations::mutex_", "Generation::mutex_"};
  std::deque<std::shared_ptr<const Generation>> kept_ GUARDED_BY(mutex_);
};

// Shared by the parts of a mount. Outlives all of them.
struct MountContext {
  ClusterCache& cache;
  ErrorLog& errors;
  Ownership ownership;
  bool views_listed = false;
  StringsAs strings = StringsAs::seen;
  Writing* writing = nullptr;  // if the mount may be written
  bool is_shared = false;      // FileSystemOptions::is_shared
  // The root directory of a file, for Generation::root().
  std::function<std::shared_ptr<const Directory>(std::shared_ptr<const Generation>)> make_root = nullptr;
  TableShaping shaping = {};               // of all tables
  std::vector<FriendSource> friends = {};  // of the tables of the file that is mounted, if it is one
  RecentGenerations recent{cache.budget()->size()};
  std::atomic<std::uint64_t> files_memory = 0;        // of open files
  std::atomic<std::uint64_t> directories_memory = 0;  // of the directories that look up names in tables
  // A file of the host was removed. Its number (Vnodes::file_identity) is another's as soon as this returns.
  std::function<void(std::uint64_t number)> file_is_gone = nullptr;
  SteadyClock* clock = &SteadyClock::of_system();  // never null
  // Reads under way may end after all this.
  const std::shared_ptr<ReadLog> reads = std::make_shared<ReadLog>();
};

// The place of a ROOT file. It is looked at by its name, so that another file put in its place is seen. Its functions
// block, except for server_id().
struct SourceState {
  tfile::Identity identity;
  Provenance from;
};
class FileLocator {
 public:
  virtual ~FileLocator() = default;
  virtual Result<SourceState> look() const = 0;
  // The same by one that does not want to open the file: a remote file is not opened for it, as it may be for
  // look().
  virtual Result<SourceState> peek() const { return look(); }
  // Whose threads ask for it. Does not block.
  virtual tfile::ServerId server_id() const { return tfile::kLocalOrigin; }
  virtual Result<std::shared_ptr<const GuardedSource>> open() const = 0;
  // Whether it costs an opening where nobody has it open. Else whoever made it keeps it.
  virtual bool is_opened_again() const { return true; }
  // The identity of the file, or of a file named relative to it, that a caller would open by its own rights. Blocks.
  // Error: denied.
  virtual Result<tfile::Identity> reach(const CallerPtr&, Access, const std::string& sibling) const;
  // The file in an opened source.
  virtual Result<std::shared_ptr<const tfile::File>> read(std::shared_ptr<const GuardedSource>) const;
};

// One state of a ROOT file, and what was loaded of it, which stays consistent. When the file changes, this becomes
// stale (source->is_stale()), and a new generation takes its place.
struct Generation : std::enable_shared_from_this<Generation> {
  Generation(MountContext& context, std::shared_ptr<MountedFile> owner, std::shared_ptr<const GuardedSource> source,
             std::shared_ptr<const tfile::File> file, SourceState state);
  ~Generation();

  MountContext& context;
  const std::shared_ptr<MountedFile> owner;
  const std::shared_ptr<const GuardedSource> source;
  const std::shared_ptr<const tfile::File> file;
  const SourceState state;
  const std::uint64_t serial;                    // number among all generations of this process, from 1
  mutable std::atomic<bool> superseded = false;  // by a commit of this mount: what was loaded stays readable

  // The file's root directory.
  std::shared_ptr<const Directory> root() const;

  // Whether a caller may have access to something made from the file; with `siblings`, from these files as well.
  void admit(Access, const CallerPtr&, Reply<void>, std::vector<tfile::Sibling> siblings = {}) const;

  // The table whose key is at `seek`, loaded once for all cycles and paths that lead to it.
  Once<std::shared_ptr<const LoadedTable>> table(std::uint64_t seek) const;

  // Tables that nothing refers to are opened anew when they are asked for. Those with parts that could not be read
  // stay: they tell makings of their views apart.
  void release_idle_tables() const EXCLUDES(mutex_);

  // The friends of that table, which `make` makes once; null: none. `is_stored`: of the table as it is stored, before
  // the mount's expressions shape it.
  std::shared_ptr<const ShownFriends> friends(std::uint64_t seek, bool is_stored,
                                              const std::function<std::shared_ptr<const ShownFriends>()>& make) const
      EXCLUDES(mutex_);

  // Updates the memory taken by the file, which grows when parts of it are read for the first time, and by a table that
  // was read.
  void note_memory(std::uint64_t of_table = 0) const;
  // Memory of the file and its tables, in bytes.
  std::uint64_t memory() const;

  // Ranges learnt of columns of its tables, by TableRanges::table the address of the key.
  const std::shared_ptr<KnownRanges> ranges = std::make_shared<KnownRanges>();

  // .map.txt.
  mutable Once<std::shared_ptr<Content>> map;

  // .streamerinfo.json and .classes.
  mutable Once<std::shared_ptr<const tfile::FileClasses>> classes;
  mutable Once<std::shared_ptr<Content>> streamer_info;

 private:
  Result<> check(Access, const CallerPtr&, const std::vector<tfile::Sibling>&) const;
  bool was_admitted(const Caller&) const;
  void note_admitted(const Caller&) const;

  // A caller that was last found to be able to read the file.
  struct Admitted {
    Caller caller;
    SteadyClock::Time when;
  };
  mutable Mutex mutex_{"Generation::mutex_"};
  mutable std::vector<Admitted> admitted_ GUARDED_BY(mutex_);
  mutable std::weak_ptr<const Directory> root_ GUARDED_BY(mutex_);  // it refers back to this object
  mutable std::uint64_t memory_ GUARDED_BY(mutex_) = 0;             // as counted in context.files_memory
  mutable std::uint64_t tables_memory_ GUARDED_BY(mutex_) = 0;      // of the tables that were read
  mutable std::unordered_map<std::uint64_t, Once<std::shared_ptr<const LoadedTable>>> tables_ GUARDED_BY(mutex_);
  mutable std::map<std::pair<std::uint64_t, bool>, std::shared_ptr<const ShownFriends>> friends_ GUARDED_BY(mutex_);
};

using GenerationPtr = std::shared_ptr<const Generation>;

// A ROOT file of the mount, through all its changes.
class MountedFile : public std::enable_shared_from_this<MountedFile> {
 public:
  // `path`: in the mount, for messages; empty for the mount's root.
  MountedFile(MountContext& context, std::unique_ptr<const FileLocator> origin, std::string path)
      : context_(context), origin_(std::move(origin)), path_(std::move(path)) {}

  // The current generation; opens the file if necessary. With `recent` it answers at once if the source was looked at
  // less than kRecent ago. Errors: those of Origin and File::open.
  void current(Freshness, Reply<GenerationPtr>);
  // The same, but with EMFILE at once where current() waits for a descriptor.
  void current_at_once(Freshness, Reply<GenerationPtr>);

  // Called by a commit of this mount. expect_commit(): it begins; generations that are open do not change by it.
  // supersede(): it has ended, and later requests see its result. expect_no_commit(): it has failed. From
  // expect_switch() on, requests wait for one of these two.
  void expect_commit();
  void expect_switch();
  void supersede();
  void expect_no_commit();

  // Another file may be at the path from now on: the next request is answered after a new look.
  void expect_another() EXCLUDES(mutex_);

  const std::string& path() const { return path_; }

  // The generation seen last; null if it is not in use any more.
  GenerationPtr known() EXCLUDES(mutex_);
  const FileLocator& origin() const { return *origin_; }

  // As Vnodes::admit: of the file itself as an entry of its directory, or of its present contents.
  void admit(Access, const CallerPtr&, Reply<void>);

  // Together with the time for which the kernel caches answers (kAnswerTimeout, file_system.h) this is less than the
  // second within which a change is promised to be seen.
  static constexpr std::chrono::milliseconds kRecent{200};

 private:
  GenerationPtr recent(Freshness) EXCLUDES(mutex_);
  void look(Reply<GenerationPtr>) EXCLUDES(mutex_);
  void end_switch() EXCLUDES(mutex_);
  void start_check();
  void check();
  void answer_all();
  void give_up_check(const Error&);
  Result<GenerationPtr> look_again();
  std::optional<tfile::Identity> identity_now() const;
  struct OpenedFile {
    std::shared_ptr<const GuardedSource> source;
    std::shared_ptr<const tfile::File> file;
  };
  Result<OpenedFile> open_settled();
  Result<GenerationPtr> open_new(const SourceState&);

  MountContext& context_;
  const std::unique_ptr<const FileLocator> origin_;
  const std::string path_;

  Mutex mutex_{"MountedFile::mutex_", "OwnChanges::mutex_, GuardedSource::mutex_"};
  std::weak_ptr<const Generation> current_ GUARDED_BY(mutex_);
  SteadyClock::Time checked_ GUARDED_BY(mutex_);
  std::uint64_t files_ GUARDED_BY(mutex_) = 0;  // how often another file was expected
  bool checking_ GUARDED_BY(mutex_) = false;
  std::uint64_t commits_ GUARDED_BY(mutex_) = 0;  // number of commits of this mount that have changed the file
  const std::shared_ptr<OwnChanges> own_changes_ = std::make_shared<OwnChanges>();
  bool committing_ GUARDED_BY(mutex_) = false;  // a commit of this mount has not ended
  bool switching_ GUARDED_BY(mutex_) = false;   // a commit is changing the state that a look would see
  std::vector<Reply<GenerationPtr>> waiters_ GUARDED_BY(mutex_);
  // Why the file cannot be opened in this state: it is not tried again until it changes.
  std::optional<std::pair<tfile::Identity, Error>> refused_ GUARDED_BY(mutex_);
};

}  // namespace tfilefs
