// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/expression_entries.h"

#include <string>
#include <utility>

#include "query/drawn_object.h"
#include "tfile/name.h"
#include "vfs/names/names.h"
#include "vfs/nodes/blocking.h"
#include "vfs/nodes/drawn_object.h"
#include "vfs/nodes/generated_directory.h"
#include "vfs/nodes/generation.h"
#include "vfs/nodes/table_views.h"

namespace tfilefs {
namespace {

using TablePtr = std::shared_ptr<const ColumnVnodes>;
using DirectoryPtr = std::shared_ptr<const Directory>;

Reply<FoundEntry> saying_why(const TablePtr& table, std::string_view name, Reply<FoundEntry> reply) {
  auto note = [table, path = table->loaded().path() + "/" + std::string(name)](Result<FoundEntry> found,
                                                                               Reply<FoundEntry> told) {
    if (!found && found.error().kind == ErrorKind::invalid) table->context().errors.add(path, found.error());
    told(std::move(found));
  };
  return on_behalf_of<FoundEntry>(std::move(reply), std::move(note));
}

// A directory that `enter` makes. Before, `check` looks at the whole table.
template <class Check, class Enter>
void find_directory(const TablePtr& table, Reply<FoundEntry> reply, Check check, Enter enter) {
  using Whole = LoadedTable::Settled;
  auto show = [table, enter = std::move(enter)] {
    GeneratedThing thing;
    thing.generation = table->generation();
    thing.known_attributes = [table] { return directory_attributes(table->provenance(), table->context().ownership); };
    thing.xattrs = [table](Reply<Xattrs> told) { table->xattrs({}, std::move(told)); };
    thing.enter = enter;
    return FoundEntry{generated(std::move(thing)), {}, false};
  };
  auto look = [&context = table->context(), check = std::move(check)](Whole whole, Reply<void> told) {
    auto job = [whole = std::move(whole), check]() -> Result<void> { return check(*whole.loaded); };
    answer_blocking(context.cache, std::move(job), std::move(told));
  };
  table->loaded().settled(0, value_for<Whole>(answer_with<void>(std::move(reply), std::move(show)), std::move(look)));
}

// What is found is entered.
Reply<FoundEntry> entering(Freshness freshness, Reply<DirectoryPtr> reply) {
  auto enter = [freshness](const FoundEntry& found, Reply<DirectoryPtr> told) {
    found.entry.vnodes->enter(found.entry.vnode, freshness, std::move(told));
  };
  return value_for<FoundEntry>(std::move(reply), std::move(enter));
}

void find_where(const TablePtr& table, std::string_view name, Reply<FoundEntry> reply) {
  const auto view = beside_table(name);
  const std::string expression = tfile::unescape_name((view ? view->table : name).substr(kWhereName.size()));
  if (view) return table->find_chosen(expression, view->shown_as, std::move(reply));
  auto check = [expression](const LoadedTable& whole) -> Result<void> {
    const QueryScope scope{TableNames(whole.table()), {}, whole.streams()->files() == nullptr};
    const auto query = Query::bind_cut(expression, scope);
    return query ? Result<void>() : tl::unexpected<Error>(on_one_line(query.error()));
  };
  auto enter = [table, expression](Freshness freshness, Reply<DirectoryPtr> told) {
    table->find_chosen(expression, ViewKind::itself, entering(freshness, std::move(told)));
  };
  find_directory(table, std::move(reply), std::move(check), std::move(enter));
}

void find_drawing(const TablePtr& table, std::string_view name, Reply<FoundEntry> reply) {
  const std::string text = tfile::unescape_name(name.substr(kDrawName.size()));
  auto check = [text](const LoadedTable& whole) {
    return check_drawing(whole.table(), whole.streams()->files() == nullptr, text);
  };
  auto enter = [table, text](Freshness freshness, Reply<DirectoryPtr> told) {
    // The only object of a file in memory.
    auto find = [freshness](const GenerationPtr& drawn, Reply<DirectoryPtr> done) {
      drawn->root()->find(kDrawnName, entering(freshness, std::move(done)));
    };
    table->loaded().drawn(table->context(), text, table->provenance(),
                          value_for<GenerationPtr>(std::move(told), std::move(find)));
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
