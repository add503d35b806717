// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/shaped_table.h"

#include <utility>
#include <vector>

#include "exec/for_each.h"
#include "on_behalf.h"
#include "tfile/name.h"

namespace tfilefs {

void shape_table(MountContext& context, std::shared_ptr<const LoadedTable> table, const std::string& path,
                 const std::function<FriendsPtr()>& friends, Reply<std::shared_ptr<const LoadedTable>> reply) {
  using LoadedPtr = std::shared_ptr<const LoadedTable>;
  if (!context.shaping.is_for(path)) return reply(std::move(table));
  NamedExpressions definitions;
  for (const WantedExpression& each : context.shaping.definitions) {
    if (each.is_for(path)) definitions.emplace_back(each.name, each.expression);
  }
  std::vector<std::string> choices;
  for (const WantedExpression& each : context.shaping.choices) {
    if (each.is_for(path)) choices.push_back(each.expression);
  }
  auto log = [&context, path](const std::string& name, const std::string& reason) {
    context.errors.add(name.empty() ? path : path + "/" + tfile::escape_name(name), reason);
  };
  const FriendsPtr all_friends = friends();
  auto choose = [&context, log, all_friends, choices = std::move(choices)](LoadedPtr defined,
                                                                           Reply<LoadedPtr> answer) mutable {
    const std::size_t count = choices.size();
    auto next = [&context, choices = std::move(choices), all_friends, log](std::size_t i, LoadedPtr& made,
                                                                           Reply<void> done) {
      const LoadedPtr of = made;
      auto take = [&made](LoadedPtr chosen) { made = std::move(chosen); };
      auto say_why = [log, &choice = choices[i]](const Result<LoadedPtr>& chosen) {
        if (!chosen && chosen.error().kind == ErrorKind::invalid)
          log("", "where=" + choice + ": " + chosen.error().text);
      };
      of->chosen(choices[i], all_friends, context.errors,
                 seen_by(answer_with<LoadedPtr>(std::move(done), std::move(take)), std::move(say_why)));
    };
    for_each(count, std::move(defined), std::move(next), std::move(answer));
  };
  table->defined(definitions, all_friends, log, value_for<LoadedPtr>(std::move(reply), std::move(choose)));
}

}  // namespace tfilefs
