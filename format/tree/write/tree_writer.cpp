// SPDX-License-Identifier: Apache-2.0
#include "tree/write/tree_writer.h"

#include <xxhash.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "container/key.h"
#include "tree/write/branch_form.h"
#include "tree/write/record_class.h"

namespace tfile {
namespace {

using Kind = WrittenBranch::Kind;

// The classes that ROOT describes in any file with a tree.
constexpr const char* kClassesOfTrees[] = {
    "TTree", "TNamed", "TObject",        "TAttLine",    "TAttFill", "TAttMarker", "ROOT::TIOFeatures", "TBranch",
    "TLeaf", "TList",  "TSeqCollection", "TCollection", "TString",  "TBranchRef", "TRefTable",         "TObjArray"};

// The name of a branch below another, as ROOT finds it: without its dimensions.
std::string whole_name(const WrittenBranch& member) { return member.name.substr(0, member.name.find('[')); }

void count_bytes(TreeNumbers& numbers, std::span<const BranchToWrite> branches) {
  for (const BranchToWrite& branch : branches) {
    numbers.tot_bytes += branch.baskets->all_tot_bytes();
    numbers.zip_bytes += branch.baskets->all_zip_bytes();
  }
}

// Each branch comes before its children in `branches`, so the recursion ends.
void subtract(const TreeRecord& record, BranchIndex branch, TreeNumbers& numbers) {
  numbers.tot_bytes -= record.branches[branch].tot_bytes;
  numbers.zip_bytes -= record.branches[branch].zip_bytes;
  for (const BranchIndex child : record.branches[branch].children) subtract(record, child, numbers);
}

}  // namespace

std::unique_ptr<TreeWriter> TreeWriter::create(TreePlace place) {
  return std::unique_ptr<TreeWriter>(new TreeWriter(std::move(place)));
}

Result<std::unique_ptr<TreeWriter>> TreeWriter::open(TreePlace place, std::span<const std::byte> payload,
                                                     std::uint32_t keylen, const std::string& class_name,
                                                     const StreamerInfos& infos, const Source& source) {
  TRY(CommittedTree tree, read_committed_tree(payload, keylen, class_name, infos, place.name, source));
  return std::unique_ptr<TreeWriter>(new TreeWriter(std::move(place), class_name, std::move(tree)));
}

TreeWriter::TreeWriter(TreePlace place) : place_(std::move(place)), name_(place_.name) {}

TreeWriter::TreeWriter(TreePlace place, std::string class_name, CommittedTree committed)
    : place_(std::move(place)),
      name_(place_.name),
      class_name_(std::move(class_name)),
      committed_(std::make_unique<CommittedTree>(std::move(committed))) {
  const TreeRecord& record = committed_->record;
  entries_ = record.entries;
  clusters_.range_end = record.cluster_range_end;
  clusters_.range_size = record.cluster_size;
  clusters_.auto_flush = record.auto_flush;
  for (std::size_t slot = 0; slot < committed_->outline.top.size(); ++slot) {
    slots_.emplace(field_name(committed_->outline.top[slot].name), slot);
  }
  for (const CommittedBranch& branch : committed_->branches) {
    add_branch({branch.form, branch.baskets});
  }
}

std::int64_t TreeWriter::committed_entries() const { return committed_ ? committed_->record.entries : 0; }

const CommittedForm& TreeWriter::committed_form() const {
  static const CommittedForm none;
  return committed_ ? committed_->form : none;
}

Result<> TreeWriter::add_fields(std::span<const InputColumn> columns, const WriteSchema& form) {
  std::vector<WrittenBranch> added;
  for (const FieldForm& field : form.fields) {
    added.push_back(written_branch(field, columns));
    if (is_there(field.name))
      return fail(ErrorKind::exists, field.name + ": the table already has a branch of that name");
    const auto is_taken = [this](const WrittenBranch& member) { return is_there(whole_name(member)); };
    if (members_.contains(field.name) || std::ranges::any_of(added.back().members, is_taken))
      return fail(ErrorKind::exists,
                  field.name + ": the table already has a branch with the name of it or of one of its members");
  }
  const std::size_t first = branches_.size();
  for (WrittenBranch& written : added) {
    written.basket_title = place_.name;
    for (WrittenBranch& member : written.members) member.basket_title = place_.name;
    if (written.has_class()) made_classes_.push_back(std::make_unique<const StreamerInfo>(record_class_info(written)));
    add_branch({std::move(written), {}});
    branches_.back().baskets.members.resize(branches_.back().form.members.size());
  }
  for (std::size_t i = first; i < branches_.size(); ++i) {
    if (branches_[i].form.kind != Kind::counted) continue;
    const auto counter = numbers_.find(branches_[i].form.counter);
    if (counter == numbers_.end() || counter->second < committed_branches()) {
      return fail(ErrorKind::invalid, branches_[i].form.name + ": its counter is not added as well");
    }
    branches_[counter->second].form.is_counter = true;
  }
  return {};
}

Result<Part> TreeWriter::encode(std::size_t branch, const OfferedPart& offered) const {
  return encode_baskets(branches_[branch].form, place_, offered.entries, offered.columns);
}

// If there are several baskets, the largest tells how many entries a part has.
void TreeWriter::add_sample(std::size_t branch, const Part& part) {
  EntryBytes bytes = entry_bytes(part);
  std::int64_t largest = 0;
  for (const Part::Unit& unit : part.units)
    largest = std::max(largest, basket_raw_bytes(part.stored.span().subspan(unit.offset, unit.size)));
  if (largest > 0 && part.raw_bytes > 0)
    bytes.raw *= static_cast<double>(largest) / static_cast<double>(part.raw_bytes);
  branches_[branch].bytes = bytes;
}

ClusterSizes TreeWriter::cluster_sizes(std::uint64_t cluster_bytes) const {
  ClusterSizes sizes;
  double stored = 0;
  for (std::size_t i = 0; i < branches_.size(); ++i) {
    sizes.part_entries.push_back(basket_entries(branches_[i].bytes));
    if (dropped_.count(i) == 0) stored += branches_[i].bytes.stored;
  }
  if (stored > 0) sizes.entries = cluster_entries(cluster_bytes, stored, sizes.part_entries);
  return sizes;
}

void TreeWriter::add_part(std::size_t branch, Part& basket, std::uint64_t address) {
  put_basket_address(basket, address);
  BranchBaskets& baskets = branches_[branch].baskets;
  if (basket.units.empty())
    baskets.add(address, static_cast<std::uint32_t>(basket.stored.size()), basket.entries, basket.raw_bytes);
  for (const Part::Unit& unit : basket.units) {
    BranchBaskets& own = unit.stream == 0 ? baskets : baskets.members[unit.stream - 1];
    own.add(address + unit.offset, static_cast<std::uint32_t>(unit.size), basket.entries,
            basket_raw_bytes(basket.stored.span().subspan(unit.offset, unit.size)));
  }
  if (branches_[branch].form.kind == Kind::object) {
    baskets.entries += basket.entries;
  } else {
    baskets.largest = std::max(baskets.largest, basket.largest);
  }
}

void TreeWriter::end_cluster(std::int64_t entries, std::int64_t cluster_entries) {
  if (entries > entries_) clusters_.end_cluster(entries_, entries, cluster_entries);
  entries_ = std::max(entries_, entries);
  for (Branch& branch : branches_) {
    const std::int64_t whole = basket_entries(branch.bytes);
    const std::int64_t most = cluster_entries > 0 ? std::min(whole, cluster_entries) : whole;
    if (whole <= 0) continue;
    branch.baskets.basket_size = basket_buffer_size(branch.bytes, most);
    for (BranchBaskets& member : branch.baskets.members) member.basket_size = branch.baskets.basket_size;
  }
}

Result<std::vector<std::byte>> TreeWriter::record(std::uint32_t keylen) const {
  const std::unordered_set<std::size_t> left_out = added_branches_left_out();
  TreeChanges changes;
  changes.name = name_;
  changes.numbers.entries = entries_;
  changes.compression = place_.compression.settings();
  for (std::size_t i = 0; i < branches_.size(); ++i) {
    const bool is_committed = i < committed_branches();
    if (left_out.count(i) != 0 || (is_committed && entries_ == committed_entries())) continue;
    const Branch& branch = branches_[i];
    if (branch.baskets.entries != entries_) {
      return fail(ErrorKind::invalid, branch.form.name + ": it has " + std::to_string(branch.baskets.entries) +
                                          " entries, the table " + std::to_string(entries_));
    }
    (is_committed ? changes.appended : changes.added).push_back({&branch.form, &branch.baskets});
  }
  if (committed_ && entries_ != committed_entries() && changes.appended.size() != committed_->outline.top.size()) {
    return fail(ErrorKind::invalid, "entries were appended to only some of the branches");
  }
  std::vector<std::byte> payload = committed_ ? edited(keylen, changes) : made(keylen, changes);
  if (payload.size() > kObjectSizeMax)
    return fail(ErrorKind::unsupported, "the tree's record would be larger than 1 GiB");
  return payload;
}

Result<RecordedTable::Draft> TreeWriter::draft(std::uint32_t keylen) const {
  Draft draft;
  TRY(draft.payload, record(keylen));
  draft.state = XXH3_64bits(draft.payload.data(), draft.payload.size());
  draft.size = draft.payload.size();
  return draft;
}

const std::string& TreeWriter::class_name() const { return class_name_; }

std::vector<std::string> TreeWriter::classes() const {
  std::vector<std::string> classes;
  if (!committed_ || branches_.size() > committed_branches()) {
    classes.assign(std::begin(kClassesOfTrees) + (committed_ ? 1 : 0), std::end(kClassesOfTrees));
  }
  std::set<std::string> more;
  for (std::size_t i = committed_branches(); i < branches_.size(); ++i) {
    for (std::string& used : classes_of(branches_[i].form)) more.insert(std::move(used));
  }
  std::ranges::copy_if(more, std::back_inserter(classes),
                       [&](const std::string& name) { return std::ranges::count(classes, name) == 0; });
  return classes;
}

std::vector<const StreamerInfo*> TreeWriter::made_classes() const {
  std::vector<const StreamerInfo*> made;
  for (const auto& info : made_classes_) made.push_back(info.get());
  return made;
}

// Drops the branch and the branches below it. A branch whose leaf counts others stays in the record until the last of
// those is dropped.
Result<> TreeWriter::drop_field(std::string_view name) {
  if (!is_there(std::string(name))) return fail(ErrorKind::not_found, std::string(name) + ": no such branch");
  if (const auto slot = slots_.find(name); slot != slots_.end()) dropped_slots_.push_back(slot->second);
  if (const auto number = numbers_.find(std::string(name)); number != numbers_.end()) {
    dropped_.insert(number->second);
    for (const WrittenBranch& member : branches_[number->second].form.members) members_.erase(whole_name(member));
    numbers_.erase(number);
  }
  return {};
}

void TreeWriter::rename(std::string name) { name_ = std::move(name); }

std::size_t TreeWriter::committed_branches() const { return committed_ ? committed_->branches.size() : 0; }

void TreeWriter::add_branch(Branch branch) {
  numbers_.emplace(field_name(branch.form.name), branches_.size());
  for (const WrittenBranch& member : branch.form.members) members_.insert(whole_name(member));
  branches_.push_back(std::move(branch));
}

bool TreeWriter::is_there(const std::string& name) const {
  if (numbers_.count(name) != 0) return true;
  const auto slot = slots_.find(name);
  return slot != slots_.end() && std::ranges::count(dropped_slots_, slot->second) == 0;
}

// Dropped branches among the added ones, except those that count a remaining branch.
std::unordered_set<std::size_t> TreeWriter::added_branches_left_out() const {
  std::unordered_set<std::size_t> left_out;
  for (const std::size_t i : dropped_) {
    if (i >= committed_branches()) left_out.insert(i);
  }
  const std::unordered_set<std::size_t> dropped = left_out;
  for (std::size_t i = committed_branches(); i < branches_.size() && !left_out.empty(); ++i) {
    if (branches_[i].form.kind != Kind::counted || dropped.count(i) != 0) continue;
    std::erase_if(left_out, [&](std::size_t other) { return branches_[other].form.name == branches_[i].form.counter; });
  }
  return left_out;
}

std::vector<std::byte> TreeWriter::made(std::uint32_t keylen, TreeChanges& changes) const {
  count_bytes(changes.numbers, changes.added);
  return write_tree(keylen, name_, place_.title, changes.numbers, clusters_, changes.added, changes.compression);
}

std::vector<std::byte> TreeWriter::edited(std::uint32_t keylen, TreeChanges& changes) const {
  const TreeRecord& record = committed_->record;
  changes.dropped = branches_free_to_go(*committed_, dropped_slots_);
  if (!changes.appended.empty()) changes.clusters = &clusters_;
  changes.numbers.tot_bytes = record.tot_bytes;
  changes.numbers.zip_bytes = record.zip_bytes;
  count_bytes(changes.numbers, changes.added);
  for (std::size_t slot = 0; slot < changes.appended.size(); ++slot) {
    subtract(record, record.top[slot], changes.numbers);
    changes.numbers.tot_bytes += changes.appended[slot].baskets->all_tot_bytes();
    changes.numbers.zip_bytes += changes.appended[slot].baskets->all_zip_bytes();
  }
  for (const std::size_t slot : changes.dropped) {
    if (!changes.appended.empty()) {
      changes.numbers.tot_bytes -= changes.appended[slot].baskets->all_tot_bytes();
      changes.numbers.zip_bytes -= changes.appended[slot].baskets->all_zip_bytes();
    } else {
      subtract(record, record.top[slot], changes.numbers);
    }
  }
  return edit_tree(*committed_, keylen, changes);
}

}  // namespace tfile
