// SPDX-License-Identifier: Apache-2.0
#include "ntuple/field_nodes.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "model/node_draft.h"
#include "ntuple/streamed_objects.h"
#include "streamer/layout/shape_nodes.h"
#include "tfile/date.h"

namespace tfile {
namespace {

// The most items of a fixed array; more would not fit into a chunk.
constexpr std::uint64_t kArrayMax = 1 << 28;
constexpr std::size_t kRepresentationsMax = 16;  // the most that a packed page can express
constexpr std::size_t kColumnsMax = 4;  // columns of other fields that a field can show; none consists of more than two

class Builder {
 public:
  Builder(const SchemaRecords& schema, const std::map<PageColumn, std::string>& as_bytes);
  FieldNodes build();

 private:
  // Numbers the columns of each field, in order. The corresponding columns of all representations count as one.
  void number_columns();
  void add_encoding(PageColumn id, const ColumnRecord& column);
  void note_unreadable(PageColumn id, std::string why) { unreadable_.emplace(id, std::move(why)); }

  // If any part of a top-level field is unknown, the whole field is left out; its neighbours stay.
  void add_top_field(NodeDraft& root, FieldId id);

  // The place of a field: its qualified name, and the offsets columns of the lists around it.
  struct Surroundings {
    std::string path;
    std::vector<ColumnId> lists;
    bool in_list = false;  // or in a variant: the number of items per entry is not fixed
  };

  const FieldRecord* parent_of(FieldId id) const;
  std::string name_of(FieldId id) const;
  Result<> add_field(NodeDraft& draft, FieldId id, const Surroundings& around, int depth);

  // Fields of enums and atomics contain the field of their number.
  FieldId innermost(FieldId id) const;
  Result<> add_value(NodeDraft& draft, FieldId outer, const Surroundings& around, int depth);
  Result<> add_members(NodeDraft& draft, FieldId id, const Surroundings& around, int depth);

  // A column of numbers (single elements or fixed arrays of them), a string, or a cardinality.
  Result<> add_leaf(NodeDraft& draft, FieldId outer, FieldId id, const Surroundings& around,
                    std::vector<std::uint32_t> shape);

  // The stream of an index column. The lists are those of the field that owns the column, whichever field shows it.
  FieldStream ends_of(PageColumn column) const;
  ColumnId add_offsets(NodeDraft& draft, FieldId id, Surroundings& around, StreamId stream);

  // Ends and the bytes between them: strings, and objects that are not decoded.
  Result<> add_bytes(NodeDraft& draft, FieldId id, Surroundings around, NodeKind kind, const std::string& reason);

  // An object written by its streamer; shown as bytes if its class is not described.
  Result<> add_streamed(NodeDraft& draft, FieldId id, const Surroundings& around);
  ColumnId add_shape_column(const ShapeColumn& made, FieldId field, const Surroundings& around, StreamId stream);
  Result<> add_list(NodeDraft& draft, FieldId id, Surroundings around, int depth);
  Result<> add_items(NodeDraft& draft, FieldId item, Surroundings around, int depth);

  // An array of numbers becomes a shape. Any other array becomes a list whose lists all have the same length.
  Result<> add_array(NodeDraft& draft, FieldId id, Surroundings around, int depth);
  Result<> add_variant(NodeDraft& draft, FieldId id, const Surroundings& around, int depth);

  // Finds the column that counts the items of each field: the first column below it that is in no list of its own.
  // Children come after their parents.
  void count_items();

  // Notes the number of elements per entry, for columns that are in no list.
  void note_per_entry(FieldId id, std::uint64_t per_entry, int depth);

  // Whether all columns of a field are known and the first one is an index column.
  Result<> check_lists(const std::vector<PageColumn>& own, const std::string& path) const;
  Result<> check_readable(const std::vector<PageColumn>& own) const;
  using StreamKey = std::tuple<FieldStream::Kind, PageColumn, Dtype, std::uint64_t>;
  static StreamKey key_of(const FieldStream& stream);
  // Fields that show the same column share its stream.
  StreamId add_stream(const FieldStream& stream);
  ColumnId add_column(Role role, Dtype dtype, FieldId id, const Surroundings& around, StreamId stream,
                      std::uint32_t slot);
  static NodeDraft leaf(std::string name, ColumnId column);

  const SchemaRecords& schema_;
  const std::map<PageColumn, std::string>& as_bytes_;
  std::vector<std::vector<FieldId>> children_;
  std::vector<std::vector<PageColumn>> columns_of_;    // of each field: its own, or those that it projects
  std::vector<FieldId> owners_;                        // by PageColumn
  std::map<PageColumn, std::string> unreadable_;       // with the reason
  std::vector<std::optional<ItemCount>> item_counts_;  // by field
  std::map<StreamKey, StreamId> streams_;
  std::optional<StreamerInfos> infos_;  // the descriptions for streamer fields
  FieldNodes out_;
};

Builder::Builder(const SchemaRecords& schema, const std::map<PageColumn, std::string>& as_bytes)
    : schema_(schema), as_bytes_(as_bytes) {
  children_.resize(schema.fields.size());
  for (FieldId id = 0; id < schema.fields.size(); ++id)
    if (schema.fields[id].parent != id) children_[schema.fields[id].parent].push_back(id);
  number_columns();
  count_items();
}

FieldNodes Builder::build() {
  // Most columns of the file are one column.
  out_.columns.reserve(schema_.columns.size());
  out_.streams.reserve(schema_.columns.size());
  NodeDraft root;
  for (FieldId id = 0; id < schema_.fields.size(); ++id)
    if (schema_.fields[id].parent == id) add_top_field(root, id);
  out_.per_entry.resize(out_.encodings.size());
  for (FieldId id = 0; id < schema_.fields.size(); ++id)
    if (schema_.fields[id].parent == id) note_per_entry(id, 1, 0);
  out_.nodes.reserve(1 + node_count(root));
  out_.nodes.emplace_back();
  place_nodes(root, 0, "", out_.nodes, out_.columns, [](const NodeDraft&, NodeId, const std::string&) {});
  // They stay as long as the table is open.
  out_.columns.shrink_to_fit();
  out_.streams.shrink_to_fit();
  return std::move(out_);
}

void Builder::number_columns() {
  columns_of_.resize(schema_.fields.size());
  out_.places.resize(schema_.columns.size());
  std::map<std::pair<FieldId, std::uint16_t>, std::size_t> seen;  // columns of each representation
  for (ColumnNumber number = 0; number < schema_.columns.size(); ++number) {
    const ColumnRecord& column = schema_.columns[number];
    const std::size_t index = seen[{column.field, column.representation}]++;
    std::vector<PageColumn>& own = columns_of_[column.field];
    if (index == own.size()) {
      own.push_back(static_cast<PageColumn>(out_.encodings.size()));
      out_.encodings.emplace_back();
      owners_.push_back(column.field);
    }
    out_.places[number] = {own[index], static_cast<std::uint8_t>(column.representation % kRepresentationsMax),
                           column.bits, std::max<std::int64_t>(column.first_element, 0)};
    add_encoding(own[index], column);
  }
  for (const AliasRecord& alias : schema_.aliases) {
    const PageColumn shown = out_.places[alias.column].column;
    std::vector<PageColumn>& own = columns_of_[alias.field];
    if (own.size() < kColumnsMax && std::ranges::find(own, shown) == own.end()) own.push_back(shown);
  }
}

void Builder::add_encoding(PageColumn id, const ColumnRecord& column) {
  std::vector<PageEncoding>& encodings = out_.encodings[id].by_representation;
  auto encoding = page_encoding(column.type, column.bits, column.min, column.max);
  if (column.representation != encodings.size() || encodings.size() >= kRepresentationsMax)
    return note_unreadable(id, "its representations are out of order");
  if (!encoding) note_unreadable(id, encoding.error().text);
  encodings.push_back(encoding ? *encoding : PageEncoding());
}

void Builder::add_top_field(NodeDraft& root, FieldId id) {
  const std::size_t columns = out_.columns.size(), streams = out_.streams.size(), programs = out_.programs.size();
  NodeDraft draft;
  if (auto added = add_field(draft, id, {schema_.fields[id].name, {}}, 0); !added) {
    out_.warnings.push_back("field " + schema_.fields[id].name + " is not shown: " + added.error().text);
    out_.columns.resize(columns);
    for (StreamId stream = static_cast<StreamId>(streams); stream < out_.streams.size(); ++stream)
      streams_.erase(key_of(out_.streams[stream]));
    out_.streams.resize(streams);
    out_.programs.resize(programs);
    return;
  }
  root.children.push_back(std::move(draft));
}

const FieldRecord* Builder::parent_of(FieldId id) const {
  const FieldId parent = schema_.fields[id].parent;
  return parent == id ? nullptr : &schema_.fields[parent];
}

std::string Builder::name_of(FieldId id) const {
  const FieldRecord* parent = parent_of(id);
  return shown_name(schema_.fields[id], parent, parent ? parent_of(schema_.fields[id].parent) : nullptr);
}

Result<> Builder::add_field(NodeDraft& draft, FieldId id, const Surroundings& around, int depth) {
  draft.name = name_of(id);
  draft.branch_name = around.path;
  return add_value(draft, id, around, depth);
}

FieldId Builder::innermost(FieldId id) const {
  for (int depth = 0; depth < kFieldDepthMax; ++depth) {
    const FieldRecord& field = schema_.fields[id];
    if (field.role != FieldRole::leaf || field.array_size || children_[id].size() != 1 || !columns_of_[id].empty())
      break;
    id = children_[id][0];
  }
  return id;
}

Result<> Builder::add_value(NodeDraft& draft, FieldId outer, const Surroundings& around, int depth) {
  if (depth > kFieldDepthMax) return fail(ErrorKind::unsupported, "its type is nested too deeply");
  const FieldId id = innermost(outer);
  const FieldRecord& field = schema_.fields[id];
  if (field.array_size && !children_[id].empty()) return add_array(draft, id, around, depth);
  switch (field.role) {
    case FieldRole::leaf:
      return add_leaf(draft, outer, id, around, {});
    case FieldRole::collection:
      return add_list(draft, id, around, depth);
    case FieldRole::record:
      draft.kind = NodeKind::record;
      draft.date = date_of_record(field.type_name);
      return add_members(draft, id, around, depth);
    case FieldRole::variant:
      return add_variant(draft, id, around, depth);
    case FieldRole::streamer:
      return add_streamed(draft, id, around);
  }
  return fail(ErrorKind::unsupported, "unknown structural role " + std::to_string(static_cast<int>(field.role)));
}

Result<> Builder::add_members(NodeDraft& draft, FieldId id, const Surroundings& around, int depth) {
  for (std::size_t i = 0; i < children_[id].size(); ++i) {
    const FieldId child = children_[id][i];
    Surroundings below = around;
    below.path += "." + schema_.fields[child].name;
    NodeDraft member;
    if (schema_.fields[id].role == FieldRole::variant) member.tag = static_cast<std::uint32_t>(i + 1);
    TRY_VOID(add_field(member, child, below, depth + 1));
    draft.children.push_back(std::move(member));
  }
  return {};
}

Result<> Builder::add_leaf(NodeDraft& draft, FieldId outer, FieldId id, const Surroundings& around,
                           std::vector<std::uint32_t> shape) {
  const FieldRecord& field = schema_.fields[id];
  const std::vector<PageColumn>& own = columns_of_[id];
  if (own.empty()) return fail(ErrorKind::unsupported, "field " + around.path + " has no column");
  TRY_VOID(check_readable(own));
  if (own.size() > 1) {
    if (!shape.empty()) return fail(ErrorKind::unsupported, "field " + around.path + " has several columns");
    return add_bytes(draft, id, around, NodeKind::string, {});
  }
  const PageEncoding& encoding = out_.encodings[own[0]].by_representation[0];
  const auto sizes = cardinality_dtype(field.type_name);
  if (encoding.type == ColumnType::switch_ || is_index(encoding) != sizes.has_value())
    return fail(ErrorKind::unsupported, "the column of field " + around.path + " does not have its type");
  FieldStream stream;
  stream.column = own[0];
  if (sizes) {
    stream.kind = FieldStream::Kind::sizes;
    stream.dtype = *sizes;
    stream.from = add_stream(ends_of(own[0]));
  } else {
    const auto type = field.array_size ? std::optional(Dtype::b1) : dtype_of_type(field.type_name);
    stream.dtype = type ? *type : natural_dtype(encoding);
    // Limited to one above the maximum, which is refused below.
    if (field.array_size) shape.push_back(static_cast<std::uint32_t>(std::min(*field.array_size, kArrayMax + 1)));
    for (const std::uint32_t size : shape) stream.per_item = std::min(stream.per_item * size, kArrayMax + 1);
    if (stream.per_item == 0 || stream.per_item > kArrayMax)
      return fail(ErrorKind::unsupported, "field " + around.path + " is an array of invalid size");
  }
  draft.kind = NodeKind::number;
  draft.column = add_column(Role::values, stream.dtype, outer, around, add_stream(stream), 0);
  out_.columns[*draft.column].shape = std::move(shape);
  return {};
}

FieldStream Builder::ends_of(PageColumn column) const {
  FieldStream stream;
  stream.kind = FieldStream::Kind::ends;
  stream.column = column;
  const FieldId owner = owners_[column];
  const bool has_items = schema_.fields[owner].role == FieldRole::collection && !children_[owner].empty();
  if (has_items) {
    stream.below.push_back(item_counts_[children_[owner][0]]);
  } else if (columns_of_[owner].size() > 1) {
    stream.below.push_back(ItemCount{columns_of_[owner][1], 1});
  } else {
    stream.below.emplace_back();
  }
  return stream;
}

ColumnId Builder::add_offsets(NodeDraft& draft, FieldId id, Surroundings& around, StreamId stream) {
  const ColumnId offsets = add_column(Role::offsets, Dtype::i8, id, around, stream, 0);
  draft.children.push_back(leaf("offsets", offsets));
  around.lists.push_back(offsets);
  out_.columns[offsets].lists = around.lists;
  around.in_list = true;
  return offsets;
}

Result<> Builder::add_bytes(NodeDraft& draft, FieldId id, Surroundings around, NodeKind kind,
                            const std::string& reason) {
  const std::vector<PageColumn>& own = columns_of_[id];
  if (own.size() < 2) return fail(ErrorKind::unsupported, "field " + around.path + " lacks a column");
  TRY_VOID(check_lists(own, around.path));
  draft.kind = kind;
  add_offsets(draft, id, around, add_stream(ends_of(own[0])));
  FieldStream bytes;
  bytes.column = own[1];
  const bool is_raw = kind == NodeKind::raw;
  const ColumnId column = add_column(is_raw ? Role::raw : Role::chars, Dtype::u1, id, around, add_stream(bytes), 0);
  out_.columns[column].reason = reason;
  draft.children.push_back(leaf(is_raw ? "raw" : "chars", column));
  return {};
}

Result<> Builder::add_streamed(NodeDraft& draft, FieldId id, const Surroundings& around) {
  const std::vector<PageColumn>& own = columns_of_[id];
  if (const auto known = own.size() < 2 ? as_bytes_.end() : as_bytes_.find(own[1]); known != as_bytes_.end())
    return add_bytes(draft, id, around, NodeKind::raw, known->second);
  if (!infos_) infos_ = read_streamer_infos(schema_.streamer_infos, out_.warnings);
  auto layout = layout_of_class(*infos_, schema_.fields[id].type_name);
  if (!layout) return add_bytes(draft, id, around, NodeKind::raw, layout.error().text);
  if (own.size() < 2) return fail(ErrorKind::unsupported, "field " + around.path + " lacks a column");
  TRY_VOID(check_lists(own, around.path));
  FieldStream bytes, objects;
  bytes.column = objects.column = own[1];
  objects.kind = FieldStream::Kind::objects;
  objects.from = add_stream(ends_of(own[0]));
  objects.bytes = add_stream(bytes);
  objects.program = out_.programs.size();
  objects.class_name = schema_.fields[id].type_name;
  out_.programs.push_back(std::move(layout->program));
  const StreamId stream = add_stream(objects);
  const auto add = [&](const ShapeColumn& made) { return add_shape_column(made, id, around, stream); };
  ShapeNodes<NodeDraft, decltype(add)>(add).add(draft, layout->shape, {}, around.lists);
  return {};
}

ColumnId Builder::add_shape_column(const ShapeColumn& made, FieldId field, const Surroundings& around,
                                   StreamId stream) {
  const ColumnId id = add_column(made.role, made.dtype, field, around, stream, made.slot);
  Column& column = out_.columns[id];
  column.field = made.field;
  column.lists = made.lists;
  if (!made.shape->class_name.empty()) column.class_name = made.shape->class_name;
  if (!made.field.empty()) column.title = made.shape->title;
  note_shape(column, id, made);
  return id;
}

Result<> Builder::add_list(NodeDraft& draft, FieldId id, Surroundings around, int depth) {
  const std::vector<PageColumn>& own = columns_of_[id];
  if (own.empty() || children_[id].size() != 1)
    return fail(ErrorKind::unsupported, "the list " + around.path + " has no column, or no item");
  TRY_VOID(check_lists(own, around.path));
  draft.kind = list_kind(schema_.fields[id]);
  const ColumnId offsets = add_offsets(draft, id, around, add_stream(ends_of(own[0])));
  out_.columns[offsets].optional = draft.kind == NodeKind::optional;
  return add_items(draft, children_[id][0], around, depth);
}

Result<> Builder::add_items(NodeDraft& draft, FieldId item, Surroundings around, int depth) {
  around.path += "." + schema_.fields[item].name;
  NodeDraft values;
  TRY_VOID(add_value(values, item, around, depth + 1));
  values.name = "values";
  values.branch_name = around.path;
  draft.children.push_back(std::move(values));
  return {};
}

Result<> Builder::add_array(NodeDraft& draft, FieldId id, Surroundings around, int depth) {
  if (children_[id].size() != 1)
    return fail(ErrorKind::unsupported, "the array " + around.path + " has several kinds of items");
  std::vector<std::uint32_t> shape;
  FieldId item = id;
  while (schema_.fields[item].array_size && children_[item].size() == 1 && shape.size() < kFieldDepthMax) {
    if (*schema_.fields[item].array_size > kArrayMax)
      return fail(ErrorKind::unsupported, "the array " + around.path + " is too long");
    shape.push_back(static_cast<std::uint32_t>(*schema_.fields[item].array_size));
    item = innermost(children_[item][0]);
  }
  if (schema_.fields[item].role == FieldRole::leaf && columns_of_[item].size() == 1)
    return add_leaf(draft, id, item, around, std::move(shape));
  const FieldId each = children_[id][0];
  FieldStream steps;
  steps.kind = FieldStream::Kind::steps;
  steps.per_item = shape[0];
  steps.told_by = item_counts_[id];
  if (around.in_list) steps.below.push_back(item_counts_[id]);
  draft.kind = NodeKind::list;
  add_offsets(draft, id, around, add_stream(steps));
  return add_items(draft, each, around, depth);
}

Result<> Builder::add_variant(NodeDraft& draft, FieldId id, const Surroundings& around, int depth) {
  const std::vector<PageColumn>& own = columns_of_[id];
  if (own.empty()) return fail(ErrorKind::unsupported, "the variant " + around.path + " has no column");
  TRY_VOID(check_readable(own));
  if (out_.encodings[own[0]].by_representation[0].type != ColumnType::switch_)
    return fail(ErrorKind::unsupported, "the column of field " + around.path + " has no alternatives");
  FieldStream stream;
  stream.kind = FieldStream::Kind::variant;
  stream.column = own[0];
  for (const FieldId child : children_[id]) {
    stream.below.push_back(item_counts_[child]);
    draft.alternatives.push_back(schema_.fields[child].type_name);
  }
  draft.kind = NodeKind::variant;
  const StreamId made = add_stream(stream);
  const ColumnId tags = add_column(Role::tags, Dtype::i1, id, around, made, 0);
  out_.columns[tags].class_name = alternatives_text(draft.alternatives);
  draft.children.push_back(leaf("tags", tags));
  draft.children.push_back(leaf("index", add_column(Role::index, Dtype::i8, id, around, made, 1)));
  Surroundings below = around;
  below.in_list = true;
  return add_members(draft, id, below, depth);
}

void Builder::count_items() {
  item_counts_.resize(schema_.fields.size());
  for (FieldId id = static_cast<FieldId>(schema_.fields.size()); id-- > 0;) {
    const FieldRecord& field = schema_.fields[id];
    std::optional<ItemCount>& count = item_counts_[id];
    if (!columns_of_[id].empty() && !field.projected_from) count = ItemCount{columns_of_[id][0], 1};
    if (columns_of_[id].empty() && field.role != FieldRole::collection) {
      const auto first =
          std::ranges::find_if(children_[id], [this](FieldId child) { return item_counts_[child].has_value(); });
      if (first != children_[id].end()) count = item_counts_[*first];
    }
    if (count && field.array_size) count->per_item *= std::max<std::uint64_t>(*field.array_size, 1);
    if (field.array_size > kArrayMax || (count && count->per_item > kArrayMax)) count.reset();
  }
}

void Builder::note_per_entry(FieldId id, std::uint64_t per_entry, int depth) {
  const FieldRecord& field = schema_.fields[id];
  if (depth > kFieldDepthMax || field.projected_from) return;
  if (field.array_size > kArrayMax) return;
  if (field.array_size) per_entry *= *field.array_size;
  if (per_entry > kArrayMax) return;
  if (!columns_of_[id].empty()) out_.per_entry[columns_of_[id][0]] = per_entry;
  if (field.role != FieldRole::leaf && field.role != FieldRole::record) return;
  for (const FieldId child : children_[id]) note_per_entry(child, per_entry, depth + 1);
}

Result<> Builder::check_lists(const std::vector<PageColumn>& own, const std::string& path) const {
  TRY_VOID(check_readable(own));
  if (is_index(out_.encodings[own[0]].by_representation[0])) return {};
  return fail(ErrorKind::unsupported, "the column of field " + path + " holds no lists");
}

Result<> Builder::check_readable(const std::vector<PageColumn>& own) const {
  for (const PageColumn column : own)
    if (const auto found = unreadable_.find(column); found != unreadable_.end())
      return fail(ErrorKind::unsupported, found->second);
  return {};
}

Builder::StreamKey Builder::key_of(const FieldStream& stream) {
  return {stream.kind, stream.column, stream.dtype, stream.per_item};
}

StreamId Builder::add_stream(const FieldStream& stream) {
  const auto id = static_cast<StreamId>(out_.streams.size());
  if (stream.kind != FieldStream::Kind::steps) {
    const auto [found, is_new] = streams_.try_emplace(key_of(stream), id);
    if (!is_new) return found->second;
  }
  out_.streams.push_back(stream);
  return id;
}

ColumnId Builder::add_column(Role role, Dtype dtype, FieldId id, const Surroundings& around, StreamId stream,
                             std::uint32_t slot) {
  const FieldRecord& field = schema_.fields[id];
  Column column;
  column.dtype = dtype;
  column.role = role;
  column.lists = around.lists;
  column.branch = around.path;
  column.title = field.description;
  column.class_name = field.type_alias.empty() ? field.type_name : field.type_alias;
  column.stream = stream;
  column.slot = slot;
  out_.columns.push_back(std::move(column));
  return static_cast<ColumnId>(out_.columns.size() - 1);
}

NodeDraft Builder::leaf(std::string name, ColumnId column) {
  NodeDraft draft;
  draft.name = std::move(name);
  draft.kind = NodeKind::number;
  draft.column = column;
  return draft;
}

}  // namespace

std::string path_of_field(const SchemaRecords& schema, FieldId id) {
  std::string path = schema.fields[id].name;
  for (int depth = 0; depth < kFieldDepthMax && schema.fields[id].parent != id; ++depth) {
    id = schema.fields[id].parent;
    path = schema.fields[id].name + "." + path;
  }
  return path;
}

FieldNodes make_field_nodes(const SchemaRecords& schema, const std::map<PageColumn, std::string>& as_bytes) {
  return Builder(schema, as_bytes).build();
}

}  // namespace tfile
