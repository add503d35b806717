// SPDX-License-Identifier: Apache-2.0
#include "vfs/chain_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tfile/name.h"

namespace tfilefs {
namespace {

// More entries than any chain has, so that sums of files do not overflow.
constexpr std::int64_t kEntriesMax = std::int64_t{1} << 56;

const TableFacts* table_of(const ChainMember& member, const std::string& path) {
  if (!member.facts) return nullptr;
  const auto& tables = member.facts->tables;
  const auto at =
      std::ranges::find_if(tables, [&](const TableFacts& t) { return t.path == path || t.original == path; });
  return at != tables.end() ? &*at : nullptr;
}

bool has_tables(const ChainMember& member) { return member.facts && !member.facts->tables.empty(); }

// The paths of the tables that are shown.
std::vector<std::string> paths_of(const std::vector<ChainMember>& members, ChainPolicy policy) {
  std::vector<std::string> paths;
  std::map<std::string, std::size_t> files_with;
  std::size_t files = 0;
  for (const ChainMember& member : members) {
    files += has_tables(member);
    if (!member.facts) continue;
    for (const TableFacts& table : member.facts->tables) {
      if (++files_with[table.path] == 1) paths.push_back(table.path);
    }
  }
  if (policy == ChainPolicy::common)
    std::erase_if(paths, [&](const std::string& path) { return files_with[path] < files; });
  return paths;
}

Result<PlannedTable> planned(const std::vector<ChainMember>& members, PlannedTable plan, ChainPolicy policy) {
  std::vector<ChainedFile> files;
  std::int64_t entries = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const TableFacts*& facts = plan.of_files[i];
    if (facts && !facts->schema) facts = nullptr;
    if (!facts && policy == ChainPolicy::strict)
      return tfile::fail(ErrorKind::unsupported, members[i].name + ": no table " + plan.path + ", or nothing in it");
    ChainedFile& file = files.emplace_back();
    if (!facts) continue;
    const auto known = std::ranges::find(plan.schemas, facts->schema);
    file.schema = static_cast<std::uint32_t>(known - plan.schemas.begin());
    if (known == plan.schemas.end()) plan.schemas.push_back(facts->schema);
    file.entries = facts->entries;
    file.clusters = facts->clusters;
    if (facts->entries > kEntriesMax - entries)
      return tfile::fail(ErrorKind::unsupported, members[i].name + ": more entries than a chain can have");
    entries += facts->entries;
  }
  auto schema = chain_schema(plan.schemas, policy);
  if (!schema) {
    const auto differs = static_cast<std::size_t>(schema.error().offset);
    const auto file = std::ranges::find_if(files, [&](const ChainedFile& f) { return f.schema == differs; });
    const auto at = static_cast<std::size_t>(file - files.begin());
    return tfile::fail(ErrorKind::unsupported,
                       (at < members.size() ? members[at].name + ": " : "") + plan.path + ": " + schema.error().text);
  }
  plan.differences = std::move(schema->differences);
  std::vector<std::uint64_t> stored(schema->columns.size());
  for (std::size_t id = 0; id < stored.size(); ++id) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (!plan.of_files[i]) continue;
      const ItemSource& source = schema->chained[id].sources[*files[i].schema];
      const bool is_read = source.kind != ItemSource::Kind::nothing && source.kind != ItemSource::Kind::steps;
      if (is_read) stored[id] += plan.of_files[i]->stored[source.column.id];
    }
  }
  auto table = std::make_shared<ChainTable>(*std::move(schema), std::move(files), std::move(stored));
  table->name = plan.path;
  table->title = plan.title;
  plan.table = std::move(table);
  return plan;
}

}  // namespace

Result<std::vector<PlannedTable>> plan_chain(const std::vector<ChainMember>& members, ChainPolicy policy) {
  std::vector<std::string> paths;
  const auto named = std::ranges::find_if(members, [](const ChainMember& member) { return !member.table.empty(); });
  if (named != members.end())
    paths.push_back(named->table);
  else
    paths = paths_of(members, policy);
  std::vector<PlannedTable> plans;
  for (const std::string& path : paths) {
    PlannedTable plan;
    for (const ChainMember& member : members) {
      plan.of_files.push_back(table_of(member, named != members.end() && !member.table.empty() ? member.table : path));
      if (!plan.of_files.back()) continue;
      if (plan.path.empty()) plan.path = plan.of_files.back()->path;
      if (plan.title.empty()) plan.title = plan.of_files.back()->title;
    }
    if (plan.path.empty()) return tfile::fail(ErrorKind::not_found, "no file has a table " + path);
    TRY(plan, planned(members, std::move(plan), policy));
    if (!plan.table->columns.empty() || policy != ChainPolicy::common) plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace tfilefs
