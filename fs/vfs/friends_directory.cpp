// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <utility>

#include "on_behalf.h"
#include "vfs/table_friends.h"
#include "vfs/table_views.h"

namespace tfilefs {
namespace {

using DirectoryPtr = std::shared_ptr<const Directory>;
using FriendPtr = std::shared_ptr<const TableFriend>;

// The table of a friend, once it is open; then what `find` makes of it.
template <class T, class Find>
void with_table(MountContext& context, const FriendPtr& of, Freshness freshness, Reply<T> reply, Find find) {
  auto next = [&context, of, find = std::move(find)](TableStatePtr state, Reply<T> told) mutable {
    find(make_live_table(context, of, std::move(state)), std::move(told));
  };
  of->current(freshness, value_for<TableStatePtr>(std::move(reply), std::move(next)));
}

// A friend as an entry of .friends. It is opened when it is entered.
class FriendHolder final : public Holder {
 public:
  FriendHolder(MountContext& context, FriendPtr of, const Provenance& from)
      : context_(context), friend_(std::move(of)), from_(from) {}
  std::optional<Attributes> known_attributes(HeldItem) const override {
    return directory_attributes(from_, context_.ownership);
  }
  void attributes(HeldItem held, Reply<Attributes> reply) const override { reply(*known_attributes(held)); }
  void xattrs(HeldItem, Reply<Xattrs> reply) const override {
    with_table(
        context_, friend_, Freshness::recent, std::move(reply),
        [](const std::shared_ptr<const Holder>& table, Reply<Xattrs> told) { table->xattrs({}, std::move(told)); });
  }
  void enter(HeldItem, Freshness freshness, Reply<DirectoryPtr> reply) const override {
    with_table(context_, friend_, freshness, std::move(reply),
               [freshness](const std::shared_ptr<const Holder>& table, Reply<DirectoryPtr> told) {
                 table->enter({}, freshness, std::move(told));
               });
  }

 private:
  MountContext& context_;
  const FriendPtr friend_;
  const Provenance from_;
};

class FriendsDirectory final : public Directory {
 public:
  FriendsDirectory(MountContext& context, std::shared_ptr<const TableFriends> friends, const Provenance& from)
      : context_(context), friends_(std::move(friends)), from_(from) {}

  void find(std::string_view name, Reply<FoundEntry> reply) const override {
    if (const auto found = friends_->find(name)) return reply(FoundEntry{entry(found), {}, false});
    const auto view = beside_table(name);
    const auto of = view ? friends_->find(view->table) : nullptr;
    if (!of) return reply(no_such_entry());
    with_table(context_, of, Freshness::recent, std::move(reply),
               [shown_as = view->shown_as](std::shared_ptr<const Holder> table, Reply<FoundEntry> told) {
                 told(FoundEntry{{std::move(table), {0, shown_as}}, {}, false});
               });
  }
  void list(Reply<std::shared_ptr<const Listing>> reply) const override {
    auto listing = std::make_shared<ItemListing>();
    for (const FriendPtr& of : friends_->all()) listing->add(of->alias(), S_IFDIR, entry(of));
    reply(std::move(listing));
  }

 private:
  Entry entry(const FriendPtr& of) const { return {std::make_shared<const FriendHolder>(context_, of, from_), {}}; }

  MountContext& context_;
  const std::shared_ptr<const TableFriends> friends_;
  const Provenance from_;
};

}  // namespace

void TableFriends::find_column(MountContext& context, std::string_view name, Reply<FoundEntry> reply) const {
  FriendPtr found;  // the one with the longest alias
  for (const FriendPtr& of : all_) {
    const std::string begin = of->alias() + ".";
    const bool is_longer = !found || of->alias().size() > found->alias().size();
    if (is_longer && name.starts_with(begin) && name.size() > begin.size() && name[begin.size()] != '.') found = of;
  }
  if (!found) return reply(no_such_entry());
  const std::string rest(name.substr(found->alias().size() + 1));
  with_table(context, found, Freshness::recent, std::move(reply),
             [rest](const std::shared_ptr<const Holder>& table, Reply<FoundEntry> told) {
               const std::stop_token asker = told.asker();
               auto entered = [rest, told = std::move(told)](Result<DirectoryPtr> directory) mutable {
                 if (!directory) return told(tl::unexpected(std::move(directory).error()));
                 const std::stop_token waits = told.asker();
                 // Here it has the name under which it was looked up, and no other.
                 auto renamed = [kept = *directory, told = std::move(told)](Result<FoundEntry> entry) mutable {
                   if (entry) entry->own_name.clear();
                   told(std::move(entry));
                 };
                 (*directory)->find(rest, Reply<FoundEntry>(std::move(renamed), waits));
               };
               table->enter({}, Freshness::recent, Reply<DirectoryPtr>(std::move(entered), asker));
             });
}

std::shared_ptr<const Directory> make_friends_directory(MountContext& context,
                                                        std::shared_ptr<const TableFriends> friends,
                                                        const Provenance& from) {
  return std::make_shared<const FriendsDirectory>(context, std::move(friends), from);
}

}  // namespace tfilefs
