// SPDX-License-Identifier: Apache-2.0
#include "ntuple/write/committed_ntuple.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "ntuple/blob_source.h"
#include "ntuple/field_nodes.h"
#include "ntuple/page_lists.h"

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
    const std::vector<FieldRecord>& fields = found_.schema.fields;
    const auto is_projected = [](const FieldRecord& field) { return field.projected_from.has_value(); };
    if (const auto at = std::ranges::find_if(fields, is_projected); at != fields.end() && reason.empty())
      reason = "field " + at->name + ": it shows the values of another field";
    for (const NodeId top : made_.nodes[0].children) {
      if (reason.empty()) reason = add_field(top);
    }
    if (reason.empty()) return;
    found_.form = {};
    found_.fields.clear();
    found_.form.reason = std::move(reason);
  }

 private:
  Reason add_field(NodeId top) {
    const Node& node = made_.nodes[top];
    FieldForm form;
    StoredField stored;
    form.name = stored.name = node.branch_name.empty() ? node.name : node.branch_name;
    std::unordered_map<ColumnId, std::uint32_t> places;
    if (Reason reason = add_columns(top, form, stored, places); !reason.empty())
      return "field " + form.name + ": " + reason;
    if (form.columns.empty()) return "field " + form.name + ": it has no columns";
    form.kind = form.columns.size() == 1 ? FieldForm::Kind::number : FieldForm::Kind::nested;
    form.encoded = form.columns;
    stored.lists = form.lists;
    found_.form.fields.push_back(std::move(form));
    found_.fields.push_back(std::move(stored));
    return {};
  }

  Reason add_columns(NodeId id, FieldForm& form, StoredField& stored,
                     std::unordered_map<ColumnId, std::uint32_t>& places) {
    const Node& node = made_.nodes[id];
    for (const NodeId child : node.children) {
      if (Reason reason = add_columns(child, form, stored, places); !reason.empty()) return reason;
    }
    if (!node.column) return {};
    const Column& column = made_.columns[*node.column];
    auto way = stored_column(made_, written_, *node.column);
    if (!way) return way.error().text;
    stored.columns.push_back(*way);
    std::vector<ColumnId> around = column.lists;
    if (column.role == Role::offsets) around.pop_back();
    form.lists.push_back(around.empty() ? FieldForm::kEachEntry : places.at(around.back()));
    places.emplace(*node.column, static_cast<std::uint32_t>(form.columns.size()));
    form.columns.push_back(static_cast<std::uint32_t>(found_.form.columns.size()));
    found_.form.columns.push_back({column.path, column.dtype, column.shape, column.role, column.title, {}, {}, {}});
    return {};
  }

  const FieldNodes& made_;
  CommittedNtuple& found_;
  const std::vector<ColumnNumber> written_;
};

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
  found.groups = std::move(description.footer.groups);
  found.schema = std::move(description.schema);
  FormReader(made, found).run();
  return found;
}

}  // namespace tfile
