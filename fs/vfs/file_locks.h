// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "cache/cluster_cache.h"
#include "descriptor.h"
#include "exec/timers.h"
#include "mutex.h"
#include "reply.h"
#include "vfs/open_files.h"

namespace tfilefs {

// A lock as fcntl(2) or flock(2) ask for it.
struct FileLock {
  std::uint64_t owner = 0;      // the kernel's number of whose it is: a process, or an open file
  bool is_flock = false;        // of flock(2): of the whole file, and apart from those of fcntl(2)
  short type = 0;               // F_RDLCK, F_WRLCK, F_UNLCK
  off_t begin = 0, length = 0;  // a length of 0 reaches to any end
  pid_t holder = 0;             // of an answer: the process that holds it; 0: not known
};

// Locks of open files are held on the host, by a descriptor of its own for each owner: so the host decides about
// conflicts, with programs beside the mount too, and an owner's locks go with its descriptor. The host is never asked
// to wait: a request that waits is a `Reply` here, and is tried again when a lock goes in this mount, and now and then
// for those beside it. Thread-safe; nothing blocks.
class FileLocks {
 public:
  FileLocks(ClusterCache& cache, Timers& timers) : cache_(cache), timers_(timers) {}

  // The locked file: one of the host, open. Anything else of the mount (`descriptor` null) has a file in memory.
  struct File {
    std::array<std::uint64_t, 2> object{};  // the same for all openings of a file
    std::shared_ptr<const Descriptor> descriptor;
  };
  struct Owner {
    Owner(Descriptor opened, std::shared_ptr<const Descriptor> of)
        : descriptor(std::move(opened)), file(std::move(of)) {}
    const Descriptor descriptor;
    const std::shared_ptr<const Descriptor> file;
    HandleId handle = 0;                         // through which it asked last
    bool has_ranges = false, has_whole = false;  // may hold locks of fcntl(2), of flock(2)
  };
  // The argument of take_back(). Without an owner there is nothing to be taken back.
  struct Grant {
    std::shared_ptr<Owner> owner;
    bool is_flock = false;
  };

  // Sets or removes a lock. With `waits` the answer comes when it is granted. Errors: those of fcntl(2), which are
  // EAGAIN where another holds it; cancelled().
  void set(const File&, HandleId, const FileLock&, bool waits, Reply<Grant>) EXCLUDES(mutex_);
  // For an answer that did not reach the one who asked.
  void take_back(const Grant&) EXCLUDES(mutex_);
  // The lock that stands in the way; of type F_UNLCK if none does.
  void test(const File&, HandleId, const FileLock&, Reply<FileLock>) EXCLUDES(mutex_);
  // The owner closes a descriptor of the file: all its locks of fcntl(2) go, as POSIX has it.
  void close(const File&, std::uint64_t owner, Reply<void>) EXCLUDES(mutex_);
  // Nobody has the handle any more: the locks of owners that asked through it go.
  void release(HandleId) EXCLUDES(mutex_);
  // Drops the requests that wait, and all locks.
  void clear() EXCLUDES(mutex_);

 private:
  using Key = std::pair<std::array<std::uint64_t, 2>, std::uint64_t>;
  struct Asked {
    File file;
    HandleId handle = 0;
    FileLock lock;
    bool waits = false;
  };
  using AskedPtr = std::shared_ptr<const Asked>;
  struct Waiting {
    AskedPtr asked;
    Reply<Grant> reply;
  };
  struct Tried {
    bool is_granted = false;
    Grant grant;
  };
  Result<std::shared_ptr<Owner>> owner_of(const File&, HandleId, std::uint64_t owner) EXCLUDES(mutex_);
  std::shared_ptr<const Descriptor> known_file(const File&) REQUIRES(mutex_);
  Result<Tried> try_now(const Asked&) EXCLUDES(mutex_);
  void ask(const AskedPtr&, Reply<Grant>) EXCLUDES(mutex_);
  void wait(Waiting) EXCLUDES(mutex_);
  void try_all_again() EXCLUDES(mutex_);
  void try_again(const std::array<std::uint64_t, 2>& object) EXCLUDES(mutex_);

  ClusterCache& cache_;
  Timers& timers_;
  Mutex mutex_{"FileLocks::mutex_"};
  std::map<Key, std::shared_ptr<Owner>> owners_ GUARDED_BY(mutex_);
  std::vector<Waiting> waiting_ GUARDED_BY(mutex_);
  std::chrono::milliseconds pause_ GUARDED_BY(mutex_){0};
  bool is_timer_set_ GUARDED_BY(mutex_) = false;
};

}  // namespace tfilefs
