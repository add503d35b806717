// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/expression_entries.h"

#include <string>
#include <utility>

#include "query/drawn_object.h"
#include "tfile/name.h"
#include "vfs/names/names.h"
#include "vfs/nodes/generated_directory.h"
#include "vfs/nodes/generation.h"
#include "vfs/nodes/shown_friends.h"
#include "vfs/nodes/table_views.h"

namespace tfilefs {
namespace {

using TablePtr = std::shared_ptr<const ColumnVnodes>;
using DirectoryPtr = std::shared_ptr<const Directory>;

Reply<FoundEntry> saying_why(const TablePtr& table, std::string_view name, Reply<FoundEntry> reply) {
  auto note = [table, path = table->loaded().path() + "/" + std::string(name)](const Result<FoundEntry>& found) {
    if (!found && found.error().kind == ErrorKind::invalid) table->context().errors.add(path, found.error());
  };
  return seen_by(std::move(reply), std::move(note));
}

// A directory that `enter` makes. Before, `check` binds what is in the name to the whole table.
template <class Check, class Enter>
void find_directory(const TablePtr& table, Reply<FoundEntry> reply, Check check, Enter enter) {
  using Whole = LoadedTable::Settled;
  auto show = [table, enter = std::move(enter)] {
    GeneratedThing thing;
    thing.generation = table->generation();
    thing.known_attributes = [table] { return directory_attributes(table->provenance(), table->context().ownership); };
    thing.xattrs = [table](Reply<Xattrs> done) { table->xattrs({}, std::move(done)); };
    thing.more_xattrs = [table](Reply<Xattrs> done) { table->more_xattrs({}, std::move(done)); };
    thing.enter = enter;
    return FoundEntry{generated(std::move(thing)), {}, false};
  };
  auto bind = [check = std::move(check)](const Whole& whole, Reply<Query> done) {
    check(*whole.loaded, std::move(done));
  };
  auto bound = answer_with<Query>(std::move(reply), [show = std::move(show)](const Query&) { return show(); });
  table->loaded().settled(0, value_for<Whole>(std::move(bound), std::move(bind)));
}

// Enters what is found.
Reply<FoundEntry> entering(Freshness freshness, Reply<DirectoryPtr> reply) {
  auto enter = [freshness](const FoundEntry& found, Reply<DirectoryPtr> done) {
    found.entry.vnodes->enter(found.entry.vnode, freshness, std::move(done));
  };
  return value_for<FoundEntry>(std::move(reply), std::move(enter));
}

void find_where(const TablePtr& table, std::string_view name, Reply<FoundEntry> reply) {
  const auto view = beside_table(name);
  const std::string expression = tfile::unescape_name((view ? view->table : name).substr(kWhereName.size()));
  if (view) return table->find_chosen(expression, view->shown_as, std::move(reply));
  auto check = [expression, friends = table->friends_in_expressions()](const LoadedTable& whole, Reply<Query> done) {
    whole.cut(expression, friends, std::move(done));
  };
  auto enter = [table, expression](Freshness freshness, Reply<DirectoryPtr> done) {
    table->find_chosen(expression, ViewKind::itself, entering(freshness, std::move(done)));
  };
  find_directory(table, std::move(reply), std::move(check), std::move(enter));
}

void find_drawing(const TablePtr& table, std::string_view name, Reply<FoundEntry> reply) {
  const std::string text = tfile::unescape_name(name.substr(kDrawName.size()));
  auto check = [text, friends = table->friends_in_expressions()](const LoadedTable& whole, Reply<Query> done) {
    whole.drawing(text, friends, std::move(done));
  };
  auto enter = [table, text](Freshness freshness, Reply<DirectoryPtr> answer) {
    // The only object of a file in memory.
    auto find = [freshness](const GenerationPtr& drawn, Reply<DirectoryPtr> done) {
      drawn->root()->find(kDrawnName, entering(freshness, std::move(done)));
    };
    table->loaded().drawn(table->context(), text, table->provenance(), table->friends_in_expressions(),
                          value_for<GenerationPtr>(std::move(answer), std::move(find)));
  };
  find_directory(table, std::move(reply), std::move(check), std::move(enter));
}

}  // namespace

bool is_of_expression(std::string_view name) { return name.starts_with(kWhereName) || name.starts_with(kDrawName); }

void find_of_expression(TablePtr table, std::string_view name, Reply<FoundEntry> reply) {
  reply = saying_why(table, name, std::move(reply));
  if (name.starts_with(kWhereName)) return find_where(table, name, std::move(reply));
  find_drawing(table, name, std::move(reply));
}

}  // namespace tfilefs
