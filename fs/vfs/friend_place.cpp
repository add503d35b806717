// SPDX-License-Identifier: Apache-2.0
#include "vfs/friend_place.h"

#include <chrono>
#include <optional>
#include <utility>

#include "mutex.h"
#include "tfile/source.h"

namespace tfilefs {
namespace {

using Clock = std::chrono::steady_clock;
using SourcePtr = std::shared_ptr<const tfile::Source>;

// How long the answer of a server about a file beside another is believed: as long as recheck= says if it is not given.
constexpr std::chrono::seconds kHolds{5};

std::string last_name(const std::string& file) {
  std::string path = file;
  if (tfile::is_url(file)) path = file.substr(0, file.find_first_of("?#"));
  return path.substr(path.rfind('/') + 1);
}

// A file beside another one.
class SiblingOrigin final : public Origin {
 public:
  SiblingOrigin(std::shared_ptr<const GuardedSource> of, const Provenance& from, std::string name)
      : of_(std::move(of)), from_(from), name_(std::move(name)) {}

  Result<SourceState> look() const override {
    const bool is_far = of_->traits().starts_reads;
    SourcePtr last;
    {
      const Lock lock(mutex_);
      if (is_far && known_ && Clock::now() - looked_at_ < kHolds) return state_of(*known_);
      if (is_far) last = last_.lock();
    }
    if (!last) {  // that a file of this machine is another one is seen by its name
      TRY(const SourcePtr found, beside());
      return note(found->identity());
    }
    TRY(const tfile::Identity now, last->identity_now());
    return note(now);
  }

  Result<std::shared_ptr<const GuardedSource>> open() const override {
    TRY(const SourcePtr found, beside());
    note(found->identity());
    // sibling() of a guarded source has guarded it.
    return std::static_pointer_cast<const GuardedSource>(found);
  }

 private:
  Result<SourcePtr> beside() const {
    auto found = of_->sibling(name_);
    const std::string last_part = last_name(name_);
    if (!found && last_part != name_ && !last_part.empty()) {
      auto second = of_->sibling(last_part);
      if (second || second.error().kind != ErrorKind::not_found) found = std::move(second);
    }
    if (!found) return tl::unexpected(std::move(found).error());
    const Lock lock(mutex_);
    last_ = *found;
    return *std::move(found);
  }

  SourceState note(const tfile::Identity& now) const {
    const Lock lock(mutex_);
    known_ = now;
    looked_at_ = Clock::now();
    return state_of(now);
  }

  // Owner and mode are those of the file whose friend it is.
  SourceState state_of(const tfile::Identity& identity) const {
    SourceState state{identity, from_};
    if (identity.modified_ns > 0)
      state.from.modified = {identity.modified_ns / 1'000'000'000, identity.modified_ns % 1'000'000'000};
    state.from.changed = state.from.modified;
    return state;
  }

  const std::shared_ptr<const GuardedSource> of_;
  const Provenance from_;
  const std::string name_;
  mutable Mutex mutex_;
  mutable std::weak_ptr<const tfile::Source> last_ GUARDED_BY(mutex_);
  mutable std::optional<tfile::Identity> known_ GUARDED_BY(mutex_);
  mutable Clock::time_point looked_at_ GUARDED_BY(mutex_);
};

class FriendPlace final : public ChainPlace {
 public:
  FriendPlace(MountContext& context, const Generation& of, tfile::FriendName named)
      : context_(context), owner_(of.owner), source_(of.source), from_(of.state.from), named_(std::move(named)) {}

  Result<std::vector<ChainName>> list() const override {
    const std::string table = named_.table.substr(0, named_.table.rfind(';'));  // without a cycle
    return std::vector<ChainName>{{named_.file.empty() ? source_->name() : named_.file, table}};
  }
  Result<std::shared_ptr<MountedFile>> file(const std::string&, std::string path) const override {
    if (named_.file.empty()) return owner_;
    return std::make_shared<MountedFile>(context_, std::make_unique<const SiblingOrigin>(source_, from_, named_.file),
                                         std::move(path));
  }

 private:
  MountContext& context_;
  const std::shared_ptr<MountedFile> owner_;
  const std::shared_ptr<const GuardedSource> source_;
  const Provenance from_;
  const tfile::FriendName named_;
};

}  // namespace

std::unique_ptr<const ChainPlace> make_friend_place(MountContext& context, const Generation& of,
                                                    const tfile::FriendName& named) {
  return std::make_unique<const FriendPlace>(context, of, named);
}

}  // namespace tfilefs
