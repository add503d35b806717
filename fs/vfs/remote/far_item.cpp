// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "on_behalf.h"
#include "tfile/source.h"
#include "vfs/nodes/blocking.h"
#include "vfs/nodes/root_file_holder.h"
#include "vfs/nodes/url_origin.h"
#include "vfs/remote/far_content.h"
#include "vfs/remote/far_tree.h"

namespace tfilefs {
namespace {

using FarTreePtr = std::shared_ptr<FarTree>;
using FarListingPtr = FarTree::ListingPtr;

bool is_root_file(const tfile::FarEntry& entry) { return !entry.is_directory && entry.name.ends_with(".root"); }

// What all that a list tells of has in common.
class FarItem : public Holder {
 public:
  FarItem(FarTreePtr tree, std::string path, const tfile::FarEntry& told)
      : tree_(std::move(tree)), path_(std::move(path)), from_(told_by_server(told.modified_ns)) {}

  // Readers use the rights of the user who mounts.
  void admit(HeldItem, Access access, const CallerPtr&, Reply<void> reply) const override {
    if (access == Access::write) return reply(tl::unexpected(not_admitted()));
    reply({});
  }
  void attributes(HeldItem held, Reply<Attributes> reply) const override { reply(*known_attributes(held)); }

 protected:
  const FarTreePtr tree_;
  const std::string path_;
  const Provenance from_;
};

// Named as a ROOT file, and opened when it is entered.
class FarRootFile final : public FarItem {
 public:
  using FarItem::FarItem;
  std::optional<Attributes> known_attributes(HeldItem) const override {
    return directory_attributes(from_, tree_->context().ownership);
  }
  void enter(HeldItem held, Freshness freshness, Reply<std::shared_ptr<const Directory>> reply) const override {
    RootFileHolder(tree_->context(), tree_->root_file(path_)).enter(held, freshness, std::move(reply));
  }
};

// Any other file, byte for byte.
class FarPlainFile final : public FarItem {
 public:
  FarPlainFile(FarTreePtr tree, std::string path, const tfile::FarEntry& told)
      : FarItem(std::move(tree), std::move(path), told), size_(told.size) {}
  std::optional<Attributes> known_attributes(HeldItem) const override {
    return file_attributes(from_, tree_->context().ownership, size_, size_);
  }
  void open(HeldItem, Reply<OpenedContent> reply) const override {
    auto job = [tree = tree_, path = path_]() -> Result<OpenedContent> {
      TRY(auto source, tfile::open_source(tree->url_of(path), tree->options()));
      OpenedContent opened;
      opened.version = version_of(source->identity());
      opened.content = std::make_shared<FarContent>(tree->context().cache, std::move(source));
      return opened;
    };
    answer_blocking(tree_->context().cache, std::move(job), std::move(reply));
  }

 private:
  const std::uint64_t size_;
};

Entry entry_of(const FarTreePtr& tree, std::string path, const tfile::FarEntry& told) {
  if (told.is_directory) return {make_far_directory(tree, std::move(path), told), {}};
  if (is_root_file(told)) return {std::make_shared<const FarRootFile>(tree, std::move(path), told), {}};
  return {std::make_shared<const FarPlainFile>(tree, std::move(path), told), {}};
}

std::string far_below(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "/" + std::string(name);
}

// The names that are shown of a list. Their attributes are in it.
class FarNames final : public Listing {
 public:
  FarNames(FarTreePtr tree, std::string path, FarListingPtr listing)
      : tree_(std::move(tree)), path_(std::move(path)), listing_(std::move(listing)) {
    for (const tfile::FarEntry& entry : listing_->entries)
      if (tree_->shows(far_below(path_, entry.name))) shown_.push_back(&entry);
  }
  std::size_t size() const override { return shown_.size(); }
  void item(std::size_t i, Item& into) const override {
    const tfile::FarEntry& told = *shown_[i];
    into.name = told.name;
    into.type = told.is_directory || is_root_file(told) ? S_IFDIR : S_IFREG;
    into.entry = entry_of(tree_, far_below(path_, told.name), told);
  }

 private:
  const FarTreePtr tree_;
  const std::string path_;
  const FarListingPtr listing_;
  std::vector<const tfile::FarEntry*> shown_;
};

class FarDirectory final : public Directory {
 public:
  FarDirectory(FarTreePtr tree, std::string path) : tree_(std::move(tree)), path_(std::move(path)) {}
  void admit(Access access, const CallerPtr&, Reply<void> reply) const override {
    if (access == Access::write) return reply(tl::unexpected(not_admitted()));
    reply({});
  }

  // Where names may be missing, one that is not found may be there nonetheless.
  void find(std::string_view name, Reply<FoundEntry> reply) const override {
    const std::string path = far_below(path_, name);
    const auto pattern = pattern_of_chain(name);
    if (!tree_->shows(path) && !pattern) return reply(tl::unexpected(no_such_entry()));
    auto look = [tree = tree_, directory = path_, path, pattern, name = std::string(name)](
                    FarListingPtr listed, Reply<FoundEntry> told) mutable {
      const tfile::FarListing& listing = *listed;
      const auto found = std::ranges::lower_bound(listing.entries, name, {}, &tfile::FarEntry::name);
      const bool is_there = found != listing.entries.end() && found->name == name;
      if (is_there) return told(FoundEntry{entry_of(tree, path, *found), {}});
      if (listing.gap) return told(tl::unexpected<Error>(*listing.gap));
      if (pattern) return told(FoundEntry{tree->chain(directory, name, *pattern), {}, false});
      told(tl::unexpected(no_such_entry()));
    };
    tree_->list(path_, value_for<FarListingPtr>(std::move(reply), std::move(look)));
  }

  // Programs take what is listed for all that there is. So a list with a gap is none.
  void list(Reply<std::shared_ptr<const Listing>> reply) const override {
    auto show = [tree = tree_, path = path_](FarListingPtr listed, Reply<std::shared_ptr<const Listing>> told) mutable {
      if (listed->gap) return told(tl::unexpected<Error>(*listed->gap));
      told(std::make_shared<const FarNames>(std::move(tree), std::move(path), std::move(listed)));
    };
    tree_->list(path_, value_for<FarListingPtr>(std::move(reply), std::move(show)));
  }

 private:
  const FarTreePtr tree_;
  const std::string path_;
};

class FarDirectoryHolder final : public FarItem {
 public:
  FarDirectoryHolder(FarTreePtr tree, std::string path, const tfile::FarEntry& told)
      : FarItem(std::move(tree), std::move(path), told),
        directory_(std::make_shared<const FarDirectory>(tree_, path_)) {}
  std::optional<Attributes> known_attributes(HeldItem) const override {
    return directory_attributes(from_, tree_->context().ownership);
  }
  void enter(HeldItem, Freshness, Reply<std::shared_ptr<const Directory>> reply) const override { reply(directory_); }

 private:
  const std::shared_ptr<const Directory> directory_;
};

}  // namespace

std::shared_ptr<const Holder> make_far_directory(FarTreePtr tree, std::string path, const tfile::FarEntry& told) {
  return std::make_shared<const FarDirectoryHolder>(std::move(tree), std::move(path), told);
}

}  // namespace tfilefs
