// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "tree/record/record_plan.h"
#include "tree/write/record_edit.h"
#include "tree/write/tree_record_write.h"

namespace tfile {
namespace {

// Writes a number in the form of its element type.
void write_number(ObjectAppender& out, int type, std::int64_t value) {
  using namespace element_type;
  switch (type) {
    case kDouble:
      return out.big(static_cast<double>(value));
    case kFloat:
      return out.big(static_cast<float>(value));
    default:
      break;
  }
  switch (number_size(type)) {
    case 1:
      return out.big(static_cast<std::int8_t>(value));
    case 2:
      return out.big(static_cast<std::int16_t>(value));
    case 8:
      return out.big(value);
    default:
      return out.big(static_cast<std::int32_t>(value));
  }
}

bool contains(Stretch outer, std::uint32_t position) { return outer.begin <= position && position < outer.end; }

class TreeEdit {
 public:
  TreeEdit(const CommittedTree& tree, const TreeChanges& changes);
  std::vector<std::byte> write(std::uint32_t keylen);

 private:
  bool is_dropped(std::size_t slot) const { return std::ranges::binary_search(changes_.dropped, slot); }

  bool is_inside_dropped(Stretch part) const;
  void number(const MemberPlace& place, std::int64_t value);
  void edit_numbers();
  void numbers(const MemberPlace& place, std::span<const std::int64_t> values);

  // Trees of ROOT 5 have no cluster ranges: their clusters stay as recorded.
  void edit_clusters(const Clusters& clusters);
  static void count(RecordEdit& edit, const ArrayPlace& array, std::size_t value);
  void edit_branches();

  // The leaves of dropped branches, wherever they are.
  std::set<std::uint32_t> dropped_leaves() const;
  void edit_leaves();
  void append_entries(const BranchPlace& place, const BranchToWrite& branch);
  void change(const ChangedBranch& branch);

  // Arrays become empty, and pointers null.
  void drop_index_and_friends();
  void drop(TreeMember member);
  void put_baskets(const BranchPlace& place, const BranchBaskets& baskets);

  // Readers allocate as many items as fMaximum of a counter says. For a TLeafC, it is the size of the longest text.
  void raise_maximum(const BranchPlace& place, const BranchToWrite& branch);

  const CommittedTree& tree_;
  const RecordOutline& outline_;
  const TreeChanges& changes_;
  RecordEdit edit_;
  LeafPlaces added_leaves_;
};

TreeEdit::TreeEdit(const CommittedTree& tree, const TreeChanges& changes)
    : tree_(tree), outline_(tree.outline), changes_(changes), edit_(tree.payload, tree.outline) {}

std::vector<std::byte> TreeEdit::write(std::uint32_t keylen) {
  const MemberPlace& name = outline_[TreeMember::name];
  edit_.replace(name.bytes, [this](ObjectAppender& out) { out.string(changes_.name); });
  edit_numbers();
  if (changes_.clusters) edit_clusters(*changes_.clusters);
  edit_branches();
  edit_leaves();
  for (std::size_t slot = 0; slot < changes_.appended.size(); ++slot) {
    if (!is_dropped(slot)) append_entries(outline_.top[slot], changes_.appended[slot]);
  }
  for (const ChangedBranch& branch : changes_.changed) {
    if (!is_inside_dropped(branch.place->slot)) change(branch);
  }
  std::set<std::uint32_t> done;
  for (const auto& [place, value] : changes_.numbers_of_leaves) {
    if (!is_inside_dropped(place.bytes) && done.insert(place.bytes.begin).second) number(place, value);
  }
  if (changes_.renumbers) drop_index_and_friends();
  if (!outline_.lost_user_info.empty()) drop(TreeMember::user_info);
  return edit_.write(keylen);
}

bool TreeEdit::is_inside_dropped(Stretch part) const {
  return std::ranges::any_of(changes_.dropped,
                             [&](std::size_t slot) { return contains(outline_.branches.slots[slot], part.begin); });
}

void TreeEdit::number(const MemberPlace& place, std::int64_t value) {
  if (place.bytes)
    edit_.replace(place.bytes, [type = place.type, value](ObjectAppender& out) { write_number(out, type, value); });
}

void TreeEdit::edit_numbers() {
  number(outline_[TreeMember::entries], changes_.numbers.entries);
  number(outline_[TreeMember::tot_bytes], changes_.numbers.tot_bytes);
  number(outline_[TreeMember::zip_bytes], changes_.numbers.zip_bytes);
  if (changes_.clusters) number(outline_[TreeMember::flushed_bytes], changes_.numbers.zip_bytes);
}

void TreeEdit::numbers(const MemberPlace& place, std::span<const std::int64_t> values) {
  edit_.replace(place.bytes, [values](ObjectAppender& out) {
    out.u1(values.empty() ? 0 : 1);
    for (const std::int64_t value : values) out.big(value);
  });
}

void TreeEdit::edit_clusters(const Clusters& clusters) {
  const MemberPlace& ends = outline_[TreeMember::cluster_range_end];
  const MemberPlace& sizes = outline_[TreeMember::cluster_size];
  if (!ends.bytes || !sizes.bytes) return;
  number(outline_[TreeMember::cluster_ranges], static_cast<std::int64_t>(clusters.range_end.size()));
  numbers(ends, clusters.range_end);
  numbers(sizes, clusters.range_size);
  number(outline_[TreeMember::auto_flush], clusters.auto_flush);
}

void TreeEdit::count(RecordEdit& edit, const ArrayPlace& array, std::size_t value) {
  edit.replace(array.count, [value](ObjectAppender& out) { out.big(static_cast<std::int32_t>(value)); });
}

void TreeEdit::edit_branches() {
  count(edit_, outline_.branches, outline_.branches.slots.size() - changes_.dropped.size() + changes_.added.size());
  for (const std::size_t slot : changes_.dropped) edit_.remove(outline_.branches.slots[slot]);
  edit_.append(outline_.branches, [this](ObjectAppender& out) {
    write_branches(out, changes_.added, changes_.compression, added_leaves_);
  });
}

std::set<std::uint32_t> TreeEdit::dropped_leaves() const {
  std::set<std::uint32_t> leaves;
  for (const std::size_t slot : changes_.dropped) {
    const BranchPlace& branch = outline_.top[slot];
    const auto begins = [](const LeafPlace& leaf) { return leaf.slot.begin; };
    for (auto leaf = std::ranges::lower_bound(outline_.leaf_objects, branch.slot.begin, {}, begins);
         leaf != outline_.leaf_objects.end() && contains(branch.slot, leaf->slot.begin); ++leaf) {
      leaves.insert(leaf->slot.begin);
    }
    for (const Stretch& leaf : branch.leaf_slots) {
      if (const RecordMark* reference = reference_at(outline_, leaf.begin)) leaves.insert(reference->other);
    }
  }
  return leaves;
}

void TreeEdit::edit_leaves() {
  std::size_t left = outline_.leaves.slots.size();
  if (!changes_.dropped.empty()) {
    const std::set<std::uint32_t> dropped = dropped_leaves();
    for (const Stretch& slot : outline_.leaves.slots) {
      const RecordMark* reference = reference_at(outline_, slot.begin);
      if (!reference || dropped.count(reference->other) == 0) continue;
      edit_.remove(slot);
      --left;
    }
  }
  // The number of added leaves is known once the branches are written, which happens before this.
  edit_.replace(outline_.leaves.count, [this, left](ObjectAppender& out) {
    out.big(static_cast<std::int32_t>(left + added_leaves_.all.size()));
  });
  edit_.append(outline_.leaves, [this](ObjectAppender& out) {
    for (const std::size_t leaf : added_leaves_.all) out.reference(leaf);
  });
}

void TreeEdit::append_entries(const BranchPlace& place, const BranchToWrite& branch) {
  if (branch.branch->kind == WrittenBranch::Kind::object) {
    number(place[BranchMember::entries], branch.baskets->entries);
  } else {
    put_baskets(place, *branch.baskets);
  }
  if (branch.branch->is_counter || branch.branch->is_leaf_text) raise_maximum(place, branch);
  if (branch.branch->kind == WrittenBranch::Kind::records) number(place.maximum, branch.baskets->largest);
  for (std::size_t i = 0; i < branch.baskets->members.size(); ++i)
    put_baskets(*branch_below(outline_, place.branch_slots[i]), branch.baskets->members[i]);
}

void TreeEdit::change(const ChangedBranch& branch) {
  if (branch.baskets) put_baskets(*branch.place, *branch.baskets);
  for (const auto& [place, value] : branch.numbers) number(place, value);
  if (branch.place->file_name.bytes)
    edit_.replace(branch.place->file_name.bytes, [](ObjectAppender& out) { out.string(""); });
}

void TreeEdit::drop_index_and_friends() {
  for (const TreeMember member :
       {TreeMember::index_values, TreeMember::index, TreeMember::tree_index, TreeMember::friends})
    drop(member);
}

void TreeEdit::drop(TreeMember member) {
  const Stretch bytes = outline_[member].bytes;
  if (bytes) edit_.replace(bytes, [](ObjectAppender& out) { out.zeros(4); });
}

void TreeEdit::put_baskets(const BranchPlace& place, const BranchBaskets& baskets) {
  using namespace element_type;
  const auto basket_count = static_cast<std::int64_t>(baskets.seek.size());
  number(place[BranchMember::basket_size], baskets.basket_size);
  number(place[BranchMember::write_basket], basket_count);
  number(place[BranchMember::entry_number], baskets.entries);
  number(place[BranchMember::max_baskets], basket_slots(baskets.seek.size()));
  number(place[BranchMember::entries], baskets.entries);
  number(place[BranchMember::tot_bytes], baskets.tot_bytes);
  number(place[BranchMember::zip_bytes], baskets.zip_bytes);
  edit_.replace(place[BranchMember::basket_bytes].bytes,
                [&](ObjectAppender& out) { write_basket_bytes(out, baskets); });
  const auto is_wide = [&](BranchMember member) { return number_size(place[member].type - kOffsetPointer) == 8; };
  edit_.replace(place[BranchMember::basket_entry].bytes,
                [&baskets, wide = is_wide(BranchMember::basket_entry)](ObjectAppender& out) {
                  write_basket_entries(out, baskets, wide);
                });
  edit_.replace(place[BranchMember::basket_seek].bytes,
                [&baskets, wide = is_wide(BranchMember::basket_seek)](ObjectAppender& out) {
                  write_basket_seeks(out, baskets, wide);
                });
  // All baskets are on disk. An empty basket in the record would count as one of them.
  count(edit_, place.baskets, baskets.seek.size() + 1);
  for (const Stretch& slot : place.baskets.slots) edit_.remove(slot);
  edit_.append(place.baskets, [&](ObjectAppender& out) { out.zeros(4 * (baskets.seek.size() + 1)); });
}

void TreeEdit::raise_maximum(const BranchPlace& place, const BranchToWrite& branch) {
  if (place.leaf_slots.empty()) return;
  const RecordMark* reference = reference_at(outline_, place.leaf_slots[0].begin);
  const std::uint32_t slot = reference ? reference->other : place.leaf_slots[0].begin;
  const auto leaf =
      std::ranges::find(outline_.leaf_objects, slot, [](const LeafPlace& known) { return known.slot.begin; });
  if (leaf == outline_.leaf_objects.end() || !leaf->maximum.bytes) return;
  const std::int64_t wanted = branch.baskets->largest + (branch.branch->is_leaf_text ? 1 : 0);
  const Stretch maximum = leaf->maximum.bytes;
  if (wanted <= number_at(std::span(tree_.payload).subspan(maximum.begin, maximum.size()))) return;
  number(leaf->maximum, wanted);
  if (branch.branch->is_leaf_text) number(leaf->len, wanted);
}

// The top branch that contains the byte.
std::optional<std::size_t> branch_around(const RecordOutline& outline, std::uint32_t position) {
  const std::vector<Stretch>& slots = outline.branches.slots;
  const auto behind = std::ranges::upper_bound(slots, position, {}, &Stretch::begin);
  if (behind == slots.begin() || !contains(*std::prev(behind), position)) return std::nullopt;
  return static_cast<std::size_t>(std::prev(behind) - slots.begin());
}

bool is_leaf_slot(const BranchPlace& branch, std::uint32_t position) {
  return std::ranges::any_of(branch.leaf_slots, [&](const Stretch& slot) { return slot.begin == position; });
}

}  // namespace

std::vector<std::byte> edit_tree(const CommittedTree& tree, std::uint32_t keylen, const TreeChanges& changes) {
  return TreeEdit(tree, changes).write(keylen);
}

std::vector<std::size_t> branches_free_to_go(const CommittedTree& tree, std::vector<std::size_t> slots) {
  const RecordOutline& outline = tree.outline;
  std::set<std::size_t> going(slots.begin(), slots.end());
  for (bool changed = !going.empty(); std::exchange(changed, false);) {
    for (const RecordMark& mark : outline.marks) {
      if (mark.kind != RecordMark::Kind::reference) continue;
      const auto from = branch_around(outline, mark.at), to = branch_around(outline, mark.other);
      if (!from || !to || *from == *to) continue;
      // A counting leaf is in its own branch, or in the first branch that it counts; in that case its own branch refers
      // to it.
      const bool is_own_leaf = is_leaf_slot(outline.top[*from], mark.at);
      const std::size_t counter = is_own_leaf ? *from : *to, counted = is_own_leaf ? *to : *from;
      if (going.count(counted) == 0 && going.erase(counter) > 0) changed = true;
    }
  }
  return {going.begin(), going.end()};
}

}  // namespace tfile
