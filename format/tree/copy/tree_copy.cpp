// SPDX-License-Identifier: Apache-2.0
#include "tree/copy/tree_copy.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "container/key.h"
#include "streamer/info/basic_type.h"
#include "streamer/info/type_name.h"
#include "tfile/beyond_end.h"
#include "tree/copy/same_form.h"
#include "tree/copy/tree_extras.h"
#include "tree/record/basket.h"

namespace tfile {
namespace {

constexpr std::uint8_t kGenerateOffsetMap = 1;  // TIOFeatures: lists have no offsets, their counter tells

std::int64_t number_of(const SourceTree& tree, const MemberPlace& place) {
  if (!place.bytes) return 0;
  return number_at(std::span(tree.tree.payload).subspan(place.bytes.begin, place.bytes.size()));
}

// The leaf object of a slot, which may refer to it.
const LeafPlace* leaf_at(const RecordOutline& outline, std::uint32_t begin) {
  const RecordMark* reference = reference_at(outline, begin);
  const std::uint32_t object = reference ? reference->other : begin;
  const auto leaf = std::ranges::lower_bound(outline.leaf_objects, object, {},
                                             [](const LeafPlace& known) { return known.slot.begin; });
  return leaf != outline.leaf_objects.end() && leaf->slot.begin == object ? &*leaf : nullptr;
}

// The entries of the tree, or of a branch that has more.
std::int64_t most_entries(const TreeRecord& record) {
  std::int64_t most = std::max<std::int64_t>(record.entries, 0);
  for (const BranchRecord& branch : record.branches) {
    if (branch.baskets.entry && !branch.baskets.entry->empty()) most = std::max(most, branch.baskets.entry->back());
  }
  return most;
}

struct LeafOfBranch {
  BranchIndex branch = 0;
  const LeafPlace* place = nullptr;  // null: it is not in the record
};

// All leaves, in the order of branches: that of trees of the same form.
std::vector<LeafOfBranch> leaves_of(const SourceTree& tree) {
  std::vector<LeafOfBranch> leaves;
  for (BranchIndex i = 0; i < tree.places.size(); ++i) {
    for (const Stretch& slot : tree.places[i]->leaf_slots)
      leaves.push_back({i, leaf_at(tree.tree.outline, slot.begin)});
  }
  return leaves;
}

// Whether the entries of a branch are items of a split collection, which another branch counts.
bool is_of_items(const BranchRecord& branch) { return branch.count.has_value(); }

// Whether objects in an entry may refer to places in its basket: any but numbers, texts, and vectors of them.
bool may_have_places(const TypeName& type) {
  switch (type.kind) {
    case TypeName::Kind::number:
    case TypeName::Kind::std_string:
      return false;
    case TypeName::Kind::sequence:
      return may_have_places(type.arguments[0]);
    default:
      return true;
  }
}

// The C++ type of a member that has a branch of its own, "" if it is not known.
std::string type_of_member(const BranchRecord& branch, const StreamerInfos& infos) {
  const StreamerInfo* info = infos.find(branch.element_class, branch.class_version);
  if (info == nullptr) info = infos.find_by_checksum(branch.element_class, branch.checksum);
  const auto id = static_cast<std::size_t>(branch.id);
  return info != nullptr && id < info->elements.size() ? info->elements[id].type_name : std::string();
}

// The same for the entries of a branch.
bool may_have_places(const BranchRecord& branch, const StreamerInfos& infos) {
  using namespace element_type;
  if (branch.class_name == "TBranch") return false;
  if (branch.id < 0) return may_have_places(parse_type_name(branch.element_class));
  const int type = branch.streamer_type;
  const int number = type > kOffsetPointer ? type - kOffsetPointer : type > kOffsetArray ? type - kOffsetArray : type;
  const bool is_packed = number == kDouble32 || number == kFloat16;
  if (type < kObject && (number_size(number) != 0 || is_packed)) return false;
  if (type == kTString || type == kStlString || type == kCharStar) return false;
  return may_have_places(parse_type_name(type_of_member(branch, infos)));
}

}  // namespace

Result<> TreeCopy::add_table(std::shared_ptr<const File> file, const KeyInfo& key, const KeptEntries* kept) {
  TRY(SourceTree found, read_source_tree(*file, key));
  const std::int64_t entries = std::max<std::int64_t>(found.tree.record.entries, 0);
  const bool keeps_all = kept == nullptr || kept->is_all(entries);
  kept_ = keeps_all ? KeptEntries({0, most_entries(found.tree.record)}) : *kept;
  present_entries_ = keeps_all ? entries : kept_.count();
  auto tree = std::make_unique<const SourceTree>(std::move(found));
  const bool is_first = !first_;
  if (is_first) {
    first_ = std::move(tree);
    TRY_VOID(take_form());
  } else {
    TRY_VOID(check_same_form(first(), *tree, copied_branches(), described_));
    next_ = std::move(tree);
  }
  described_.take(present().infos);
  if (!is_first) note_other_extras();
  if (!is_first || !keeps_all) note_other_numbers();
  note_maxima(present());
  plan(keeps_all);
  if (options_.cluster_bytes == 0 && keeps_all) return {};
  TRY(const bool is_other, leave_out_what_cannot_be_cut(present()));
  if (is_other) plan(keeps_all);
  return {};
}

std::vector<bool> TreeCopy::copied_branches() const {
  std::vector<bool> copied;
  for (const Branch& branch : branches_) copied.push_back(branch.copied);
  return copied;
}

void TreeCopy::plan(bool keeps_all) {
  plan_ = plan_units(present(), kept_, copied_branches(), {keeps_all, options_.cluster_bytes});
}

// Top branches that are wanted, with all below them, and those that count their items.
Result<> TreeCopy::take_form() {
  const SourceTree& tree = first();
  const TreeRecord& record = tree.tree.record;
  branches_.resize(record.branches.size());
  std::vector<std::size_t> slots;
  for (std::size_t slot = 0; slot < tree.tree.outline.top.size(); ++slot) {
    const std::string_view name = tree.tree.outline.top[slot].name;
    if (options_.keeps_field && !options_.keeps_field(name)) slots.push_back(slot);
  }
  const std::vector<std::size_t> going = branches_free_to_go(tree.tree, std::move(slots));
  for (BranchIndex i = 0; i < branches_.size(); ++i) {
    const auto slot = top_slot(tree, tree.top_of[i]);
    branches_[i].copied = !slot || !std::ranges::binary_search(going, *slot);
    branches_[i].baskets.basket_size = record.branches[i].basket_size;
  }
  leave_out_missing();
  for (const auto& [branch, place] : leaves_of(tree)) maxima_.push_back({branch, place});
  const std::string& lost = tree.tree.outline.lost_user_info;
  if (!lost.empty()) left_out_.push_back("its user info: " + lost);
  return {};
}

// Branches whose baskets are in files that are not there, with the top branches above them.
void TreeCopy::leave_out_missing() {
  const SourceTree& tree = first();
  for (BranchIndex i = 0; i < branches_.size(); ++i) {
    const auto missing = tree.missing.find(tree.branch(i).file_name);
    if (!branches_[i].copied || missing == tree.missing.end()) continue;
    leave_out(tree, i, missing->second);
  }
}

void TreeCopy::leave_out(const SourceTree& tree, BranchIndex branch, const std::string& why) {
  left_out_.push_back("branch " + path_of_branch(tree.tree.record, branch) + ": " + why);
  for (BranchIndex other = 0; other < branches_.size(); ++other) {
    if (tree.top_of[other] == tree.top_of[branch]) branches_[other].copied = false;
  }
}

// Entries have other numbers than in the tree.
void TreeCopy::note_other_numbers() {
  if (std::exchange(renumbers_, true)) return;
  const TreeExtras extras = extras_in(first().tree.payload, first().tree.outline);
  if (extras.has_index) left_out_.push_back("its index of entries");
  if (extras.has_friends) left_out_.push_back("its friends");
}

// The record is that of the first tree. What others have in theirs is lost, and each is named once.
void TreeCopy::note_other_extras() {
  const TreeExtras mine = extras_in(first().tree.payload, first().tree.outline);
  const TreeExtras others = extras_in(present().tree.payload, present().tree.outline);
  for (std::string& name : names_of_other(mine, others)) {
    if (std::ranges::find(left_out_, name) == left_out_.end()) left_out_.push_back(std::move(name));
  }
}

void TreeCopy::note_maxima(const SourceTree& tree) {
  for (BranchIndex i = 0; i < branches_.size(); ++i)
    branches_[i].maximum = std::max(branches_[i].maximum, number_of(tree, tree.places[i]->maximum));
  const std::vector<LeafOfBranch> leaves = leaves_of(tree);
  for (std::size_t i = 0; i < std::min(leaves.size(), maxima_.size()); ++i) {
    if (leaves[i].place == nullptr) continue;
    maxima_[i].maximum = std::max(maxima_[i].maximum, number_of(tree, leaves[i].place->maximum));
    maxima_[i].len = std::max(maxima_[i].len, number_of(tree, leaves[i].place->len));
  }
}

// Why entries of a branch cannot be told apart without a look at what they mean; "" if they can. Where another branch
// may count them, its first basket tells.
Result<std::string> TreeCopy::reason_not_to_cut(const BranchRecord& branch) const {
  if (branch.baskets.seek.empty()) return std::string();
  const std::vector<LeafRecord>& leaves = present().tree.record.leaves;
  const bool is_list = std::ranges::any_of(branch.leaves, [&](LeafIndex i) { return leaves[i].count.has_value(); });
  if ((branch.io_bits & kGenerateOffsetMap) != 0 && is_list) return std::string("its lists are stored without offsets");
  if (!is_of_items(branch)) return std::string();
  bool has_offsets = false;
  if (const EmbeddedBasket* embedded = embedded_basket(branch, 0)) {
    has_offsets = !embedded->offsets.empty();
  } else {
    const Source& source = *present().source_of(branch);
    const ByteRange range{branch.baskets.seek[0], branch.baskets.nbytes[0]};
    if (is_beyond_end(range, source.size()))
      return fail(ErrorKind::damaged,
                  "branch " + branch.name + ": basket ends at " + std::to_string(range.end()) + ", the file has " +
                      std::to_string(source.size()) + " bytes",
                  static_cast<std::int64_t>(range.begin));
    Buffer stored(range.size);
    TRY_VOID(read_range(source, range, stored.span()));
    TRY(const BasketContent content, read_basket(stored.span()));
    has_offsets = content.has_offsets;
  }
  return std::string(has_offsets ? "" : "its entries are stored without offsets");
}

// Leaves out branches whose baskets the plan cuts, if they cannot be cut. Whether there are any.
Result<bool> TreeCopy::leave_out_what_cannot_be_cut(const SourceTree& tree) {
  const TreeRecord& record = tree.tree.record;
  const std::size_t left_before = left_out_.size();
  std::vector<bool> is_cut(branches_.size());
  for (const CopiedBasket& basket : plan_.baskets) {
    if (!basket.is_whole || embedded_basket(record.branches[basket.branch], basket.first) != nullptr)
      is_cut[basket.branch] = true;
  }
  for (BranchIndex i = 0; i < branches_.size(); ++i) {
    if (!branches_[i].copied || !is_cut[i]) continue;
    TRY(const std::string reason, reason_not_to_cut(record.branches[i]));
    if (reason.empty()) continue;
    leave_out(tree, i, reason);
  }
  return left_out_.size() > left_before;
}

TableCopy::Unit TreeCopy::unit(std::size_t index) const {
  const CopiedBasket& basket = plan_.baskets[index];
  const BranchRecord& branch = present().branch(basket.branch);
  Unit unit;
  unit.entries = {(*branch.baskets.entry)[basket.first], (*branch.baskets.entry)[basket.first + basket.count]};
  for (std::uint32_t i = basket.first; i < basket.first + basket.count; ++i) {
    Locator& input = unit.inputs.emplace_back();
    if (const EmbeddedBasket* embedded = embedded_basket(branch, i)) {
      input.embedded = embedded->data;
    } else {
      input.source = present().source_of(branch);
      input.range = {branch.baskets.seek[i], branch.baskets.nbytes[i]};
    }
    const double ratio =
        branch.zip_bytes > 0 ? static_cast<double>(branch.tot_bytes) / static_cast<double>(branch.zip_bytes) : 1;
    unit.raw_bytes +=
        static_cast<std::uint64_t>(static_cast<double>(branch.baskets.nbytes[i]) * std::clamp(ratio, 1.0, 1000.0)) +
        input.embedded.size();
  }
  return unit;
}

std::string TreeCopy::name_of_unit(std::size_t index) const {
  return "branch " + path_of_branch(present().tree.record, plan_.baskets[index].branch);
}

Result<Part> TreeCopy::encode(std::size_t index, std::span<const std::span<const std::byte>> stored) const {
  const CopiedBasket& basket = plan_.baskets[index];
  const BranchRecord& branch = present().branch(basket.branch);
  if (basket.is_whole && embedded_basket(branch, basket.first) == nullptr) return copied_basket(basket, stored[0]);
  return cut(basket, stored);
}

Result<Part> TreeCopy::copied_basket(const CopiedBasket& basket, std::span<const std::byte> stored) const {
  TRY(const BasketHeader header, read_basket_header(stored, stored.size()));
  if (header.entries != basket.kept.size())
    return fail(ErrorKind::damaged, "basket has " + std::to_string(header.entries) + " entries, the branch says " +
                                        std::to_string(basket.kept.size()));
  Part part;
  if (options_.compression) {
    TRY(part, recompress_basket(stored.first(header.nbytes), *options_.compression));
  } else {
    part.stored = Buffer(header.nbytes, Use::passing);
    std::memcpy(part.stored.data(), stored.data(), header.nbytes);
    part.raw_bytes = static_cast<std::int64_t>(header.keylen) + header.objlen;
  }
  part.entries = header.entries;
  put_key_directory(part.stored.span(), place_.directory_seek);
  return part;
}

CutForm TreeCopy::cut_form(const BranchRecord& branch) const {
  CutForm form;
  form.branch_name = branch.name;
  form.title = first().tree.record.name;
  form.has_offsets = branch.entry_offset_len != 0;
  form.has_places = may_have_places(branch, *present().infos);
  return form;
}

// `goes_on`: others will be cut of it. In small clusters these are many.
Result<CutBaskets::ContentPtr> TreeCopy::content_to_cut(BranchIndex branch, std::size_t number,
                                                        std::span<const std::byte> stored, bool goes_on) const {
  CutBaskets::ContentPtr content = cut_baskets_.find(branch, number);
  if (!content) {
    TRY(BasketContent made, read_basket(stored));
    content = std::make_shared<const BasketContent>(std::move(made));
    if (goes_on) cut_baskets_.keep(branch, number, content);
  }
  if (!goes_on) cut_baskets_.drop(branch);
  return content;
}

Result<Part> TreeCopy::cut(const CopiedBasket& basket, std::span<const std::span<const std::byte>> stored) const {
  const BranchRecord& branch = present().branch(basket.branch);
  std::vector<CutBaskets::ContentPtr> contents(stored.size());  // keeps what was decompressed
  std::vector<TakenEntries> taken(stored.size());
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const std::size_t number = basket.first + i;
    const EntryRange all{(*branch.baskets.entry)[number], (*branch.baskets.entry)[number + 1]};
    const EntryRange numbers{std::max(basket.kept.begin, kept_.before(all.begin)),
                             std::min(basket.kept.end, kept_.before(all.end))};
    if (numbers.size() <= 0) continue;  // one in between, which may be damaged
    TakenEntries& one = taken[i];
    if (const EmbeddedBasket* embedded = embedded_basket(branch, number)) {
      one = {embedded->data, embedded->offsets, {}, embedded->entries, embedded->keylen, {}};
    } else {
      TRY(contents[i], content_to_cut(basket.branch, number, stored[i], numbers.end < kept_.before(all.end)));
      const BasketContent& content = *contents[i];
      if (content.generated_offsets) return fail(ErrorKind::unsupported, "basket: lists without offsets");
      one = {content.bytes.first(content.header.border()),
             content.offsets,
             content.displacement,
             content.header.entries,
             content.header.keylen,
             {}};
    }
    if (one.offsets.empty() && is_of_items(branch))
      return fail(ErrorKind::unsupported, "basket: its entries are stored without offsets");
    if (one.entries != all.size())
      return fail(ErrorKind::damaged, "basket has " + std::to_string(one.entries) + " entries, the branch says " +
                                          std::to_string(all.size()));
    one.taken = kept_.numbered(numbers);
    for (EntryRange& range : one.taken) range = {range.begin - all.begin, range.end - all.begin};
  }
  TreePlace place = place_;
  if (!options_.compression) place.compression = compression_of(branch.compress);
  return cut_basket(cut_form(branch), place, taken);
}

Result<> TreeCopy::add_unit(std::size_t index, Part& part, std::uint64_t address) {
  const BranchPlace& place = *first().places[plan_.baskets[index].branch];
  using namespace element_type;
  const bool listed_wide = number_size(place[BranchMember::basket_seek].type - kOffsetPointer) == 8;
  if (!listed_wide && address > kNarrowAddressMax)
    return fail(ErrorKind::unsupported, "branch of an old format above 2 GB");
  if (!put_key_address(part.stored.span(), {address, part.stored.size()}))
    return fail(ErrorKind::unsupported, "basket of an old format above 2 GB");
  branches_[plan_.baskets[index].branch].baskets.add(address, static_cast<std::uint32_t>(part.stored.size()),
                                                     part.entries, part.raw_bytes);
  return {};
}

Result<> TreeCopy::end_table() {
  std::int64_t begin = 0;
  for (const std::int64_t end : plan_.cluster_ends) {
    // The last cluster of a tree is mostly shorter than the others.
    const bool is_shorter = end == kept_.count() && clusters_.auto_flush > end - begin;
    clusters_.end_cluster(entries_ + begin, entries_ + end, is_shorter ? 0 : end - begin);
    begin = end;
  }
  entries_ += present_entries_;
  plan_ = {};
  cut_baskets_.clear();
  next_.reset();
  return {};
}

ChangedBranch TreeCopy::changed(BranchIndex index) const {
  const SourceTree& tree = first();
  const BranchRecord& record = tree.branch(index);
  const BranchPlace& place = *tree.places[index];
  const Branch& branch = branches_[index];
  ChangedBranch change;
  change.place = &place;
  // A node of a split object has no baskets; it may count entries all the same.
  const bool has_baskets = !record.baskets.seek.empty() || !branch.baskets.seek.empty();
  if (has_baskets) {
    change.baskets = &branch.baskets;
  } else if (!is_as_it_was()) {
    for (const BranchMember member : {BranchMember::entries, BranchMember::entry_number}) {
      if (number_of(tree, place[member]) == tree.tree.record.entries)
        change.numbers.emplace_back(place[member], entries_);
    }
  }
  if (options_.compression) change.numbers.emplace_back(place.compress, options_.compression->settings());
  if (branch.maximum != record.maximum) change.numbers.emplace_back(place.maximum, branch.maximum);
  return change;
}

std::vector<std::size_t> TreeCopy::dropped_slots() const {
  std::vector<std::size_t> slots;
  for (BranchIndex i = 0; i < branches_.size(); ++i) {
    if (branches_[i].copied) continue;
    if (const auto slot = top_slot(first(), i)) slots.push_back(*slot);
  }
  std::ranges::sort(slots);
  return slots;
}

Result<RecordedTable::Draft> TreeCopy::draft(std::uint32_t keylen) const {
  const SourceTree& tree = first();
  TreeChanges changes;
  changes.name = place_.name;
  changes.numbers.entries = is_as_it_was() ? tree.tree.record.entries : entries_;
  changes.dropped = dropped_slots();
  changes.renumbers = renumbers_;
  if (!is_as_it_was()) changes.clusters = &clusters_;
  for (BranchIndex i = 0; i < branches_.size(); ++i) {
    if (!branches_[i].copied) continue;
    changes.numbers.tot_bytes += branches_[i].baskets.tot_bytes;
    changes.numbers.zip_bytes += branches_[i].baskets.zip_bytes;
    changes.changed.push_back(changed(i));
  }
  for (const LeafMaximum& leaf : maxima_) {
    if (leaf.place == nullptr || !branches_[leaf.branch].copied) continue;
    if (leaf.maximum > number_of(tree, leaf.place->maximum))
      changes.numbers_of_leaves.emplace_back(leaf.place->maximum, leaf.maximum);
    if (leaf.len > number_of(tree, leaf.place->len)) changes.numbers_of_leaves.emplace_back(leaf.place->len, leaf.len);
  }
  Draft draft;
  draft.payload = edit_tree(tree.tree, keylen, changes);
  if (draft.payload.size() > kObjectSizeMax)
    return fail(ErrorKind::unsupported, "the tree's record would be larger than 1 GiB");
  draft.state = XXH3_64bits(draft.payload.data(), draft.payload.size());
  draft.size = draft.payload.size();
  return draft;
}

}  // namespace tfile
