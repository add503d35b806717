// SPDX-License-Identifier: Apache-2.0
#include "vfs/remote/remote_tree.h"

#include <utility>

#include "exec/answering.h"
#include "vfs/chain/chain_directory.h"
#include "vfs/friends/chain_friends.h"
#include "vfs/names/names.h"
#include "vfs/names/natural_order.h"
#include "vfs/nodes/blocking.h"
#include "vfs/nodes/url_origin.h"

namespace tfilefs {

std::shared_ptr<const Vnodes> RemoteTree::root() {
  return make_remote_directory(shared_from_this(), "", {"", true, 0, 0});
}

bool RemoteTree::shows(const std::string& path) const { return path != kControlName && shown_.fit(path).is_shown(); }

void RemoteTree::list(const std::string& path, Reply<ListingPtr> reply) {
  ListingPtr known;
  {
    const Lock lock(mutex_);
    Listed& listed = listed_[path];
    if (listed.listing && Clock::now() - listed.asked < options_.recheck) {
      known = listed.listing;
    } else {
      listed.waiting.push_back(std::move(reply));
      if (std::exchange(listed.is_asking, true)) return;
    }
  }
  if (known) return reply(std::move(known));
  run_job(context_.cache, [self = shared_from_this(), path] { self->ask(path); });
}

// Nothing is remembered of a failure: the next request asks again.
void RemoteTree::ask(const std::string& path) {
  const Clock::time_point begun = Clock::now();
  auto done = result_of([&]() -> Result<ListingPtr> {
    const std::string url = path.empty() ? url_ : tfile::url_below(url_of(path), "");
    TRY(tfile::RemoteListing listing, tfile::list_remote(url, options_));
    return std::make_shared<const tfile::RemoteListing>(std::move(listing));
  });
  if (done) note(path, **done);
  std::vector<Reply<ListingPtr>> waiting;
  {
    const Lock lock(mutex_);
    Listed& listed = listed_[path];
    listed.is_asking = false;
    waiting.swap(listed.waiting);
    listed.listing = done ? *done : nullptr;
    listed.asked = begun;
    drop_old();
  }
  for (auto& reply : waiting) reply(done);
}

// Lists that are not believed any more are not kept, either.
void RemoteTree::drop_old() {
  const Clock::time_point now = Clock::now();
  std::erase_if(listed_, [&](const auto& one) {
    const Listed& listed = one.second;
    return !listed.is_asking && (!listed.listing || now - listed.asked >= options_.recheck);
  });
}

// The same names are told of once, however often the directory is listed.
void RemoteTree::note(const std::string& path, const tfile::RemoteListing& listing) {
  bool is_news = false;
  {
    const Lock lock(mutex_);
    counts_.requests += listing.counts.requests;
    counts_.bytes += listing.counts.bytes;
    counts_.retries += listing.counts.retries;
    counts_.round_trips += listing.counts.round_trips;
    counts_.redirects += listing.counts.redirects;
    const auto known = told_.find(path);
    is_news = !listing.left_out.empty() && (known == told_.end() || known->second != listing.left_out);
    if (is_news) told_[path] = listing.left_out;
  }
  if (!is_news) return;
  for (const std::string& line : listing.left_out) context_.errors.add("/" + path, line);
}

std::shared_ptr<MountedFile> RemoteTree::root_file(const std::string& path, bool is_one_of_many) {
  tfile::RemoteOptions options = options_;
  options.is_one_of_many = is_one_of_many;
  const Lock lock(mutex_);
  auto& file = root_files_[path];
  if (!file) file = std::make_shared<MountedFile>(context_, make_url_origin(url_of(path), options), path);
  return file;
}

std::vector<GenerationPtr> RemoteTree::open_files() const {
  std::vector<std::shared_ptr<MountedFile>> files;
  {
    const Lock lock(mutex_);
    for (const auto& [path, file] : root_files_) files.push_back(file);
  }
  std::vector<GenerationPtr> open;
  for (const auto& file : files)
    if (GenerationPtr now = file->known()) open.push_back(std::move(now));
  return open;
}

tfile::SourceCounts RemoteTree::counts() const {
  const Lock lock(mutex_);
  return counts_;
}

namespace {

// The files of a chain in a directory of the server.
class RemotePlace final : public ChainPlace {
 public:
  RemotePlace(std::shared_ptr<RemoteTree> tree, std::string directory, std::string pattern)
      : tree_(std::move(tree)), directory_(std::move(directory)), pattern_(std::move(pattern)) {}

  Result<std::vector<ChainName>> list() const override {
    TRY(const ChainedNames chained, ChainedNames::of(pattern_));
    TRY(const tfile::RemoteListing listing, tfile::list_remote(tree_->url_of(directory_), tree_->options()));
    if (listing.gap) return tl::unexpected(*listing.gap);
    std::vector<ChainName> names;
    for (const tfile::RemoteEntry& entry : listing.entries) {
      const std::string path = directory_.empty() ? entry.name : directory_ + "/" + entry.name;
      if (chained.has(entry.name) && !entry.is_directory && tree_->shows(path)) names.push_back({path, ""});
    }
    if (names.empty()) return tl::unexpected(no_such_entry());
    std::ranges::sort(names, is_before, &ChainName::file);
    return names;
  }

  Result<std::shared_ptr<MountedFile>> file(const std::string& name, std::string) const override {
    return tree_->root_file(name, true);
  }

 private:
  const std::shared_ptr<RemoteTree> tree_;
  const std::string directory_, pattern_;
};

}  // namespace

Entry RemoteTree::chain(const std::string& directory, const std::string& name, const std::string& pattern) {
  const std::string path = directory.empty() ? name : directory + "/" + name;
  const auto make = [&] {
    auto place = std::make_unique<const RemotePlace>(shared_from_this(), directory, pattern);
    return make_chain(context_, std::move(place), ChainOptions(), path);
  };
  return make_chain_root(chains_.get(path, make));
}

}  // namespace tfilefs
