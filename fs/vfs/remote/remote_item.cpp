// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "on_behalf.h"
#include "tfile/source.h"
#include "vfs/nodes/blocking.h"
#include "vfs/nodes/root_file_vnodes.h"
#include "vfs/nodes/url_origin.h"
#include "vfs/remote/remote_content.h"
#include "vfs/remote/remote_tree.h"

namespace tfilefs {
namespace {

using RemoteTreePtr = std::shared_ptr<RemoteTree>;
using RemoteListingPtr = RemoteTree::ListingPtr;

bool is_root_file(const tfile::RemoteEntry& entry) { return !entry.is_directory && entry.name.ends_with(".root"); }

// The common part of all that a list tells of.
class RemoteItem : public Vnodes {
 public:
  RemoteItem(RemoteTreePtr tree, std::string path, const tfile::RemoteEntry& told)
      : tree_(std::move(tree)), path_(std::move(path)), from_(told_by_server(told.modified_ns)) {}

  // Readers use the rights of the user who mounts.
  void admit(VnodeId, Access access, const CallerPtr&, Reply<void> reply) const override {
    if (access == Access::write) return reply(tl::unexpected(not_admitted()));
    reply({});
  }
  void attributes(VnodeId vnode, Reply<Attributes> reply) const override { reply(*known_attributes(vnode)); }

 protected:
  const RemoteTreePtr tree_;
  const std::string path_;
  const Provenance from_;
};

// Named as a ROOT file, and opened when it is entered.
class RemoteRootFile final : public RemoteItem {
 public:
  using RemoteItem::RemoteItem;
  std::optional<Attributes> known_attributes(VnodeId) const override {
    return directory_attributes(from_, tree_->context().ownership);
  }
  void enter(VnodeId vnode, Freshness freshness, Reply<std::shared_ptr<const Directory>> reply) const override {
    RootFileVnodes(tree_->context(), tree_->root_file(path_)).enter(vnode, freshness, std::move(reply));
  }
};

// Any other file, byte for byte.
class RemotePlainFile final : public RemoteItem {
 public:
  RemotePlainFile(RemoteTreePtr tree, std::string path, const tfile::RemoteEntry& told)
      : RemoteItem(std::move(tree), std::move(path), told), size_(told.size) {}
  std::optional<Attributes> known_attributes(VnodeId) const override {
    return file_attributes(from_, tree_->context().ownership, size_, size_);
  }
  void open(VnodeId, Reply<OpenedContent> reply) const override {
    auto job = [tree = tree_, path = path_]() -> Result<OpenedContent> {
      TRY(auto source, tfile::open_source(tree->url_of(path), tree->options()));
      OpenedContent opened;
      opened.version = version_of(source->identity());
      opened.content = std::make_shared<RemoteContent>(tree->context().cache, std::move(source));
      return opened;
    };
    answer_blocking(tree_->context().cache, std::move(job), std::move(reply));
  }

 private:
  const std::uint64_t size_;
};

Entry entry_of(const RemoteTreePtr& tree, std::string path, const tfile::RemoteEntry& told) {
  if (told.is_directory) return {make_remote_directory(tree, std::move(path), told), {}};
  if (is_root_file(told)) return {std::make_shared<const RemoteRootFile>(tree, std::move(path), told), {}};
  return {std::make_shared<const RemotePlainFile>(tree, std::move(path), told), {}};
}

std::string remote_below(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "/" + std::string(name);
}

// The names that are shown of a list. Their attributes are in it.
class RemoteNames final : public Listing {
 public:
  RemoteNames(RemoteTreePtr tree, std::string path, RemoteListingPtr listing)
      : tree_(std::move(tree)), path_(std::move(path)), listing_(std::move(listing)) {
    for (const tfile::RemoteEntry& entry : listing_->entries)
      if (tree_->shows(remote_below(path_, entry.name))) shown_.push_back(&entry);
  }
  std::size_t size() const override { return shown_.size(); }
  void item(std::size_t i, Item& into) const override {
    const tfile::RemoteEntry& told = *shown_[i];
    into.name = told.name;
    into.type = told.is_directory || is_root_file(told) ? S_IFDIR : S_IFREG;
    into.entry = entry_of(tree_, remote_below(path_, told.name), told);
  }

 private:
  const RemoteTreePtr tree_;
  const std::string path_;
  const RemoteListingPtr listing_;
  std::vector<const tfile::RemoteEntry*> shown_;
};

class RemoteDirectory final : public Directory {
 public:
  RemoteDirectory(RemoteTreePtr tree, std::string path) : tree_(std::move(tree)), path_(std::move(path)) {}
  void admit(Access access, const CallerPtr&, Reply<void> reply) const override {
    if (access == Access::write) return reply(tl::unexpected(not_admitted()));
    reply({});
  }

  // If names may be missing, one that is not found may be there nonetheless.
  void find(std::string_view name, Reply<FoundEntry> reply) const override {
    const std::string path = remote_below(path_, name);
    const auto pattern = pattern_of_chain(name);
    if (!tree_->shows(path) && !pattern) return reply(tl::unexpected(no_such_entry()));
    auto look = [tree = tree_, directory = path_, path, pattern, name = std::string(name)](
                    RemoteListingPtr listed, Reply<FoundEntry> done) mutable {
      const tfile::RemoteListing& listing = *listed;
      const auto found = std::ranges::lower_bound(listing.entries, name, {}, &tfile::RemoteEntry::name);
      const bool is_there = found != listing.entries.end() && found->name == name;
      if (is_there) return done(FoundEntry{entry_of(tree, path, *found), {}});
      if (listing.gap) return done(tl::unexpected<Error>(*listing.gap));
      if (pattern) return done(FoundEntry{tree->chain(directory, name, *pattern), {}, false});
      done(tl::unexpected(no_such_entry()));
    };
    tree_->list(path_, value_for<RemoteListingPtr>(std::move(reply), std::move(look)));
  }

  // Programs take what is listed for all that there is. So a list with a gap is none.
  void list(Reply<std::shared_ptr<const Listing>> reply) const override {
    auto show = [tree = tree_, path = path_](RemoteListingPtr listed,
                                             Reply<std::shared_ptr<const Listing>> done) mutable {
      if (listed->gap) return done(tl::unexpected<Error>(*listed->gap));
      done(std::make_shared<const RemoteNames>(std::move(tree), std::move(path), std::move(listed)));
    };
    tree_->list(path_, value_for<RemoteListingPtr>(std::move(reply), std::move(show)));
  }

 private:
  const RemoteTreePtr tree_;
  const std::string path_;
};

class RemoteDirectoryVnodes final : public RemoteItem {
 public:
  RemoteDirectoryVnodes(RemoteTreePtr tree, std::string path, const tfile::RemoteEntry& told)
      : RemoteItem(std::move(tree), std::move(path), told),
        directory_(std::make_shared<const RemoteDirectory>(tree_, path_)) {}
  std::optional<Attributes> known_attributes(VnodeId) const override {
    return directory_attributes(from_, tree_->context().ownership);
  }
  void enter(VnodeId, Freshness, Reply<std::shared_ptr<const Directory>> reply) const override { reply(directory_); }

 private:
  const std::shared_ptr<const Directory> directory_;
};

}  // namespace

std::shared_ptr<const Vnodes> make_remote_directory(RemoteTreePtr tree, std::string path,
                                                    const tfile::RemoteEntry& told) {
  return std::make_shared<const RemoteDirectoryVnodes>(std::move(tree), std::move(path), told);
}

}  // namespace tfilefs
