// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "on_behalf.h"
#include "staging/overlay/staged_arrow.h"
#include "told_names.h"
#include "vfs/keys/key_vnodes.h"
#include "vfs/names/names.h"
#include "vfs/nodes/blocking.h"
#include "vfs/written/written_file.h"

namespace tfilefs {
namespace {

using tfile::fail;
using DirectoryPtr = std::shared_ptr<const Directory>;

// A name of the form `name;N`, which is found only by that name.
bool is_older_cycle(std::string_view name, const FoundEntry& found) {
  return found.own_name.empty() && parse_cycle(name).has_value();
}

tl::unexpected<Error> name_of_view(std::string_view name) {
  return not_permitted(std::string(name) + " is reserved for a view");
}

class WrittenDirectory final : public Directory {
 public:
  WrittenDirectory(WrittenPtr file, NodePtr node, std::uint64_t commits, DirectoryPtr committed)
      : file_(std::move(file)), node_(std::move(node)), commits_(commits), committed_(std::move(committed)) {}

  void admit(Access access, const CallerPtr& by, Reply<void> reply) const override {
    file_->admit(access, by, std::move(reply));
  }
  void find(std::string_view name, Reply<FoundEntry>) const override;
  void list(Reply<std::shared_ptr<const Listing>>) const override;
  void make_file(std::string_view name, const Creation&, bool exclusive, Reply<CreatedFile>) const override;
  void make_directory(std::string_view name, const Creation&, Reply<FoundEntry>) const override;
  void make_link(std::string_view, std::string_view, const Creation&, Reply<FoundEntry> reply) const override {
    reply(not_permitted("symbolic links are not supported in a ROOT file"));
  }
  void remove(std::string_view name, bool directory, Reply<void>) const override;
  void rename(std::string_view name, const Directory& to, std::string_view new_name, unsigned flags,
              Reply<void>) const override;

 private:
  void find_committed(std::string_view name, Reply<FoundEntry>) const;
  // Whether a thing found by another name is removed under its own.
  bool is_hidden(const FoundEntry& found) const {
    return !found.own_name.empty() && file_->overlay().look(*node_, found.own_name).what == StagedLook::What::whiteout;
  }
  bool is_in_object() const { return file_->overlay().status(*node_).is_object; }
  // The error for a change in an object. For a table that is not written it also logs the reason.
  tl::unexpected<Error> part_of_object() const;
  FoundEntry over_committed(const std::string& name, FoundEntry) const;
  // How a committed name is removed.
  enum class Removal : std::uint8_t { refused, of_staged, of_committed, set_aside };
  Removal removal_of(const std::string& name, const FoundEntry& committed, bool directory) const;
  void check_empty(const std::string& name, Reply<void>) const;
  void tell_of_older_cycles(const std::string& name, const Entry& committed) const;
  void remove_looked(Changes::Looked, const std::optional<FoundEntry>& committed, bool directory, Reply<void>) const;
  // Runs `job` on a thread that may block; `waits`: perhaps for a commit.
  template <class T, class Job>
  void change(Job job, Reply<T> reply, bool waits = false) const {
    if (waits) return answer_committing(file_->context().cache, &file_->staged(), std::move(job), std::move(reply));
    answer_blocking(file_->context().cache, std::move(job), std::move(reply));
  }

  // Whether staged data may have been committed after `committed_` was found.
  bool is_outdated() const { return file_->overlay().commits() != commits_; }
  // Calls `then` with the present directory.
  template <class T, class Then>
  void look_again(Then then, Reply<T> reply) const {
    const auto now = file_->directory(node_);
    auto go_on = [now, then](const DirectoryPtr& entered, Reply<T> done) { then(*entered, std::move(done)); };
    now->enter({}, Freshness::recent, value_for<DirectoryPtr>(std::move(reply), std::move(go_on)));
  }

  const WrittenPtr file_;
  const NodePtr node_;
  const std::uint64_t commits_;   // at the time it was entered
  const DirectoryPtr committed_;  // null: nothing
};

tl::unexpected<Error> WrittenDirectory::part_of_object() const {
  if (!file_->overlay().status(*node_).is_fixed_table)
    return read_only("an object cannot be changed, only renamed or removed as a whole");
  return fixed_table(file_->context().errors, "/" + file_->overlay().path(*node_));
}

void WrittenDirectory::find_committed(std::string_view name, Reply<FoundEntry> reply) const {
  if (!committed_) return reply(no_such_entry());
  committed_->find(name, std::move(reply));
}

// Wraps a committed entry so that it can be written to. Views and older cycles stay unchanged.
FoundEntry WrittenDirectory::over_committed(const std::string& name, FoundEntry found) const {
  const Vnodes& vnodes = *found.entry.vnodes;
  const std::string& own = found.own_name.empty() ? name : found.own_name;
  const WriteCapability accepts = vnodes.accepts(found.entry.vnode);
  if (accepts == WriteCapability::nothing) return found;
  if (accepts == WriteCapability::items) {
    found.entry = committed_column_entry(file_, node_, own, commits_, std::move(found.entry));
    return found;
  }
  if (is_older_cycle(name, found)) return found;
  const CommittedKind kind = accepts == WriteCapability::columns_of_table     ? CommittedKind::table
                             : accepts == WriteCapability::columns_of_rntuple ? CommittedKind::rntuple
                             : accepts == WriteCapability::removal            ? CommittedKind::object
                             : accepts == WriteCapability::removal_of_table   ? CommittedKind::fixed_table
                                                                              : CommittedKind::directory;
  found.entry = {file_->directory(file_->overlay().stand_over(node_, own, kind)), {}};
  return found;
}

void WrittenDirectory::find(std::string_view name, Reply<FoundEntry> reply) const {
  const StagedLook staged = file_->overlay().look(*node_, name);
  switch (staged.what) {
    case StagedLook::What::file:
      return reply(FoundEntry{staged_entry(file_, staged.node), {}});
    case StagedLook::What::directory:
      return reply(FoundEntry{{file_->directory(staged.node), {}}, {}});
    case StagedLook::What::whiteout:
      return reply(no_such_entry());
    case StagedLook::What::nothing:
      break;
  }
  if (name == kPendingName) return reply(FoundEntry{pending_entry(file_), {}});
  if (is_outdated()) {
    const auto find = [name = std::string(name)](const Directory& now, Reply<FoundEntry> answer) {
      now.find(name, std::move(answer));
    };
    return look_again(find, std::move(reply));
  }
  auto self = std::static_pointer_cast<const WrittenDirectory>(shared_from_this());
  auto show = [self, name = std::string(name)](FoundEntry found, Reply<FoundEntry> done) {
    if (self->is_hidden(found)) return done(no_such_entry());
    done(self->over_committed(name, std::move(found)));
  };
  find_committed(name, value_for<FoundEntry>(std::move(reply), std::move(show)));
}

void WrittenDirectory::list(Reply<std::shared_ptr<const Listing>> reply) const {
  Overlay::Listing staged = file_->overlay().list(*node_);
  if (is_outdated()) {
    const auto list = [](const Directory& now, Reply<std::shared_ptr<const Listing>> answer) {
      now.list(std::move(answer));
    };
    return look_again(list, std::move(reply));
  }
  auto cover = [file = file_, staged = std::move(staged)](const std::shared_ptr<const Listing>& committed) {
    auto all = std::make_shared<ItemListing>();
    std::set<std::string_view> over = {staged.whiteouts.begin(), staged.whiteouts.end()};
    for (const Overlay::Listed& one : staged.staged) {
      over.insert(one.name);
      all->add(one.name, one.directory ? S_IFDIR : S_IFREG,
               one.directory ? Entry{file->directory(one.node), {}} : staged_entry(file, one.node));
    }
    Listing::Item item;
    for (std::size_t i = 0; committed && i < committed->size(); ++i) {
      committed->item(i, item);
      if (!over.contains(item.name)) all->add(item.name, item.type);
    }
    return std::shared_ptr<const Listing>(std::move(all));
  };
  if (!committed_) return reply(cover(nullptr));
  committed_->list(answer_with<std::shared_ptr<const Listing>>(std::move(reply), std::move(cover)));
}

void WrittenDirectory::make_file(std::string_view name, const Creation& how, bool exclusive,
                                 Reply<CreatedFile> reply) const {
  auto self = std::static_pointer_cast<const WrittenDirectory>(shared_from_this());
  auto make = [self, name = std::string(name), mode = how.mode, exclusive](const std::optional<FoundEntry>& there,
                                                                           Reply<CreatedFile> created) {
    if (there && exclusive) return created(name_taken());
    const auto open = [](FoundEntry at, Reply<CreatedFile> answer) {
      const Entry entry = at.entry;
      auto both = [at = std::move(at)](OpenedContent opened) { return CreatedFile{at, std::move(opened)}; };
      entry.vnodes->open_to_write(entry.vnode, answer_with<OpenedContent>(std::move(answer), std::move(both)));
    };
    if (there) return open(*there, std::move(created));
    if (is_reserved(name)) return created(name_of_view(name));
    if (self->is_in_object()) return created(self->part_of_object());
    auto stage = [self, name, mode]() -> Result<NodePtr> {
      return self->file_->staged().make_file(self->node_, name, mode);
    };
    auto open_staged = [self, open](const NodePtr& made, Reply<CreatedFile> done) {
      open(FoundEntry{staged_entry(self->file_, made), {}}, std::move(done));
    };
    self->change(std::move(stage), value_for<NodePtr>(std::move(created), std::move(open_staged)),
                 self->file_->overlay().is_in_committing_field(*self->node_));
  };
  find(name, found_or_not<FoundEntry>(std::move(reply), std::move(make)));
}

void WrittenDirectory::make_directory(std::string_view name, const Creation& how, Reply<FoundEntry> reply) const {
  auto self = std::static_pointer_cast<const WrittenDirectory>(shared_from_this());
  auto make = [self, name = std::string(name), mode = how.mode](const std::optional<FoundEntry>& there,
                                                                Reply<FoundEntry> made) {
    if (there) return made(name_taken());
    if (is_reserved(name)) return made(name_of_view(name));
    if (self->is_in_object()) return made(self->part_of_object());
    auto stage = [self, name, mode]() -> Result<FoundEntry> {
      TRY(const NodePtr staged, self->file_->changes().make_directory(self->node_, name, mode));
      return FoundEntry{{self->file_->directory(staged), {}}, {}};
    };
    self->change(std::move(stage), std::move(made));
  };
  find(name, found_or_not<FoundEntry>(std::move(reply), std::move(make)));
}

// Calls `change(looked, entry, answer)` with the entry committed under a name, nothing if that is hidden; again if a
// commit has changed it before the change was made. So many tries are never needed.
constexpr int kLookTries = 100;

template <class Change>
void with_look(const WrittenPtr& file, const NodePtr& directory, const std::string& name, int tries, Change change,
               Reply<void> reply) {
  auto again = [file, directory, name, tries, change](Result<void> done, Reply<void> answer) {
    const bool is_moving = !done && done.error().kind == ErrorKind::stale && !file->overlay().is_forgotten();
    if (!is_moving || tries <= 1) return answer(std::move(done));
    with_look(file, directory, name, tries - 1, change, std::move(answer));
  };
  Changes::Looked looked{directory, name, false, file->overlay().commits()};
  const Freshness freshness = tries == kLookTries ? Freshness::recent : Freshness::now;
  auto look = [file, looked, change](const Result<FoundEntry>& found, Reply<void> answer) mutable {
    const std::string& own = found && !found->own_name.empty() ? found->own_name : looked.name;
    const auto what = file->overlay().look(*looked.directory, own).what;
    looked.committed = found && what != StagedLook::What::whiteout;
    change(looked, looked.committed ? std::optional(*found) : std::nullopt, std::move(answer));
  };
  file->committed_entry(
      directory, name, freshness,
      on_behalf_of<FoundEntry>(on_behalf_of<void>(std::move(reply), std::move(again)), std::move(look)));
}

void WrittenDirectory::remove(std::string_view name, bool directory, Reply<void> reply) const {
  auto self = std::static_pointer_cast<const WrittenDirectory>(shared_from_this());
  auto take = [self, directory](Changes::Looked what, const std::optional<FoundEntry>& committed, Reply<void> answer) {
    self->remove_looked(std::move(what), committed, directory, std::move(answer));
  };
  with_look(file_, node_, std::string(name), kLookTries, std::move(take), std::move(reply));
}

// A directory must be empty first. A file that goes with its key is only set aside until the key is removed.
void WrittenDirectory::remove_looked(Changes::Looked what, const std::optional<FoundEntry>& committed, bool directory,
                                     Reply<void> reply) const {
  auto self = std::static_pointer_cast<const WrittenDirectory>(shared_from_this());
  const NodePtr staged = file_->overlay().look(*node_, what.name).node;
  const bool there = committed && (committed->own_name.empty() || committed->own_name == what.name);
  if (!staged && !there) return reply(no_such_entry());
  if (staged && staged->directory != directory) return reply(directory ? not_a_directory() : is_a_directory());
  const Removal asked = there ? removal_of(what.name, *committed, directory) : Removal::of_staged;
  if (asked == Removal::refused && !staged) return reply(is_in_object() ? part_of_object() : read_only());
  // A staged file lies over a file that the mount makes: the staged one is removed.
  const Removal how = staged && !directory && asked == Removal::set_aside ? Removal::of_staged : asked;
  what.committed = how == Removal::of_committed;
  auto take_away = [self, what, how]() -> Result<> {
    if (how == Removal::set_aside) return self->file_->changes().set_aside(self->node_, what.name);
    return self->file_->staged().remove(what);
  };
  if (!directory) return change(std::move(take_away), std::move(reply), arrow_table_name(what.name).has_value());
  const std::optional<Entry> key = how == Removal::of_committed ? std::optional(committed->entry) : std::nullopt;
  auto remove = [self, name = what.name, take_away, key](Reply<void> done) {
    auto tell = [self, name, key] {
      if (key) self->tell_of_older_cycles(name, *key);
    };
    self->change(take_away, answer_with<void>(std::move(done), std::move(tell)), true);
  };
  check_empty(what.name, value_for<void>(std::move(reply), std::move(remove)));
}

// They were not listed, and go with the key that was.
void WrittenDirectory::tell_of_older_cycles(const std::string& name, const Entry& committed) const {
  const auto* keys = dynamic_cast<const KeyVnodes*>(committed.vnodes.get());
  if (!keys) return;
  const std::vector<std::uint16_t> cycles = keys->older_cycles(committed.vnode.index);
  if (cycles.empty()) return;
  ToldNames told(5);
  for (const std::uint16_t cycle : cycles) told.add(name + ";" + std::to_string(cycle));
  file_->context().errors.add("/" + joined_path(file_->overlay().path(*node_), name),
                              "removed together with its older cycles: " + told.text());
}

// A view cannot be removed by itself: it exists as long as the key that it is made from.
WrittenDirectory::Removal WrittenDirectory::removal_of(const std::string& name, const FoundEntry& committed,
                                                       bool directory) const {
  const Vnodes& vnodes = *committed.entry.vnodes;
  const VnodeId vnode = committed.entry.vnode;
  if (is_in_object()) {
    const bool goes = directory ? is_removal(vnodes.accepts(vnode)) : vnodes.goes_with_key(vnode);
    return goes ? Removal::set_aside : Removal::refused;
  }
  if (!directory && vnodes.goes_with_key(vnode)) return Removal::set_aside;
  const WriteCapability accepts = vnodes.accepts(vnode);
  if (accepts == WriteCapability::nothing || (directory && is_older_cycle(name, committed))) return Removal::refused;
  return directory == (accepts != WriteCapability::items) ? Removal::of_committed : Removal::refused;
}

// Error: not_empty.
void WrittenDirectory::check_empty(const std::string& name, Reply<void> reply) const {
  using ListingPtr = std::shared_ptr<const Listing>;
  const auto count = [](const ListingPtr& listing) -> Result<void> {
    if (listing->size() > 0) return not_empty();
    return {};
  };
  auto list = [count](const DirectoryPtr& in, Reply<void> done) {
    auto count_in = [in, count](const ListingPtr& listing) { return count(listing); };
    in->list(answer_with<ListingPtr>(std::move(done), std::move(count_in)));
  };
  auto enter = [list](const FoundEntry& found, Reply<void> done) {
    const Entry entry = found.entry;
    auto list_of = [entry, list](const DirectoryPtr& in, Reply<void> listed) { list(in, std::move(listed)); };
    entry.vnodes->enter(entry.vnode, Freshness::recent, value_for<DirectoryPtr>(std::move(done), std::move(list_of)));
  };
  find(name, value_for<FoundEntry>(std::move(reply), std::move(enter)));
}

void WrittenDirectory::rename(std::string_view name, const Directory& to_directory, std::string_view new_name,
                              unsigned flags, Reply<void> reply) const {
  const auto* to = dynamic_cast<const WrittenDirectory*>(&to_directory);
  if (!to || to->file_ != file_) return reply(crosses_files("cannot be moved to another ROOT file"));
  if (is_in_object()) return reply(part_of_object());
  if (to->is_in_object()) return reply(to->part_of_object());
  if (is_reserved(new_name)) return reply(name_of_view(new_name));
  auto self = std::static_pointer_cast<const WrittenDirectory>(shared_from_this());
  auto move = [self, name = std::string(name), flags](Changes::Looked place, const std::optional<FoundEntry>&,
                                                      Reply<void> answer) {
    // find() gives a committed entry a node of its own, which can be moved.
    auto rename = [self, place, name, flags](const FoundEntry&, Reply<void> done) {
      const Overlay& overlay = self->file_->overlay();
      const bool waits =
          overlay.waits_for_commit(*self->node_, name) || overlay.waits_for_commit(*place.directory, place.name);
      auto job = [self, name, place, flags]() -> Result<> {
        return self->file_->staged().rename(self->node_, name, place, flags);
      };
      self->change(std::move(job), std::move(done), waits);
    };
    self->find(name, value_for<FoundEntry>(std::move(answer), std::move(rename)));
  };
  with_look(file_, to->node_, std::string(new_name), kLookTries, std::move(move), std::move(reply));
}

}  // namespace

std::shared_ptr<const Directory> make_written_directory(const WrittenPtr& file, const NodePtr& node,
                                                        std::uint64_t commits,
                                                        std::shared_ptr<const Directory> committed) {
  return std::make_shared<const WrittenDirectory>(file, node, commits, std::move(committed));
}

}  // namespace tfilefs
