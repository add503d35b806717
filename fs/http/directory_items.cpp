// SPDX-License-Identifier: Apache-2.0
#include "http/directory_items.h"

#include <algorithm>
#include <string>
#include <utility>

#include "exec/for_each.h"
#include "on_behalf.h"

namespace tfilefs {
namespace {

using tfile::fail;

using NamesWithOffsets = std::vector<std::pair<std::string, std::uint32_t>>;

// All names of a directory, each with the offset at which it stands.
class NameSink final : public DirectorySink {
 public:
  bool add(const std::string& name, InodeId, const Attributes&, std::uint64_t next) override {
    const std::uint64_t offset = std::exchange(offset_, next);
    if (name == "." || name == "..") return true;
    if (names.size() == ListedNames::kNamesMax) {
      is_full = true;
      return false;
    }
    names.emplace_back(name, static_cast<std::uint32_t>(offset));
    return true;
  }

  NamesWithOffsets names;
  bool is_full = false;

 private:
  std::uint64_t offset_ = 0;
};

// One name. It is not counted as looked up, as if there had been no room.
class OneItemSink final : public DirectorySink {
 public:
  bool add(const std::string& name, InodeId id, const Attributes& attributes, std::uint64_t) override {
    item = served_item(name, attributes, id != 0);
    return false;
  }
  ServedItem item;
};

// A mirrored directory does not tell the types of its names.
bool has_type(const ServedItem& item) { return (item.mode & S_IFMT) != 0; }

bool is_known(const ServedItem& item, ItemSizes sizes) {
  return has_type(item) && (sizes == ItemSizes::known || item.size || !S_ISREG(item.mode));
}

}  // namespace

void DirectoryItems::open(FileSystem& fs, HeldInode directory, ItemSizes sizes, std::shared_ptr<ListedNames> names,
                          Reply<std::shared_ptr<DirectoryItems>> reply) {
  const std::shared_ptr<DirectoryItems> items(new DirectoryItems(fs, std::move(directory), sizes, std::move(names)));
  auto list = [items](HandleId id, Reply<std::shared_ptr<DirectoryItems>> done) {
    items->handle_ = HeldHandle(items->fs_, id);
    auto sink = std::make_shared<NameSink>();
    auto take = [items, sink]() -> Result<std::shared_ptr<DirectoryItems>> {
      if (sink->is_full) return fail(ErrorKind::too_large, "too many names to list");
      TRY_VOID(items->take(std::move(sink->names)));
      return items;
    };
    items->fs_.readdir(id, 0, false, sink, answer_with<void>(std::move(done), std::move(take)));
  };
  fs.opendir(items->directory_.id(), value_for<HandleId>(std::move(reply), std::move(list)));
}

Result<> DirectoryItems::take(NamesWithOffsets listed) {
  constexpr std::size_t kFew = 256;
  if (listed.size() > kFew) {
    if (!names_->take(listed.size())) return fail(ErrorKind::busy, "too many names are being listed for others");
    counted_ = listed.size();
  }
  std::ranges::sort(listed);
  offsets_.reserve(listed.size());
  for (const auto& [name, offset] : listed) offsets_.push_back(offset);
  return {};
}

void DirectoryItems::next(std::size_t most, Reply<std::vector<ServedItem>> reply) {
  auto add = [self = shared_from_this()](std::size_t, std::vector<ServedItem>& all, Reply<void> done) {
    self->add_item(all, std::move(done));
  };
  const std::size_t count = std::min(most, offsets_.size() - next_);
  for_each(count, std::vector<ServedItem>(), std::move(add), std::move(reply));
}

void DirectoryItems::add_item(std::vector<ServedItem>& to, Reply<void> reply) {
  auto sink = std::make_shared<OneItemSink>();
  auto take = [self = shared_from_this(), sink, &to](Reply<void> done) {
    ServedItem& item = to.emplace_back(std::move(sink->item));
    if (is_known(item, self->sizes_)) return done({});
    self->look_up(item, std::move(done));
  };
  fs_.readdir(handle_.id(), offsets_[next_++], true, sink, value_for<void>(std::move(reply), std::move(take)));
}

// An item that is gone, or damaged, stays without a size.
void DirectoryItems::look_up(ServedItem& item, Reply<void> reply) {
  auto take = [self = shared_from_this(), &item](const Result<FileSystem::Found>& found, Reply<void> done) {
    if (found) item = served_item(std::move(item.name), HeldInode(self->fs_, *found).attributes(), true);
    done({});
  };
  fs_.lookup(directory_.id(), item.name, on_behalf_of<FileSystem::Found>(std::move(reply), std::move(take)));
}

}  // namespace tfilefs
