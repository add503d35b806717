// SPDX-License-Identifier: Apache-2.0
#include "view/chain/chain_schema.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "tfile/name.h"
#include "view/chain/merged_node.h"
#include "view/table_form.h"

namespace tfilefs {
namespace {

using tfile::Column;
using tfile::ColumnId;
using tfile::DateKind;
using tfile::Dtype;
using tfile::Node;
using tfile::NodeId;
using tfile::NodeKind;
using tfile::Role;
using Kind = ItemSource::Kind;

FileColumn child_column(const NodePlace& place, std::size_t child) {
  return file_column(*place.schema, *place.schema->nodes[place.at().children[child]].column);
}

// For a record of a class without members.
const Column kNone;

// Lays out merged nodes as nodes and columns.
class SchemaBuilder {
 public:
  explicit SchemaBuilder(std::span<const TableSchemaPtr> schemas);
  ChainSchema build(const MergedNode& root);

 private:
  // The place of a node.
  struct Around {
    std::vector<ColumnId> lists;
    CountId count = 0;
    std::string path;  // of its directory, with a slash behind
  };

  void add_below(NodeId parent, const MergedNode& merged, const Around& around);
  NodeId add_node(const MergedNode& merged, const Around& around);

  // If files differ, the numbers alone are shown.
  static DateKind date_of(const MergedNode& merged);
  static Node node_of(const MergedNode& merged);

  // A file of the chain; `from`: the column that says what it is.
  ColumnId add_column(const std::string& name, Role role, const Column& from, const Around& around);
  ColumnId add_numbers(const MergedNode& merged, const Around& around);

  // The directory's offsets.i8. Each place has such a column, or makes one.
  ColumnId add_offsets(NodeId node, const MergedNode& merged, Around& inside);
  void add_leaf(NodeId directory, ColumnId column);
  void add_list(NodeId node, const MergedNode& merged, Around inside);

  // Characters, or bytes that are not decoded.
  void add_bytes(NodeId node, const MergedNode& merged, Around inside);

  // Tags, index, and the alternatives, each of which has as many items as there are values of it.
  void add_variant(NodeId node, const MergedNode& merged, const Around& inside);

  template <class Use>
  static void for_places(const MergedNode& merged, Use use) {
    for (std::size_t schema = 0; schema < merged.places.size(); ++schema) {
      if (merged.places[schema]) use(schema, *merged.places[schema]);
    }
  }

  // A column of counts stays one where it counts this list in all files.
  void find_counter(ColumnId id);
  CountId count_id(std::vector<CountSource> sources);

  const std::span<const TableSchemaPtr> schemas_of_;
  const std::size_t schemas_;
  ChainSchema made_;
  std::unordered_multimap<std::size_t, CountId> known_counts_;     // by the columns that tell them
  std::map<std::pair<std::size_t, ColumnId>, ColumnId> shown_as_;  // by schema and column of the file: numbers
};

SchemaBuilder::SchemaBuilder(std::span<const TableSchemaPtr> schemas) : schemas_of_(schemas), schemas_(schemas.size()) {
  count_id(std::vector(schemas_, CountSource{CountSource::Of::entries, {}, false, 1}));
  if (schemas.empty()) return;
  // Mostly the chain has what the first file has.
  made_.nodes.reserve(schemas[0]->nodes.size());
  made_.columns.reserve(schemas[0]->columns.size());
  made_.chained.reserve(schemas[0]->columns.size());
}

ChainSchema SchemaBuilder::build(const MergedNode& root) {
  made_.nodes.emplace_back();
  const Around around;
  for (const MergedNode& child : root.children) add_below(0, child, around);
  for (ColumnId id = 0; id < made_.columns.size(); ++id) find_counter(id);
  return std::move(made_);
}

void SchemaBuilder::add_below(NodeId parent, const MergedNode& merged, const Around& around) {
  const NodeId id = add_node(merged, around);
  made_.nodes[parent].children.push_back(id);
}

NodeId SchemaBuilder::add_node(const MergedNode& merged, const Around& around) {
  const NodeId id = static_cast<NodeId>(made_.nodes.size());
  made_.nodes.push_back(node_of(merged));
  if (merged.kind == NodeKind::number) {
    const ColumnId column = add_numbers(merged, around);
    made_.nodes[id].name = made_.columns[column].name;
    made_.nodes[id].column = column;
    return id;
  }
  Around inside = around;
  inside.path += merged.stem + "/";
  switch (merged.kind) {
    case NodeKind::list:
    case NodeKind::map:
    case NodeKind::optional:
      add_list(id, merged, inside);
      break;
    case NodeKind::string:
    case NodeKind::raw:
      add_bytes(id, merged, inside);
      break;
    case NodeKind::variant:
      add_variant(id, merged, inside);
      break;
    default:
      for (const MergedNode& child : merged.children) add_below(id, child, inside);
  }
  return id;
}

DateKind SchemaBuilder::date_of(const MergedNode& merged) {
  const DateKind date = merged.first().at().date;
  const bool are_same = std::ranges::all_of(merged.places, [&](const std::optional<NodePlace>& place) {
    return !place || (place->at().date == date && place->at().kind == merged.kind);
  });
  return are_same ? date : DateKind::none;
}

Node SchemaBuilder::node_of(const MergedNode& merged) {
  const Node& first = merged.first().at();
  Node node;
  node.kind = merged.kind;
  node.name = merged.stem;
  if (!merged.is_second && merged.stem != "values") {
    node.original_name = first.original_name;
    if (node.original_name.empty() && merged.stem.starts_with('%'))
      node.original_name = tfile::unescape_name(merged.stem);
    node.branch_name = first.branch_name;
  }
  node.alternatives = first.alternatives;
  node.tag = first.tag;
  node.date = date_of(merged);
  return node;
}

ColumnId SchemaBuilder::add_column(const std::string& name, Role role, const Column& from, const Around& around) {
  Column column;
  column.name = name;
  column.path = around.path + name;
  column.dtype = from.dtype;
  column.role = role;
  column.shape = from.shape;
  column.lists = around.lists;
  column.branch = from.branch;
  column.field = from.field;
  column.title = from.title;
  column.class_name = from.class_name;
  column.compression = from.compression;
  if (role == Role::raw) column.reason = from.reason;
  const ColumnId id = static_cast<ColumnId>(made_.columns.size());
  column.stream = id;
  made_.columns.push_back(std::move(column));
  made_.chained.push_back({around.count, {}, std::vector<ItemSource>(schemas_)});
  return id;
}

ColumnId SchemaBuilder::add_numbers(const MergedNode& merged, const Around& around) {
  const Column& from = merged.first().column();
  const std::string name = merged.stem + tfile::typed_suffix(merged.dtype, merged.shape);
  const ColumnId id = add_column(name, from.role, from, around);
  made_.columns[id].dtype = merged.dtype;
  made_.columns[id].shape = merged.shape;
  for_places(merged, [&](std::size_t schema, const NodePlace& place) {
    const Kind kind = place.column().dtype == merged.dtype ? Kind::same : Kind::widened;
    made_.chained[id].sources[schema] = {kind, file_column(*place.schema, *place.at().column), {}, 0};
    if (around.lists.empty()) shown_as_[{schema, *place.at().column}] = id;
  });
  return id;
}

ColumnId SchemaBuilder::add_offsets(NodeId node, const MergedNode& merged, Around& inside) {
  const NodePlace& first = merged.first();
  const bool has_own = !merged.is_made && !first.at().column;
  const Column* any = any_column(first);
  const Column& from = has_own ? first.schema->columns[*first.schema->nodes[first.at().children[0]].column]
                       : any   ? *any
                               : kNone;
  inside.lists.push_back(static_cast<ColumnId>(made_.columns.size()));
  const ColumnId id = add_column("offsets.i8", Role::offsets, from, inside);
  made_.columns[id].dtype = Dtype::i8;
  made_.columns[id].shape.clear();
  made_.columns[id].optional = merged.kind == NodeKind::optional;
  add_leaf(node, id);
  if (merged.is_made) {
    for (ItemSource& source : made_.chained[id].sources) source = {Kind::steps, {}, {}, 0};
  }
  return id;
}

void SchemaBuilder::add_leaf(NodeId directory, ColumnId column) {
  Node leaf;
  leaf.kind = NodeKind::number;
  leaf.name = made_.columns[column].name;
  leaf.column = column;
  made_.nodes[directory].children.push_back(static_cast<NodeId>(made_.nodes.size()));
  made_.nodes.push_back(std::move(leaf));
}

void SchemaBuilder::add_list(NodeId node, const MergedNode& merged, Around inside) {
  const CountId outer = inside.count;
  const ColumnId offsets = add_offsets(node, merged, inside);
  std::vector<CountSource> held(schemas_);
  for_places(merged, [&](std::size_t schema, const NodePlace& place) {
    ItemSource& source = made_.chained[offsets].sources[schema];
    held[schema] = made_.counts[outer][schema];
    if (merged.is_made) {
      source = {Kind::steps, {}, {}, 1};
    } else if (place.at().column) {
      const std::uint32_t step = place.column().shape[place.peeled];
      source = {Kind::steps, {}, {}, step};
      held[schema].times *= step;
    } else {
      source = {Kind::ends, child_column(place, 0), {}, 0};
      held[schema] = counted_at(inner(place)).value_or(CountSource{});
    }
  });
  inside.count = count_id(std::move(held));
  made_.chained[offsets].held = {inside.count};
  add_below(node, merged.children[0], inside);
}

void SchemaBuilder::add_bytes(NodeId node, const MergedNode& merged, Around inside) {
  const ColumnId offsets = add_offsets(node, merged, inside);
  std::vector<CountSource> held(schemas_);
  std::vector<ItemSource> sources(schemas_);
  for_places(merged, [&](std::size_t schema, const NodePlace& place) {
    const FileColumn bytes = child_column(place, 1);
    made_.chained[offsets].sources[schema] = {Kind::ends, child_column(place, 0), {}, 0};
    held[schema] = {CountSource::Of::items, bytes, false, 1};
    sources[schema] = {Kind::same, bytes, {}, 0};
  });
  inside.count = count_id(std::move(held));
  made_.chained[offsets].held = {inside.count};
  const Column& from = merged.first().schema->columns[child_column(merged.first(), 1).id];
  const ColumnId id = add_column(from.name, from.role, from, inside);
  made_.chained[id].sources = std::move(sources);
  add_leaf(node, id);
}

void SchemaBuilder::add_variant(NodeId node, const MergedNode& merged, const Around& inside) {
  add_below(node, merged.children[0], inside);
  add_below(node, merged.children[1], inside);
  const ColumnId index = *made_.nodes[made_.nodes[node].children[1]].column;
  for_places(merged, [&](std::size_t schema, const NodePlace& place) {
    ItemSource& source = made_.chained[index].sources[schema];
    source.kind = Kind::index;
    source.tags = child_column(place, 0);
  });
  made_.chained[index].held.assign(made_.nodes[node].alternatives.size(), 0);
  for (std::size_t i = 2; i < merged.children.size(); ++i) {
    const MergedNode& alternative = merged.children[i];
    Around own = inside;
    std::vector<CountSource> held(schemas_);
    for_places(alternative, [&](std::size_t schema, const NodePlace& place) {
      held[schema] = counted_at(place).value_or(CountSource{});
    });
    own.count = count_id(std::move(held));
    const std::uint32_t tag = alternative.first().at().tag;
    if (tag >= 1 && tag <= made_.chained[index].held.size()) made_.chained[index].held[tag - 1] = own.count;
    add_below(node, alternative, own);
  }
}

void SchemaBuilder::find_counter(ColumnId id) {
  std::optional<ColumnId> counter;
  for (std::size_t schema = 0; schema < schemas_; ++schema) {
    const ItemSource& source = made_.chained[id].sources[schema];
    if (source.kind != Kind::ends) return;
    const auto own = schemas_of_[schema]->columns[source.column.id].counter;
    const auto shown = own ? shown_as_.find({schema, *own}) : shown_as_.end();
    if (shown == shown_as_.end() || (counter && *counter != shown->second)) return;
    counter = shown->second;
  }
  made_.columns[id].counter = counter;
}

CountId SchemaBuilder::count_id(std::vector<CountSource> sources) {
  std::size_t counted = 0;
  for (const CountSource& source : sources) counted = counted * 31 + source.column.id;
  const auto [begin, end] = known_counts_.equal_range(counted);
  const auto same = std::find_if(begin, end, [&](const auto& each) { return made_.counts[each.second] == sources; });
  if (same != end) return same->second;
  const auto id = static_cast<CountId>(made_.counts.size());
  made_.counts.push_back(std::move(sources));
  known_counts_.emplace(counted, id);
  return id;
}

}  // namespace

tfile::Result<ChainSchema> chain_schema(std::span<const TableSchemaPtr> schemas, ChainPolicy policy) {
  TRY(MergedTable merged, merge_tables(schemas, policy));
  ChainSchema made = SchemaBuilder(schemas).build(merged.root);
  made.differences = std::move(merged.differences);
  return made;
}

ChainSchema origins_schema(std::size_t schemas) {
  ChainSchema made;
  made.counts.emplace_back(schemas, CountSource{CountSource::Of::entries, {}, false, 1});
  made.nodes.emplace_back();
  const auto add = [&](const char* name, Dtype dtype, Kind kind) {
    Column column;
    column.path = column.name = name;
    column.dtype = dtype;
    column.stream = static_cast<tfile::StreamId>(made.columns.size());
    Node leaf;
    leaf.kind = NodeKind::number;
    leaf.name = name;
    leaf.column = static_cast<ColumnId>(made.columns.size());
    made.nodes[0].children.push_back(static_cast<NodeId>(made.nodes.size()));
    made.nodes.push_back(std::move(leaf));
    made.columns.push_back(std::move(column));
    made.chained.push_back({0, {}, std::vector<ItemSource>(schemas, ItemSource{kind, {}, {}, 0})});
  };
  add(".file.u4", Dtype::u4, Kind::file_number);
  add(".entry.i8", Dtype::i8, Kind::entry_number);
  return made;
}

}  // namespace tfilefs
