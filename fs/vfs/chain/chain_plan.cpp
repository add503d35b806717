// SPDX-License-Identifier: Apache-2.0
#include "vfs/chain/chain_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
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

// The paths of all tables, in the order in which they come first.
std::vector<std::string> paths_of(const std::vector<ChainMember>& members) {
  std::vector<std::string> paths;
  std::set<std::string_view> known;
  for (const ChainMember& member : members) {
    for (std::size_t i = 0; member.facts && i < member.facts->tables.size(); ++i) {
      const std::string& path = member.facts->tables[i].path;
      if (known.insert(path).second) paths.push_back(path);
    }
  }
  return paths;
}

// Why a file brings nothing into a table.
std::string why_missing(const ChainMember& member, const TableFacts* facts) {
  if (!member.facts) return "the file is left out";
  if (!facts) return "no such table";
  if (facts->schema) return "";
  return facts->reason.empty() ? std::string(kNothingInTable) : facts->reason;
}

// Under `strict`: whether there are files that have the table and others that do not. Those that are left out are not
// looked at.
Result<> check_strictly(const std::vector<ChainMember>& members, const PlannedTable& plan) {
  const auto is_nothing = [](const std::string& why) { return why == kNothingInTable; };
  if (std::ranges::all_of(plan.missing, is_nothing)) return {};
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!plan.missing[i].empty() && members[i].facts)
      return tfile::fail(ErrorKind::unsupported, members[i].name + ": " + plan.path + ": " + plan.missing[i]);
  }
  return {};
}

// The part of each file in the table; also fills the list of schemas.
Result<std::vector<ChainedFile>> files_of(const std::vector<ChainMember>& members, PlannedTable& plan,
                                          ChainPolicy policy) {
  for (std::size_t i = 0; i < members.size(); ++i) plan.missing.push_back(why_missing(members[i], plan.of_files[i]));
  if (policy == ChainPolicy::strict) TRY_VOID(check_strictly(members, plan));
  std::vector<ChainedFile> files;
  std::int64_t entries = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const TableFacts*& facts = plan.of_files[i];
    if (!plan.missing[i].empty()) facts = nullptr;
    ChainedFile& file = files.emplace_back();
    if (!facts) continue;
    const auto known = std::ranges::find(plan.schemas, facts->schema);
    file.schema = static_cast<std::uint32_t>(known - plan.schemas.begin());
    if (known == plan.schemas.end()) plan.schemas.push_back(facts->schema);
    file.entries = facts->entries;
    file.clusters = facts->clusters;
    if (facts->entries > kEntriesMax - entries)
      return tfile::fail(ErrorKind::unsupported, members[i].name + ": its entries exceed the maximum of a chain");
    entries += facts->entries;
  }
  return files;
}

// The error of a schema that differs, with the name of the first file that has it.
tl::unexpected<Error> refused_chain(const Error& error, const std::vector<ChainMember>& members,
                                    const PlannedTable& plan, const std::vector<ChainedFile>& files) {
  const auto differs = static_cast<std::size_t>(error.offset);
  const auto file = std::ranges::find_if(files, [&](const ChainedFile& f) { return f.schema == differs; });
  const std::string name =
      file != files.end() ? members[static_cast<std::size_t>(file - files.begin())].name + ": " : "";
  return tfile::fail(ErrorKind::unsupported, name + plan.path + ": " + error.text);
}

// By column, the bytes that it takes in all files.
std::vector<std::uint64_t> stored_bytes(const ChainSchema& schema, const PlannedTable& plan,
                                        const std::vector<ChainedFile>& files) {
  std::vector<std::uint64_t> stored(schema.columns.size());
  for (std::size_t id = 0; id < stored.size(); ++id) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (!plan.of_files[i]) continue;
      const ItemSource& source = schema.chained[id].sources[*files[i].schema];
      const bool is_read = source.kind != ItemSource::Kind::nothing && source.kind != ItemSource::Kind::steps;
      if (is_read) stored[id] += plan.of_files[i]->stored[source.column.id];
    }
  }
  return stored;
}

Result<PlannedTable> planned(const std::vector<ChainMember>& members, PlannedTable plan, ChainPolicy policy) {
  TRY(std::vector<ChainedFile> files, files_of(members, plan, policy));
  auto schema = chain_schema(plan.schemas, policy);
  if (!schema) return refused_chain(schema.error(), members, plan, files);
  plan.differences = std::move(schema->differences);
  std::vector<std::uint64_t> stored = stored_bytes(*schema, plan, files);
  auto table = std::make_shared<ChainTable>(*std::move(schema), std::move(files), std::move(stored));
  table->name = plan.path;
  table->title = plan.title;
  const auto files_with = std::ranges::count(plan.missing, std::string());
  for (const NamedInFiles& each : friends_named(plan)) {
    if (each.files == static_cast<std::size_t>(files_with)) table->friends.push_back(each.first);
  }
  plan.table = std::move(table);
  return plan;
}

// Under `common`: those that are shown, and those that only some of the files with tables have.
void leave_out(std::vector<std::string>& paths, const std::vector<ChainMember>& members, ChainPlan& plan) {
  std::erase_if(paths, [&](const std::string& path) {
    LeftOutTable table{path, {}};
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (has_tables(members[i]) && !table_of(members[i], path)) table.without.push_back(i);
    }
    if (table.without.empty()) return false;
    plan.left_out.push_back(std::move(table));
    return true;
  });
}

// The name of a table without the cycle behind it.
std::string without_cycle(const std::string& name) {
  const std::size_t end = name.rfind(';');
  const bool has_cycle = end != std::string::npos && end + 1 < name.size() &&
                         name.find_first_not_of("0123456789", end + 1) == std::string::npos;
  return has_cycle ? name.substr(0, end) : name;
}

// The table at a path, or the one that each file names for itself.
PlannedTable tables_of(const std::vector<ChainMember>& members, const std::string& path, bool is_named) {
  PlannedTable plan;
  for (const ChainMember& member : members) {
    const bool has_name = is_named && !member.table.empty();
    const TableFacts* facts = table_of(member, has_name ? member.table : path);
    plan.of_files.push_back(facts);
    if (!facts) continue;
    if (plan.path.empty()) plan.path = has_name ? without_cycle(facts->path) : facts->path;
    if (plan.title.empty()) plan.title = facts->title;
  }
  return plan;
}

}  // namespace

Result<> check_named_tables(const std::vector<ChainMember>& members) {
  struct Named {
    std::size_t first = 0, files = 0;
    bool is_there = false;
  };
  std::map<std::string_view, Named> all;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!members[i].facts || members[i].table.empty()) continue;
    Named& named = all.try_emplace(members[i].table, Named{i}).first->second;
    ++named.files;
    named.is_there = named.is_there || table_of(members[i], members[i].table);
  }
  for (const auto& [table, named] : all) {
    if (named.is_there) continue;
    const std::string others = named.files > 1 ? ", nor in " + std::to_string(named.files - 1) + " more files" : "";
    return tfile::fail(ErrorKind::not_found, members[named.first].name + ": no table " + std::string(table) + others);
  }
  return {};
}

Result<ChainPlan> plan_chain(const std::vector<ChainMember>& members, ChainPolicy policy) {
  ChainPlan made;
  const auto named = std::ranges::find_if(members, [](const ChainMember& member) { return !member.table.empty(); });
  const bool is_named = named != members.end();
  std::vector<std::string> paths = is_named ? std::vector{without_cycle(named->table)} : paths_of(members);
  if (policy == ChainPolicy::common && !is_named) leave_out(paths, members, made);
  for (const std::string& path : paths) {
    PlannedTable plan = tables_of(members, path, is_named);
    if (plan.path.empty()) {  // it was there before
      made.left_out.push_back({path, {}});
      for (std::size_t i = 0; i < members.size(); ++i) made.left_out.back().without.push_back(i);
      continue;
    }
    TRY(plan, planned(members, std::move(plan), policy));
    made.tables.push_back(std::move(plan));
  }
  return made;
}

std::vector<NamedInFiles> friends_named(const PlannedTable& plan) {
  std::vector<NamedInFiles> named;
  std::map<std::string_view, std::size_t> known;  // numbers in `named`
  for (const TableFacts* facts : plan.of_files) {
    std::set<std::string_view> of_file;
    for (std::size_t i = 0; facts && i < facts->friends.size(); ++i) {
      const tfile::FriendName& each = facts->friends[i];
      if (!of_file.insert(each.alias).second) continue;
      const auto [at, is_new] = known.emplace(each.alias, named.size());
      if (is_new) named.push_back({each, 0});
      ++named[at->second].files;
    }
  }
  return named;
}

}  // namespace tfilefs
