// SPDX-License-Identifier: Apache-2.0
#include "tree/read/tree_table.h"

#include <algorithm>
#include <set>

#include "tfile/check.h"
#include "tree/read/branch_nodes.h"
#include "tree/read/cluster_boundaries.h"
#include "tree/read/table_memory.h"
#include "tree/read/table_trials.h"
#include "tree/read/tree_streams.h"
#include "tree/record/tree_record.h"

namespace tfile {
namespace {

// Makes a branch look as if it had never been filled.
void leave_out_baskets(BranchStorage& branch) {
  branch.baskets = {{}, {}, std::make_shared<const std::vector<std::int64_t>>(1, 0)};
  branch.embedded.clear();
  branch.tot_bytes = 0;
}

std::uint64_t bytes_on_disk(const BranchStorage& branch) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < branch.baskets.seek.size(); ++i)
    sum += branch.baskets.seek[i] != 0 ? branch.baskets.nbytes[i] : 0;
  return sum;
}

}  // namespace

TreeTable::TreeTable(std::shared_ptr<const Source> source, TreeRecord tree, std::shared_ptr<const StreamerInfos> infos)
    : source_(std::move(source)) {
  name = tree.name;
  title = tree.title;
  kind = "ttree";
  entries = tree.entries;
  warnings = std::move(tree.warnings);
  friends = std::move(tree.friends);
  aliases = std::move(tree.aliases);
  has_index = tree.has_index;
  clusters = cluster_boundaries(tree);
  open_siblings(tree);
  const auto source_of_branch = [this](const BranchStorage& branch) { return source_of(branch); };
  BranchNodes made = make_unresolved(tree, *infos, [&](BranchIndex branch, bool in_list) {
    return tried_now(tree, branch, *infos, in_list, source_of_branch);
  });
  nodes = std::move(made.nodes);
  columns = std::move(made.columns);
  streams_ = StreamSlots(std::move(made.streams));
  branches_.reserve(tree.branches.size());
  for (BranchRecord& branch : tree.branches) {
    branches_.push_back(std::move(static_cast<BranchStorage&>(branch)));
    branch.name = branches_.back().name;
  }
  for (const UnresolvedBranch& branch : made.unresolved) unresolved.push_back(branch.node);
  contradicted_ = contradicted_branches(columns, streams_, made.unresolved, branches_, source_of_branch);
  for (const auto& [branch, why] : contradicted_) leave_out_baskets(branches_[branch]);
  for (const BranchStorage& branch : branches_) stored_bytes_.push_back(bytes_on_disk(branch));
  note_missing_values(columns);
  for (ColumnId id = 0; id < columns.size(); ++id)
    if (is_doubtful(columns, columns[id])) may_be_unwritten.push_back(id);
  if (is_resolved()) return;
  TFILE_DCHECK(std::ranges::is_sorted(unresolved));
  trials_ = std::make_unique<const TableTrials>(std::move(tree), std::move(infos), std::move(made.unresolved),
                                                std::move(made.tried_at_opening), branches_, source_of_branch, streams_,
                                                columns);
}

Result<std::shared_ptr<const Table>> TreeTable::resolve_branch(NodeId node, std::size_t ahead) const {
  if (!is_unresolved(node)) return fail(ErrorKind::invalid, "the node is not a branch that needs a trial");
  const auto id = static_cast<UnresolvedId>(std::ranges::lower_bound(unresolved, node) - unresolved.begin());
  TRY_VOID(trials_->try_branch(id, ahead));
  BranchNodes below = trials_->nodes_below(id, nodes[node]);
  note_missing_values(below.columns);
  return table_below(shared_from_this(), std::move(below));
}

Result<std::shared_ptr<const Table>> TreeTable::resolve_all() const {
  if (!trials_) return shared_from_this();
  TRY(const auto untold, trials_->try_all());
  BranchNodes all = trials_->all_nodes(untold);
  note_missing_values(all.columns);
  std::set<ColumnId> left_unread;
  for (ColumnId id = 0; id < all.columns.size(); ++id) {
    const auto failed = untold.find(all.columns[id].stream);
    if (failed == untold.end()) continue;
    all.columns[id].reason = cannot_be_read(failed->second);  // also the reason of its offsets
    left_unread.insert(id);
  }
  TRY_VOID(note_unwritten(all.columns, left_unread));
  return whole_table(shared_from_this(), std::move(all), {left_unread.begin(), left_unread.end()});
}

std::vector<Column> TreeTable::resolved_columns(StreamId id) const {
  const auto branch = trials_ ? trials_->resolved_with(id) : std::nullopt;
  if (!branch) return {};
  std::vector<Column> found = trials_->nodes_below(*branch, Node()).columns;
  note_missing_values(found);
  std::erase_if(found, [&](const Column& column) { return column.stream != id; });
  return found;
}

std::size_t TreeTable::memory() const {
  return memory_of(*this) + memory_of(std::span(streams_.opened())) + memory_of(std::span(branches_)) +
         (trials_ ? trials_->memory() : 0);
}

std::vector<Sibling> TreeTable::siblings_of(StreamId id) const {
  if (siblings.empty()) return {};
  std::set<StreamId> from;
  add_origins(id, from);
  std::vector<Sibling> found;
  for (const Sibling& sibling : siblings)
    if (std::any_of(from.begin(), from.end(), [&](StreamId s) { return branch_of(s).file_name == sibling.name; }))
      found.push_back(sibling);
  return found;
}

void TreeTable::note_missing_values(std::span<Column> all) const {
  for (Column& column : all) {
    if (!column.reason.empty()) continue;
    if (const BranchStorage* missing = missing_branch(column.stream)) {
      column.reason = in_missing_file(*missing);
      continue;
    }
    const auto found = contradicted_.find(streams_[column.stream].branch);
    if (found != contradicted_.end() && list_of_others(all, column)) column.reason = found->second;
  }
}

const BranchStorage* TreeTable::missing_branch(StreamId id) const {
  if (siblings.size() == siblings_.size()) return nullptr;
  std::set<StreamId> from;
  add_origins(id, from);
  for (const StreamId origin : from)
    if (const BranchStorage& branch = branch_of(origin);
        has_baskets_elsewhere(branch) && !siblings_.at(branch.file_name))
      return &branch;
  return nullptr;
}

bool TreeTable::has_baskets_elsewhere(const BranchStorage& branch) {
  return !branch.file_name.empty() && has_baskets_on_disk(branch);
}

std::string TreeTable::in_missing_file(const BranchStorage& branch) const {
  return "branch " + branch.name + " is stored in " + branch.file_name +
         ", which cannot be opened: " + siblings_.at(branch.file_name).error().text;
}

Result<const Source*> TreeTable::source_of(const BranchStorage& branch) const {
  if (branch.file_name.empty()) return source_.get();
  const auto sibling = siblings_.find(branch.file_name);
  if (sibling == siblings_.end())
    return fail(ErrorKind::damaged, "branch " + branch.name + ": its file " + branch.file_name + " was not opened");
  if (sibling->second) return sibling->second->get();
  // To a reader of this column the bytes are missing, whatever the reason, for the life of the table.
  return fail(ErrorKind::damaged, in_missing_file(branch));
}

void TreeTable::add_origins(StreamId id, std::set<StreamId>& into) const {
  if (!into.insert(id).second) return;
  const Stream& stream = streams_[id];
  if (stream.counter) add_origins(stream.counter->stream, into);
  if (!stream.item_counter) return;
  add_origins(stream.item_counter->stream, into);
  add_origins(stream.collection, into);
}

void TreeTable::open_siblings(const TreeRecord& tree) {
  for (const BranchRecord& branch : tree.branches) {
    if (!has_baskets_elsewhere(branch) || siblings_.contains(branch.file_name)) continue;
    const auto& sibling = siblings_.emplace(branch.file_name, source_->sibling(branch.file_name)).first->second;
    if (sibling)
      siblings.push_back({branch.file_name, (*sibling)->identity()});
    else
      warnings.push_back(in_missing_file(branch));
  }
}

Result<std::shared_ptr<const Table>> open_tree(std::shared_ptr<const Source> source, std::span<const std::byte> payload,
                                               std::uint32_t keylen, const std::string& class_name,
                                               std::shared_ptr<const StreamerInfos> infos,
                                               const std::vector<std::string>& warnings) {
  auto tree = read_tree(payload, keylen, class_name, *infos);
  if (!tree && tree.error().kind != ErrorKind::unsupported) return tl::unexpected<Error>(std::move(tree).error());
  TreeRecord record;
  if (tree) record = *std::move(tree);
  auto table = std::make_shared<TreeTable>(std::move(source), std::move(record), std::move(infos));
  table->warnings.insert(table->warnings.begin(), warnings.begin(), warnings.end());
  if (!tree) table->reason = tree.error().text;
  return std::shared_ptr<const Table>(std::move(table));
}

}  // namespace tfile
