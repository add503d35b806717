// SPDX-License-Identifier: Apache-2.0
#include "tree/write/committed_tree.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "container/key.h"
#include "streamer/info/basic_type.h"
#include "streamer/info/type_name.h"
#include "tree/read/branch_layout.h"
#include "tree/read/branch_nodes.h"
#include "tree/write/basket_encode.h"

namespace tfile {
namespace {

using Kind = WrittenBranch::Kind;

// Why entries cannot be appended to a branch; empty if they can.
using Reason = std::string;

// Parses "vector<vector<float> >": notes its depth, and whether its items are texts or numbers of that type.
bool is_vector_of(std::string_view class_name, const WrittenBranch& form) {
  TypeName type = parse_type_name(class_name);
  std::uint32_t depth = 0;
  for (; type.kind == TypeName::Kind::sequence && type.text.starts_with("vector<"); ++depth) {
    TypeName item = std::move(type.arguments[0]);
    type = std::move(item);
  }
  if (depth != form.depth) return false;
  if (form.of_texts) return type.kind == TypeName::Kind::std_string;
  // Without a range: ROOT knows none for the items of a collection.
  const auto is_packed = [&](TypeName::Kind kind, Dtype dtype) {
    return type.kind == kind && form.leaves[0].packing && form.leaves[0].dtype == dtype;
  };
  if (is_packed(TypeName::Kind::double32, Dtype::f8) || is_packed(TypeName::Kind::float16, Dtype::f4)) return true;
  return type.kind == TypeName::Kind::number && type.dtype == form.leaves[0].dtype && !form.leaves[0].packing;
}

// How the innermost items of a collection are packed, if they are.
std::optional<Packing> packing_of_items(std::string_view class_name) {
  TypeName type = parse_type_name(class_name);
  while (type.kind == TypeName::Kind::sequence) {
    TypeName item = std::move(type.arguments[0]);
    type = std::move(item);
  }
  if (type.kind == TypeName::Kind::double32) return parse_packing({}, true);
  if (type.kind == TypeName::Kind::float16) return parse_packing({}, false);
  return std::nullopt;
}

class Reader {
 public:
  Reader(CommittedTree& tree, const std::string& tree_name, const Source& source, const StreamerInfos& infos);
  Result<> run();

 private:
  // Entries matter only for classes, and these are never written.
  static FirstEntries no_entries();
  const BranchRecord& record(BranchIndex branch) const { return tree_.record.branches[branch]; }
  Reason tree_reason() const;

  // The conditions for all kinds of branches.
  Reason storage_reason(const BranchRecord& branch, const BranchPlace& place) const;

  // Adds a branch, or returns the reason.
  Result<Reason> add_branch(std::size_t slot, BranchIndex index);
  static bool is_list_of_records(const BranchRecord& branch);
  static bool is_split_object(const BranchRecord& branch);

  // Adds a split object, whatever class it has.
  Result<Reason> add_object(BranchIndex index, const BranchPlace& place);
  Reason object_member_form(const BranchRecord& branch, const std::vector<ColumnId>& columns,
                            WrittenBranch& member) const;
  static bool has_unique_keys(std::string_view class_name);

  // Adds a split list of records, whatever class they have.
  Result<Reason> add_records(BranchIndex index, const BranchPlace& place);

  // Adds records, in lists or not, and the branches of their members.
  Result<Reason> add_with_members(const BranchRecord& branch, const BranchPlace& place, CommittedBranch committed,
                                  FieldForm form);
  Result<Reason> add_member(BranchIndex index, const BranchPlace& place, CommittedBranch& records, FieldForm& form);
  Reason list_member_form(const BranchRecord& branch, const std::vector<ColumnId>& columns,
                          WrittenBranch& member) const;

  // The member in the description of its class; nullptr: it is not there.
  const StreamerElement* element_of(const BranchRecord& branch) const;

  // Whether the member is a number, or an array of numbers, of this type. Notes how they are packed.
  bool is_number_member(const BranchRecord& branch, Dtype dtype, WrittenBranch& member) const;

  // Whether the class of the member is a text, or vectors of what can be written. Notes how numbers are packed.
  bool is_written_member(const BranchRecord& branch, const std::vector<ColumnId>& columns, WrittenBranch& member) const;
  std::uint32_t offer(ColumnId id);
  LeafForm leaf_form(const std::string& name, ColumnId id) const;
  bool roles_are(const std::vector<ColumnId>& columns, std::size_t offsets, Role last) const;
  Reason leaves_form(const BranchRecord& branch, const std::vector<ColumnId>& columns, WrittenBranch& written,
                     FieldForm& form);
  Reason counted_form(const LeafRecord& leaf, const std::vector<ColumnId>& columns, WrittenBranch& written,
                      FieldForm& form);
  Reason element_form(const BranchRecord& branch, const std::vector<ColumnId>& columns, WrittenBranch& written,
                      FieldForm& form) const;
  Result<Reason> take_baskets(const BranchRecord& branch, WrittenBranch& form, BranchBaskets& baskets);

  // The size of a basket reveals the size of its data only if the length of its key is known. So all keys of a branch
  // must have the same length.
  Result<Reason> match_keys(const BranchRecord& branch, WrittenBranch& form);

  CommittedTree& tree_;
  const std::string& tree_name_;
  const Source& source_;
  const StreamerInfos& infos_;
  BranchNodes nodes_;
  std::unordered_map<BranchIndex, std::vector<ColumnId>> columns_;  // by branch
  std::unordered_map<ColumnId, std::uint32_t> offered_;
};

Reader::Reader(CommittedTree& tree, const std::string& tree_name, const Source& source, const StreamerInfos& infos)
    : tree_(tree), tree_name_(tree_name), source_(source), infos_(infos) {
  nodes_ = make_branch_nodes(tree.record, infos, no_entries());
  for (ColumnId id = 0; id < nodes_.columns.size(); ++id) {
    columns_[nodes_.streams[nodes_.columns[id].stream].branch].push_back(id);
  }
}

Result<> Reader::run() {
  Reason reason = tree_reason();
  for (std::size_t slot = 0; slot < tree_.outline.top.size() && reason.empty(); ++slot) {
    const BranchIndex branch = tree_.record.top[slot];
    auto found = add_branch(slot, branch);
    if (!found) return tl::unexpected<Error>(std::move(found).error());
    if (!found->empty()) reason = "branch " + tree_.record.branches[branch].name + ": " + *found;
  }
  if (!reason.empty()) {
    tree_.form = {};
    tree_.branches.clear();
    tree_.form.reason = std::move(reason);
  }
  return {};
}

FirstEntries Reader::no_entries() {
  return {[](const Stream&) { return Result<>(); }, [](const Stream&) { return FoundClasses(); }};
}

Reason Reader::tree_reason() const {
  if (!tree_.record.warnings.empty()) return tree_.record.warnings.front();
  if (tree_.record.top.size() < tree_.outline.top.size()) return "some of its branches cannot be read";
  for (std::size_t slot = 0; slot < tree_.outline.top.size(); ++slot) {
    if (tree_.outline.top[slot].name != record(tree_.record.top[slot]).name) return "its branches refer to each other";
  }
  return {};
}

Reason Reader::storage_reason(const BranchRecord& branch, const BranchPlace& place) const {
  using namespace element_type;
  if (!branch.file_name.empty()) return "its baskets are in another file";
  if (!branch.embedded.empty()) return "its baskets are in the record of the tree";
  if (branch.entries != tree_.record.entries) return "it has fewer entries than the tree";
  if (branch.first_entry != 0) return "its first entry is not 0";
  const bool arrays = place[BranchMember::basket_bytes].type == kOffsetPointer + kInt &&
                      place[BranchMember::basket_entry].type == kOffsetPointer + kLong64 &&
                      place[BranchMember::basket_seek].type == kOffsetPointer + kLong64;
  const auto is_there = [](const MemberPlace& member) { return static_cast<bool>(member.bytes); };
  if (!arrays || !std::ranges::all_of(place.members, is_there)) return "it has an old format";
  return {};
}

Result<Reason> Reader::add_branch(std::size_t slot, BranchIndex index) {
  const BranchRecord& branch = record(index);
  const BranchPlace& place = tree_.outline.top[slot];
  if (Reason reason = storage_reason(branch, place); !reason.empty()) return reason;
  if (is_list_of_records(branch)) return add_records(index, place);
  if (is_split_object(branch)) return add_object(index, place);
  if (!branch.children.empty()) return Reason("it has branches below it");
  const std::vector<ColumnId>& columns = columns_[index];
  CommittedBranch committed;
  committed.form.name = branch.name;
  committed.form.basket_title = tree_name_;
  FieldForm form;
  form.name = branch.name;
  form.title = branch.title;
  Reason reason = branch.class_name == "TBranchElement" ? element_form(branch, columns, committed.form, form)
                  : branch.class_name == "TBranch"      ? leaves_form(branch, columns, committed.form, form)
                                                        : "its class is " + branch.class_name;
  if (!reason.empty()) return reason;
  if ((branch.entry_offset_len != 0) != committed.form.has_offsets())
    return Reason("its entry offsets have a different format");
  for (const ColumnId id : columns) form.columns.push_back(offer(id));
  form.lists.assign(form.encoded.size(), FieldForm::kEachEntry);
  for (const ColumnId id : columns) {
    // Each level of a list lies in the one before it; the leaves of a record lie side by side.
    const bool is_top = nodes_.columns[id].lists.empty() || id == columns.front();
    form.lists.push_back(is_top ? FieldForm::kEachEntry : static_cast<std::uint32_t>(form.lists.size() - 1));
  }
  form.encoded.insert(form.encoded.end(), form.columns.begin(), form.columns.end());
  TRY(reason, take_baskets(branch, committed.form, committed.baskets));
  if (!reason.empty()) return reason;
  tree_.branches.push_back(std::move(committed));
  tree_.form.fields.push_back(std::move(form));
  return Reason();
}

bool Reader::is_list_of_records(const BranchRecord& branch) {
  return branch.class_name == "TBranchElement" && branch.type == kStlNode && !branch.children.empty();
}

bool Reader::is_split_object(const BranchRecord& branch) {
  return branch.class_name == "TBranchElement" && branch.type == 0 && branch.id == kSplitObject &&
         !branch.children.empty() && branch.baskets.seek.empty();
}

Result<Reason> Reader::add_object(BranchIndex index, const BranchPlace& place) {
  const BranchRecord& branch = record(index);
  CommittedBranch committed;
  committed.form.name = branch.name;
  committed.form.kind = Kind::object;
  committed.baskets.entries = branch.entries;
  FieldForm form;
  form.kind = FieldForm::Kind::nested;
  form.name = field_name(branch.name);
  form.title = branch.title;
  return add_with_members(branch, place, std::move(committed), std::move(form));
}

Reason Reader::object_member_form(const BranchRecord& branch, const std::vector<ColumnId>& columns,
                                  WrittenBranch& member) const {
  using namespace element_type;
  const Reason reason = "its type cannot be written in a record";
  if (branch.type != 0 || columns.empty() || branch.leaves.size() != 1) return reason;
  const Column& last = nodes_.columns[columns.back()];
  member.leaves = {leaf_form(branch.name, columns.back())};
  const int type = branch.streamer_type;
  if (roles_are(columns, 0, Role::values)) {
    member.stores_offsets = branch.entry_offset_len != 0;
    return is_number_member(branch, last.dtype, member) ? Reason() : reason;
  }
  const bool ends_in_text = last.role == Role::chars;
  member.depth = static_cast<std::uint32_t>(columns.size()) - (ends_in_text ? 2 : 1);
  member.kind = member.depth > 0 ? Kind::vectors : Kind::text;
  member.of_texts = ends_in_text && member.depth > 0;
  return type == kStl && is_written_member(branch, columns, member) ? Reason() : reason;
}

bool Reader::has_unique_keys(std::string_view class_name) {
  if (class_name.starts_with("std::")) class_name.remove_prefix(5);
  return class_name.starts_with("map<") || class_name.starts_with("unordered_map<");
}

Result<Reason> Reader::add_records(BranchIndex index, const BranchPlace& place) {
  const BranchRecord& branch = record(index);
  if (!roles_are(columns_[index], 0, Role::offsets) || branch.entry_offset_len == 0)
    return Reason("its lists have a different format");
  CommittedBranch committed;
  committed.form.name = branch.name;
  committed.form.basket_title = tree_name_;
  committed.form.kind = Kind::records;
  committed.form.is_map = has_unique_keys(branch.element_class);
  FieldForm form;
  form.kind = FieldForm::Kind::nested;
  form.name = branch.name;
  form.title = branch.title;
  form.columns = {offer(columns_[index][0])};
  form.lists = {FieldForm::kEachEntry};
  TRY(Reason reason, take_baskets(branch, committed.form, committed.baskets));
  if (!reason.empty()) return reason;
  committed.baskets.largest = branch.maximum;
  return add_with_members(branch, place, std::move(committed), std::move(form));
}

Result<Reason> Reader::add_with_members(const BranchRecord& branch, const BranchPlace& place, CommittedBranch committed,
                                        FieldForm form) {
  if (place.branch_slots.size() != branch.children.size()) return Reason("its branches are stored elsewhere");
  for (std::size_t i = 0; i < branch.children.size(); ++i) {
    const BranchPlace* below = branch_below(tree_.outline, place.branch_slots[i]);
    if (below == nullptr) return Reason("its branches are stored elsewhere");
    TRY(const Reason reason, add_member(branch.children[i], *below, committed, form));
    if (!reason.empty()) return record(branch.children[i]).name + ": " + reason;
  }
  form.encoded = form.columns;
  tree_.branches.push_back(std::move(committed));
  tree_.form.fields.push_back(std::move(form));
  return Reason();
}

Result<Reason> Reader::add_member(BranchIndex index, const BranchPlace& place, CommittedBranch& records,
                                  FieldForm& form) {
  const BranchRecord& branch = record(index);
  if (Reason reason = storage_reason(branch, place); !reason.empty()) return reason;
  if (!branch.children.empty()) return Reason("it has branches below it");
  WrittenBranch member;
  member.name = branch.name;
  member.basket_title = tree_name_;
  member.number = static_cast<std::uint32_t>(records.form.members.size());
  member.of_object = records.form.kind == Kind::object;
  if (!member.of_object) member.inputs = {0};
  const std::vector<ColumnId>& columns = columns_[index];
  Reason reason =
      member.of_object ? object_member_form(branch, columns, member) : list_member_form(branch, columns, member);
  if (!reason.empty()) return reason;
  if ((branch.entry_offset_len != 0) != member.has_offsets())
    return Reason("its entry offsets have a different format");
  for (const ColumnId id : columns) {
    const std::uint32_t outer = member.of_object ? FieldForm::kEachEntry : 0;
    form.lists.push_back(id == columns.front() ? outer : static_cast<std::uint32_t>(form.lists.size() - 1));
    member.inputs.push_back(static_cast<std::uint32_t>(form.columns.size()));
    form.columns.push_back(offer(id));
  }
  BranchBaskets baskets;
  TRY(reason, take_baskets(branch, member, baskets));
  records.form.members.push_back(std::move(member));
  records.baskets.members.push_back(std::move(baskets));
  return reason;
}

Reason Reader::list_member_form(const BranchRecord& branch, const std::vector<ColumnId>& columns,
                                WrittenBranch& member) const {
  using namespace element_type;
  const Reason reason = "its type cannot be written in a list of records";
  if (branch.type != kStlMemberNode || columns.empty() || branch.leaves.size() != 1) return reason;
  const Column& last = nodes_.columns[columns.back()];
  member.leaves = {leaf_form(branch.name, columns.back())};
  const int type = branch.streamer_type;
  if (type != kStl && type != kStlString && type != kStreamer) {
    member.kind = Kind::items;
    const bool is_number = roles_are(columns, 0, Role::values) && is_number_member(branch, last.dtype, member);
    return is_number ? Reason() : reason;
  }
  member.kind = Kind::vectors;
  member.of_texts = last.role == Role::chars;
  member.depth = static_cast<std::uint32_t>(columns.size()) - (member.of_texts ? 1 : 0);
  return is_written_member(branch, columns, member) ? Reason() : reason;
}

const StreamerElement* Reader::element_of(const BranchRecord& branch) const {
  const StreamerInfo* info = infos_.find_by_checksum(branch.element_class, branch.checksum);
  const bool is_there =
      info != nullptr && branch.id >= 0 && static_cast<std::size_t>(branch.id) < info->elements.size();
  return is_there ? &info->elements[static_cast<std::size_t>(branch.id)] : nullptr;
}

bool Reader::is_number_member(const BranchRecord& branch, Dtype dtype, WrittenBranch& member) const {
  using namespace element_type;
  const int type = branch.streamer_type, basic = type > kOffsetArray ? type - kOffsetArray : type;
  if (type >= kOffsetPointer) return false;
  if (basic != kDouble32 && basic != kFloat16) return basic_dtype(basic) == dtype;
  const StreamerElement* const element = element_of(branch);
  if (element == nullptr || element->type != type || dtype != (basic == kDouble32 ? Dtype::f8 : Dtype::f4))
    return false;
  member.leaves[0].packing = parse_packing(element->title, basic == kDouble32);
  return true;
}

bool Reader::is_written_member(const BranchRecord& branch, const std::vector<ColumnId>& columns,
                               WrittenBranch& member) const {
  const StreamerElement* const found = element_of(branch);
  if (found == nullptr) return false;
  const StreamerElement& element = *found;
  member.leaves[0].packing = packing_of_items(element.type_name);
  WrittenBranch inner = member;
  if (!member.of_object) inner.depth -= 1;
  if (member.kind == Kind::text) inner.of_texts = true;
  if (!roles_are(columns, columns.size() - 1, inner.of_texts ? Role::chars : Role::values)) return false;
  return element.array_length == 0 && member.leaves[0].shape.empty() && is_vector_of(element.type_name, inner);
}

std::uint32_t Reader::offer(ColumnId id) {
  const auto [known, is_new] = offered_.try_emplace(id, static_cast<std::uint32_t>(tree_.form.columns.size()));
  if (is_new) {
    const Column& column = nodes_.columns[id];
    tree_.form.columns.push_back({column.path, column.dtype, column.shape, column.role, column.title, {}, {}, {}, {}});
  }
  return known->second;
}

LeafForm Reader::leaf_form(const std::string& name, ColumnId id) const {
  return {name, nodes_.columns[id].dtype, nodes_.columns[id].shape, {}};
}

bool Reader::roles_are(const std::vector<ColumnId>& columns, std::size_t offsets, Role last) const {
  if (columns.size() != offsets + 1) return false;
  for (std::size_t i = 0; i < offsets; ++i) {
    if (nodes_.columns[columns[i]].role != Role::offsets) return false;
  }
  return nodes_.columns[columns[offsets]].role == last;
}

Reason Reader::leaves_form(const BranchRecord& branch, const std::vector<ColumnId>& columns, WrittenBranch& written,
                           FieldForm& form) {
  if (branch.leaves.empty()) return "it has no leaves";
  const LeafRecord& first = tree_.record.leaves[branch.leaves[0]];
  const auto is_plain = [&](LeafIndex leaf) {
    static constexpr std::string_view kPlain = "OBSILGFD";
    const LeafRecord& record = tree_.record.leaves[leaf];
    const bool is_whole = record.class_name.size() == 6 && kPlain.find(record.class_name.back()) != kPlain.npos;
    return is_whole || leaf_packing(record);
  };
  if (first.class_name == "TLeafC" && branch.leaves.size() == 1 && roles_are(columns, 1, Role::chars)) {
    written.kind = Kind::text;
    written.is_leaf_text = true;
    form.kind = FieldForm::Kind::text;
    return {};
  }
  if (!std::ranges::all_of(branch.leaves, is_plain)) return "a leaf of class " + first.class_name;
  if (first.count && branch.leaves.size() == 1) return counted_form(first, columns, written, form);
  const auto counts = [&](LeafIndex leaf) { return tree_.record.leaves[leaf].count.has_value(); };
  if (std::ranges::any_of(branch.leaves, counts) || columns.size() != branch.leaves.size())
    return "arrays next to other leaves";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const LeafRecord& leaf = tree_.record.leaves[branch.leaves[i]];
    written.leaves.push_back(leaf_form(leaf.name, columns[i]));
    written.leaves.back().packing = leaf_packing(leaf);
    if (nodes_.columns[columns[i]].role != Role::values) return "it is not read as numbers";
    if (leaf.is_range && columns.size() > 1) return "a counter next to other leaves";
  }
  written.is_counter = first.is_range;
  form.kind = columns.size() == 1 ? FieldForm::Kind::number : FieldForm::Kind::record;
  return {};
}

Reason Reader::counted_form(const LeafRecord& leaf, const std::vector<ColumnId>& columns, WrittenBranch& written,
                            FieldForm& form) {
  const LeafRecord& counter = tree_.record.leaves[*leaf.count];
  const std::vector<ColumnId>& counter_columns = columns_[counter.branch];
  const bool is_number = counter_columns.size() == 1 && record(counter.branch).leaves.size() == 1 && !counter.count;
  if (!is_number || !roles_are(columns, 1, Role::values)) return "it is counted by a leaf next to others";
  written.kind = Kind::counted;
  written.leaves = {leaf_form(leaf.name, columns.back())};
  written.leaves[0].packing = leaf_packing(leaf);
  written.counter = counter.name;
  written.counter_dtype = nodes_.columns[counter_columns[0]].dtype;
  form.kind = FieldForm::Kind::list;
  form.encoded = {offer(counter_columns[0])};
  return {};
}

Reason Reader::element_form(const BranchRecord& branch, const std::vector<ColumnId>& columns, WrittenBranch& written,
                            FieldForm& form) const {
  const Reason is_class = "its class is " + branch.element_class;
  if (branch.id != kWholeObject || columns.empty()) return is_class;
  const Column& last = nodes_.columns[columns.back()];
  if ((branch.element_class == "string" || branch.element_class == "std::string") &&
      roles_are(columns, 1, Role::chars)) {
    written.kind = Kind::text;
    form.kind = FieldForm::Kind::text;
    return {};
  }
  written.kind = Kind::vectors;
  written.of_texts = last.role == Role::chars;
  written.leaves = {leaf_form(branch.name, columns.back())};
  written.leaves[0].packing = packing_of_items(branch.element_class);
  written.depth = static_cast<std::uint32_t>(columns.size()) - (written.of_texts ? 2 : 1);
  form.kind = FieldForm::Kind::list;
  const bool as_written =
      roles_are(columns, columns.size() - 1, written.of_texts ? Role::chars : Role::values) && last.shape.empty();
  return as_written && is_vector_of(branch.element_class, written) ? Reason() : is_class;
}

Result<Reason> Reader::take_baskets(const BranchRecord& branch, WrittenBranch& form, BranchBaskets& baskets) {
  const BasketTable& table = branch.baskets;
  if (std::ranges::count(table.seek, std::uint64_t{0}) != 0) return Reason("one of its baskets is lost");
  baskets.seek = table.seek;
  baskets.nbytes = table.nbytes;
  if (table.entry)
    baskets.first_entry.assign(table.entry->begin(), table.entry->end() - (table.entry->empty() ? 0 : 1));
  if (baskets.first_entry.size() != baskets.seek.size()) return Reason("its baskets are inconsistent");
  baskets.entries = branch.entries;
  baskets.tot_bytes = branch.tot_bytes;
  baskets.zip_bytes = branch.zip_bytes;
  baskets.basket_size = branch.basket_size;
  if (form.has_offsets() && !baskets.seek.empty()) return match_keys(branch, form);
  return Reason();
}

Result<Reason> Reader::match_keys(const BranchRecord& branch, WrittenBranch& form) {
  std::array<std::byte, kKeyFixedSize> head{};
  TRY_VOID(read_range(source_, {branch.baskets.seek[0], head.size()}, head));
  const auto keylen = static_cast<std::size_t>(load_big<std::uint16_t>(head.data() + 4 + 2 + 4 + 4));
  constexpr std::size_t kShortText = 254;
  const std::size_t least = basket_keylen(form.name, "");
  if (keylen < least || keylen - least > kShortText) return Reason("its baskets have keys of a different format");
  form.basket_title.resize(keylen - least, ' ');
  return Reason();
}

}  // namespace

Result<CommittedTree> read_committed_tree(std::span<const std::byte> payload, std::uint32_t keylen,
                                          const std::string& class_name, const StreamerInfos& infos,
                                          const std::string& tree_name, const Source& source) {
  CommittedTree tree;
  tree.payload.assign(payload.begin(), payload.end());
  TRY(tree.outline, outline_record(tree.payload, keylen, class_name, infos));
  if (!tree.outline.lost_user_info.empty())
    return fail(ErrorKind::unsupported, "tree record: " + tree.outline.lost_user_info);
  TRY(tree.record, read_tree(tree.payload, keylen, class_name, infos));
  TRY_VOID(Reader(tree, tree_name, source, infos).run());
  return tree;
}

}  // namespace tfile
