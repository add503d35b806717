// SPDX-License-Identifier: Apache-2.0
#include "view/chain/merged_node.h"

#include <algorithm>
#include <map>
#include <set>

#include "tfile/member_names.h"
#include "tfile/name.h"
#include "view/chain/number_types.h"
#include "view/table_form.h"

namespace tfilefs {
namespace {

using tfile::NodeId;
using tfile::NodeKind;

constexpr int kDepthMax = 64;  // deeper than any node tree that the library builds

// Kinds of nodes: those of one can be merged.
enum class Category : std::uint8_t { none, number, array, list, string, raw, optional, record, variant };

Category category_of(const NodePlace& place) {
  const tfile::Node& node = place.at();
  if (node.column) return place.column().shape.size() > place.peeled ? Category::array : Category::number;
  switch (node.kind) {
    case NodeKind::string:
      return Category::string;
    case NodeKind::raw:
      return Category::raw;
    case NodeKind::list:
    case NodeKind::map:
      return Category::list;
    case NodeKind::optional:
      return Category::optional;
    case NodeKind::record:
      return Category::record;
    case NodeKind::variant:
      return Category::variant;
    default:
      return Category::none;
  }
}

bool has_offsets(Category category) {
  return category == Category::list || category == Category::string || category == Category::raw ||
         category == Category::optional;
}

// Whether a node has values for each item of the lists around it, and they can be read.
bool is_usable(const NodePlace& place, tfile::ColumnId id, std::size_t lists) {
  const tfile::Column& column = place.schema->columns[id];
  return !has_no_values(column) && column.lists.size() == lists &&
         !std::ranges::binary_search(place.schema->short_columns, id);
}
bool is_usable(const NodePlace& place) {
  const tfile::Node& node = place.at();
  if (node.column) return is_usable(place, *node.column, place.depth);
  if (!has_offsets(category_of(place))) return true;
  return node.children.size() >= 2 && is_usable(place, *place.schema->nodes[node.children[0]].column, place.depth + 1);
}

std::string trouble_inside(const NodePlace& place, int depth);

// Why it is not usable, or nothing in it is; else empty.
std::string trouble_of(const NodePlace& place, int depth = 0) {
  const tfile::Node& node = place.at();
  if (is_usable(place)) return node.column || depth > kDepthMax ? "" : trouble_inside(place, depth);
  if (!node.column && node.children.size() < 2) return ", of items without a description";
  const tfile::ColumnId id = node.column ? *node.column : *place.schema->nodes[node.children[0]].column;
  const bool is_short = std::ranges::binary_search(place.schema->short_columns, id);
  return is_short ? ", with fewer entries than the table" : ", that cannot be read";
}

// For a record that of its first member, if all members have one.
std::string trouble_inside(const NodePlace& place, int depth) {
  const tfile::Node& node = place.at();
  const Category category = category_of(place);
  if (category == Category::list || category == Category::optional) return trouble_of(inner(place), depth + 1);
  if (category != Category::record && category != Category::variant) return "";
  std::string first;
  for (const NodeId child : node.children) {
    NodePlace below = place;
    below.node = child;
    const std::string trouble = trouble_of(below, depth + 1);
    const bool is_enough = category == Category::variant ? !trouble.empty() : trouble.empty();
    if (is_enough) return trouble;
    if (first.empty()) first = trouble;
  }
  return first;
}

std::string type_text(const std::optional<NodePlace>& place, int depth = 0) {
  if (!place || depth > kDepthMax) return "missing";
  switch (category_of(*place)) {
    case Category::number:
    case Category::array:
      return tfile::typed_suffix(place->column().dtype, place->shape()).substr(1);
    case Category::list:
      return place->at().children.size() < 2 ? "list" : "list of " + type_text(inner(*place), depth + 1);
    case Category::optional:
      return place->at().children.size() < 2 ? "optional" : "optional " + type_text(inner(*place), depth + 1);
    case Category::string:
      return "string";
    case Category::raw:
      return "undecoded bytes";
    case Category::variant:
      return "variant";
    default:
      return "record";
  }
}

std::string type_text(const MergedNode& merged) {
  switch (merged.kind) {
    case NodeKind::number:
      return tfile::typed_suffix(merged.dtype, merged.shape).substr(1);
    case NodeKind::list:
    case NodeKind::map:
      return "list of " + type_text(merged.children[0]);
    case NodeKind::optional:
      return "optional " + type_text(merged.children[0]);
    case NodeKind::string:
      return "string";
    case NodeKind::raw:
      return "undecoded bytes";
    case NodeKind::variant:
      return "variant";
    default:
      return "record";
  }
}

template <class Of>
bool all_equal(const NodePlaces& places, Of of) {
  const NodePlace* first = nullptr;
  for (const auto& place : places) {
    if (!place) continue;
    if (first && of(*place) != of(*first)) return false;
    first = &*place;
  }
  return true;
}

class Merging {
 public:
  Merging(std::span<const TableSchemaPtr> schemas, ChainPolicy policy);
  tfile::Result<MergedTable> run();

 private:
  // Nothing if the nodes differ too much to be one.
  std::optional<MergedNode> merge(const NodePlaces& places, const std::string& path, int depth);
  static std::optional<MergedNode> merge_numbers(MergedNode merged);
  std::optional<MergedNode> merge_items(MergedNode merged, NodeKind kind, const std::string& path, int depth);

  // Only those of equal alternatives, all of which can be merged.
  std::optional<MergedNode> merge_variants(MergedNode merged, const std::string& path, int depth);

  // A member whose name the layout uses itself is escaped by its type, which may be another one in another file.
  static std::string field_name(const NodePlace& place);

  // The members of the merged record decide which of their names the layout would take for its own.
  static void name_members(std::vector<MergedNode>& members);

  // The nodes of records, by their names.
  struct Fields {
    std::vector<std::string> order;  // names, in the order in which they come first
    std::map<std::string, NodePlaces> usable, unusable;
  };
  static Fields named_fields(const NodePlaces& records);
  std::vector<MergedNode> fields_of(const NodePlaces& records, const std::string& path, int depth);
  void add_field(std::vector<MergedNode>& fields, const NodePlaces& records, const NodePlaces& places,
                 const std::string& path, int depth);

  // Nodes that cannot be one become several, each with 0 or 1.
  void add_each(std::vector<MergedNode>& fields, const NodePlaces& places, const std::string& path, int depth);
  static MergedNode optional_of(MergedNode value);

  // Records of classes without members.
  static bool is_hollow(const NodePlaces& places);
  void note(const NodePlaces& places, const std::string& path, std::string shown);
  void leave_out(const NodePlaces& places, const std::string& path);
  void refuse(const NodePlaces& records, const NodePlaces& places, const std::string& path);

  const ChainPolicy policy_;
  NodePlaces roots_;
  std::vector<Difference> differences_;
  std::optional<tfile::Error> refused_;
};

Merging::Merging(std::span<const TableSchemaPtr> schemas, ChainPolicy policy) : policy_(policy) {
  for (const TableSchemaPtr& schema : schemas) roots_.push_back(NodePlace{schema.get(), 0, 0, 0});
}

tfile::Result<MergedTable> Merging::run() {
  MergedTable table;
  table.root.places = roots_;
  table.root.children = fields_of(roots_, "", 0);
  if (refused_) return tl::unexpected(*refused_);
  table.differences = std::move(differences_);
  return table;
}

std::optional<MergedNode> Merging::merge(const NodePlaces& places, const std::string& path, int depth) {
  const auto first = std::find_if(places.begin(), places.end(), [](const auto& place) { return place.has_value(); });
  if (first == places.end() || depth > kDepthMax) return std::nullopt;
  MergedNode merged;
  merged.places = places;
  merged.stem = bare_name((*first)->schema->columns, (*first)->at());
  if (!all_equal(places, category_of) ||
      !all_equal(places, [](const NodePlace& p) { return p.at().column ? p.shape() : std::vector<std::uint32_t>(); })) {
    const bool are_lists = std::all_of(places.begin(), places.end(), [](const auto& place) {
      return !place || category_of(*place) == Category::array || category_of(*place) == Category::list;
    });
    return are_lists ? merge_items(std::move(merged), NodeKind::list, path, depth) : std::nullopt;
  }
  switch (category_of(**first)) {
    case Category::number:
    case Category::array:
      return merge_numbers(std::move(merged));
    case Category::list: {
      const bool are_maps = all_equal(places, [](const NodePlace& p) { return p.at().kind; });
      return merge_items(std::move(merged), are_maps ? (*first)->at().kind : NodeKind::list, path, depth);
    }
    case Category::optional:
      return merge_items(std::move(merged), NodeKind::optional, path, depth);
    case Category::string:
    case Category::raw:
      merged.kind = (*first)->at().kind;
      return merged;
    case Category::variant:
      return merge_variants(std::move(merged), path, depth);
    default:
      merged.children = fields_of(places, path, depth);
      return merged.children.empty() && !is_hollow(places) ? std::nullopt : std::optional(std::move(merged));
  }
}

std::optional<MergedNode> Merging::merge_numbers(MergedNode merged) {
  std::vector<tfile::Dtype> types;
  for (const auto& place : merged.places) {
    if (place) types.push_back(place->column().dtype);
  }
  const auto type = common_type(types);
  if (!type) return std::nullopt;
  merged.kind = NodeKind::number;
  merged.dtype = *type;
  merged.shape = merged.first().shape();
  return merged;
}

std::optional<MergedNode> Merging::merge_items(MergedNode merged, NodeKind kind, const std::string& path, int depth) {
  NodePlaces items;
  for (const auto& place : merged.places) {
    items.push_back(place ? std::optional(inner(*place)) : std::nullopt);
    const bool is_array = place && place->at().column;
    if (items.back() && (!is_usable(*items.back()) || (!is_array && !counted_at(*items.back())))) return std::nullopt;
  }
  auto item = merge(items, path + "/values", depth + 1);
  if (!item || (item->kind == NodeKind::record && item->children.empty())) return std::nullopt;
  item->stem = "values";
  merged.kind = kind;
  merged.children.push_back(*std::move(item));
  return merged;
}

std::optional<MergedNode> Merging::merge_variants(MergedNode merged, const std::string& path, int depth) {
  const auto shape = [](const NodePlace& p) { return std::pair(p.at().alternatives, p.at().children.size()); };
  if (!all_equal(merged.places, shape)) return std::nullopt;
  merged.kind = NodeKind::variant;
  for (std::size_t i = 0; i < merged.first().at().children.size(); ++i) {
    NodePlaces children;
    for (const auto& place : merged.places) {
      children.push_back(place);
      if (place) children.back()->node = place->at().children[i];
      if (place && !is_usable(*children.back())) return std::nullopt;
    }
    if (!all_equal(children, [](const NodePlace& p) { return p.at().tag; })) return std::nullopt;
    auto child = merge(children, path, depth + 1);
    if (!child) return std::nullopt;
    merged.children.push_back(*std::move(child));
  }
  return merged;
}

std::string Merging::field_name(const NodePlace& place) {
  const std::string_view shown = bare_name(place.schema->columns, place.at());
  const std::string& own = place.at().original_name;
  return !own.empty() && shown == tfile::escape_first_byte(own) ? own : std::string(shown);
}

void Merging::name_members(std::vector<MergedNode>& members) {
  std::vector<std::string> own, suffixes;
  for (const MergedNode& member : members) {
    own.push_back(tfile::unescape_name(member.stem));
    const bool is_number = member.kind == NodeKind::number;
    suffixes.push_back(is_number ? tfile::typed_suffix(member.dtype, member.shape) : std::string());
  }
  const std::vector<bool> escaped =
      tfile::escaped_members(std::vector<std::string_view>(own.begin(), own.end()), suffixes);
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (own[i].empty()) continue;
    const std::string with_escape = tfile::escape_first_byte(own[i]);
    if (members[i].stem == own[i] || members[i].stem == with_escape)
      members[i].stem = escaped[i] ? with_escape : own[i];
  }
}

Merging::Fields Merging::named_fields(const NodePlaces& records) {
  Fields fields;
  for (std::size_t schema = 0; schema < records.size(); ++schema) {
    if (!records[schema]) continue;
    for (const NodeId child : records[schema]->at().children) {
      NodePlace place = *records[schema];
      place.node = child;
      std::string name = field_name(place);
      if (!is_usable(place)) {
        fields.unusable.try_emplace(name, records.size()).first->second[schema] = place;
        continue;
      }
      NodePlaces* places = &fields.usable[name];
      if (!places->empty() && (*places)[schema]) {  // a second one of the same stem
        name = place.at().name;
        places = &fields.usable[name];
      }
      if (places->empty()) {
        places->resize(records.size());
        fields.order.push_back(name);
      }
      (*places)[schema] = place;
    }
  }
  return fields;
}

std::vector<MergedNode> Merging::fields_of(const NodePlaces& records, const std::string& path, int depth) {
  const Fields named = named_fields(records);
  const std::string begin = path.empty() ? "" : path + "/";
  std::vector<MergedNode> fields;
  for (const std::string& name : named.order) {
    if (refused_) return fields;
    add_field(fields, records, named.usable.at(name), begin + name, depth + 1);
  }
  for (const auto& [name, places] : named.unusable) {
    if (!named.usable.contains(name)) leave_out(places, begin + name);
  }
  if (!path.empty()) name_members(fields);
  return fields;
}

void Merging::add_field(std::vector<MergedNode>& fields, const NodePlaces& records, const NodePlaces& places,
                        const std::string& path, int depth) {
  bool is_missing = false;
  for (std::size_t i = 0; i < records.size(); ++i) is_missing = is_missing || (records[i] && !places[i]);
  const auto text = [](const NodePlace& place) { return type_text(place); };
  if (policy_ == ChainPolicy::strict && (is_missing || !all_equal(places, text))) return refuse(records, places, path);
  if (is_missing && policy_ == ChainPolicy::common) return leave_out(places, path);
  const std::size_t noted = differences_.size();
  auto merged = merge(places, path, depth);
  if (!merged && policy_ == ChainPolicy::common) {
    differences_.resize(noted);
    return leave_out(places, path);
  }
  if (merged && !is_missing) {
    if (!all_equal(places, text)) note(places, path, type_text(*merged));
    return fields.push_back(*std::move(merged));
  }
  if (merged) {
    note(places, path, "0 or 1 " + type_text(*merged));
    return fields.push_back(optional_of(*std::move(merged)));
  }
  differences_.resize(noted);
  add_each(fields, places, path, depth);
}

void Merging::add_each(std::vector<MergedNode>& fields, const NodePlaces& places, const std::string& path, int depth) {
  std::vector<NodePlaces> groups;
  for (std::size_t schema = 0; schema < places.size(); ++schema) {
    if (!places[schema]) continue;
    const std::size_t noted = differences_.size();
    const auto fits = [&](NodePlaces group) {
      group[schema] = places[schema];
      return merge(group, path, depth).has_value();
    };
    auto group = std::find_if(groups.begin(), groups.end(), fits);
    if (group == groups.end()) group = groups.emplace(groups.end(), places.size());
    (*group)[schema] = places[schema];
    differences_.resize(noted);
  }
  int number = 0;
  for (const NodePlaces& group : groups) {
    auto merged = merge(group, path, depth);
    if (!merged) continue;
    if (++number > 1) {
      merged->stem += "~" + std::to_string(number);
      merged->is_second = true;
    }
    fields.push_back(optional_of(*std::move(merged)));
  }
  if (number == 0) return leave_out(places, path);
  note(places, path, "0 or 1, each on its own");
}

MergedNode Merging::optional_of(MergedNode value) {
  MergedNode optional;
  optional.kind = NodeKind::optional;
  optional.is_made = true;
  optional.is_second = value.is_second;
  optional.stem = std::exchange(value.stem, "values");
  optional.places = value.places;
  optional.children.push_back(std::move(value));
  return optional;
}

bool Merging::is_hollow(const NodePlaces& places) {
  return std::all_of(places.begin(), places.end(), [](const auto& place) {
    return !place || (category_of(*place) == Category::record && place->at().children.empty());
  });
}

void Merging::note(const NodePlaces& places, const std::string& path, std::string shown) {
  Difference difference{path, std::move(shown), {}, false};
  for (std::size_t i = 0; i < places.size(); ++i)
    difference.found.push_back(places[i] ? type_text(places[i]) + trouble_of(*places[i]) : "missing");
  differences_.push_back(std::move(difference));
}

void Merging::leave_out(const NodePlaces& places, const std::string& path) {
  note(places, path, "left out");
  differences_.back().is_left_out = true;
}

void Merging::refuse(const NodePlaces& records, const NodePlaces& places, const std::string& path) {
  std::size_t other = 0;
  const std::string wanted = type_text(places[0]);
  while (other < places.size() && (!records[other] || type_text(places[other]) == wanted)) ++other;
  const std::string found = other < places.size() ? type_text(places[other]) : "missing";
  refused_ = tfile::Error{tfile::ErrorKind::unsupported, path + ": " + found + ", where the first file has: " + wanted,
                          static_cast<std::int64_t>(other)};
}

}  // namespace

FileColumn file_column(const TableSchema& schema, tfile::ColumnId id) {
  const tfile::Column& column = schema.columns[id];
  return {id, column.stream, column.slot, static_cast<std::uint32_t>(column.item_size()), column.dtype};
}

NodePlace inner(const NodePlace& place) {
  NodePlace item = place;
  if (place.at().column) {
    ++item.peeled;
    return item;
  }
  item.node = place.at().children[1];
  ++item.depth;
  return item;
}

const tfile::Column* any_column(const NodePlace& place, int depth) {
  const tfile::Node& node = place.at();
  if (node.column) return &place.schema->columns[*node.column];
  for (std::size_t i = 0; i < node.children.size() && depth < kDepthMax; ++i) {
    NodePlace below = place;
    below.node = node.children[i];
    if (const tfile::Column* found = any_column(below, depth + 1)) return found;
  }
  return nullptr;
}

std::optional<CountSource> counted_at(const NodePlace& place, int depth) {
  const tfile::Node& node = place.at();
  const Category category = category_of(place);
  if (category == Category::record || category == Category::variant) {
    for (std::size_t i = 0; i < node.children.size() && depth < kDepthMax; ++i) {
      NodePlace below = place;
      below.node = node.children[i];
      if (auto found = counted_at(below, depth + 1)) return found;
    }
    return std::nullopt;
  }
  if (category == Category::none || !is_usable(place)) return std::nullopt;
  const bool is_ends = !node.column;
  const tfile::ColumnId id = is_ends ? *place.schema->nodes[node.children[0]].column : *node.column;
  return CountSource{CountSource::Of::items, file_column(*place.schema, id), is_ends, 1};
}

const NodePlace& MergedNode::first() const {
  return **std::find_if(places.begin(), places.end(), [](const auto& place) { return place.has_value(); });
}

tfile::Result<MergedTable> merge_tables(std::span<const TableSchemaPtr> schemas, ChainPolicy policy) {
  return Merging(schemas, policy).run();
}

}  // namespace tfilefs
