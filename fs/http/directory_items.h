// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "http/served_item.h"
#include "reply.h"
#include "vfs/file_system.h"
#include "vfs/held.h"

namespace tfilefs {

// How many names the listings under way hold together. Thread-safe.
class ListedNames {
 public:
  static constexpr std::size_t kNamesMax = 1'000'000;

  bool take(std::size_t count) {
    if (held_.fetch_add(count) + count <= kNamesMax) return true;
    give_back(count);
    return false;
  }
  void give_back(std::size_t count) { held_.fetch_sub(count); }

 private:
  std::atomic<std::size_t> held_ = 0;
};

// `known`: sizes and times that are known at once; `all`: also those that take reading, but of links.
enum class ItemSizes : std::uint8_t { known, all };

// A listing of a directory: the state in which it was opened, sorted by name, some items at a time. It holds
// a number for each item, and what an open directory of a mount holds, and so is counted; few items are not.
class DirectoryItems : public std::enable_shared_from_this<DirectoryItems> {
 public:
  // Errors: also `too_large`, of a directory with more than ListedNames::kNamesMax names, and `busy`, if the listings
  // under way leave no room. Does not block.
  static void open(FileSystem&, HeldInode directory, ItemSizes, std::shared_ptr<ListedNames>,
                   Reply<std::shared_ptr<DirectoryItems>>);
  ~DirectoryItems() { names_->give_back(counted_); }
  DirectoryItems(const DirectoryItems&) = delete;
  DirectoryItems& operator=(const DirectoryItems&) = delete;

  // The next `most` items, or those that are left. One call at a time. Does not block.
  void next(std::size_t most, Reply<std::vector<ServedItem>>);
  bool is_more() const { return next_ < offsets_.size(); }

 private:
  DirectoryItems(FileSystem& fs, HeldInode directory, ItemSizes sizes, std::shared_ptr<ListedNames> names)
      : fs_(fs), directory_(std::move(directory)), sizes_(sizes), names_(std::move(names)) {}
  Result<> take(std::vector<std::pair<std::string, std::uint32_t>> listed);
  void add_item(std::vector<ServedItem>& to, Reply<void>);
  void look_up(ServedItem&, Reply<void>);

  FileSystem& fs_;
  const HeldInode directory_;
  const ItemSizes sizes_;
  const std::shared_ptr<ListedNames> names_;
  std::size_t counted_ = 0;
  HeldHandle handle_;
  std::vector<std::uint32_t> offsets_;  // of FileSystem::readdir, in the order of the names
  std::size_t next_ = 0;
};

}  // namespace tfilefs
