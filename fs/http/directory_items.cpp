// SPDX-License-Identifier: Apache-2.0
#include "http/directory_items.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "exec/for_each.h"
#include "on_behalf.h"
#include "vfs/held.h"

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

using ServedItems = std::vector<ServedItem>;

// The items of which the type is missing, or the size if all are wanted, one after the other.
void look_up_unknown(FileSystem& fs, InodeId directory, ItemSizes sizes, ServedItems items, Reply<ServedItems> reply) {
  auto look_up = [&fs, directory, sizes](std::size_t i, ServedItems& all, Reply<void> answer) {
    ServedItem& item = all[i];
    if (is_known(item, sizes)) return answer({});
    // An item that is gone, or damaged, stays without a size.
    auto take = [&fs, &item](const Result<FileSystem::Found>& found, Reply<void> done) {
      if (found) item = served_item(std::move(item.name), HeldInode(fs, *found).attributes(), true);
      done({});
    };
    fs.lookup(directory, item.name, on_behalf_of<FileSystem::Found>(std::move(answer), std::move(take)));
  };
  const std::size_t count = items.size();
  for_each(count, std::move(items), std::move(look_up), std::move(reply));
}

}  // namespace

void list_items_of(FileSystem& fs, InodeId directory, ItemSizes sizes, Reply<std::vector<ServedItem>> reply) {
  auto sink = std::make_shared<ItemSink>(fs);
  auto list = [&fs, directory, sizes, sink](HandleId id, Reply<ServedItems> done) {
    auto take = [&fs, directory, sizes, sink,
                 handle = std::make_shared<HeldHandle>(fs, id)](Reply<ServedItems> listed) mutable {
      if (sink->is_full) return listed(tfile::fail(ErrorKind::no_space, "too many names to list"));
      std::ranges::sort(sink->items, {}, &ServedItem::name);
      look_up_unknown(fs, directory, sizes, std::move(sink->items), std::move(listed));
    };
    fs.readdir(id, 0, true, sink, value_for<void>(std::move(done), std::move(take)));
  };
  fs.opendir(directory, value_for<HandleId>(std::move(reply), std::move(list)));
}

}  // namespace tfilefs
