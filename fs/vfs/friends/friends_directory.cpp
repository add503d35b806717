// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "on_behalf.h"
#include "vfs/friends/table_friends.h"
#include "vfs/nodes/generated_directory.h"
#include "vfs/nodes/table_views.h"

namespace tfilefs {
namespace {

using DirectoryPtr = std::shared_ptr<const Directory>;
using FriendPtr = std::shared_ptr<const LiveTable>;

// The table of a friend, once it is open; then what `find` makes of it.
template <class T, class Find>
void with_table(MountContext& context, const FriendPtr& of, Freshness freshness, Reply<T> reply, Find find) {
  auto next = [&context, of, find = std::move(find)](TableStatePtr state, Reply<T> done) mutable {
    find(make_live_table(context, of, std::move(state)), std::move(done));
  };
  of->current(freshness, value_for<TableStatePtr>(std::move(reply), std::move(next)));
}

// A friend as an entry of .friends. It is opened when it is entered.
Entry friend_entry(MountContext& context, const FriendPtr& of, const Provenance& from) {
  using Table = std::shared_ptr<const Vnodes>;
  GeneratedThing thing;
  thing.known_attributes = [&context, from] { return directory_attributes(from, context.ownership); };
  thing.xattrs = [&context, of](Reply<Xattrs> reply) {
    with_table(context, of, Freshness::recent, std::move(reply),
               [](const Table& table, Reply<Xattrs> done) { table->xattrs({}, std::move(done)); });
  };
  thing.enter = [&context, of](Freshness freshness, Reply<DirectoryPtr> reply) {
    with_table(context, of, freshness, std::move(reply), [freshness](const Table& table, Reply<DirectoryPtr> done) {
      table->enter({}, freshness, std::move(done));
    });
  };
  return generated(std::move(thing));
}

}  // namespace

void TableFriends::find_column(MountContext& context, std::string_view name, Reply<FoundEntry> reply) const {
  std::shared_ptr<const TableFriend> found;  // the one with the longest alias
  for (const auto& of : all_) {
    const std::string begin = of->alias() + ".";
    const bool is_longer = !found || of->alias().size() > found->alias().size();
    if (is_longer && name.starts_with(begin) && name.size() > begin.size() && name[begin.size()] != '.') found = of;
  }
  if (!found) return reply(no_such_entry());
  const std::string rest(name.substr(found->alias().size() + 1));
  with_table(context, found, Freshness::recent, std::move(reply),
             [rest](const std::shared_ptr<const Vnodes>& table, Reply<FoundEntry> answer) {
               auto entered = [rest](const DirectoryPtr& directory, Reply<FoundEntry> done) {
                 // Here it has the name under which it was looked up, and no other.
                 auto renamed = [kept = directory](FoundEntry entry) {
                   entry.own_name.clear();
                   return entry;
                 };
                 directory->find(rest, answer_with<FoundEntry>(std::move(done), std::move(renamed)));
               };
               table->enter({}, Freshness::recent, value_for<DirectoryPtr>(std::move(answer), std::move(entered)));
             });
}

DirectoryPtr TableFriends::directory(MountContext& context, const Provenance& from) const {
  std::vector<std::pair<std::string, Entry>> things;
  for (const auto& of : all_) things.emplace_back(of->alias(), friend_entry(context, of, from));
  GeneratedNames names = generated_names(std::move(things));
  names.type = S_IFDIR;
  names.same_for_all = false;
  names.find_other = [&context, friends = shared_from_this()](std::string_view name, Reply<FoundEntry> reply) {
    const auto view = beside_table(name);
    const auto of = view ? friends->find(view->table) : nullptr;
    if (!of) return reply(no_such_entry());
    with_table(context, of, Freshness::recent, std::move(reply),
               [shown_as = view->shown_as](std::shared_ptr<const Vnodes> table, Reply<FoundEntry> done) {
                 done(FoundEntry{{std::move(table), {0, shown_as}}, {}, false});
               });
  };
  return make_generated_directory(std::move(names));
}

}  // namespace tfilefs
