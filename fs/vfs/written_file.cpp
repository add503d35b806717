// SPDX-License-Identifier: Apache-2.0
#include "vfs/written_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "vfs/beneath.h"
#include "vfs/blocking.h"
#include "vfs/control_directory.h"
#include "vfs/names.h"

namespace tfilefs {

using DirectoryPtr = std::shared_ptr<const Directory>;

namespace {

// From a directory down a path of names.
void descend(DirectoryPtr from, std::shared_ptr<const std::vector<std::string>> names, std::size_t at,
             Reply<DirectoryPtr> reply) {
  if (at == names->size()) return reply(std::move(from));
  const Directory& directory = *from;
  const std::string& name = (*names)[at];
  directory.find(name, [names, at, reply = std::move(reply)](Result<FoundEntry> found) mutable {
    if (!found) return reply(tl::unexpected(std::move(found).error()));
    const Entry entry = std::move(found->entry);
    entry.holder->enter(entry.slot, Freshness::recent,
                        [entry, names, at, reply = std::move(reply)](Result<DirectoryPtr> entered) mutable {
                          if (!entered) return reply(tl::unexpected(std::move(entered).error()));
                          descend(*std::move(entered), names, at + 1, std::move(reply));
                        });
  });
}

// A directory of a file that is written: looked at anew each time, since what is committed of it changes.
class WrittenDirectoryHolder final : public Holder {
 public:
  WrittenDirectoryHolder(WrittenPtr file, NodePtr node) : file_(std::move(file)), node_(std::move(node)) {}

  void admit(Slot, Access access, const CallerPtr& by, Reply<void> reply) const override {
    file_->admit(access, by, std::move(reply));
  }
  std::shared_ptr<const Generation> latest_generation() const override { return file_->latest_generation(); }
  void attributes(Slot, Reply<Attributes> reply) const override { reply(file_->staged_attributes(*node_)); }

  void enter(Slot, Freshness freshness, Reply<DirectoryPtr> reply) const override {
    auto made = [file = file_, node = node_, commits = file_->staged().commits(),
                 reply = std::move(reply)](Result<DirectoryPtr> base) mutable {
      if (!base && base.error().kind != ErrorKind::not_found) return reply(tl::unexpected(std::move(base).error()));
      reply(make_written_directory(file, node, commits, base ? *std::move(base) : nullptr));
    };
    file_->committed_directory(node_, freshness, std::move(made));
  }

  // The root's owner, bits and times are those of the file.
  void change(Slot, const AttributeChange& change, Reply<Attributes> reply) const override {
    file_->staged().set_attributes(*node_, [&](StagedAttributes& attributes) { apply_change(change, attributes); });
    if (node_ != file_->staged().root()) return reply(file_->staged_attributes(*node_));
    auto job = [file = file_, node = node_, change]() -> Result<Attributes> {
      FilePlace::Owner owner = file->staged().owner();
      owner.uid = change.uid.value_or(owner.uid);
      owner.gid = change.gid.value_or(owner.gid);
      if (change.mode) owner.mode = *change.mode & 0666;
      constexpr timespec kLeave{0, UTIME_OMIT};
      TRY_VOID(file->staged().change_owner(owner, change.modified.value_or(kLeave)));
      return file->staged_attributes(*node);
    };
    answer_blocking(file_->context().cache, std::move(job), std::move(reply));
  }

  void sync(Slot, Reply<void> reply) const override {
    answer_blocking(
        file_->context().cache, [file = file_, node = node_] { return file->staged().commit(node); }, std::move(reply));
  }

 private:
  const WrittenPtr file_;
  const NodePtr node_;
};

}  // namespace

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

Result<WrittenPtr> open_written(MountContext& context, std::shared_ptr<MountedFile> mounted, FilePlace place,
                                const std::string& path) {
  StagedFile::Hooks hooks{[mounted] { mounted->expect_commit(); }, [mounted] { mounted->expect_switch(); },
                          [mounted] { mounted->supersede(); }, [mounted] { mounted->expect_no_commit(); }};
  TRY(auto staged, StagedFile::open(*context.writing, std::move(place), path, std::move(hooks)));
  return std::make_shared<WrittenFile>(context, std::move(staged), std::move(mounted));
}

Result<FilePlace> place_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  FilePlace place;
  place.directory = Descriptor(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!place.directory) return system_error(parent, errno);
  place.name = slash == std::string::npos ? path : path.substr(slash + 1);
  place.shown = path;
  return place;
}

std::shared_ptr<const Holder> WrittenFile::directory(const NodePtr& node) {
  const Lock lock(mutex_);
  auto& known = directories_[node->id != 0 ? node->id : reinterpret_cast<std::uintptr_t>(node.get())];
  if (auto holder = known.lock()) return holder;
  auto holder = std::make_shared<const WrittenDirectoryHolder>(shared_from_this(), node);
  known = holder;
  return holder;
}

// A commit may rename it while the file is looked at: names and state are those of one moment, or it is looked at
// again.
void WrittenFile::committed_directory(const NodePtr& node, Freshness freshness, Reply<DirectoryPtr> reply) {
  if (staged_->is_forgotten()) return reply(tfile::fail(ErrorKind::stale, path() + ": was removed or moved"));
  auto names = staged_->committed_path(*node);
  if (!names || !staged_->is_there()) return reply(DirectoryPtr());
  mounted_->current(freshness, [self = shared_from_this(), node, names = *std::move(names),
                                reply = std::move(reply)](Result<GenerationPtr> now) mutable {
    if (!now) return reply(tl::unexpected(std::move(now).error()));
    if (self->staged_->committed_path(*node) != names)
      return self->committed_directory(node, Freshness::recent, std::move(reply));
    descend((*now)->root(), std::make_shared<const std::vector<std::string>>(std::move(names)), 0, std::move(reply));
  });
}

void WrittenFile::committed_entry(const NodePtr& directory, std::string_view name, Freshness freshness,
                                  Reply<FoundEntry> reply) {
  committed_directory(directory, freshness,
                      [name = std::string(name), reply = std::move(reply)](Result<DirectoryPtr> base) mutable {
                        if (!base) return reply(tl::unexpected(std::move(base).error()));
                        if (!*base) return reply(no_such_entry());
                        const Directory& in = **base;
                        in.find(name, std::move(reply));
                      });
}

// Of a file that is not there yet, the bits count that it will have.
void WrittenFile::admit(Access access, const CallerPtr& by, Reply<void> reply) const {
  if (!by) return reply({});
  if (staged_->is_there()) return mounted_->admit(access, by, std::move(reply));
  const int wanted = access == Access::status ? 0 : access == Access::read ? R_OK : R_OK | W_OK;
  const FilePlace::Owner owner = staged_->owner();
  if (!bits_allow(*by, owner.mode, owner.uid, owner.gid, wanted)) return reply(not_admitted());
  reply({});
}

Attributes WrittenFile::staged_attributes(const StagedNode& node) const {
  const StagedFile::Status status = staged_->status(node);
  const Ownership& ownership = context_.ownership;
  Attributes a;
  a.mode = (node.directory ? S_IFDIR : S_IFREG) | (status.attributes.mode & ~ownership.umask);
  const FilePlace::Owner owner = staged_->owner();
  const mode_t readable = owner.mode & 0444;
  if (&node == staged_->root().get()) {
    a.mode = S_IFDIR | ((owner.mode | readable >> 2) & ~ownership.umask);
  } else if (node.directory && status.attributes.mode == 0) {
    a.mode |= 0755 & ~ownership.umask;
  }
  a.uid = ownership.uid.value_or(owner.uid);
  a.gid = ownership.gid.value_or(owner.gid);
  a.links = node.directory ? 2 : 1;
  a.size = node.directory ? 0 : status.size;
  a.blocks = (a.size + 511) / 512;
  a.modified = a.changed = status.attributes.modified;
  return a;
}

Entry pending_entry(const WrittenPtr& file) {
  return {make_control_file(
              {std::string(kPendingName), [file] { return file->staged().pending_json(); },
               [file](const CallerPtr& by, Reply<void> reply) { file->admit(Access::read, by, std::move(reply)); }},
              file->context().ownership),
          {}};
}

}  // namespace tfilefs
