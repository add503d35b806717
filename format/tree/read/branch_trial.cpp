// SPDX-License-Identifier: Apache-2.0
#include "tree/read/branch_trial.h"

#include <algorithm>

namespace tfile {
namespace {

// Numbers, strings and collections of them are ROOT's own; a class may have a streamer that nobody described.
bool has_classes(const Stream& stream) {
  if (stream.kind != Stream::Kind::program) return false;
  static constexpr Op::Kind kOfClasses[] = {Op::Kind::object, Op::Kind::frame,      Op::Kind::value_version,
                                            Op::Kind::loop,   Op::Kind::pointer,    Op::Kind::slot_bytes,
                                            Op::Kind::clones, Op::Kind::collection, Op::Kind::unknown};
  return std::any_of(stream.program->ops.begin(), stream.program->ops.end(), [](const Op& op) {
    return std::find(std::begin(kOfClasses), std::end(kOfClasses), op.kind) != std::end(kOfClasses);
  });
}

// Classes that only the first entries tell are looked for, and then, by a program that knows them, those inside.
BranchLayout with_classes_found(const TreeRecord& tree, BranchIndex index, const StreamerInfos& infos, bool in_list,
                                const FirstEntries& first_entries, bool bare) {
  constexpr int kLooksMax = 8;  // objects within objects of unknown class seldom go deeper
  BranchLayout layout = branch_layout(tree, index, infos, in_list, {nullptr, bare});
  FoundClasses known;
  for (int look = 0; look < kLooksMax && layout.reason.empty() && asks_for_classes(layout.stream); ++look) {
    FoundClasses found = known;
    bool is_new = false;
    for (auto& [place, classes] : first_entries.classes(layout.stream)) {
      const std::size_t before = found[place].size();
      found[place].merge(classes);
      is_new |= found[place].size() > before;
    }
    if (!is_new) break;
    BranchLayout deeper = branch_layout(tree, index, infos, in_list, {&found, bare});
    // With more columns than a program may have, it stays at what it knew.
    if (!deeper.reason.empty() && look > 0) break;
    layout = std::move(deeper);
    known = std::move(found);
  }
  if (layout.reason.empty() && has_unknown_items(layout.stream))
    layout = branch_layout(tree, index, infos, in_list, {&known, bare, true});
  return layout;
}

}  // namespace

bool needs_trial(const BranchLayout& layout) {
  if (!layout.reason.empty() || !has_classes(layout.stream)) return false;
  // Members that another branch counts are not tried.
  return !layout.stream.item_counter_branch || asks_for_classes(layout.stream);
}

BranchLayout tried_layout(const TreeRecord& tree, BranchIndex index, const StreamerInfos& infos, bool in_list,
                          const FirstEntries& first_entries) {
  BranchLayout layout = with_classes_found(tree, index, infos, in_list, first_entries, false);
  if (!layout.reason.empty() || !has_classes(layout.stream)) return layout;
  const auto follow = first_entries.follow(layout.stream);
  if (follow) return layout;
  if (follow.error().kind != ErrorKind::not_found) {
    // Streamers written by hand may leave out headers of objects; then every entry must still come out even.
    BranchLayout bare = with_classes_found(tree, index, infos, in_list, first_entries, true);
    if (bare.reason.empty() && first_entries.follow(bare.stream)) return bare;
  }
  return raw_layout(index,
                    follow.error().kind != ErrorKind::damaged
                        ? follow.error().text
                        : "the bytes do not follow the description of class " + tree.branches[index].element_class);
}

}  // namespace tfile
