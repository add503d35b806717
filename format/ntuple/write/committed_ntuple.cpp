// SPDX-License-Identifier: Apache-2.0
#include "ntuple/write/committed_ntuple.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "ntuple/blob_source.h"
#include "ntuple/field_nodes.h"
#include "ntuple/page_lists.h"
#include "ntuple/write/length_field.h"
#include "tfile/node_columns.h"

namespace tfile {
namespace {

// A footer was read before, so its size is known to be plausible.
constexpr SizeClaim kFooterClaim{1 << 30, 1000};

// Why entries cannot be appended to a field; empty if they can.
using Reason = std::string;

class FormReader {
 public:
  FormReader(const FieldNodes& made, CommittedNtuple& found)
      : made_(made), found_(found), written_(written_columns(made)) {}

  void run() {
    Reason reason;
    if (!made_.warnings.empty()) reason = made_.warnings.front();
    std::set<std::string_view> lengths;
    const std::vector<bool> are_lengths = length_fields(found_.schema);
    for (FieldId id = 0; id < are_lengths.size(); ++id) {
      const FieldRecord& field = found_.schema.fields[id];
      if (are_lengths[id]) lengths.insert(field.name);
      if (field.projected_from && !are_lengths[id] && reason.empty())
        reason = "field " + field.name + ": it projects another field";
    }
    const std::vector<NodeId>& tops = made_.nodes[0].children;
    for (const NodeId top : tops) {
      if (reason.empty() && !lengths.contains(name_of(top))) reason = add_field(top);
    }
    for (const NodeId top : tops) {  // behind their lists
      if (reason.empty() && lengths.contains(name_of(top))) reason = add_lengths(top);
    }
    if (reason.empty()) return;
    found_.form = {};
    found_.fields.clear();
    found_.form.reason = std::move(reason);
  }

 private:
  const std::string& name_of(NodeId top) const {
    const Node& node = made_.nodes[top];
    return node.branch_name.empty() ? node.name : node.branch_name;
  }

  Reason add_field(NodeId top) {
    FieldForm form;
    StoredField stored;
    form.name = stored.name = name_of(top);
    Reason reason = check_variants(top);
    if (reason.empty()) reason = add_columns(top, form, stored);
    if (!reason.empty()) return "field " + form.name + ": " + reason;
    if (form.columns.empty()) return "field " + form.name + ": it has no columns";
    form.kind = form.columns.size() == 1 ? FieldForm::Kind::number : FieldForm::Kind::nested;
    form.encoded = form.columns;
    stored.lists = form.lists;
    stored.variants = form.variants;
    found_.form.fields.push_back(std::move(form));
    found_.fields.push_back(std::move(stored));
    return {};
  }

  // A field that shows the lengths of one of the lists that were added.
  Reason add_lengths(NodeId top) {
    const Node& node = made_.nodes[top];
    if (!node.column) return "field " + name_of(top) + ": it is not a column";
    const Column& column = made_.columns[*node.column];
    const auto list = lists_.find(made_.streams[column.stream].from);
    if (list == lists_.end()) return "field " + name_of(top) + ": its list is missing";
    auto stored = stored_lengths(made_, written_, list->second.offsets, *node.column);
    if (!stored) return "field " + name_of(top) + ": " + stored.error().text;
    FieldForm form;
    form.name = stored->name = name_of(top);
    form.columns = {offer(column)};
    form.encoded = {list->second.offered, form.columns.front()};
    form.lists = stored->lists;
    found_.form.fields.push_back(std::move(form));
    found_.fields.push_back(*std::move(stored));
    return {};
  }

  std::uint32_t offer(const Column& column) {
    found_.form.columns.push_back({column.path, column.dtype, column.shape, column.role, column.title, {}, {}, {}, {}});
    return static_cast<std::uint32_t>(found_.form.columns.size() - 1);
  }

  // Whether the variants at and below a node can be written.
  Reason check_variants(NodeId id) const {
    const Node& node = made_.nodes[id];
    const bool is_variant = node.kind == NodeKind::variant;
    if (is_variant && (node.alternatives.empty() || node.alternatives.size() > kAlternativesMax))
      return "variant has " + std::to_string(node.alternatives.size()) + " alternatives";
    for (const NodeId child : node.children) {
      if (Reason reason = check_variants(child); !reason.empty()) return reason;
      if (is_variant && !has_columns(child)) return "alternative without columns";
    }
    return {};
  }
  bool has_columns(NodeId id) const {
    const Node& node = made_.nodes[id];
    return node.column || std::ranges::any_of(node.children, [&](NodeId child) { return has_columns(child); });
  }

  Reason add_columns(NodeId top, FieldForm& form, StoredField& stored) {
    auto below = node_columns(made_.nodes, made_.columns, top);
    if (!below) return "variant has too many alternatives";
    for (std::size_t i = 0; i < below->columns.size(); ++i) {
      const ColumnId id = below->columns[i];
      auto way = stored_column(made_, written_, id);
      if (!way) return way.error().text;
      stored.columns.push_back(*way);
      const Column& column = made_.columns[id];
      form.columns.push_back(offer(column));
      if (column.role == Role::offsets && below->lists[i] == FieldForm::kEachEntry)
        lists_.emplace(column.stream, List{id, form.columns.back()});
    }
    form.lists = std::move(below->lists);
    form.variants = std::move(below->variants);
    return {};
  }

  const FieldNodes& made_;
  CommittedNtuple& found_;
  const std::vector<ColumnNumber> written_;
  struct List {
    ColumnId offsets = 0;
    std::uint32_t offered = 0;  // in the form
  };
  std::map<StreamId, List> lists_;  // those that no list is around
};

// Columns that repeat themselves mostly repeat what came last.
constexpr std::size_t kNewestMax = 4;

// Those with a checksum.
std::vector<std::pair<ColumnNumber, ByteRange>> newest_pages(const FieldNodes& made, const PageTable& table) {
  std::vector<std::pair<ColumnNumber, ByteRange>> newest;
  for (ColumnNumber number = 0; number < made.places.size(); ++number) {
    const ColumnPages& pages = table.columns[made.places[number].column];
    for (std::size_t i = pages.size(); i > 0 && i + kNewestMax > pages.size(); --i) {
      const Page page = pages.page(i - 1);
      if (page.kind == Page::Kind::stored && page.has_checksum && made.places[number].representation == 0 &&
          page.representation == 0)
        newest.emplace_back(number, page.range);
    }
  }
  return newest;
}

}  // namespace

Result<CommittedNtuple> read_committed_ntuple(std::shared_ptr<const Source> source,
                                              std::span<const std::byte> payload) {
  CommittedNtuple found;
  TRY(found.anchor, read_anchor(payload));
  const auto blobs = source_of_blobs(source, found.anchor.max_key_size);
  TRY(Description description, read_description(*blobs, found.anchor));
  TRY(const Buffer footer, read_envelope_bytes(*blobs, found.anchor.footer, kFooterClaim));
  TRY(found.footer, take_apart(footer.span()));
  const FieldNodes made = make_field_nodes(description.schema);
  TRY(const PageTable pages, read_page_lists(source, found.anchor.max_key_size, description, made));
  if (!pages.warnings.empty()) return fail(ErrorKind::damaged, pages.warnings.front());
  found.header_checksum = description.header.checksum;
  found.name = description.header.name;
  found.description = description.header.description;
  found.cluster_ends = pages.cluster_ends;
  for (const ColumnPlace& place : made.places) found.elements.push_back(pages.columns[place.column].elements());
  found.newest_pages = newest_pages(made, pages);
  found.groups = std::move(description.footer.groups);
  found.schema = std::move(description.schema);
  FormReader(made, found).run();
  return found;
}

}  // namespace tfile
