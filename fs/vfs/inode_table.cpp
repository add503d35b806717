// SPDX-License-Identifier: Apache-2.0
#include "vfs/inode_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <climits>
#include <map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tfilefs {
namespace {

// 0 means "none" in the protocol, and 1 the root.
InodeId hashed_id(const Inode& parent, std::string_view name) {
  const InodeId id = XXH64(name.data(), name.size(), parent.number);
  return id > kRootId ? id : id + 2;
}
InodeId next_id(InodeId id) { return id + 1 > kRootId ? id + 1 : kRootId + 1; }

bool is_path(const Inode& inode, const Inode& parent, std::string_view name) {
  // Not by address: the kernel may have forgotten the parent and found it again before it forgets this inode.
  return inode.parent && inode.parent->number == parent.number && inode.name == name;
}

// The inode, or the nearest one above it, that is one of these.
const Inode* first_above(const Inode* inode, const std::unordered_set<const Inode*>& these) {
  while (inode && !these.contains(inode)) inode = inode->parent.get();
  return inode;
}

// Holds the place of what a directory of a ROOT file shows. Whoever asks for that finds it again.
class ReleasedVnodes final : public Vnodes {
 public:
  explicit ReleasedVnodes(std::shared_ptr<const Generation> generation) : generation_(std::move(generation)) {}
  const std::shared_ptr<const Generation>& generation() const override { return generation_; }
  bool is_released() const override { return true; }
  void attributes(VnodeId, Reply<Attributes> reply) const override {
    reply(tfile::fail(ErrorKind::stale, "released by the kernel; look it up again"));
  }

 private:
  const std::shared_ptr<const Generation> generation_;
};

}  // namespace

InodeTable::InodeTable(Entry root, std::size_t limit, std::size_t made_max)
    : limit_(limit), made_max_(made_max), crowded_at_(limit) {
  auto inode = std::make_shared<Inode>(kRootId, kRootId, Inode::State{}, nullptr, "");
  inode->entry_ = std::move(root);
  inode->lookups_ = 1;
  const Lock lock(mutex_);
  inodes_[kRootId] = std::move(inode);
}

InodePtr InodeTable::find(InodeId id) const {
  const Lock lock(mutex_);
  const InodePtr* found = inodes_.find(id);
  return found ? *found : nullptr;
}

InodeNumber InodeTable::number_of(const Inode& parent, std::string_view name) const {
  const Lock lock(mutex_);
  InodeId id = hashed_id(parent, name);
  for (const InodePtr* at = inodes_.find(id); at; at = inodes_.find(id)) {
    if (is_path(**at, parent, name)) return (*at)->number;
    id = next_id(id);
  }
  return id;
}

Entry InodeTable::replace(Inode& inode, const Entry& entry) {
  const auto& old = inode.entry_;
  const bool same_state =
      old.vnodes && old.vnodes->generation() && old.vnodes->generation() == entry.vnodes->generation();
  // Other vnodes of the same generation show the same, so a directory that was entered stays.
  if (!same_state) inode.directory_.reset();
  return std::exchange(inode.entry_, entry);
}

// Its number on the source is that of a file that was removed. The kernel may still be about to count a name less of
// the inode that this one had.
void InodeTable::replace_removed(std::uint64_t which) {
  const auto removed = moving_.find(which);
  if (removed == moving_.end()) return;
  removed->second->adopted_ = 0;
  removed->second->left_ = true;
  moving_.erase(removed);
}

void InodeTable::remove(std::uint64_t which) {
  const Lock lock(mutex_);
  replace_removed(which);
}

InodeTable::Reference InodeTable::refer(const InodePtr& parent, std::string_view name, const Entry& entry,
                                        Inode::State state, bool is_new) {
  Entry dropped;  // may be the last owner of a whole file: destroyed after the lock is released
  const InodeId first = hashed_id(*parent, name);
  InodeNumber number = 0;
  const Lock lock(mutex_);
  if (is_new && state.moves) replace_removed(state.which);
  if (const auto moved = state.moves ? moving_.find(state.which) : moving_.end(); moved != moving_.end()) {
    Inode& inode = *moved->second;
    ++inode.lookups_;
    if (!is_path(inode, *parent, name)) inode.is_elsewhere_ = true;
    dropped = replace(inode, entry);
    return {inode.id, inode.number};
  }
  for (InodeId id = first;; id = next_id(id)) {
    InodePtr& at = inodes_[id];
    const bool made = !at;
    if (made) at = std::make_shared<Inode>(id, number ? number : id, state, parent, name);
    if (made && id != first) displaced_.emplace(first, id);
    if (made && state.is_file) at->among_files_ = files_.insert(files_.end(), at.get());
    Inode& inode = *at;
    if (!made && !is_path(inode, *parent, name)) continue;
    number = state.moves && inode.adopted_ != 0 ? 0 : inode.number;  // that of a file that lives on is not another's
    if (inode.state != state || lies_in_left(inode)) continue;
    if (state.moves) {
      moving_.emplace(state.which, at);
      inode.adopted_ = state.which;
    }
    ++inode.lookups_;
    if (inode.entry_.vnodes != entry.vnodes) dropped = replace(inode, entry);
    return {id, inode.number, inodes_.size() > crowded_at_};
  }
}

std::vector<InodeTable::Name> InodeTable::oldest() {
  std::vector<Name> names;
  const Lock lock(mutex_);
  const std::size_t target = limit_ - limit_ / 8;
  const std::size_t wanted = inodes_.size() - std::min(inodes_.size(), target);
  auto file = files_.begin();
  for (; file != files_.end() && names.size() < wanted; ++file) {
    if (may_be_forgotten(**file)) names.push_back({(*file)->parent->id, (*file)->name, (*file)->id});
  }
  files_.splice(files_.end(), files_, files_.begin(), file);
  // If the kernel keeps them, it is not asked for each new one.
  crowded_at_ = std::max(limit_, inodes_.size()) + limit_ / 8;
  return names;
}

std::vector<std::shared_ptr<const Generation>> InodeTable::release_idle() {
  std::vector<Shown> dropped;
  std::map<std::shared_ptr<const Generation>, std::shared_ptr<const Vnodes>> stand_ins;
  std::unordered_set<const Inode*> above_files;
  const Lock lock(mutex_);
  for (const Inode* file : files_) {
    for (const Inode* at = file->parent.get(); at && above_files.insert(at).second;) at = at->parent.get();
  }
  inodes_.for_each([&](const InodePtr& inode) {
    const auto& generation = inode->entry_.vnodes->generation();
    if (inode->state.is_file || !generation || above_files.contains(inode.get())) return;
    auto& stand_in = stand_ins[generation];
    if (!stand_in) stand_in = std::make_shared<const ReleasedVnodes>(generation);
    dropped.push_back(release(*inode, stand_in));
  });
  std::vector<std::shared_ptr<const Generation>> generations;
  for (const auto& [generation, stand_in] : stand_ins) generations.push_back(generation);
  return generations;
}

InodeTable::Shown InodeTable::release(Inode& inode, const std::shared_ptr<const Vnodes>& stand_in) {
  return {std::exchange(inode.entry_, Entry{stand_in, {}}), std::exchange(inode.directory_, nullptr),
          std::exchange(inode.kept_, nullptr)};
}

bool InodeTable::note_made(InodeId id) {
  const Lock lock(mutex_);
  const InodePtr* const found = inodes_.find(id);
  if (!found) return false;
  Inode& inode = **found;
  drop_made(inode);
  inode.is_made_ = true;
  inode.among_made_ = made_.insert(made_.end(), &inode);
  return made_.size() > made_max_;
}

void InodeTable::drop_made(Inode& inode) {
  if (std::exchange(inode.is_made_, false)) made_.erase(inode.among_made_);
}

std::vector<InodeTable::Name> InodeTable::release_made() {
  std::vector<Name> names;
  std::vector<Shown> dropped;
  std::unordered_set<const Inode*> known;  // directories below which there are files
  const Lock lock(mutex_);
  const std::size_t beyond = made_.size() - std::min(made_.size(), made_max_);
  const std::vector<Inode*> oldest(made_.begin(), std::next(made_.begin(), static_cast<std::ptrdiff_t>(beyond)));
  const std::unordered_set<const Inode*> made(oldest.begin(), oldest.end());
  for (const Inode* file : files_) {
    const bool is_below = first_above(file, made) != nullptr;
    for (const Inode* of = first_above(file, made); of; of = first_above(of->parent.get(), made)) known.insert(of);
    if (is_below && may_be_forgotten(*file)) names.push_back({file->parent->id, file->name, file->id});
  }
  inodes_.for_each([&](const InodePtr& inode) {
    const Inode* const of = inode->state.is_file ? nullptr : first_above(inode.get(), made);
    if (!of || known.contains(of)) return;
    if (const auto generation = of->entry_.vnodes->generation())
      dropped.push_back(release(*inode, std::make_shared<const ReleasedVnodes>(generation)));
    else if (inode.get() == of)  // of a chain: it is entered anew each time
      dropped.push_back({{}, std::exchange(inode->directory_, nullptr), std::exchange(inode->kept_, nullptr)});
  });
  for (Inode* const each : oldest) {
    if (!each->state.is_file && !known.contains(each)) drop_made(*each);
  }
  return names;
}

// Names of a file that was found at several paths may be of others by now.
bool InodeTable::may_be_forgotten(const Inode& file) const { return !file.is_elsewhere_ && !is_in_use(file.id); }

bool InodeTable::is_in_use(InodeId id) const {
  const InodePtr* const inode = inodes_.find(id);
  const long own = inode && (*inode)->adopted_ != 0 ? 2 : 1;  // with that of moving_
  return inode && inode->use_count() > own;
}

bool InodeTable::is_used(InodeId id) const {
  const Lock lock(mutex_);
  return is_in_use(id);
}

void InodeTable::adopt(const InodePtr& inode, std::uint64_t which) {
  const Lock lock(mutex_);
  if (inode->adopted_ == 0 && inode->lookups_ > 0 && moving_.emplace(which, inode).second) inode->adopted_ = which;
}

void InodeTable::forget(InodeId id, std::uint64_t times) {
  InodePtr dropped;  // perhaps with its parents; destroyed after the lock is released
  const Lock lock(mutex_);
  const InodePtr* at = inodes_.find(id);
  if (!at || id == kRootId) return;
  Inode& inode = **at;
  inode.lookups_ -= std::min(inode.lookups_, times);
  if (inode.lookups_ != 0) return;
  if (inode.adopted_ != 0) moving_.erase(inode.adopted_);
  const auto [begin, end] = displaced_.equal_range(hashed_id(*inode.parent, inode.name));
  const auto displaced = std::find_if(begin, end, [id](const auto& one) { return one.second == id; });
  if (displaced != end) displaced_.erase(displaced);
  if (inode.state.is_file) files_.erase(inode.among_files_);
  drop_made(inode);
  dropped = inodes_.take(id);
  crowded_at_ = std::max(limit_, std::min(crowded_at_, inodes_.size() + limit_ / 8));
}

void InodeTable::leave(const Inode& parent, std::string_view name) {
  const Lock lock(mutex_);
  const InodeId first = hashed_id(parent, name);
  std::vector<InodeId> ids{first};
  const auto [begin, end] = displaced_.equal_range(first);
  for (auto other = begin; other != end; ++other) ids.push_back(other->second);
  for (const InodeId id : ids) {
    const InodePtr* at = inodes_.find(id);
    if (at && !(*at)->state.is_file && is_path(**at, parent, name)) (*at)->left_ = true;
  }
}

bool InodeTable::lies_in_left(const Inode& inode) const {
  for (const Inode* at = &inode; at; at = at->parent.get()) {
    if (at->left_) return true;
  }
  return false;
}

// A file that keeps its inode may have moved with its directory.
bool InodeTable::has_left(const Inode& inode) const {
  const Lock lock(mutex_);
  return inode.adopted_ == 0 && lies_in_left(inode);
}

Entry InodeTable::entry(const Inode& inode) const {
  const Lock lock(mutex_);
  return inode.entry_;
}

void InodeTable::set_entry(Inode& inode, Entry entry) {
  Entry dropped;
  const Lock lock(mutex_);
  dropped = replace(inode, entry);
}

std::shared_ptr<DirectoryOnce> InodeTable::directory_once(Inode& inode) {
  const Lock lock(mutex_);
  if (!inode.directory_) inode.directory_ = std::make_shared<DirectoryOnce>();
  return inode.directory_;
}

void InodeTable::keep(Inode& inode, std::shared_ptr<const Directory> directory) {
  const Lock lock(mutex_);
  inode.kept_.swap(directory);  // the one replaced is destroyed after the lock is released
}

std::shared_ptr<const Directory> InodeTable::kept(const Inode& inode) const {
  const Lock lock(mutex_);
  return inode.kept_;
}

std::uint64_t InodeTable::exchange_version(Inode& inode, std::uint64_t version) {
  const Lock lock(mutex_);
  return std::exchange(inode.version_, version);
}

std::size_t InodeTable::size() const {
  const Lock lock(mutex_);
  return inodes_.size();
}

bool is_too_long(const Inode& directory, std::string_view name) {
  return name.size() > NAME_MAX || makes_path_too_long(directory, name);
}

bool makes_path_too_long(const Inode& directory, std::string_view name) {
  // The slash at the beginning of the path stands for the NUL, which PATH_MAX includes.
  return directory.path_length + 1 + name.size() > PATH_MAX;
}

std::string path_of(const Inode& inode) {
  if (!inode.parent) return "/";
  std::string path;
  for (const Inode* at = &inode; at->parent; at = at->parent.get()) path = "/" + at->name + path;
  return path;
}

}  // namespace tfilefs
