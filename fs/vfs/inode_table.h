// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mutex.h"
#include "once.h"
#include "vfs/inode_map.h"
#include "vfs/nodes/directory.h"

namespace tfilefs {

using DirectoryOnce = Once<std::shared_ptr<const Directory>>;

// A path that the kernel knows. The private members are guarded by the table's mutex.
class Inode {
 public:
  // Distinguishes the things that are at one path over time. Of a file: the generation that it belongs to. Of a
  // directory: 0; or, if it (or one above it) was reached by another name, a number for that name, since the kernel
  // allows a directory's inode only one name.
  struct State {
    bool is_file = false;
    std::uint64_t which = 0;
    bool moves = false;  // `which` identifies it, whatever its path: it keeps its inode when it is renamed
    friend bool operator==(const State&, const State&) = default;
  };

  Inode(InodeId id_, InodeNumber number_, State state_, std::shared_ptr<Inode> parent_, std::string_view name_)
      : id(id_),
        number(number_),
        state(state_),
        parent(std::move(parent_)),
        name(name_),
        path_length(parent ? parent->path_length + 1 + name.size() : 0) {}
  const InodeId id;
  const InodeNumber number;
  const State state;
  const std::shared_ptr<Inode> parent;  // null for the root
  const std::string name;
  const std::size_t path_length;                 // bytes, from the mount's root
  std::atomic<bool> is_size_unreported = false;  // the kernel was told size 0, and not yet the real one
  std::atomic<bool> may_have_pages = false;      // in the kernel: it was opened for reading
  std::atomic<std::uint64_t> reported_size = 0;  // what the kernel was told last

 private:
  friend class InodeTable;
  std::uint64_t lookups_ = 0;
  Entry entry_;
  std::shared_ptr<DirectoryOnce> directory_;  // the directory of `entry_`, once entered
  std::shared_ptr<const Directory> kept_;     // the directory last entered: kept alive while the kernel knows it
  std::uint64_t adopted_ = 0;                 // State::which of the file that keeps this inode; 0: none
  bool is_elsewhere_ = false;                 // of a file that keeps its inode: it was found at another path, too
  bool left_ = false;                         // of a directory: it was moved away from this path, or removed
  bool is_made_ = false;                      // it shows what was made of an expression, and is among `made_`
  std::uint64_t version_ = 0;                 // of the content whose pages the kernel may hold; 0: none
  std::list<const Inode*>::iterator among_files_;
  std::list<Inode*>::iterator among_made_;
};
using InodePtr = std::shared_ptr<Inode>;

// The paths that the kernel knows. Each has a number that is the same on every mount: a hash of its name, seeded with
// the number of its directory. Its id is that number, too, unless another inode has that id already: a file that
// changed gets a second id (and thereby a new inode and new pages in the kernel), while the first stays valid for
// programs that opened the file before. A file that is made where one was moved away gets another number, too. A
// directory keeps its id through all changes, since it may be the working directory of processes. An inode stays until
// the kernel has forgotten it as often as it was told of it. Thread-safe. Its lock is the first in order, and no
// function of another class is called while it is held.
class InodeTable {
 public:
  // `limit`: of inodes, from which on `is_crowded` tells. `made_max`: of those that note_made() was told of.
  explicit InodeTable(Entry root, std::size_t limit = SIZE_MAX / 2, std::size_t made_max = SIZE_MAX / 2);

  InodePtr find(InodeId) const;  // null: not known

  // The number that a path has or would get.
  InodeNumber number_of(const Inode& parent, std::string_view name) const;

  // The inode for the entry now at the path, in the given state; counts one more lookup.
  struct Reference {
    InodeId id = 0;
    InodeNumber number = 0;
    bool is_crowded = false;  // the kernel knows more than the limit, and than oldest() left
  };
  // `is_new`: the file has just been made, so that no inode is of it yet.
  Reference refer(const InodePtr& parent, std::string_view name, const Entry&, Inode::State, bool is_new = false);
  // The file `which` (as in State::which), which keeps its inode, is the one at this inode: it gets no other.
  void adopt(const InodePtr&, std::uint64_t which);
  // The file `which` is gone: what is found under this number from now on is another.
  void remove(std::uint64_t which);
  void forget(InodeId, std::uint64_t times);
  // The directory at the path was moved away, or removed. The kernel may still hold what it knew of it, so the next
  // directory at the path gets a new inode.
  void leave(const Inode& parent, std::string_view name);
  // Whether the inode's file or directory left its path in this way.
  bool has_left(const Inode&) const;

  Entry entry(const Inode&) const;
  void set_entry(Inode&, Entry);
  std::shared_ptr<DirectoryOnce> directory_once(Inode&);
  void keep(Inode&, std::shared_ptr<const Directory>);
  std::shared_ptr<const Directory> kept(const Inode&) const;  // null: none was entered

  // Notes the version whose pages the kernel will hold; returns the one before (0: none).
  std::uint64_t exchange_version(Inode&, std::uint64_t);

  std::size_t size() const;

  // Among the files that are not used, those that the kernel has known longest, as many as there are beyond an eighth
  // below the limit: it is to be asked to forget them. Those that it keeps come again last. Without those that were
  // found at several paths: their names may be of others by now.
  struct Name {
    InodeId directory = 0;
    std::string name;
    InodeId file = 0;
  };
  std::vector<Name> oldest();
  // Directories of ROOT files below which the kernel knows no file keep nothing of what they show from now on: they are
  // found again by their paths. Returns their generations.
  std::vector<std::shared_ptr<const Generation>> release_idle();
  // Notes a file or directory that was made of an expression, and is in memory as long as the kernel knows it, or
  // something below it. Whether these are more than the limit: then those found first are to be released.
  bool note_made(InodeId);
  // Those of them beyond the limit, oldest first, that are directories and below which the kernel knows no file keep
  // nothing from now on, as those of release_idle(). Of the others, the files that are not used: the kernel is to be
  // asked to forget them, and the next call releases their directories.
  std::vector<Name> release_made();
  // Whether it is open, or about to be. Without its name, an open file would seem deleted.
  bool is_used(InodeId) const;

 private:
  Entry replace(Inode&, const Entry&) REQUIRES(mutex_);  // returns the old one
  // The entries of a directory, and what was loaded for them: to be destroyed after the lock is released.
  struct Shown {
    Entry entry;
    std::shared_ptr<DirectoryOnce> entered;
    std::shared_ptr<const Directory> kept;
  };
  static Shown release(Inode&, const std::shared_ptr<const Vnodes>& stand_in);  // with mutex_ held
  void drop_made(Inode&) REQUIRES(mutex_);
  bool may_be_forgotten(const Inode& file) const REQUIRES(mutex_);
  void replace_removed(std::uint64_t which) REQUIRES(mutex_);
  bool lies_in_left(const Inode&) const REQUIRES(mutex_);
  bool is_in_use(InodeId) const REQUIRES(mutex_);

  const std::size_t limit_, made_max_;
  mutable Mutex mutex_{"InodeTable::mutex_"};
  InodeMap<InodePtr> inodes_ GUARDED_BY(mutex_);
  std::list<const Inode*> files_ GUARDED_BY(mutex_);  // oldest first
  std::list<Inode*> made_ GUARDED_BY(mutex_);         // oldest first
  std::size_t crowded_at_ GUARDED_BY(mutex_);
  std::multimap<InodeId, InodeId> displaced_ GUARDED_BY(mutex_);  // by the id that they would have had, which was taken
  std::unordered_map<std::uint64_t, InodePtr> moving_ GUARDED_BY(mutex_);  // by State::which
};

// Whether the name is too long for the directory: NAME_MAX for the name, and PATH_MAX for the path, which also bounds
// how deep anything in a mount can nest.
bool is_too_long(const Inode& directory, std::string_view name);
// The path alone: names of views and expressions may be longer for clients of HTTP.
bool makes_path_too_long(const Inode& directory, std::string_view name);

// "/Events/px.f4", for messages.
std::string path_of(const Inode&);

}  // namespace tfilefs
