// SPDX-License-Identifier: Apache-2.0
#include "vfs/chain/chain_facts.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "exec/for_each.h"
#include "on_behalf.h"
#include "vfs/nodes/blocking.h"
#include "view/view.h"

namespace tfilefs {
namespace {

bool is_short(const tfile::Column& column, std::int64_t length, std::int64_t entries) {
  const bool is_offsets = column.role == tfile::Role::offsets;
  if (column.lists.size() > (is_offsets ? 1 : 0)) return false;
  return std::max<std::int64_t>(0, is_offsets ? length - 1 : length) < entries;
}

// By column: whether it is one of an alternative, which has as many items as there are variants that hold it.
std::vector<bool> in_alternatives(const tfile::Table& table) {
  std::vector<bool> columns(table.columns.size()), nodes(table.nodes.size());
  for (tfile::NodeId id = 0; id < table.nodes.size(); ++id) {  // each after its parent
    for (const tfile::NodeId child : table.nodes[id].children) nodes[child] = nodes[id] || table.nodes[child].tag != 0;
    if (table.nodes[id].column) columns[*table.nodes[id].column] = nodes[id];
  }
  return columns;
}

TableSchemaPtr kept_schema(const std::shared_ptr<const LoadedTable>& loaded, KeptSchemas schemas,
                           std::vector<tfile::ColumnId> short_columns) {
  const tfile::Table& table = loaded->table();
  if (!schemas.are_shared) return schemas.set.keep(table, std::move(short_columns));
  return schemas.set.keep_shared(std::shared_ptr<const tfile::Table>(loaded, &table), std::move(short_columns));
}

TableFacts facts_of(const TablePlace& place, const std::shared_ptr<const LoadedTable>& of, KeptSchemas schemas) {
  const LoadedTable& loaded = *of;
  const tfile::Table& table = loaded.table();
  TableFacts facts{place.path, place.original, table.title,    table.reason, nullptr, 0, {}, {},
                   {},         table.friends,  table.has_index};
  if (table.columns.empty()) return facts;
  facts.entries = std::max<std::int64_t>(0, table.entries);
  facts.clusters = table.clusters;
  std::vector<tfile::ColumnId> short_columns;
  const std::vector<bool> of_alternative = in_alternatives(table);
  bool knows_any = false;
  for (tfile::ColumnId id = 0; id < table.columns.size(); ++id) {
    facts.stored.push_back(loaded.stored_bytes(id));
    const auto length = loaded.known_length(id);
    facts.lengths.push_back(length.value_or(-1));
    knows_any = knows_any || length;
    if (length && !of_alternative[id] && is_short(table.columns[id], *length, facts.entries))
      short_columns.push_back(id);
  }
  facts.schema = kept_schema(of, schemas, std::move(short_columns));
  if (!knows_any) facts.lengths.clear();
  return facts;
}

// Whether it is a column whose length is known now.
bool has_length(const TableFacts& facts, tfile::ColumnId id, std::int64_t length, bool is_short) {
  const std::int64_t known = facts.lengths.empty() ? -1 : facts.lengths[id];
  const bool was_short = std::ranges::binary_search(facts.schema->short_columns, id);
  return (known < 0 || known == length) && (is_short || !was_short) && (was_short || !is_short || known < 0);
}

// However the bytes of a stream were divided among its columns: by their lengths, as far as these were known.
bool has_stored(const TableFacts& facts, const tfile::Table& table) {
  struct Divided {
    std::uint64_t bytes = 0, columns = 0;
  };
  std::unordered_map<tfile::StreamId, Divided> streams;
  for (tfile::ColumnId id = 0; id < table.columns.size(); ++id) {
    Divided& divided = streams[table.columns[id].stream];
    divided.bytes += facts.stored[id];
    ++divided.columns;
  }
  return std::ranges::all_of(streams, [&](const auto& each) {
    const auto& [stream, divided] = each;
    const std::uint64_t stored = table.shape(stream).stored_bytes;
    return std::max(stored, divided.bytes) - std::min(stored, divided.bytes) < divided.columns;  // each was rounded
  });
}

// Loads one table after the other.
void load_facts(const GenerationPtr& generation, std::vector<TablePlace> places, KeptSchemas schemas,
                Reply<FactsPtr> reply) {
  auto facts = std::make_shared<FileFacts>();
  facts->identity = generation->source->identity();
  facts->from = generation->state.from;
  facts->uuid = uuid_of(*generation->file);
  const std::size_t count = places.size();
  auto load = [generation, places = std::move(places), schemas](std::size_t i, const auto& made, Reply<void> done) {
    auto add = [&place = places[i], &made, schemas](const WholeTable& table) {
      made->tables.push_back(facts_of(place, table.loaded, schemas));
    };
    load_whole(generation, places[i], answer_with<WholeTable>(std::move(done), std::move(add)));
  };
  for_each(count, std::move(facts), std::move(load), std::move(reply));
}

void read_tables(MountContext& context, const GenerationPtr& generation, std::string table, KeptSchemas schemas,
                 Reply<FactsPtr> reply) {
  auto find = [generation, table = std::move(table)] {
    return table.empty() ? tables_in(*generation) : tables_named(*generation, table);
  };
  auto read = [generation, schemas](std::vector<TablePlace> places, Reply<FactsPtr> done) mutable {
    load_facts(generation, std::move(places), schemas, std::move(done));
  };
  answer_blocking(context.cache, generation->source->origin(), std::move(find),
                  value_for<std::vector<TablePlace>>(std::move(reply), std::move(read)));
}

}  // namespace

bool holds(const TableFacts& facts, const LoadedTable& loaded) {
  const tfile::Table& table = loaded.table();
  if (!facts.schema || !has_schema(table, *facts.schema)) return false;
  if (facts.entries != std::max<std::int64_t>(0, table.entries) || facts.clusters != table.clusters) return false;
  if (!has_stored(facts, table)) return false;
  const std::vector<bool> of_alternative = in_alternatives(table);
  for (tfile::ColumnId id = 0; id < table.columns.size(); ++id) {
    const auto length = loaded.known_length(id);
    const bool is_short_now = length && !of_alternative[id] && is_short(table.columns[id], *length, facts.entries);
    if (length && !has_length(facts, id, *length, is_short_now)) return false;
  }
  return true;
}

void read_facts(MountContext& context, MountedFile& file, std::string table, KeptSchemas schemas,
                Reply<FactsPtr> reply) {
  auto opened = [&context, table = std::move(table), schemas](GenerationPtr now, Reply<FactsPtr> done) mutable {
    read_tables(context, now, std::move(table), schemas, std::move(done));
  };
  file.current(Freshness::now, value_for<GenerationPtr>(std::move(reply), std::move(opened)));
}

}  // namespace tfilefs
