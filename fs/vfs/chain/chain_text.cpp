// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "tfile/json_writer.h"
#include "vfs/chain/chain_plan.h"
#include "view/schema.h"

namespace tfilefs {
namespace {

using tfile::JsonWriter;

// So many differences are named in a line; .chain.json has all.
constexpr std::size_t kNamed = 5;

constexpr std::string_view kPolicyNames[] = {"common", "union", "strict"};  // as in ChainPolicy

void write_files(JsonWriter& json, const std::vector<ChainMember>& members) {
  json.key("files").begin_array();
  for (std::size_t i = 0; i < members.size(); ++i) {
    json.line(2).begin_object().member("number", i).member("name", members[i].name);
    if (!members[i].table.empty()) json.member("table", members[i].table);
    if (const FactsPtr& facts = members[i].facts)
      json.member("size", facts->identity.size)
          .member("modified_ns", facts->identity.modified_ns)
          .member("uuid", facts->uuid);
    if (!members[i].reason.empty()) json.member("left_out", members[i].reason);
    json.end_object();
  }
  json.line().end_array();
}

void write_numbers(JsonWriter& json, std::string_view key, const std::vector<std::size_t>& numbers) {
  json.key(key).begin_array();
  for (const std::size_t number : numbers) json.number(number);
  json.end_array();
}

// Files with the same schema differ in the same way.
void write_differences(JsonWriter& json, const PlannedTable& plan) {
  json.key("differences").begin_array();
  for (const Difference& difference : plan.differences) {
    json.line(4).begin_object().member("node", difference.node).member("shown", difference.shown);
    json.key("found").begin_array();
    std::map<std::string, std::vector<std::size_t>> files;
    for (std::size_t i = 0; i < plan.of_files.size(); ++i) {
      const auto schema = plan.table->files()[i].schema;
      if (schema) files[difference.found[*schema]].push_back(i);
    }
    for (const auto& [found, numbers] : files) {
      json.begin_object().member("type", found);
      write_numbers(json, "files", numbers);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

void write_table(JsonWriter& json, const PlannedTable& plan) {
  json.line(2).begin_object().member("path", plan.path).member("entries", plan.table->entries);
  json.key("first_entries").begin_array();
  for (const std::int64_t first : plan.table->first_entries()) json.number(first);
  json.end_array();
  std::vector<std::size_t> without;
  for (std::size_t i = 0; i < plan.missing.size(); ++i) {
    if (!plan.missing[i].empty()) without.push_back(i);
  }
  write_numbers(json, "without", without);
  write_differences(json, plan);
  json.end_object();
}

}  // namespace

std::string chain_json(const std::vector<ChainMember>& members, const ChainPlan& plan, ChainPolicy policy) {
  JsonWriter json;
  json.begin_object().member("tfilefs", 1).member("chain", kPolicyNames[static_cast<std::size_t>(policy)]);
  write_files(json, members);
  json.key("tables").begin_array();
  for (const PlannedTable& table : plan.tables) write_table(json, table);
  json.line().end_array().key("left_out").begin_array();
  for (const LeftOutTable& table : plan.left_out) {
    json.line(2).begin_object().member("path", table.path);
    write_numbers(json, "without", table.without);
    json.end_object();
  }
  if (!plan.left_out.empty()) json.line();
  return json.end_array().end_object().take() + "\n";
}

std::string files_json(const std::vector<ChainMember>& members, const PlannedTable& plan) {
  JsonWriter json;
  json.begin_array();
  const ChainTable& table = *plan.table;
  for (std::size_t i = 0; i < members.size(); ++i) {
    json.line(2).begin_object().member("number", i).member("name", members[i].name);
    json.member("first_entry", table.first_entries()[i]).member("entries", table.files()[i].entries);
    const auto schema = table.files()[i].schema;
    json.key("differs").begin_object();
    for (const Difference& difference : plan.differences) {
      if (schema && difference.found[*schema] != difference.shown)
        json.member(difference.node, difference.found[*schema]);
    }
    if (!schema) json.member("", plan.missing[i]);
    json.end_object();
    if (schema) write_friends(json, plan.of_files[i]->friends);
    json.end_object();
  }
  return json.line().end_array().take();
}

std::string differences_text(const PlannedTable& plan) {
  const std::vector<Difference>& differences = plan.differences;
  if (differences.empty()) return "";
  std::string text = std::to_string(differences.size()) + " nodes differ between files, see .chain.json:";
  for (std::size_t i = 0; i < std::min(kNamed, differences.size()); ++i)
    text += (i == 0 ? " " : ", ") + differences[i].node + " (" + differences[i].shown + ")";
  return text + (differences.size() > kNamed ? ", ..." : "");
}

std::string missing_text(const std::vector<ChainMember>& members, const PlannedTable& plan) {
  const bool is_empty_in_all =
      std::ranges::all_of(plan.missing, [](const std::string& why) { return why == kNothingInTable; });
  std::string text;
  std::size_t count = 0;
  for (std::size_t i = 0; i < members.size() && !is_empty_in_all; ++i) {
    if (plan.missing[i].empty() || !members[i].facts) continue;
    if (++count <= kNamed) text += (count == 1 ? " " : ", ") + members[i].name + " (" + plan.missing[i] + ")";
  }
  if (count == 0) return "";
  return std::to_string(count) + " of " + std::to_string(members.size()) +
         " files have no entries for it, see .chain.json:" + text + (count > kNamed ? ", ..." : "");
}

}  // namespace tfilefs
