// SPDX-License-Identifier: Apache-2.0
#include "view/table_form.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "tfile/json_text.h"

namespace tfilefs {
namespace {

using tfile::DateKind;
using tfile::Node;
using tfile::NodeId;
using tfile::NodeKind;
using tfile::Role;
using tfile::utf8_length;
using Kind = TableForm::Kind;

constexpr int kDepthMax = 64;  // deeper than any node tree that the library builds

std::string valid_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length > 0)
      valid += text.substr(0, length);
    else
      valid += "\uFFFD";
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return valid;
}

class FormBuilder {
 public:
  FormBuilder(const tfile::Table& table, const Contradicted& left_out, Hollow hollow);
  TableForm build();

 private:
  using Lists = std::vector<ColumnId>;

  const Column& column(ColumnId id) const { return table_.columns[id]; }
  bool is_left_out(ColumnId id) const { return !left_out_.empty() && left_out_[id]; }

  void add_alternatives(TableForm& form, const Node& node);
  void add_fields(TableForm& record, NodeId node, const Lists& lists, const std::string& path, int depth);

  // Nothing if the node cannot be shown here. `lists`: the offsets columns of the lists around the node.
  std::optional<TableForm> form_of(NodeId id, const Lists& lists, const std::string& path, int depth);
  bool add_items(TableForm& form, const Node& node, const Lists& inside, const std::string& path, int depth);

  // A tags or index column that contradicts its lists is not shown, and then there is no variant.
  bool tells_alternatives(const TableForm& record) const;
  void move_elsewhere(TableForm form, const std::string& path);

  // Readers refuse two fields of one name, and some of them an empty name.
  static void make_names_unique(std::vector<TableForm>& fields);

  const tfile::Table& table_;
  const Contradicted& left_out_;
  const Hollow hollow_;
  std::vector<TableForm> elsewhere_;
};

FormBuilder::FormBuilder(const tfile::Table& table, const Contradicted& left_out, Hollow hollow)
    : table_(table), left_out_(left_out), hollow_(hollow) {}

TableForm FormBuilder::build() {
  TableForm root;
  root.kind = Kind::record;
  add_fields(root, 0, {}, "", 0);
  std::move(elsewhere_.begin(), elsewhere_.end(), std::back_inserter(root.fields));
  make_names_unique(root.fields);
  return root;
}

void FormBuilder::add_alternatives(TableForm& form, const Node& node) {
  form.kind = Kind::variant;
  for (const std::string& name : node.alternatives) form.classes.push_back(valid_utf8(name));
  form.alternatives.resize(form.classes.size());
  for (std::size_t i = 0; i < form.fields.size(); ++i) {
    const std::size_t tag = form.fields[i].tag;
    if (tag == 0 || tag > form.classes.size()) continue;
    form.alternatives[tag - 1] = i;
    form.classes[tag - 1] = form.fields[i].name;
  }
}

void FormBuilder::add_fields(TableForm& record, NodeId node, const Lists& lists, const std::string& path, int depth) {
  std::unordered_set<std::string> names;
  for (const NodeId child : table_.nodes[node].children) {
    const Node& member = table_.nodes[child];
    auto form = form_of(child, lists, path.empty() ? member.name : path + "/" + member.name, depth + 1);
    if (!form) continue;
    form->name = valid_utf8(member.original_name.empty() ? bare_name(table_.columns, member) : member.original_name);
    if (names.contains(form->name)) form->name = valid_utf8(bare_name(table_.columns, member));
    if (names.contains(form->name)) form->name = valid_utf8(member.name);
    names.insert(form->name);
    form->tag = member.tag;
    record.fields.push_back(*std::move(form));
  }
  if (node != 0) make_names_unique(record.fields);
}

std::optional<TableForm> FormBuilder::form_of(NodeId id, const Lists& lists, const std::string& path, int depth) {
  if (depth > kDepthMax) return std::nullopt;
  const Node& node = table_.nodes[id];
  TableForm form;
  if (node.column) {
    form.values = *node.column;
    if (has_no_values(column(form.values)) || is_left_out(form.values)) return std::nullopt;
    form.date = date_of_numbers(node, column(form.values));
    if (column(form.values).lists == lists) return form;
    if (column(form.values).lists.empty()) move_elsewhere(std::move(form), path);
    return std::nullopt;
  }
  if (node.kind == NodeKind::record || node.kind == NodeKind::variant) {
    form.kind = Kind::record;
    add_fields(form, id, lists, path, depth);
    if (form.fields.size() == 2 && is_timestamp_record(table_, node)) form.date = node.date;
    if (node.kind == NodeKind::variant && tells_alternatives(form)) add_alternatives(form, node);
    const bool is_shown = !form.fields.empty() || (node.children.empty() && hollow_ == Hollow::kept);
    return is_shown ? std::optional(std::move(form)) : std::nullopt;
  }
  form.offsets = *table_.nodes[node.children[0]].column;
  if (has_no_values(column(form.offsets)) || is_left_out(form.offsets)) return std::nullopt;
  Lists inside = lists;
  inside.push_back(form.offsets);
  const bool is_here = column(form.offsets).lists == inside;
  if (!is_here) inside = {form.offsets};
  if (column(form.offsets).lists != inside || !add_items(form, node, inside, path, depth)) return std::nullopt;
  if (is_here) return form;
  move_elsewhere(std::move(form), path);
  return std::nullopt;
}

bool FormBuilder::add_items(TableForm& form, const Node& node, const Lists& inside, const std::string& path,
                            int depth) {
  if (node.children.size() < 2) return false;
  const NodeId items = node.children[1];
  if (node.kind == NodeKind::string || node.kind == NodeKind::raw) {
    form.kind = node.kind == NodeKind::string ? Kind::string : Kind::bytes;
    form.values = *table_.nodes[items].column;
    return true;
  }
  form.kind = Kind::list;
  auto item = form_of(items, inside, path + "/" + table_.nodes[items].name, depth + 1);
  if (!item) return false;
  item->name = "item";
  form.optional = node.kind == NodeKind::optional;
  form.fields.push_back(*std::move(item));
  return true;
}

bool FormBuilder::tells_alternatives(const TableForm& record) const {
  const auto has_role = [&](std::size_t field, Role role) {
    const TableForm& form = record.fields[field];
    return form.kind == Kind::number && column(form.values).role == role;
  };
  return record.fields.size() >= 2 && has_role(0, Role::tags) && has_role(1, Role::index);
}

void FormBuilder::move_elsewhere(TableForm form, const std::string& path) {
  form.name = valid_utf8(path);
  elsewhere_.push_back(std::move(form));
}

void FormBuilder::make_names_unique(std::vector<TableForm>& fields) {
  std::unordered_set<std::string> taken;
  for (TableForm& field : fields) {
    const std::string stem = field.name.empty() ? "%" : field.name;
    field.name = stem;
    for (int number = 2; !taken.insert(field.name).second; ++number) field.name = stem + "~" + std::to_string(number);
  }
}

}  // namespace

const TableForm* alternative(const TableForm& variant, std::size_t tag) {
  const auto& field = variant.alternatives[tag - 1];
  return field ? &variant.fields[*field] : nullptr;
}

std::string_view bare_name(const std::vector<Column>& columns, const Node& node) {
  const std::string_view name = node.name;
  if (!node.column) return name;
  const Column& column = columns[*node.column];
  const std::string suffix = tfile::typed_suffix(column.dtype, column.shape);
  return name.size() > suffix.size() && name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
}

bool has_no_values(const Column& column) { return column.role != Role::raw && !column.reason.empty(); }

bool TableForm::is_hollow() const {
  return kind == Kind::record && std::all_of(fields.begin(), fields.end(), [](auto& f) { return f.is_hollow(); });
}

TableForm table_form(const tfile::Table& table, const Contradicted& left_out, Hollow hollow) {
  return FormBuilder(table, left_out, hollow).build();
}

DateKind date_of_numbers(const Node& node, const Column& column) {
  const bool is_number = column.dtype == Dtype::u4 && column.role == Role::values && column.shape.empty();
  return node.date == DateKind::datime && is_number ? node.date : DateKind::none;
}

bool is_timestamp_record(const tfile::Table& table, const Node& node) {
  if (node.kind != NodeKind::record || node.date != DateKind::timestamp || node.children.size() != 2) return false;
  const auto is_leaf = [&](std::size_t child, std::string_view name) {
    const Node& leaf = table.nodes[node.children[child]];
    return leaf.column && leaf.name == name && table.columns[*leaf.column].dtype == Dtype::i4 &&
           table.columns[*leaf.column].role == Role::values && table.columns[*leaf.column].shape.empty();
  };
  return is_leaf(0, "fSec.i4") && is_leaf(1, "fNanoSec.i4");
}

std::vector<ColumnId> date_columns(const TableForm& form) {
  if (form.date == DateKind::timestamp) return {form.fields[0].values, form.fields[1].values};
  return {form.values};
}

std::optional<std::int64_t> own_length(const TableForm& form, const ColumnLengths& lengths) {
  if (form.kind == Kind::variant) return own_length(form.fields[0], lengths);
  if (form.date == DateKind::timestamp) return std::min(lengths[form.fields[0].values], lengths[form.fields[1].values]);
  if (form.kind == Kind::record) {
    std::optional<std::int64_t> longest;
    for (const TableForm& field : form.fields) longest = std::max(longest, own_length(field, lengths));
    return longest;
  }
  if (form.kind == Kind::number) return lengths[form.values];
  const auto length = lengths[form.offsets];
  return length ? std::optional(std::max<std::int64_t>(0, *length - 1)) : length;
}

}  // namespace tfilefs
