// SPDX-License-Identifier: Apache-2.0
#include "tree/read/branch_trial.h"

#include <algorithm>

namespace tfile {
namespace {

// Whether the bytes may differ from the descriptions. ROOT itself writes numbers, strings and collections of these; a
// class may have a streamer that does not follow its description.
bool may_differ(const Stream& stream) {
  if (stream.kind != Stream::Kind::program) return false;
  if (stream.program->is_assumed) return true;
  if (stream.program->slots.empty()) return true;  // nothing is described, but there may be bytes
  static constexpr Op::Kind kOfClasses[] = {Op::Kind::object, Op::Kind::frame,      Op::Kind::value_version,
                                            Op::Kind::loop,   Op::Kind::pointer,    Op::Kind::slot_bytes,
                                            Op::Kind::clones, Op::Kind::collection, Op::Kind::unknown};
  return std::any_of(stream.program->ops.begin(), stream.program->ops.end(), [](const Op& op) {
    return std::find(std::begin(kOfClasses), std::end(kOfClasses), op.kind) != std::end(kOfClasses);
  });
}

// Looks in the first entries for unknown classes of objects; then, with a program that knows these, for classes inside
// them.
BranchLayout with_classes_found(const TreeRecord& tree, BranchIndex index, const StreamerInfos& infos, bool in_list,
                                const FirstEntries& first_entries, LayoutGuess guess) {
  constexpr int kLooksMax = 8;  // objects within objects of unknown class seldom go deeper
  BranchLayout layout = branch_layout(tree, index, infos, in_list, {nullptr, guess});
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
    BranchLayout deeper = branch_layout(tree, index, infos, in_list, {&found, guess});
    // If the new classes need more columns than a program may have, the previous layout remains.
    if (!deeper.reason.empty() && look > 0) break;
    layout = std::move(deeper);
    known = std::move(found);
  }
  if (layout.reason.empty() && has_unknown_items(layout.stream)) {
    guess.is_last_look = true;
    layout = branch_layout(tree, index, infos, in_list, {&known, guess});
  }
  return layout;
}

}  // namespace

bool needs_trial(const BranchLayout& layout) {
  if (!layout.reason.empty() || !may_differ(layout.stream)) return false;
  // Members that another branch counts are not tried.
  return !layout.stream.item_counter_branch || asks_for_classes(layout.stream);
}

BranchLayout tried_layout(const TreeRecord& tree, BranchIndex index, const StreamerInfos& infos, bool in_list,
                          const FirstEntries& first_entries) {
  BranchLayout layout = with_classes_found(tree, index, infos, in_list, first_entries, {});
  if (!layout.reason.empty() || !may_differ(layout.stream)) return layout;
  const auto follow = first_entries.follow(layout.stream);
  if (follow) return layout;
  if (follow.error().kind != ErrorKind::not_found) {
    // Hand-written streamers may omit the headers of objects, and nobody describes enumerations. Each entry must then
    // still end where it should.
    for (const LayoutGuess guess : {LayoutGuess{.is_bare = true}, LayoutGuess{.has_enums = true}}) {
      if (guess.has_enums && layout.stream.program->unknown.empty()) break;
      BranchLayout other = with_classes_found(tree, index, infos, in_list, first_entries, guess);
      if (other.reason.empty() && first_entries.follow(other.stream)) return other;
    }
  }
  return raw_layout(index,
                    follow.error().kind != ErrorKind::damaged
                        ? follow.error().text
                        : "the bytes do not follow the description of class " + tree.branches[index].element_class);
}

}  // namespace tfile
