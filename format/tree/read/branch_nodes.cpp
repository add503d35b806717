// SPDX-License-Identifier: Apache-2.0
#include "tree/read/branch_nodes.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "compression/codec.h"
#include "model/node_draft.h"
#include "streamer/layout/class_layout.h"
#include "streamer/layout/shape_nodes.h"
#include "tfile/date.h"
#include "tree/read/branch_layout.h"

namespace tfile {
namespace {

// The depth of branches in branches, which nest as classes do. The tree's record has a bound, too; this one protects
// the stack.
constexpr int kDepthMax = 64;

// The members of NodeDraft (model/node_draft.h), and what is known of branches.
struct Draft {
  std::string name;         // ROOT's name, or "values", "offsets", ...
  std::string branch_name;  // full name of the node's branch; empty for nodes inside a branch
  NodeKind kind = NodeKind::record;
  std::vector<std::string> alternatives;
  std::uint32_t tag = 0;
  DateKind date = DateKind::none;
  std::optional<ColumnId> column;
  std::vector<Draft> children;
  bool is_unrolled = false;  // a member without a branch of its own, but with branches for its members
  std::optional<UnresolvedId> unresolved;
};

// The record of that name below `parent`; it is made if it does not exist.
Draft& unrolled_member(Draft& parent, std::string_view name) {
  for (Draft& child : parent.children) {
    if (child.is_unrolled && child.name == name) return child;
  }
  Draft record;
  record.name = name;
  record.is_unrolled = true;
  return parent.children.emplace_back(std::move(record));
}

// "fPos[3]" -> "fPos", "event." -> "event": dimensions are in the shape; ROOT marks a prefix with a dot.
std::string_view bare(std::string_view name) {
  while (name.size() > 1 && name.back() == ']') {
    const auto open = name.rfind('[');
    if (open == name.npos || open == 0) break;
    name = name.substr(0, open);
  }
  if (name.size() > 1 && name.back() == '.') name.remove_suffix(1);
  return name;
}

bool is_collection(const BranchRecord& branch) {
  return (branch.class_name == "TBranchElement" && (branch.type == 3 || branch.type == 4)) ||
         branch.class_name == "TBranchClones";
}

// The layout of a branch's own data; no layout if the branch must first be tried.
struct KnownLayout {
  std::optional<BranchLayout> layout;
  bool asks_for_classes = false;
  bool was_tried = false;
};
using LayoutOf = std::function<KnownLayout(BranchIndex, bool in_list)>;

// A copy of the layout without the program, which stays with the table's stream.
BranchLayout without_program(const BranchLayout& layout) {
  BranchLayout copy;
  copy.stream.branch = layout.stream.branch;
  copy.stream.kind = layout.stream.kind;
  copy.shape = layout.shape;
  copy.reason = layout.reason;
  return copy;
}

// The layout of a branch that needs no trial, has no baskets, or must be tried now (`try_now`).
KnownLayout known_layout(const TreeRecord& tree, BranchIndex index, const StreamerInfos& infos, bool in_list,
                         const TryNow& try_now) {
  BranchLayout layout = branch_layout(tree, index, infos, in_list);
  if (!needs_trial(layout)) return {std::move(layout)};
  if (!tree.branches[index].baskets.seek.empty()) {
    if (layout.shape.kind == Shape::Kind::number) return {try_now(index, in_list), false, true};
    return {std::nullopt, asks_for_classes(layout.stream)};
  }
  const FirstEntries none{[](const Stream&) { return Result<>(); }, [](const Stream&) { return FoundClasses(); }};
  return {tried_layout(tree, index, infos, in_list, none)};
}

// The stream of a branch that is not resolved yet.
Stream stand_in(BranchIndex index) {
  Stream stream = raw_layout(index, {}).stream;
  stream.is_stand_in = true;
  return stream;
}

class Builder {
 public:
  Builder(const TreeRecord& tree, const StreamerInfos& infos, LayoutOf layout_of)
      : tree_(tree), infos_(infos), layout_of_(std::move(layout_of)) {}
  BranchNodes build();

  // Node 1, below node 0, is the directory of the branch.
  BranchNodes build_below(const UnresolvedBranch& unresolved, const Node& directory, std::span<const Column> columns);

 private:
  // They stay as long as the table is open.
  void shrink_to_fit();

  // The place of a branch: the branches above it, and the offsets columns of the lists around it.
  struct Surroundings {
    std::vector<BranchIndex> ancestors;
    std::string path;  // branch names joined by '/'
    bool in_list = false;
    StreamId collection = 0;   // in_list: the stream that counts the items...
    BranchIndex lists_of = 0;  // ...and its branch
    bool in_map = false;       // directly below a map
  };

  void add_branch(Draft& parent, BranchIndex index, Surroundings around, std::vector<ColumnId> lists, int depth);

  // The branch of a member of a member may be called "pos.x" although there is no branch "pos" in a split collection.
  // "pos" is then made into a record.
  static void put(Draft& parent, Draft draft, const BranchRecord& branch, const Surroundings& around);
  void add_children(Draft& draft, BranchIndex index, Surroundings around, const std::vector<ColumnId>& lists,
                    int depth);

  // Whether a branch with branches below it has entries of its own. (That of an object may have baskets, without
  // bytes.)
  static bool has_own_leaves(const BranchRecord& branch);

  // The leaves stand beside the branches below.
  void add_own_leaves(Draft& draft, BranchIndex index, const Surroundings& around, const std::vector<ColumnId>& lists);

  // The branch of the list itself has the counts; its sub-branches have the members of all items.
  void add_collection(Draft& draft, BranchIndex index, Surroundings around, std::vector<ColumnId> lists, int depth);

  // The type of the collection. If the collection is a member, the branch names the class around it.
  std::string collection_class(const BranchRecord& branch) const;
  void add_data(Draft& draft, BranchIndex index, const Surroundings& around, const std::vector<ColumnId>& lists);
  void add_unresolved(Draft& draft, BranchIndex index, bool asks_for_classes, const Surroundings& around,
                      const std::vector<ColumnId>& lists);
  StreamId next_stream() const { return first_stream_ + static_cast<StreamId>(out_.streams.size()); }
  void add_raw(Draft& draft, BranchIndex index, const BranchLayout& layout, const Surroundings& around,
               const std::vector<ColumnId>&);

  // `field`: member names from the branch down to `shape`.
  void add_shape(Draft& draft, BranchIndex index, const Shape& shape, const Surroundings& around,
                 const std::vector<ColumnId>& lists);
  Draft add_column(BranchIndex index, Role role, Dtype dtype, std::vector<std::uint32_t> shape, std::uint32_t slot,
                   const Surroundings& around, const std::vector<std::string>& field,
                   const std::vector<ColumnId>& lists);

  // The branch's name without the prefix that repeats an ancestor's name. Of a std::array that a pair holds, the branch
  // of its one member ("second._M_elems[2]") has the place of the array, as in unsplit branches.
  std::string member_name(const BranchRecord& branch, const Surroundings& around) const;
  static std::string member_of_pair(std::string name, const Surroundings& around);

  // Gives the nodes below `draft` unique names and their places.
  void place(Draft& draft, NodeId node, const std::string& path);

  // Notes in offsets columns the column that counts their lists; and, for streams whose entry offsets are not in the
  // file, the column from which to compute them.
  void link_counters();
  std::optional<BranchIndex> counting_branch(const Stream& stream) const;

  // Whether the column is an integer and alone in its branch. If a branch has several leaves, it is not known here
  // which one counts.
  bool is_plain_integer(const Column& column) const;
  void link_item_counter(Stream& stream, const std::unordered_map<BranchIndex, StreamId>& stream_of);

  const TreeRecord& tree_;
  const StreamerInfos& infos_;
  const LayoutOf layout_of_;
  StreamId first_stream_ = 0;
  BranchNodes out_;
};

BranchNodes Builder::build() {
  // Most branches are one column.
  out_.columns.reserve(tree_.branches.size());
  out_.streams.reserve(tree_.branches.size());
  Draft root;
  root.children.reserve(tree_.top.size());
  for (BranchIndex top : tree_.top) add_branch(root, top, {}, {}, 0);
  out_.nodes.reserve(1 + node_count(root));
  out_.nodes.emplace_back();
  place(root, 0, "");
  std::ranges::sort(out_.unresolved, {}, &UnresolvedBranch::node);
  link_counters();
  shrink_to_fit();
  return std::move(out_);
}

BranchNodes Builder::build_below(const UnresolvedBranch& unresolved, const Node& directory,
                                 std::span<const Column> columns) {
  first_stream_ = unresolved.stream;
  std::vector<ColumnId> lists;
  for (const ColumnId outer : unresolved.lists) {
    lists.push_back(static_cast<ColumnId>(out_.columns.size()));
    out_.columns.push_back(columns[outer]);
    out_.columns.back().lists = lists;
    out_.columns.back().counter.reset();
  }
  Surroundings around;
  around.path = unresolved.branch_path;
  around.in_list = unresolved.in_list;
  Draft draft;
  add_data(draft, unresolved.branch, around, lists);
  out_.nodes.reserve(2 + node_count(draft));
  out_.nodes.emplace_back().children = {1};
  out_.nodes.push_back(directory);
  out_.nodes[1].kind = draft.kind;
  out_.nodes[1].alternatives = std::move(draft.alternatives);
  out_.nodes[1].date = draft.date;
  place(draft, 1, unresolved.path);
  shrink_to_fit();
  return std::move(out_);
}

void Builder::shrink_to_fit() {
  out_.columns.shrink_to_fit();
  out_.streams.shrink_to_fit();
}

void Builder::add_branch(Draft& parent, BranchIndex index, Surroundings around, std::vector<ColumnId> lists,
                         int depth) {
  const BranchRecord& branch = tree_.branches[index];
  if (branch.class_name == "TBranchRef" || depth > kDepthMax) return;
  around.path += (around.path.empty() ? "" : "/") + branch.name;
  Draft draft;
  draft.name = member_name(branch, around);
  draft.branch_name = branch.name;
  if (is_collection(branch)) {
    add_collection(draft, index, around, lists, depth);
  } else if (!branch.children.empty()) {
    add_children(draft, index, around, lists, depth);
  } else {
    add_data(draft, index, around, lists);
  }
  put(parent, std::move(draft), branch, around);
}

void Builder::put(Draft& parent, Draft draft, const BranchRecord& branch, const Surroundings& around) {
  Draft* record = &parent;
  if (around.in_list && branch.class_name == "TBranchElement") {
    for (auto dot = draft.name.find('.'); dot != draft.name.npos; dot = draft.name.find('.')) {
      if (dot == 0 || dot + 1 == draft.name.size()) break;
      const std::string member = draft.name.substr(0, dot);
      record = &unrolled_member(*record, record == &parent ? member_of_pair(member, around) : member);
      draft.name.erase(0, dot + 1);
    }
  }
  if (branch.id >= 0) record->date = date_of_record(branch.element_class);
  record->children.push_back(std::move(draft));
}

void Builder::add_children(Draft& draft, BranchIndex index, Surroundings around, const std::vector<ColumnId>& lists,
                           int depth) {
  if (has_own_leaves(tree_.branches[index])) add_own_leaves(draft, index, around, lists);
  around.ancestors.push_back(index);
  around.in_map = false;
  for (BranchIndex child : tree_.branches[index].children) add_branch(draft, child, around, lists, depth + 1);
  if (draft.children.empty()) add_data(draft, index, around, lists);
}

bool Builder::has_own_leaves(const BranchRecord& branch) {
  return branch.class_name == "TBranch" && !branch.leaves.empty() && branch.entries > 0;
}

void Builder::add_own_leaves(Draft& draft, BranchIndex index, const Surroundings& around,
                             const std::vector<ColumnId>& lists) {
  Draft own;
  add_data(own, index, around, lists);
  if (own.kind == NodeKind::record) {
    draft.children = std::move(own.children);
  } else {  // not decoded
    own.name = tree_.leaves[tree_.branches[index].leaves[0]].name;
    draft.children.push_back(std::move(own));
  }
}

void Builder::add_collection(Draft& draft, BranchIndex index, Surroundings around, std::vector<ColumnId> lists,
                             int depth) {
  const BranchRecord& branch = tree_.branches[index];
  const bool has_counter = branch.class_name == "TBranchClones" && branch.count;
  if (around.in_list) return add_data(draft, index, around, lists);
  BranchLayout layout = collection_counts(has_counter ? *branch.count : index);
  draft.children.push_back(add_column(index, Role::offsets, Dtype::i8, {}, 0, around, {}, lists));
  draft.children.back().name = "offsets";
  lists.push_back(*draft.children.back().column);
  out_.columns[lists.back()].lists = lists;
  around.collection = next_stream();
  out_.streams.push_back(std::move(layout.stream));
  around.in_list = true;
  around.lists_of = index;
  around.in_map = parse_type_name(collection_class(branch)).kind == TypeName::Kind::map;
  draft.kind = around.in_map ? NodeKind::map : NodeKind::list;
  around.ancestors.push_back(index);
  Draft values;
  values.name = "values";
  for (BranchIndex child : branch.children) {
    // It has an entry for each list, not for each item: it is the offsets.
    if (has_counter && child == *branch.count) continue;
    add_branch(values, child, around, lists, depth + 1);
  }
  if (!values.children.empty()) draft.children.push_back(std::move(values));
}

std::string Builder::collection_class(const BranchRecord& branch) const {
  const StreamerInfo* owner =
      branch.id < 0 ? nullptr : find_class(infos_, branch.element_class, branch.class_version, branch.checksum);
  const auto id = static_cast<std::size_t>(branch.id);
  return owner && id < owner->elements.size() ? owner->elements[id].type_name : branch.element_class;
}

void Builder::add_data(Draft& draft, BranchIndex index, const Surroundings& around,
                       const std::vector<ColumnId>& lists) {
  auto [layout, asks_for_classes, was_tried] = layout_of_(index, around.in_list);
  if (!layout) return add_unresolved(draft, index, asks_for_classes, around, lists);
  if (was_tried) out_.tried_at_opening.emplace(index, without_program(*layout));
  layout->stream.collection = around.collection;
  if (layout->reason.empty()) {
    add_shape(draft, index, layout->shape, around, lists);
  } else {
    add_raw(draft, index, *layout, around, lists);
  }
  if (around.in_list && layout->stream.kind == Stream::Kind::flat) layout->stream.lists_of = around.lists_of;
  out_.streams.push_back(std::move(layout->stream));
}

void Builder::add_unresolved(Draft& draft, BranchIndex index, bool asks_for_classes, const Surroundings& around,
                             const std::vector<ColumnId>& lists) {
  UnresolvedBranch unresolved;
  unresolved.branch = index;
  unresolved.stream = next_stream();
  unresolved.asks_for_classes = asks_for_classes;
  unresolved.in_list = around.in_list;
  unresolved.collection = around.collection;
  unresolved.lists_of = around.lists_of;
  unresolved.lists = lists;
  unresolved.branch_path = around.path;
  draft.unresolved = static_cast<UnresolvedId>(out_.unresolved.size());
  out_.unresolved.push_back(std::move(unresolved));
  out_.streams.push_back(stand_in(index));
}

void Builder::add_raw(Draft& draft, BranchIndex index, const BranchLayout& layout, const Surroundings& around,
                      const std::vector<ColumnId>&) {
  // These are the bytes of whole entries, so the offsets of outer lists do not apply.
  Draft offsets = add_column(index, Role::offsets, Dtype::i8, {}, 0, around, {}, {});
  offsets.name = "offsets";
  out_.columns[*offsets.column].lists = {*offsets.column};
  Draft bytes = add_column(index, Role::raw, Dtype::u1, {}, 1, around, {}, {*offsets.column});
  bytes.name = "raw";
  out_.columns[*bytes.column].reason = layout.reason;
  draft.kind = NodeKind::raw;
  draft.children = {std::move(offsets), std::move(bytes)};
}

void Builder::add_shape(Draft& draft, BranchIndex index, const Shape& shape, const Surroundings& around,
                        const std::vector<ColumnId>& lists) {
  const auto add = [&](const ShapeColumn& made) {
    const ColumnId id = *add_column(index, made.role, made.dtype, {}, made.slot, around, made.field, made.lists).column;
    // A member's own class and comment take precedence over those of the branch.
    Column& column = out_.columns[id];
    if (!made.shape->class_name.empty()) column.class_name = made.shape->class_name;
    if (!column.field.empty()) column.title = made.shape->title;
    note_shape(column, id, made);
    return id;
  };
  ShapeNodes<Draft, decltype(add)>(add).add(draft, shape, {}, lists);
}

Draft Builder::add_column(BranchIndex index, Role role, Dtype dtype, std::vector<std::uint32_t> shape,
                          std::uint32_t slot, const Surroundings& around, const std::vector<std::string>& field,
                          const std::vector<ColumnId>& lists) {
  const BranchRecord& branch = tree_.branches[index];
  Column column;
  column.dtype = dtype;
  column.role = role;
  column.shape = std::move(shape);
  column.lists = lists;
  column.branch = around.path;
  column.field = field;
  column.title = branch.title;
  column.class_name = branch.element_class;
  column.compression = compression_text(branch.compress);
  column.stream = next_stream();
  column.slot = slot;
  Draft draft;
  draft.kind = NodeKind::number;
  draft.column = static_cast<ColumnId>(out_.columns.size());
  out_.columns.push_back(std::move(column));
  return draft;
}

std::string Builder::member_name(const BranchRecord& branch, const Surroundings& around) const {
  std::string_view name = bare(branch.name);
  for (auto above = around.ancestors.rbegin(); above != around.ancestors.rend(); ++above) {
    const std::string_view prefix = bare(tree_.branches[*above].name);
    if (name.size() > prefix.size() + 1 && name.starts_with(prefix) && name[prefix.size()] == '.') {
      name.remove_prefix(prefix.size() + 1);
      break;
    }
  }
  constexpr std::string_view kItemsOfArray = "._M_elems";
  if (name.ends_with(kItemsOfArray) && parse_type_name(branch.element_class).kind == TypeName::Kind::array)
    name.remove_suffix(kItemsOfArray.size());
  return member_of_pair(std::string(name), around);
}

std::string Builder::member_of_pair(std::string name, const Surroundings& around) {
  if (around.in_map && name == "first") return "key";
  if (around.in_map && name == "second") return "value";
  return name;
}

void Builder::place(Draft& draft, NodeId node, const std::string& path) {
  place_nodes(draft, node, path, out_.nodes, out_.columns,
              [this](const Draft& child, NodeId id, const std::string& child_path) {
                if (!child.unresolved) return;
                out_.unresolved[*child.unresolved].node = id;
                out_.unresolved[*child.unresolved].path = child_path;
              });
}

void Builder::link_counters() {
  constexpr std::uint8_t kGenerateOffsetMap = 1;
  std::unordered_map<BranchIndex, StreamId> stream_of;
  for (StreamId id = 0; id < out_.streams.size(); ++id) stream_of.emplace(out_.streams[id].branch, id);
  std::unordered_map<StreamId, ColumnId> column_of;
  for (ColumnId id = 0; id < out_.columns.size(); ++id) {
    const Column& column = out_.columns[id];
    if (column.role == Role::values && column.lists.empty()) column_of.emplace(column.stream, id);
  }
  const auto counter_of = [&](const Stream& stream) -> std::optional<ColumnId> {
    const auto count = counting_branch(stream);
    const auto counter = count ? stream_of.find(*count) : stream_of.end();
    const auto column = counter == stream_of.end() ? column_of.end() : column_of.find(counter->second);
    return column == column_of.end() ? std::nullopt : std::optional(column->second);
  };
  for (Stream& stream : out_.streams) {
    if (stream.kind == Stream::Kind::jagged) stream.lists_of = counting_branch(stream);
    if (stream.item_counter_branch) link_item_counter(stream, stream_of);
    const auto counter = counter_of(stream);
    if (!counter || !(tree_.branches[stream.branch].io_bits & kGenerateOffsetMap)) continue;
    const Column& column = out_.columns[*counter];
    stream.counter = Stream::Counter{column.stream, column.slot, column.dtype};
  }
  for (Column& column : out_.columns) {
    if (column.role != Role::offsets || column.lists.size() != 1) continue;
    const auto counter = counter_of(out_.streams[column.stream]);
    if (counter && is_plain_integer(out_.columns[*counter])) column.counter = counter;
  }
}

std::optional<BranchIndex> Builder::counting_branch(const Stream& stream) const {
  const BranchRecord& branch = tree_.branches[stream.branch];
  if ((stream.kind != Stream::Kind::jagged && stream.packed_item_size == 0) || branch.leaves.empty())
    return std::nullopt;
  const auto& count = tree_.leaves[branch.leaves[0]].count;
  return count ? std::optional(tree_.leaves[*count].branch) : std::nullopt;
}

bool Builder::is_plain_integer(const Column& column) const {
  const BranchRecord& branch = tree_.branches[out_.streams[column.stream].branch];
  const char kind = type_suffix(column.dtype)[0];
  return branch.leaves.size() == 1 && column.shape.empty() && (kind == 'i' || kind == 'u');
}

void Builder::link_item_counter(Stream& stream, const std::unordered_map<BranchIndex, StreamId>& stream_of) {
  const auto counter = stream_of.find(*stream.item_counter_branch);
  if (counter == stream_of.end() || out_.streams[counter->second].kind != Stream::Kind::flat) return;
  for (const Column& column : out_.columns) {
    if (column.stream == counter->second)
      stream.item_counter = Stream::Counter{counter->second, column.slot, column.dtype};
  }
}

}  // namespace

BranchNodes make_branch_nodes(const TreeRecord& tree, const StreamerInfos& infos, const FirstEntries& first_entries) {
  return Builder(tree, infos,
                 [&](BranchIndex index, bool in_list) {
                   return KnownLayout{tried_layout(tree, index, infos, in_list, first_entries)};
                 })
      .build();
}

BranchNodes make_unresolved(const TreeRecord& tree, const StreamerInfos& infos, const TryNow& try_now) {
  return Builder(tree, infos,
                 [&](BranchIndex index, bool in_list) { return known_layout(tree, index, infos, in_list, try_now); })
      .build();
}

BranchNodes make_all_nodes(const TreeRecord& tree, const StreamerInfos& infos, const LayoutFound& found) {
  return Builder(tree, infos,
                 [&](BranchIndex index, bool in_list) {
                   const BranchLayout* tried = found(index);
                   return tried ? KnownLayout{without_program(*tried)} : known_layout(tree, index, infos, in_list, {});
                 })
      .build();
}

BranchNodes make_nodes_below(const TreeRecord& tree, const StreamerInfos& infos, const UnresolvedBranch& unresolved,
                             const BranchLayout& layout, const Node& directory, std::span<const Column> columns) {
  return Builder(tree, infos, [&](BranchIndex, bool) { return KnownLayout{without_program(layout)}; })
      .build_below(unresolved, directory, columns);
}

}  // namespace tfile
