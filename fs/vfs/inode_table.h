// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "mutex.h"
#include "vfs/directory.h"
#include "vfs/once.h"

namespace tfilefs {

using DirectoryOnce = Once<std::shared_ptr<const Directory>>;

// A path that the kernel knows. What is guarded is so by the table's mutex.
class Inode {
 public:
  Inode(InodeId id_, std::shared_ptr<Inode> parent_, std::string_view name_)
      : id(id_), parent(std::move(parent_)), name(name_) {}
  const InodeId id;
  const std::shared_ptr<Inode> parent;  // null for the root
  const std::string name;

 private:
  friend class InodeTable;
  std::uint64_t lookups_ = 0;
  Entry entry_;
  std::shared_ptr<DirectoryOnce> directory_;  // what was entered of `entry_`
  std::shared_ptr<const Directory> kept_;     // the directory last entered: kept alive while the kernel knows it
  std::uint64_t version_ = 0;                 // of the content whose pages the kernel may hold; 0: none
};
using InodePtr = std::shared_ptr<Inode>;

// The paths that the kernel knows, each under a number that is the same on every mount: a hash of its name, seeded with
// the number of its directory. An entry stays until the kernel has forgotten it as often as it was told of it.
// Thread-safe; the first lock in order, and nothing is called while it is held.
class InodeTable {
 public:
  explicit InodeTable(Entry root);

  InodePtr find(InodeId) const;  // null: not known

  // The number that a path has or would get.
  InodeId id_of(const Inode& parent, std::string_view name) const;

  // What stands at the path now; counted once more.
  InodePtr refer(const InodePtr& parent, std::string_view name, Entry);
  void forget(InodeId, std::uint64_t times);

  Entry entry(const Inode&) const;
  void set_entry(Inode&, Entry);
  std::shared_ptr<DirectoryOnce> directory_once(Inode&);
  void keep(Inode&, std::shared_ptr<const Directory>);

  // Notes the version whose pages the kernel will hold; returns the one before (0: none).
  std::uint64_t exchange_version(Inode&, std::uint64_t);

  std::size_t size() const;
  void clear();  // all but the root, whoever still counts on them

 private:
  bool is(const Inode& inode, const Inode& parent, std::string_view name) const;
  void replace(Inode&, Entry) REQUIRES(mutex_);

  // The hash is well mixed already.
  struct Same {
    std::size_t operator()(InodeId id) const { return id; }
  };
  mutable Mutex mutex_;
  std::unordered_map<InodeId, InodePtr, Same> inodes_ GUARDED_BY(mutex_);
};

// "/Events/px.f4": for messages.
std::string path_of(const Inode&);

}  // namespace tfilefs
