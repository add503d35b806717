// SPDX-License-Identifier: Apache-2.0
#include "view/text_form.h"

#include <algorithm>
#include <optional>
#include <set>

#include "tfile/json_text.h"
#include "view/plain_text.h"
#include "view/table_form.h"

namespace tfilefs {
namespace {

using tfile::DateKind;
using tfile::ErrorKind;
using tfile::json_string;
using tfile::Node;
using tfile::NodeId;
using tfile::NodeKind;
using tfile::Result;
using tfile::Role;

constexpr int kFormDepthMax = 64;  // deeper than any node tree that the library builds

class TextFormBuilder {
 public:
  TextFormBuilder(const tfile::Table& table, NodeId top) : table_(table) {
    std::vector<ColumnId> inside;
    collect(top, inside, 0);
    std::sort(inside.begin(), inside.end());
    // The lists around the top node: those that its columns have and that are not below it.
    for (const ColumnId id : inside) {
      std::vector<ColumnId> around = table_.columns[id].lists;
      std::erase_if(around, [&](ColumnId list) { return std::binary_search(inside.begin(), inside.end(), list); });
      if (around.size() > around_.size()) around_ = std::move(around);
    }
  }

  Result<void> build(NodeId top) {
    TRY_VOID(add(top, around_, 0));
    return {};
  }

  std::vector<TextForm> take() { return std::move(forms_); }

 private:
  // `lists`: the offsets columns of the lists around the node.
  Result<std::uint32_t> add(NodeId id, const std::vector<ColumnId>& lists, int depth) {
    if (depth > kFormDepthMax) return tfile::fail(ErrorKind::unsupported, "nodes are nested too deeply for text");
    const Node& node = table_.nodes[id];
    const auto position = static_cast<std::uint32_t>(forms_.size());
    forms_.emplace_back().inner = lists.size() > around_.size() || variants_ > 0;
    if (node.column) {
      const Column& column = table_.columns[*node.column];
      if (has_no_values(column)) return tfile::fail(ErrorKind::unsupported, column.reason);
      forms_[position].values = *node.column;
      forms_[position].date = date_of_numbers(node, column);
      // An offsets column is a list level of its own, shown as numbers.
      if (column.role != Role::offsets && column.lists != lists) forms_[position].kind = TextForm::Kind::elsewhere;
      return position;
    }
    if (node.kind == NodeKind::variant) return add_variant(node, position, lists, depth);
    if (is_timestamp(node, lists)) return add_timestamp(node, position);
    if (node.kind == NodeKind::record) return add_record(node, position, lists, depth);
    return add_list(node, position, lists, depth);
  }

  Result<std::uint32_t> add_list(const Node& node, std::uint32_t position, const std::vector<ColumnId>& lists,
                                 int depth) {
    forms_[position].ends = *table_.nodes[node.children[0]].column;
    const Column& ends = table_.columns[forms_[position].ends];
    if (has_no_values(ends)) return tfile::fail(ErrorKind::unsupported, ends.reason);
    std::vector<ColumnId> lists_inside = lists;
    lists_inside.push_back(forms_[position].ends);
    if (ends.lists != lists_inside) {
      forms_[position].kind = TextForm::Kind::elsewhere;
      return position;
    }
    if (node.children.size() < 2) return tfile::fail(ErrorKind::unsupported, "a list without values");
    if (node.kind == NodeKind::string) return add_bytes(position, TextForm::Kind::string, node.children[1]);
    if (node.kind == NodeKind::raw) return add_bytes(position, TextForm::Kind::bytes, node.children[1]);
    TRY(const std::uint32_t item, add(node.children[1], lists_inside, depth + 1));
    forms_[position].fields.push_back(item);
    const bool is_optional = node.kind == NodeKind::optional && forms_[item].kind != TextForm::Kind::elsewhere;
    forms_[position].kind = is_optional ? TextForm::Kind::optional : TextForm::Kind::list;
    return position;
  }

  void collect(NodeId id, std::vector<ColumnId>& to, int depth) const {
    const Node& node = table_.nodes[id];
    if (node.column) to.push_back(*node.column);
    if (depth > kFormDepthMax) return;
    for (const NodeId child : node.children) collect(child, to, depth + 1);
  }

  std::uint32_t add_bytes(std::uint32_t position, TextForm::Kind kind, NodeId bytes) {
    forms_[position].kind = kind;
    forms_[position].values = *table_.nodes[bytes].column;
    return position;
  }

  Result<std::uint32_t> add_record(const Node& node, std::uint32_t position, const std::vector<ColumnId>& lists,
                                   int depth) {
    forms_[position].kind = TextForm::Kind::record;
    std::optional<tfile::Error> missing;
    for (const NodeId child : node.children) {
      const std::size_t before = forms_.size();
      const int variants = variants_;
      const auto field = add(child, lists, depth + 1);
      if (!field) {  // the other fields can still be shown
        forms_.resize(before);
        variants_ = variants;
        missing = field.error();
        continue;
      }
      forms_[position].fields.push_back(*field);
    }
    if (forms_[position].fields.empty() && missing) return tl::unexpected<tfile::Error>(*missing);
    const auto& fields = forms_[position].fields;
    forms_[position].hollow =
        std::all_of(fields.begin(), fields.end(), [&](auto field) { return forms_[field].hollow; });
    return position;
  }

  bool is_timestamp(const Node& node, const std::vector<ColumnId>& lists) const {
    return is_timestamp_record(table_, node) && std::ranges::all_of(node.children, [&](NodeId child) {
             const Column& column = table_.columns[*table_.nodes[child].column];
             return column.lists == lists && !has_no_values(column);
           });
  }

  std::uint32_t add_timestamp(const Node& node, std::uint32_t position) {
    forms_[position].date = node.date;
    forms_[position].values = *table_.nodes[node.children[0]].column;
    forms_[position].nanoseconds = *table_.nodes[node.children[1]].column;
    return position;
  }

  Result<std::uint32_t> add_variant(const Node& node, std::uint32_t position, const std::vector<ColumnId>& lists,
                                    int depth) {
    forms_[position].kind = TextForm::Kind::variant;
    forms_[position].tags = *table_.nodes[node.children[0]].column;
    forms_[position].index = *table_.nodes[node.children[1]].column;
    ++variants_;
    for (const std::string& name : node.alternatives) append_plain(forms_[position].classes.emplace_back(), name);
    forms_[position].fields.resize(node.alternatives.size(), TextForm::kUnseen);
    std::set<std::string_view> names;
    for (const NodeId child : node.children) {
      const Node& alternative = table_.nodes[child];
      if (alternative.tag == 0 || alternative.tag > node.alternatives.size()) continue;
      TRY(const std::uint32_t field, add(child, lists, depth + 1));
      forms_[position].fields[alternative.tag - 1] = field;
      // If several have the same type, the later ones get the names of their nodes.
      std::string& shown = forms_[position].classes[alternative.tag - 1];
      if (names.insert(node.alternatives[alternative.tag - 1]).second) continue;
      shown.clear();
      append_plain(shown, bare_name(table_.columns, alternative));
    }
    --variants_;
    return position;
  }

  const tfile::Table& table_;
  std::vector<ColumnId> around_;  // lists
  int variants_ = 0;              // around the node that is added
  std::vector<TextForm> forms_;
};

// The forms of a table's fields, for JSON or CSV.
class TableBuilder {
 public:
  explicit TableBuilder(TextStyle style) : style_(style) {}

  std::vector<TextForm> build(const TableForm& table) {
    forms_.emplace_back().kind = TextForm::Kind::record;
    add_fields(0, table, "");
    return std::move(forms_);
  }

 private:
  void add_fields(std::uint32_t record, const TableForm& form, const std::string& prefix) {
    for (const TableForm& field : form.fields) {
      const bool is_csv = (style_ == TextStyle::csv || style_ == TextStyle::csv_cells) && cells_ == 0;
      // The alternatives of a variant do not have an item per row.
      if (is_csv && form.kind == TableForm::Kind::variant && &field - form.fields.data() > 1) break;
      if (is_csv && field.is_record()) {
        add_fields(record, field, prefix + field.name + ".");
        continue;
      }
      const bool is_one = field.kind == TableForm::Kind::number || field.kind == TableForm::Kind::string;
      if (style_ == TextStyle::csv && !is_one && !field.is_date()) continue;
      const std::uint32_t added = add(field);
      if (is_csv)
        forms_[added].name = prefix + field.name;
      else
        forms_[added].name = json_string(field.name) + ":";
      forms_[record].fields.push_back(added);
    }
  }

  std::uint32_t add(const TableForm& form) {
    const auto position = static_cast<std::uint32_t>(forms_.size());
    TextForm& made = forms_.emplace_back();
    made.ends = form.offsets;
    made.values = form.values;
    made.date = form.date;
    if (form.date == DateKind::timestamp) {
      made.values = form.fields[0].values;
      made.nanoseconds = form.fields[1].values;
      return position;
    }
    switch (form.kind) {
      case TableForm::Kind::number:
        break;
      case TableForm::Kind::string:
        made.kind = TextForm::Kind::string;
        break;
      case TableForm::Kind::bytes:
        made.kind = TextForm::Kind::bytes;
        break;
      case TableForm::Kind::list: {
        made.kind = form.optional ? TextForm::Kind::optional : TextForm::Kind::list;
        ++cells_;
        const std::uint32_t item = add(form.fields[0]);
        --cells_;
        forms_[position].fields.push_back(item);
        break;
      }
      case TableForm::Kind::variant:
        ++cells_;
        add_variant(position, form);
        --cells_;
        break;
      case TableForm::Kind::record:
        made.kind = TextForm::Kind::record;
        made.hollow = form.is_hollow();
        add_fields(position, form, "");
    }
    return position;
  }

  void add_variant(std::uint32_t position, const TableForm& form) {
    forms_[position].kind = TextForm::Kind::variant;
    forms_[position].tags = form.fields[0].values;
    forms_[position].index = form.fields[1].values;
    for (std::size_t tag = 1; tag <= form.classes.size(); ++tag) {
      const TableForm* shown = alternative(form, tag);
      const std::uint32_t field = shown ? add(*shown) : TextForm::kUnseen;
      forms_[position].fields.push_back(field);
      forms_[position].classes.push_back(json_string(form.classes[tag - 1]) + ":");
    }
  }

  const TextStyle style_;
  int cells_ = 0;  // of CSV, around what is added
  std::vector<TextForm> forms_;
};

// A field of a spreadsheet holds one number.
void drop_shapes(const tfile::Table& table, TableForm& form) {
  std::erase_if(form.fields, [&](const TableForm& field) {
    return field.kind == TableForm::Kind::number && !table.columns[field.values].shape.empty();
  });
  for (TableForm& field : form.fields)
    if (field.is_record()) drop_shapes(table, field);
}

}  // namespace

std::vector<ColumnId> TextForm::columns() const {
  std::vector<ColumnId> all;
  for (const ColumnId column : {ends, values, tags, index, nanoseconds})
    if (column != kNone) all.push_back(column);
  return all;
}

Result<std::vector<TextForm>> table_text_forms(const tfile::Table& table, TextStyle style,
                                               const Contradicted& left_out) {
  TableForm form = table_form(table, left_out, Hollow::kept);
  const bool has_columns = !form.fields.empty();
  // No column limits the number of lines.
  constexpr std::int64_t kEmptyLinesMax = 1 << 20;
  if (!has_columns && table.entries > kEmptyLinesMax)
    return tfile::fail(tfile::ErrorKind::unsupported, "too many entries without columns");
  if (style == TextStyle::csv) drop_shapes(table, form);
  auto forms = TableBuilder(style).build(form);
  forms[0].hollow = form.is_hollow();
  if (forms[0].fields.empty() && has_columns && table.entries > 0)
    return tfile::fail(tfile::ErrorKind::unsupported, "no column with one number or string per entry");
  return forms;
}

Result<std::vector<TextForm>> text_forms(const tfile::Table& table, NodeId node) {
  TextFormBuilder builder(table, node);
  TRY_VOID(builder.build(node));
  auto forms = builder.take();
  // The number of lines is not known.
  if (forms[0].hollow) return tfile::fail(ErrorKind::unsupported, "a node without columns");
  return forms;
}

}  // namespace tfilefs
