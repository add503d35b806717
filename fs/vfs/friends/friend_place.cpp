// SPDX-License-Identifier: Apache-2.0
#include "vfs/friends/friend_place.h"

#include <chrono>
#include <optional>
#include <unordered_map>
#include <utility>

#include "mutex.h"
#include "path_name.h"
#include "tfile/remote_listing.h"
#include "tfile/source.h"

namespace tfilefs {
namespace {

using Clock = std::chrono::steady_clock;
using SourcePtr = std::shared_ptr<const tfile::Source>;

// How long the answer of a server about a file beside another is believed: as long as recheck= says if it is not given.
constexpr std::chrono::seconds kHolds{5};

std::string last_name(const std::string& file) {
  return name_in_path(tfile::is_url(file) ? file.substr(0, file.find_first_of("?#")) : file);
}

// A file beside another one.
class SiblingOrigin final : public FileLocator {
 public:
  explicit SiblingOrigin(FriendPlace named) : named_(std::move(named)) {}

  Result<SourceState> look() const override { return look(true); }
  Result<SourceState> peek() const override { return look(false); }

  tfile::ServerId server_id() const override { return named_.of->origin().server_id(); }

  Result<std::shared_ptr<const GuardedSource>> open() const override {
    SourcePtr found;
    {
      const Lock lock(mutex_);
      found = std::exchange(ready_, nullptr);
    }
    if (!found) {
      TRY(found, beside());
    }
    const Lock lock(mutex_);
    last_ = found;
    note(found->identity());
    // sibling() of a guarded source has guarded it.
    return std::static_pointer_cast<const GuardedSource>(found);
  }

 private:
  // `opens_next`: what is opened at a server to look at it, is kept for that.
  Result<SourceState> look(bool opens_next) const {
    const bool is_remote = server_id() != tfile::kLocalOrigin;
    SourcePtr last;
    {
      const Lock lock(mutex_);
      if (is_remote && known_ && Clock::now() - looked_at_ < kHolds) return state_of(*known_);
      if (is_remote) last = last_.lock();
    }
    if (!last) {  // that a file of this machine is another one is seen by its name
      TRY(const SourcePtr found, beside());
      const Lock lock(mutex_);
      if (is_remote && opens_next) ready_ = found;
      last_ = found;
      return note(found->identity());
    }
    TRY(const tfile::Identity now, last->identity_now());
    const Lock lock(mutex_);
    return note(now);
  }

  Result<std::shared_ptr<const GuardedSource>> tree_source() const {
    if (const GenerationPtr open = named_.of->known()) return open->source;
    return named_.of->origin().open();
  }

  Result<SourcePtr> beside() const {
    const std::string& name = named_.named.file;
    TRY(const auto source, tree_source());
    auto found = source->sibling(name);
    const std::string last_part = last_name(name);
    if (!found && last_part != name && !last_part.empty()) {
      auto second = source->sibling(last_part);
      if (second || second.error().kind != ErrorKind::not_found) found = std::move(second);
    }
    return found;
  }

  SourceState note(const tfile::Identity& now) const REQUIRES(mutex_) {
    known_ = now;
    looked_at_ = Clock::now();
    return state_of(now);
  }

  // Owner and mode are those of the file whose friend it is.
  SourceState state_of(const tfile::Identity& identity) const {
    SourceState state{identity, named_.from};
    if (identity.modified_ns > 0)
      state.from.modified = {identity.modified_ns / 1'000'000'000, identity.modified_ns % 1'000'000'000};
    state.from.changed = state.from.modified;
    return state;
  }

  const FriendPlace named_;
  mutable Mutex mutex_{"SiblingOrigin::mutex_"};
  mutable std::weak_ptr<const tfile::Source> last_ GUARDED_BY(mutex_);
  mutable std::optional<tfile::Identity> known_ GUARDED_BY(mutex_);
  mutable Clock::time_point looked_at_ GUARDED_BY(mutex_);
  mutable SourcePtr ready_ GUARDED_BY(mutex_);  // opened by a look, for the opening that follows
};

// The name of a friend's file, in the directory of the file whose tree names it.
std::string name_of(const FriendPlace& place) {
  if (place.named.file.empty()) return place.file;
  const bool leads_elsewhere = place.named.file.starts_with('/') || tfile::is_url(place.named.file);
  const std::string name = leads_elsewhere ? last_name(place.named.file) : place.named.file;
  if (!tfile::is_url(place.file)) return place.file.substr(0, place.file.rfind('/') + 1) + name;
  const tfile::UrlParts url = tfile::url_parts(place.file);
  const std::string_view directory = url.path.substr(0, url.path.rfind('/') + 1);
  return std::string(url.server) + std::string(directory) + name + std::string(url.query);
}

class FriendsPlace final : public ChainPlace {
 public:
  FriendsPlace(MountContext& context, std::vector<FriendPlace> places) : context_(context) {
    for (FriendPlace& place : places) {
      const std::string& table = place.named.table;
      names_.push_back({name_of(place), table.substr(0, table.rfind(';'))});  // without a cycle
      places_.emplace(names_.back().file, std::move(place));
    }
  }

  Result<std::vector<ChainName>> list() const override { return names_; }

  Result<std::shared_ptr<MountedFile>> file(const std::string& name, std::string path) const override {
    const FriendPlace& place = places_.at(name);
    if (place.named.file.empty()) return place.of;
    return std::make_shared<MountedFile>(context_, std::make_unique<const SiblingOrigin>(place), std::move(path));
  }

 private:
  MountContext& context_;
  std::vector<ChainName> names_;                         // constant after construction; so is the next one
  std::unordered_map<std::string, FriendPlace> places_;  // by name; of equal names, one file is found
};

}  // namespace

std::unique_ptr<const ChainPlace> make_friends_place(MountContext& context, std::vector<FriendPlace> places) {
  return std::make_unique<const FriendsPlace>(context, std::move(places));
}

}  // namespace tfilefs
