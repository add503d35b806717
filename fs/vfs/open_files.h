// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "mutex.h"
#include "vfs/inode_table.h"
#include "vfs/nodes/directory.h"

namespace tfilefs {

using HandleId = std::uint64_t;

// An open file with its content, or an open directory with its names. Thread-safe.
struct OpenFile {
  InodePtr inode;
  OpenedContent content;
  // Only of a directory: the names as they were when it was opened, or last read from the start.
  std::shared_ptr<const Directory> directory;
  std::shared_ptr<const Listing> listing;
  bool listing_used = false;
};

class OpenFiles {
 public:
  HandleId add(OpenFile);
  std::shared_ptr<const OpenFile> find(HandleId) const;  // null: not open
  // The vnodes for requests through an open handle of the inode; null if it is not open, or its path is used instead.
  std::shared_ptr<const Vnodes> own_of(const Inode&) const;
  bool is_open(const Inode&) const;
  void replace(HandleId, OpenFile);
  void remove(HandleId);
  std::size_t size() const;
  void clear();

 private:
  mutable Mutex mutex_{"OpenFiles::mutex_"};
  HandleId last_ GUARDED_BY(mutex_) = 0;
  std::unordered_map<HandleId, std::shared_ptr<const OpenFile>> files_ GUARDED_BY(mutex_);
};

}  // namespace tfilefs
