// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "tfile/json_writer.h"
#include "vfs/chain_plan.h"

namespace tfilefs {
namespace {

using tfile::JsonWriter;

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
      json.begin_object().member("type", found).key("files").begin_array();
      for (const std::size_t number : numbers) json.number(number);
      json.end_array().end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

void write_table(JsonWriter& json, const PlannedTable& plan) {
  json.line(2).begin_object().member("path", plan.path).member("entries", plan.table->entries);
  json.key("first_entries").begin_array();
  for (const std::int64_t first : plan.table->first_entries()) json.number(first);
  json.end_array().key("without").begin_array();
  for (std::size_t i = 0; i < plan.of_files.size(); ++i) {
    if (!plan.of_files[i]) json.number(i);
  }
  json.end_array();
  write_differences(json, plan);
  json.end_object();
}

}  // namespace

std::string chain_json(const std::vector<ChainMember>& members, const std::vector<PlannedTable>& tables,
                       ChainPolicy policy) {
  JsonWriter json;
  json.begin_object().member("tfilefs", 1).member("chain", kPolicyNames[static_cast<std::size_t>(policy)]);
  write_files(json, members);
  json.key("tables").begin_array();
  for (const PlannedTable& plan : tables) write_table(json, plan);
  json.line();
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
    if (!schema) json.member("", "no table");
    json.end_object().end_object();
  }
  return json.line().end_array().take();
}

}  // namespace tfilefs
