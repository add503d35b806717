// SPDX-License-Identifier: Apache-2.0
#include "tree/copy/source_tree.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "container/payload.h"
#include "streamer/info/basic_type.h"
#include "streamer/info/streamer_info_record.h"

namespace tfile {
namespace {

using namespace element_type;

// Finds the branches of a record in its outline, in the order of TreeRecord::branches: parents before children, in the
// order of the lists; those in no list come last.
class PlaceFinder {
 public:
  explicit PlaceFinder(const RecordOutline& outline) : outline_(outline) {
    for (const std::vector<BranchPlace>* list : {&outline.top, &outline.below}) {
      for (const BranchPlace& place : *list) {
        if (place.slot) by_begin_.emplace(place.slot.begin, &place);
      }
    }
  }

  std::vector<const BranchPlace*> run() {
    for (const Stretch& slot : outline_.branches.slots) walk(slot.begin);
    if (const Stretch ref = outline_[TreeMember::branch_ref].bytes) walk(ref.begin);
    return std::move(found_);
  }

 private:
  const BranchPlace* at(std::uint32_t begin) const {
    const RecordMark* reference = reference_at(outline_, begin);
    const auto known = by_begin_.find(reference ? reference->other : begin);
    return known == by_begin_.end() ? nullptr : known->second;
  }

  // The depth of the record was bounded when it was outlined.
  void walk(std::uint32_t begin) {
    const BranchPlace* place = at(begin);
    if (place == nullptr || !seen_.insert(place).second) return;
    found_.push_back(place);
    for (const Stretch& slot : place->branch_slots) walk(slot.begin);
  }

  const RecordOutline& outline_;
  std::unordered_map<std::uint32_t, const BranchPlace*> by_begin_;
  std::unordered_set<const BranchPlace*> seen_;
  std::vector<const BranchPlace*> found_;
};

Result<> check_places(const SourceTree& tree) {
  const auto is_meant = [&](std::size_t i) { return tree.places[i]->name == tree.tree.record.branches[i].name; };
  bool same = tree.places.size() == tree.tree.record.branches.size();
  for (std::size_t i = 0; same && i < tree.places.size(); ++i) same = is_meant(i);
  if (!same) return fail(ErrorKind::unsupported, "its branches refer to each other");
  for (const BranchRecord& branch : tree.tree.record.branches) {
    const bool begins_late = branch.baskets.entry && !branch.baskets.seek.empty() && branch.baskets.entry->front() != 0;
    if (branch.first_entry != 0 || begins_late)
      return fail(ErrorKind::unsupported, "branch " + branch.name + ": its first entry is not 0");
  }
  for (const BranchPlace* place : tree.places) {
    const auto size = [&](BranchMember member) { return number_size((*place)[member].type - kOffsetPointer); };
    const auto is_number = [&](BranchMember member) { return size(member) == 4 || size(member) == 8; };
    const bool is_known = size(BranchMember::basket_bytes) == 4 && is_number(BranchMember::basket_entry) &&
                          is_number(BranchMember::basket_seek);
    if (!is_known) return fail(ErrorKind::unsupported, "branch " + std::string(place->name) + ": it has an old format");
  }
  return {};
}

Result<> open_siblings(SourceTree& tree) {
  for (const BranchRecord& branch : tree.tree.record.branches) {
    const bool is_elsewhere =
        !branch.file_name.empty() && std::ranges::any_of(branch.baskets.seek, [](auto seek) { return seek != 0; });
    if (!is_elsewhere || tree.siblings.contains(branch.file_name) || tree.missing.contains(branch.file_name)) continue;
    auto opened = tree.source->sibling(branch.file_name);
    if (opened) {
      tree.siblings.emplace(branch.file_name, *std::move(opened));
    } else if (opened.error().kind == ErrorKind::not_found) {
      tree.missing.emplace(branch.file_name, opened.error().text);
    } else {
      return fail(opened.error().kind, "branch " + branch.name + ": " + branch.file_name + ": " + opened.error().text);
    }
  }
  return {};
}

std::vector<BranchIndex> tops(const TreeRecord& record) {
  std::vector<BranchIndex> top_of(record.branches.size());
  // Parents come before children.
  for (BranchIndex i = 0; i < record.branches.size(); ++i)
    top_of[i] = record.branches[i].parent ? top_of[*record.branches[i].parent] : i;
  return top_of;
}

}  // namespace

Result<SourceTree> read_source_tree(const File& file, const KeyInfo& key) {
  SourceTree found;
  found.source = file.shared_source();
  TRY(const StreamerInfoRecord infos, read_streamer_info_record(file.source(), file.header()));
  found.infos = infos.infos;
  TRY(const RecordContent record, read_record(file.source(), {key.seek, key.nbytes}));
  const std::span<const std::byte> payload = record.payload.span();
  CommittedTree& tree = found.tree;
  tree.payload.assign(payload.begin(), payload.end());
  const std::string class_name(key.class_name);
  TRY(tree.outline, outline_record(tree.payload, record.keylen, class_name, *infos.infos));
  TRY(tree.record, read_tree(tree.payload, record.keylen, class_name, *infos.infos));
  if (!tree.record.warnings.empty()) return fail(ErrorKind::unsupported, tree.record.warnings.front());
  found.places = PlaceFinder(tree.outline).run();
  found.top_of = tops(tree.record);
  TRY_VOID(check_places(found));
  TRY_VOID(open_siblings(found));
  return found;
}

const EmbeddedBasket* embedded_basket(const BranchStorage& branch, std::size_t basket) {
  if (branch.baskets.seek[basket] != 0) return nullptr;
  const auto found = std::ranges::find(branch.embedded, basket, &EmbeddedBasket::index);
  return found == branch.embedded.end() ? nullptr : &*found;
}

std::optional<std::size_t> top_slot(const SourceTree& tree, BranchIndex index) {
  const std::vector<BranchPlace>& top = tree.tree.outline.top;
  const auto found = std::ranges::find(top, tree.places[index], [](const BranchPlace& place) { return &place; });
  return found == top.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - top.begin()));
}

std::string path_of_branch(const TreeRecord& record, BranchIndex index) {
  const BranchRecord& branch = record.branches[index];
  if (!branch.parent) return branch.name;
  const std::string above = path_of_branch(record, *branch.parent);
  return branch.name.starts_with(above) ? branch.name : above + "/" + branch.name;
}

}  // namespace tfile
