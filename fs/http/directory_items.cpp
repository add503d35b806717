// SPDX-License-Identifier: Apache-2.0
#include "http/directory_items.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "http/held.h"
#include "on_behalf.h"

namespace tfilefs {
namespace {

constexpr std::size_t kItemsMax = 1'000'000;  // of which each takes some hundred bytes of the answer

// All names of a directory.
class ItemSink final : public DirectorySink {
 public:
  explicit ItemSink(FileSystem& fs) : fs_(fs) {}
  bool add(const std::string& name, InodeId id, const Attributes& attributes, std::uint64_t) override {
    if (id != 0) fs_.forget(id, 1);
    if (name == "." || name == "..") return true;
    if (items.size() == kItemsMax) {
      is_full = true;
      return false;
    }
    items.push_back(served_item(name, attributes, id != 0));
    return true;
  }

  std::vector<ServedItem> items;
  bool is_full = false;

 private:
  FileSystem& fs_;
};

// A mirrored directory does not tell the types of its names.
bool has_type(const ServedItem& item) { return (item.mode & S_IFMT) != 0; }

bool is_known(const ServedItem& item, ItemSizes sizes) {
  return has_type(item) && (sizes == ItemSizes::known || item.size || !S_ISREG(item.mode));
}

// Looks up the items of which the type is missing, or the size if all are wanted, one after the other.
class SizesOfItems : public std::enable_shared_from_this<SizesOfItems> {
 public:
  SizesOfItems(FileSystem& fs, InodeId directory, ItemSizes sizes, std::vector<ServedItem> items,
               Reply<std::vector<ServedItem>> reply)
      : fs_(fs), directory_(directory), sizes_(sizes), items_(std::move(items)), reply_(std::move(reply)) {}

  // A look-up that is answered at once goes on in this loop, so that a long list takes no deep stack.
  void run() {
    for (;; ++at_) {
      while (at_ < items_.size() && is_known(items_[at_], sizes_)) ++at_;
      if (at_ == items_.size()) return reply_(std::move(items_));
      const auto turn = std::make_shared<std::atomic<int>>(0);
      Reply<FileSystem::Found> found(
          [self = shared_from_this(), turn](Result<FileSystem::Found> result) { self->take(std::move(result), *turn); },
          reply_.stop_token());
      fs_.lookup(directory_, items_[at_].name, std::move(found));
      if (turn->fetch_add(1) == 0) return;  // take() goes on
    }
  }

 private:
  // An item that is gone, or damaged, stays without a size.
  void take(Result<FileSystem::Found> found, std::atomic<int>& turn) {
    if (found) {
      const HeldInode held(fs_, *found);
      items_[at_] = served_item(std::move(items_[at_].name), held.attributes(), true);
    }
    if (turn.fetch_add(1) == 0) return;  // run() goes on
    ++at_;
    run();
  }

  FileSystem& fs_;
  const InodeId directory_;
  const ItemSizes sizes_;
  std::vector<ServedItem> items_;
  Reply<std::vector<ServedItem>> reply_;
  std::size_t at_ = 0;
};

}  // namespace

void list_items_of(FileSystem& fs, InodeId directory, ItemSizes sizes, Reply<std::vector<ServedItem>> reply) {
  using Items = std::vector<ServedItem>;
  auto sink = std::make_shared<ItemSink>(fs);
  auto list = [&fs, directory, sizes, sink](HandleId id, Reply<Items> told) {
    auto take = [&fs, directory, sizes, sink,
                 handle = std::make_shared<HeldHandle>(fs, id)](Reply<Items> listed) mutable {
      if (sink->is_full) return listed(tfile::fail(ErrorKind::no_space, "too many names to list"));
      std::ranges::sort(sink->items, {}, &ServedItem::name);
      std::make_shared<SizesOfItems>(fs, directory, sizes, std::move(sink->items), std::move(listed))->run();
    };
    fs.readdir(id, 0, true, sink, value_for<void>(std::move(told), std::move(take)));
  };
  fs.opendir(directory, value_for<HandleId>(std::move(reply), std::move(list)));
}

}  // namespace tfilefs
