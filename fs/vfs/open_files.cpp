// SPDX-License-Identifier: Apache-2.0
#include "vfs/open_files.h"

#include <algorithm>
#include <utility>

namespace tfilefs {

HandleId OpenFiles::add(OpenFile file) {
  auto shared = std::make_shared<const OpenFile>(std::move(file));
  const Lock lock(mutex_);
  files_.emplace(++last_, std::move(shared));
  return last_;
}

std::shared_ptr<const OpenFile> OpenFiles::find(HandleId id) const {
  const Lock lock(mutex_);
  const auto at = files_.find(id);
  return at == files_.end() ? nullptr : at->second;
}

std::shared_ptr<const Vnodes> OpenFiles::own_of(const Inode& inode) const {
  const Lock lock(mutex_);
  for (const auto& [id, file] : files_)
    if (file->inode.get() == &inode && file->content.own) return file->content.own;
  return nullptr;
}

bool OpenFiles::is_open(const Inode& inode) const {
  const Lock lock(mutex_);
  return std::any_of(files_.begin(), files_.end(),
                     [&](const auto& file) { return file.second->inode.get() == &inode; });
}

void OpenFiles::replace(HandleId id, OpenFile file) {
  auto shared = std::make_shared<const OpenFile>(std::move(file));
  const Lock lock(mutex_);
  const auto at = files_.find(id);
  if (at != files_.end()) at->second.swap(shared);
}

void OpenFiles::remove(HandleId id) {
  std::shared_ptr<const OpenFile> dropped;
  const Lock lock(mutex_);
  const auto at = files_.find(id);
  if (at == files_.end()) return;
  dropped = std::move(at->second);
  files_.erase(at);
}

std::size_t OpenFiles::size() const {
  const Lock lock(mutex_);
  return files_.size();
}

void OpenFiles::clear() {
  decltype(files_) dropped;
  const Lock lock(mutex_);
  dropped.swap(files_);
}

}  // namespace tfilefs
