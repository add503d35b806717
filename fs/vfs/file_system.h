// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/statvfs.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "cache/cluster_cache.h"
#include "content.h"
#include "control/stats.h"
#include "descriptor.h"
#include "error_log.h"
#include "reply.h"
#include "request_times.h"
#include "staging/staged_file.h"
#include "steady_clock.h"
#include "vfs/file_locks.h"
#include "vfs/inode_table.h"
#include "vfs/kernel_notices.h"
#include "vfs/names/chain_options.h"
#include "vfs/names/friend_names.h"
#include "vfs/names/path_pattern.h"
#include "vfs/names/table_shaping.h"
#include "vfs/nodes/attributes.h"
#include "vfs/nodes/directory.h"
#include "vfs/nodes/generation.h"
#include "vfs/open_files.h"
#include "vfs/open_retries.h"
#include "vfs/page_copies.h"
#include "vfs/timed_out_reads.h"
#include "view/columnar_form.h"

namespace tfilefs {

class Chain;
class RemoteTree;
class MetricsWriter;
class SourceTree;
class WrittenFile;

// How long the kernel may cache an answer about names and attributes. Together with MountedFile::kRecent this is less
// than the second within which a change of the source is promised to be seen; and it is long enough that a path in
// constant use costs two requests per second.
inline constexpr double kAnswerTimeout = 0.5;

struct FileSystemOptions {
  CacheOptions cache;
  Ownership ownership;
  bool views_listed = false;
  StringsAs strings = StringsAs::seen;
  bool is_shared = false;             // users other than the one that mounts are let in
  std::optional<WriteOptions> write;  // if the mount may be written
  tfile::RemoteOptions remote;        // of servers
  std::vector<NamedFriend> friends;   // of the tables of a file or a chain that is mounted
  TableShaping shaping;               // of all tables; of a mount that is not written
  std::string config_json;            // the text of .tfilefs/config.json
  MountNames names;                   // labels of the metrics
  std::string metrics_file;           // absolute; empty: none
  // By which what is written waits, and looks at files are recent.
  SteadyClock* clock = &SteadyClock::of_system();
};

// Receives the names of a listing, one after the other, until it is full.
class DirectorySink {
 public:
  virtual ~DirectorySink() = default;
  // False if there was no room for the name. `next`: the offset to go on from after this name. `attributes`: complete,
  // and the name counts as looked up under `id`; if `id` is 0, only number and type bits, and it does not.
  virtual bool add(const std::string& name, InodeId id, const Attributes& attributes, std::uint64_t next) = 0;
};

// The mount without a kernel. Every operation answers through its Reply exactly once: on the caller's thread if
// everything that it needs is loaded, else from another; none blocks. Thread-safe. Errors carry the errno in
// `system_errno` if their kind is not specific enough. Those that report trouble are also in the error log, with their
// path. `by`: the caller of the request.
class FileSystem {
 public:
  // Mounts a ROOT file or a directory of the host or behind a URL, or the files there that match a pattern
  // (vfs/names/path_pattern.h). `hidden`: as SourceTree::open. Blocks. Errors: not_found, denied, damaged (not a ROOT
  // file).
  static Result<std::unique_ptr<FileSystem>> open(const std::string& source, const FileSystemOptions&,
                                                  std::string hidden = "");

  // Mounts many ROOT files as one. `names`: as chain_names(); local ones are absolute. Blocks. Errors: as
  // Chain::current().
  static Result<std::unique_ptr<FileSystem>> open_chain(std::vector<std::string> names, const ChainOptions&,
                                                        FileSystemOptions);

  // Before the first request.
  void set_kernel(KernelNotices kernel) { kernel_ = std::move(kernel); }

  // Makes the ROOT file that was opened to be written and does not exist yet. Its name is taken from then on, and the
  // file is there when this ends. Blocks. Errors: denied, no_space, io.
  Result<> make_source();

  // Keeps the metrics in FileSystemOptions::metrics_file, if it names one, until end().
  void begin_metrics_file();

  // Shows one ROOT file of any origin.
  FileSystem(std::unique_ptr<ClusterCache>, std::unique_ptr<const FileLocator>, const FileSystemOptions&);
  ~FileSystem();  // waits for the work in flight
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;

  struct Found {
    InodeId id = 0;
    Attributes attributes;
  };
  // Counts as one lookup when it succeeds. `soon`: a size that takes long is left to getattr()
  // (Attributes::size_is_known). A program that opens the file before the kernel was told its size gets a stale error,
  // on which the kernel looks the file up again: a program may map it, or have it sent, without ever asking for its
  // size.
  enum class Sizes : std::uint8_t { exact, soon };
  void lookup(InodeId parent, std::string_view name, Reply<Found>, const CallerPtr& by = nullptr,
              Sizes sizes = Sizes::exact);
  // For a known thread of the caller. If its last open failed as stale, the size is exact: the thread may open the
  // result of this look-up without asking for the size.
  void lookup_for_thread(pid_t thread, InodeId parent, std::string_view name, Reply<Found>, const CallerPtr& by);
  // The kernel has got the size.
  void note_size_reported(InodeId);
  void forget(InodeId, std::uint64_t times);
  // `open`: the handle through which it is asked; 0: none.
  void getattr(InodeId, Reply<Attributes>, const CallerPtr& by = nullptr, HandleId open = 0);
  void readlink(InodeId, Reply<std::string>, const CallerPtr& by = nullptr);

  struct Opened {
    HandleId handle = 0;
    bool keep_cache = false;  // pages of an earlier opening are still valid
    bool direct = false;      // neither pages nor size are to be cached
    bool grows = false;       // a program may append to it now
    bool shared = false;      // any of its bytes may change, beside the mount too
    bool changed = false;     // attributes given before are of an older state
  };
  // `thread`: the opening thread's id as the kernel gives it; 0: not known.
  void open(InodeId, Reply<Opened>, const CallerPtr& by = nullptr, pid_t thread = 0);
  // Exactly `size` bytes, fewer at the end only. Error: stale when the source has changed since the opening.
  void read(HandleId, std::uint64_t offset, std::size_t size, Reply<Slices>);
  void release(HandleId);

  // The bytes that read() gives of a file, for protocols that tell their number before they send them. `making`: as
  // Content::build_id(). Not `is_fixed`: they are others each time the file is opened, or may change while it is.
  struct OpenBytes {
    std::uint64_t size = 0, making = 0;
    bool is_fixed = false;
  };
  OpenBytes bytes_of(HandleId) const;

  void opendir(InodeId, Reply<HandleId>, const CallerPtr& by = nullptr);
  // Writes names from `offset` on (0, or a `next` given before) to the sink. `full`: with attributes, if these are
  // known without storage or decoding.
  void readdir(HandleId, std::uint64_t offset, bool full, std::shared_ptr<DirectorySink>, Reply<void>);

  // Changes. A new name counts as one lookup.
  struct Created {
    Found found;
    Opened opened;
  };
  void create(InodeId parent, std::string_view name, const Creation&, bool exclusive, Reply<Created>,
              const CallerPtr& by = nullptr);
  void open_to_write(InodeId, Reply<Opened>, const CallerPtr& by = nullptr, pid_t thread = 0);
  void open_only_to_write(InodeId, Reply<Opened>, const CallerPtr& by = nullptr, pid_t thread = 0);
  void make_directory(InodeId parent, std::string_view name, const Creation&, Reply<Found>,
                      const CallerPtr& by = nullptr);
  void make_link(InodeId parent, std::string_view name, std::string_view target, const Creation&, Reply<Found>,
                 const CallerPtr& by = nullptr);
  void remove(InodeId parent, std::string_view name, bool directory, Reply<void>, const CallerPtr& by = nullptr);
  void rename(InodeId parent, std::string_view name, InodeId new_parent, std::string_view new_name, unsigned flags,
              Reply<void>, const CallerPtr& by = nullptr);
  void make_hard_link(InodeId of, InodeId parent, std::string_view name, Reply<Found>, const CallerPtr& by = nullptr);
  void change(InodeId, const AttributeChange&, Reply<Attributes>, const CallerPtr& by = nullptr, HandleId open = 0);
  void set_xattr(InodeId, std::string_view name, std::optional<std::string> value, int flags, Reply<void>,
                 const CallerPtr& by = nullptr);
  // `append`: at the end of the file, even if the kernel believes the end to be elsewhere. `durable`: as sync()
  // afterwards.
  void write(HandleId, std::uint64_t offset, bool append, std::span<const std::byte>, Reply<std::size_t>,
             bool durable = false);
  // The kernel reads pages for its cache; it writes such as were changed through a mapping. Of files that are locked,
  // only the changed bytes are written.
  void read_pages(HandleId, std::uint64_t offset, std::size_t size, Reply<Slices>);
  void write_pages(HandleId, std::uint64_t offset, std::span<const std::byte>, Reply<std::size_t>);
  // `lock_owner`: whose locks of fcntl(2) on the file go, since a descriptor is closed.
  void flush(HandleId, Reply<void>, std::uint64_t lock_owner = 0);
  void sync(HandleId, Reply<void>);

  // Locks, if they are not left to the kernel, which knows this mount alone. As the functions of FileLocks.
  bool has_locks() const { return tree_ && writing_; }
  void set_lock(HandleId, const FileLock&, bool waits, Reply<FileLocks::Grant>);
  void take_back(const FileLocks::Grant& grant) { locks_.take_back(grant); }
  void test_lock(HandleId, const FileLock&, Reply<FileLock>);

  void getxattr(InodeId, std::string_view name, Reply<std::string>, const CallerPtr& by = nullptr);
  void listxattr(InodeId, Reply<std::string>, const CallerPtr& by = nullptr);  // names, each ended by a NUL
  void listed_xattrs(InodeId, Reply<Xattrs>, const CallerPtr& by = nullptr);
  // Those that are listed, and those that are found by their names (Vnodes::more_xattrs).
  void all_xattrs(InodeId, Reply<Xattrs>, const CallerPtr& by = nullptr);
  void statfs(Reply<struct statvfs>);

  // For use without a kernel, and for tests: the entry at a path below the mount's root, looked up name by name.
  // Blocks.
  Result<Found> find_path(std::string_view path);

  // Commits all complete tables, and ends writing. Returns what stays pending, a line each. Blocks.
  std::vector<std::string> finish_writing();
  // The same for good: no request is answered any more. Returns the staged files that lose bytes. Blocks.
  std::vector<std::string> end();

  ErrorLog& errors() { return errors_; }
  Timers& timers() { return cache_->exec().timers; }
  RequestTimes& request_times() { return request_times_; }
  ClusterCache& cache() { return *cache_; }

  // For idle=: whether anything is open, and the time of the last request.
  bool is_in_use() const { return files_.size() > 0; }
  std::chrono::steady_clock::time_point last_request() const { return last_request_.load(); }
  // For a read, which does not look at the clock a second time.
  void note_request(std::chrono::steady_clock::time_point at) { last_request_.store(at, std::memory_order_relaxed); }
  // Commits all complete tables; returns whether ending would then lose nothing. What it would lose is reported in
  // .tfilefs/errors. Blocks.
  bool may_end();
  // For times without requests.
  void give_back_memory() { cache_->give_back_idle(); }

 private:
  FileSystem(std::unique_ptr<ClusterCache>, const FileSystemOptions&);
  Result<> show_directory(const std::string& source, std::string hidden);
  Result<> show_chains(std::vector<std::string> names, const ChainOptions&, const tfile::RemoteOptions&,
                       std::vector<FriendSource>);
  Result<std::vector<FriendSource>> open_friends(const std::vector<NamedFriend>&, ChainOptions, tfile::RemoteOptions);
  Result<> show_file(const std::string& source, bool there);
  static Result<std::unique_ptr<FileSystem>> open_url(const std::string& url, FileSystemOptions);
  Result<> show_url(const std::string& url, tfile::RemoteOptions);
  Result<> show_remote_file(const std::string& url, const tfile::RemoteOptions&);
  Result<> show_remote_directory(const std::string& url, const tfile::RemoteOptions&, PathPattern shown);
  static Result<> open_now(MountedFile&);
  static Result<> open_now(const std::vector<std::shared_ptr<Chain>>&);
  void fresh_entry(InodePtr, Freshness, Reply<Entry>);
  void resolve_again(InodePtr, Reply<Entry>);
  void directory_of(InodePtr, Freshness, Reply<std::shared_ptr<const Directory>>);
  Reply<FoundEntry> or_readme(Reply<FoundEntry>) const;
  void find_in(const InodePtr& parent, std::string_view name, const CallerPtr& by, Reply<FoundEntry>);
  void entry_for(InodePtr, Access, const CallerPtr& by, Reply<Entry>);
  std::shared_ptr<const Vnodes> open_vnodes(HandleId) const;
  InodeId refer(const InodePtr& parent, std::string_view name, std::string_view own_name, const Entry&, Attributes&,
                bool is_new = false);
  struct Sought {
    InodePtr parent;
    std::string name;
    CallerPtr by;
    Sizes sizes = Sizes::exact;
  };
  // Calls attempt(reply), and again if the file changes meanwhile. Trouble is noted for what is `below` the inode.
  template <class T, class Attempt>
  void with_retries(const InodePtr&, std::string_view below, int tries, Attempt, Reply<T>);
  void list_directory(const InodePtr&, const CallerPtr& by, Reply<OpenFile>);
  GenerationPtr generation_of(Inode& directory);
  void judge(const GenerationPtr&, const Error&, Reply<void>);
  template <class T>
  void tell(const InodePtr&, const GenerationPtr&, const Error&, Reply<T>);
  struct How {
    Access access;
    void (Vnodes::*function)(VnodeId, Reply<OpenedContent>) const;
    bool may_read;
  };
  void open_content(InodeId, How, const CallerPtr& by, pid_t thread, Reply<Opened>);
  void entry_to_open(const InodePtr&, bool comes_back, Reply<Entry>);
  void finish_open(const InodePtr&, OpenedContent, bool may_read, Reply<Opened>);
  void finish_found(const Sought&, FoundEntry, Reply<Found>);
  Reply<FoundEntry> finishing(Sought, Reply<Found>);
  void finish_created(const InodePtr& parent, const std::string& name, const CallerPtr& by, CreatedFile,
                      Reply<Created>);
  template <class T, class Change>
  void change_in(InodeId parent, std::string_view name, const CallerPtr& by, Reply<T>, Change);
  void fill(const OpenFile&, std::uint64_t offset, bool full, DirectorySink&);
  bool fill_child(const OpenFile&, Listing::Item&, std::uint64_t next, bool full, DirectorySink&);
  void entry_of(InodeId, const CallerPtr& by, Reply<Entry>);
  InodePtr known(InodeId);
  void note(const Inode&, std::string_view below, const Error&);
  static tl::unexpected<Error> unknown_inode();
  static tl::unexpected<Error> bad_handle();
  void note_refusal(const Inode&, std::string_view below, const Error&);
  void forget_pages(const std::shared_ptr<const OpenFile>&, Reply<void>);
  void last_byte(const InodePtr&, std::uint64_t size, Reply<std::byte>);
  bool may_tell_at_once(Inode&, const Attributes&) const;
  template <class T>
  void tell_size(const InodePtr&, const Attributes&, T answer, Reply<T>);
  void forget_names(bool is_crowded);
  void release_idle_tables();
  void set_root(Entry);
  std::vector<GenerationPtr> remote_files() const;
  MountReport report(const CacheReport&) const;
  std::string stats_json() const;
  std::string reads_json() const;
  std::string metrics() const;
  std::vector<std::shared_ptr<WrittenFile>> written_files() const;
  Result<> commit_all();
  Result<> discard_all();
  std::vector<StagedFile::Unkept> unkept() const;
  Result<std::string> pending_json() const;

  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  const MountNames names_;
  const std::string metrics_file_;
  ErrorLog errors_;
  RequestTimes request_times_;
  std::stop_source end_of_requests_;  // to servers
  std::unique_ptr<ClusterCache> cache_;
  std::unique_ptr<Writing> writing_;  // null: read-only
  MountContext context_;
  std::shared_ptr<SourceTree> tree_;            // of a mirrored directory
  std::shared_ptr<WrittenFile> written_;        // of a single file that may be written
  std::shared_ptr<RemoteTree> remote_tree_;     // of a directory behind a URL
  std::shared_ptr<MountedFile> remote_file_;    // of a file behind a URL
  std::shared_ptr<const Descriptor> space_of_;  // where statfs looks: beneath any mount over it; may be null
  Entry control_, readme_;
  std::unique_ptr<InodeTable> inodes_;
  FileLocks locks_;
  std::shared_ptr<const OpenFile> file_with_copies(HandleId) const;
  PageCopies page_copies_;
  KernelNotices kernel_;
  std::atomic<bool> forgetting_ = false;
  OpenRetries retries_;
  OpenFiles files_;
  TimedOutReads timed_out_reads_;
  std::atomic<std::chrono::steady_clock::time_point> last_request_{};
  std::vector<std::shared_ptr<Chain>> chains_;  // of many files
  std::unique_ptr<MetricsWriter> metrics_writer_;
};

}  // namespace tfilefs
