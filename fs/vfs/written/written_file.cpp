// SPDX-License-Identifier: Apache-2.0
#include "vfs/written/written_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "on_behalf.h"
#include "vfs/names/names.h"
#include "vfs/nodes/beneath.h"
#include "vfs/nodes/blocking.h"
#include "vfs/nodes/control_directory.h"

namespace tfilefs {

using DirectoryPtr = std::shared_ptr<const Directory>;

namespace {

// Follows a path of names from a directory.
void descend(DirectoryPtr from, std::shared_ptr<const std::vector<std::string>> names, std::size_t at,
             Reply<DirectoryPtr> reply) {
  if (at == names->size()) return reply(std::move(from));
  const Directory& directory = *from;
  const std::string& name = (*names)[at];
  auto enter = [names, at](FoundEntry found, Reply<DirectoryPtr> done) {
    const Entry entry = std::move(found.entry);
    auto go_on = [entry, names, at](DirectoryPtr entered, Reply<DirectoryPtr> there) {
      descend(std::move(entered), names, at + 1, std::move(there));
    };
    entry.vnodes->enter(entry.vnode, Freshness::recent, value_for<DirectoryPtr>(std::move(done), std::move(go_on)));
  };
  directory.find(name, value_for<FoundEntry>(std::move(reply), std::move(enter)));
}

// A directory of a file that is written: looked at anew each time, since its committed contents change.
class WrittenDirectoryVnodes final : public Vnodes {
 public:
  WrittenDirectoryVnodes(WrittenPtr file, NodePtr node) : file_(std::move(file)), node_(std::move(node)) {}
  ~WrittenDirectoryVnodes() override { file_->forget_directory(node_); }

  void admit(VnodeId, Access access, const CallerPtr& by, Reply<void> reply) const override {
    file_->admit(access, by, std::move(reply));
  }
  std::shared_ptr<const Generation> latest_generation() const override { return file_->latest_generation(); }
  void attributes(VnodeId, Reply<Attributes> reply) const override {
    file_->directory_attributes(node_, std::move(reply));
  }

  void enter(VnodeId, Freshness freshness, Reply<DirectoryPtr> reply) const override {
    auto show = [file = file_, node = node_, commits = file_->overlay().commits()](
                    const std::optional<DirectoryPtr>& base, Reply<DirectoryPtr> done) {
      done(make_written_directory(file, node, commits, base.value_or(nullptr)));
    };
    file_->committed_directory(node_, freshness, found_or_not<DirectoryPtr>(std::move(reply), std::move(show)));
  }

  // The root's owner, bits and times are those of the file. Those of a committed directory do not change; setting
  // others is no error, since cp -p and rsync -a do.
  void change(VnodeId, const AttributeChange& change, Reply<Attributes> reply) const override {
    if (node_ == file_->staged().root()) return change_file(change, std::move(reply));
    auto changed = [file = file_, node = node_](Reply<Attributes> done) mutable {
      file->directory_attributes(node, std::move(done));
    };
    answer_blocking(
        file_->context().cache,
        [file = file_, node = node_, change] { return change_attributes(file->staged(), node, change); },
        value_for<void>(std::move(reply), std::move(changed)));
  }

  void xattrs(VnodeId, Reply<Xattrs> reply) const override { file_->directory_xattrs(node_, std::move(reply)); }
  void more_xattrs(VnodeId, Reply<Xattrs> reply) const override {
    file_->more_directory_xattrs(node_, std::move(reply));
  }
  void set_xattr(VnodeId, std::string_view name, std::optional<std::string> value, int,
                 Reply<void> reply) const override {
    const bool is_title = name == kTitleAttribute;
    const bool is_kept = (is_title || name == kClassAttribute) && node_->id != 0;
    if (!is_kept || file_->overlay().status(*node_).is_committed) return reply({});
    auto job = [file = file_, node = node_, text = value.value_or(""), is_title] {
      return is_title ? file->changes().set_title(node, text) : file->changes().set_class(node, text);
    };
    answer_blocking(file_->context().cache, std::move(job), std::move(reply));
  }

  void sync(VnodeId, Reply<void> reply) const override {
    auto job = [file = file_, node = node_] { return file->staged().commit(node); };
    answer_committing(file_->context().cache, &file_->staged(), std::move(job), std::move(reply));
  }

 private:
  void change_file(const AttributeChange& change, Reply<Attributes> reply) const {
    auto job = [file = file_, node = node_, change]() -> Result<Attributes> {
      TRY_VOID(change_attributes(file->staged(), node, change));
      FilePlace::Owner owner = file->overlay().owner();
      owner.uid = change.uid.value_or(owner.uid);
      owner.gid = change.gid.value_or(owner.gid);
      // Copies of a read-only mount come with its modes: the file stays writable by its owner.
      if (change.mode) owner.mode = (*change.mode & 0666) | (owner.mode & S_IWUSR);
      constexpr timespec kLeave{0, UTIME_OMIT};
      TRY_VOID(file->staged().change_owner(owner, change.modified.value_or(kLeave)));
      return file->staged_attributes(*node);
    };
    answer_blocking(file_->context().cache, std::move(job), std::move(reply));
  }

  const WrittenPtr file_;
  const NodePtr node_;
};

void apply_change(const AttributeChange& change, StagedAttributes& attributes) {
  if (change.mode) attributes.mode = *change.mode & 07777;
  if (!change.modified) return;
  attributes.time_was_set = change.modified->tv_nsec != UTIME_NOW;
  if (attributes.time_was_set) {
    attributes.modified = *change.modified;
  } else {
    ::clock_gettime(CLOCK_REALTIME, &attributes.modified);
  }
}

}  // namespace

Result<> change_attributes(StagedFile& file, const NodePtr& node, const AttributeChange& change) {
  file.overlay().set_attributes(*node, [&](StagedAttributes& attributes) { apply_change(change, attributes); });
  return change.modified ? file.changes().keep_date(node) : Result<>();
}

Result<WrittenPtr> open_written(MountContext& context, std::shared_ptr<MountedFile> mounted, FilePlace place,
                                const std::string& path) {
  StagedFile::Hooks hooks{[mounted] { mounted->expect_commit(); }, [mounted] { mounted->expect_switch(); },
                          [mounted] { mounted->supersede(); }, [mounted] { mounted->expect_no_commit(); }};
  TRY(auto staged, StagedFile::open(*context.writing, std::move(place), path, std::move(hooks)));
  return std::make_shared<WrittenFile>(context, std::move(staged), std::move(mounted));
}

std::shared_ptr<const Vnodes> WrittenFile::directory(const NodePtr& node) {
  const Lock lock(mutex_);
  auto& known = directories_[key_of(*node)].vnodes;
  if (auto vnodes = known.lock()) return vnodes;
  auto vnodes = std::make_shared<const WrittenDirectoryVnodes>(shared_from_this(), node);
  known = vnodes;
  return vnodes;
}

void WrittenFile::forget_directory(const NodePtr& node) {
  {
    const Lock lock(mutex_);
    const auto known = directories_.find(key_of(*node));
    if (known == directories_.end() || !known->second.vnodes.expired()) return;
    directories_.erase(known);
  }
  if (node != staged_->root()) overlay().leave(node);
}

std::uint64_t WrittenFile::key_of(const StagedNode& node) {
  return node.id != 0 ? node.id : reinterpret_cast<std::uintptr_t>(&node);
}

// The directory entered last, if its path and generation are still the same, so that tables loaded through it are found
// again.
DirectoryPtr WrittenFile::entered(const StagedNode& node, const GenerationPtr& now, const Names& path) {
  const Lock lock(mutex_);
  const auto known = directories_.find(key_of(node));
  if (known == directories_.end() || known->second.path != path) return nullptr;
  DirectoryPtr directory = known->second.committed.lock();
  return directory && directory->generation() == now ? directory : nullptr;
}

void WrittenFile::note_entered(const StagedNode& node, const DirectoryPtr& directory, const Names& path) {
  const Lock lock(mutex_);
  Known& known = directories_[key_of(node)];
  known.committed = directory;
  known.path = path;
}

// A commit may rename the directory while the file is looked at. If its path has changed after the look, it is looked
// at again.
void WrittenFile::committed_directory(const NodePtr& node, Freshness freshness, Reply<DirectoryPtr> reply) {
  if (overlay().is_forgotten()) return reply(tfile::fail(ErrorKind::stale, path() + ": was removed or moved"));
  auto names = overlay().committed_path(*node);
  if (!names || !staged_->is_there()) return reply(DirectoryPtr());
  auto look = [self = shared_from_this(), node, path = std::make_shared<const Names>(*std::move(names))](
                  const GenerationPtr& now, Reply<DirectoryPtr> done) {
    if (self->overlay().committed_path(*node) != *path)
      return self->committed_directory(node, Freshness::recent, std::move(done));
    if (auto known = self->entered(*node, now, *path)) return done(std::move(known));
    auto keep = [self, node, path](const Result<DirectoryPtr>& found) {
      if (found) self->note_entered(*node, *found, *path);
    };
    descend(now->root(), path, 0, seen_by(std::move(done), std::move(keep)));
  };
  mounted_->current(freshness, value_for<GenerationPtr>(std::move(reply), std::move(look)));
}

void WrittenFile::committed_entry(const NodePtr& directory, std::string_view name, Freshness freshness,
                                  Reply<FoundEntry> reply) {
  auto find = [name = std::string(name)](const DirectoryPtr& base, Reply<FoundEntry> done) {
    if (!base) return done(no_such_entry());
    base->find(name, std::move(done));
  };
  committed_directory(directory, freshness, value_for<DirectoryPtr>(std::move(reply), std::move(find)));
}

// For a file that does not exist yet, the permission bits count that it will have.
void WrittenFile::admit(Access access, const CallerPtr& by, Reply<void> reply) const {
  if (!by) return reply({});
  if (staged_->is_there()) return mounted_->admit(access, by, std::move(reply));
  const int wanted = access == Access::status ? 0 : access == Access::read ? R_OK : R_OK | W_OK;
  const FilePlace::Owner owner = overlay().owner();
  if (!bits_allow(*by, owner.mode, owner.uid, owner.gid, wanted)) return reply(not_admitted());
  reply({});
}

mode_t WrittenFile::write_bits() const {
  constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;
  return (overlay().owner().mode & kOthersWrite & ~context_.ownership.umask) | S_IWUSR;
}

Attributes WrittenFile::staged_attributes(const StagedNode& node) const {
  const Overlay::Status status = overlay().status(node);
  const Ownership& ownership = context_.ownership;
  const FilePlace::Owner owner = overlay().owner();
  const bool is_committed = status.is_committed || &node == staged_->root().get();
  Attributes a;
  mode_t permissions = status.attributes.mode;
  if (is_committed) {
    permissions = (owner.mode & 0777) | (owner.mode & 0444) >> 2;
  } else if (node.directory && permissions == 0) {
    permissions = 0755;
  }
  a.mode = (node.directory ? S_IFDIR : S_IFREG) | (permissions & ~ownership.umask);
  a.uid = ownership.uid.value_or(owner.uid);
  a.gid = ownership.gid.value_or(owner.gid);
  a.links = node.directory ? 2 : 1;
  a.size = node.directory ? 0 : status.size;
  a.blocks = (a.size + 511) / 512;
  a.modified = a.changed = status.attributes.modified;
  return a;
}

// Asks the committed entry at the place of the directory. Error: not_found.
template <class T, class Ask>
void WrittenFile::of_committed(const NodePtr& node, Ask ask, Reply<T> reply) {
  const StagedPlace at = overlay().committed_place_of(*node);
  if (!at.directory) return reply(no_such_entry());
  committed_entry(at.directory, at.name, Freshness::recent,
                  value_for<FoundEntry>(std::move(reply), [ask](FoundEntry found, Reply<T> answer) mutable {
                    const Entry entry = found.entry;
                    ask(entry, seen_by(std::move(answer), [entry](const Result<T>&) {}));  // which is kept until then
                  }));
}

void WrittenFile::directory_attributes(const NodePtr& node, Reply<Attributes> reply) {
  auto tell = [self = shared_from_this(), node](Result<Attributes>& committed) {
    Attributes a = self->staged_attributes(*node);
    if (committed) {
      a.modified = committed->modified;
      a.changed = committed->changed;
    }
    committed = a;
  };
  Reply<Attributes> done = seen_by(std::move(reply), std::move(tell));
  if (node == staged_->root() && staged_->is_there()) {
    auto times_of = [](const GenerationPtr& now) {
      Attributes of_file;
      of_file.modified = now->state.from.modified;
      of_file.changed = now->state.from.changed;
      return of_file;
    };
    return mounted_->current(Freshness::recent, answer_with<GenerationPtr>(std::move(done), std::move(times_of)));
  }
  of_committed<Attributes>(
      node, [](const Entry& at, Reply<Attributes> answer) { at.vnodes->attributes(at.vnode, std::move(answer)); },
      std::move(done));
}

void WrittenFile::directory_xattrs(const NodePtr& node, Reply<Xattrs> reply) {
  const Overlay::Status status = overlay().status(*node);
  Xattrs staged;
  if (!status.attributes.title.empty()) staged.emplace_back(kTitleAttribute, status.attributes.title);
  if (!status.attributes.class_name.empty()) staged.emplace_back(kClassAttribute, status.attributes.class_name);
  of_committed<Xattrs>(
      node, [](const Entry& at, Reply<Xattrs> done) { at.vnodes->xattrs(at.vnode, std::move(done)); },
      seen_by(std::move(reply), [staged = std::move(staged)](Result<Xattrs>& committed) mutable {
        if (!committed) committed = std::move(staged);
      }));
}

void WrittenFile::more_directory_xattrs(const NodePtr& node, Reply<Xattrs> reply) {
  of_committed<Xattrs>(
      node, [](const Entry& at, Reply<Xattrs> done) { at.vnodes->more_xattrs(at.vnode, std::move(done)); },
      seen_by(std::move(reply), [](Result<Xattrs>& committed) {
        if (!committed) committed = Xattrs();  // what is staged has none
      }));
}

Entry pending_entry(const WrittenPtr& file) {
  return make_control_file(
      {std::string(kPendingName), nullptr,
       [file](const CallerPtr& by, Reply<void> reply) { file->admit(Access::read, by, std::move(reply)); }, false,
       [file](Reply<std::string> reply) {
         answer_blocking(
             file->context().cache, [file] { return file->staged().pending_json(); }, std::move(reply));
       }},
      file->context().ownership);
}

}  // namespace tfilefs
